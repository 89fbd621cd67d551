//! Parts of the work of a check: all steps of all ranks of all runs in this order, divided by their bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::discovery::runs::RunFiles;

/// Number of a shard, from 0, and number of all shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardNumber {
    pub(crate) number: u32,
    pub(crate) of: u32,
}

/// Steps of ranks of one run.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    steps: BTreeSet<(u32, i64)>,
    /// The step before the first one of a rank, for changes.
    before: BTreeSet<(u32, i64)>,
}

impl Shard {
    /// True if it has no steps of the run.
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// True if its summaries are computed.
    pub(crate) fn has(&self, rank: u32, step: i64) -> bool {
        self.steps.contains(&(rank, step))
    }

    /// True if its files are needed.
    pub(crate) fn wants(&self, rank: u32, step: i64) -> bool {
        self.has(rank, step) || self.before.contains(&(rank, step))
    }
}

/// Bytes of tensors at a step of a rank: a unit of work, which is never divided.
struct Unit {
    run: usize,
    rank: u32,
    step: i64,
    len_bytes: u64,
}

/// The work of a check, in order.
pub(crate) struct Work {
    units: Vec<Unit>,
    /// Bytes of all units before these.
    begin: u64,
    /// Bytes of all units.
    len_bytes: u64,
}

impl Work {
    /// All steps with tensors.
    pub(crate) fn of<'r>(runs: impl Iterator<Item = &'r RunFiles>) -> Self {
        let all = Self::part(runs, 0, 0);
        let bytes = all.units.iter().map(|unit| unit.len_bytes);
        Self {
            len_bytes: bytes.fold(0, u64::saturating_add),
            ..all
        }
    }

    /// Steps that follow each other, after `begin` of `len_bytes` bytes.
    pub(crate) fn part<'r>(
        runs: impl Iterator<Item = &'r RunFiles>,
        begin: u64,
        len_bytes: u64,
    ) -> Self {
        let mut units = Vec::new();
        for (number, run) in runs.enumerate() {
            for (&rank, found) in &run.ranks {
                for (&step, sources) in &found.steps {
                    let bytes = sources.iter().map(|source| source.len_bytes);
                    units.push(Unit {
                        run: number,
                        rank,
                        step,
                        len_bytes: bytes.fold(0, u64::saturating_add),
                    });
                }
            }
        }
        Self {
            units,
            begin,
            len_bytes,
        }
    }

    /// Total bytes of tensors.
    pub(crate) const fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Number of steps of ranks.
    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    /// Each unit with the number of its shard: the one in whose equal part of all bytes it begins.
    fn numbered(&self, of: u32) -> impl Iterator<Item = (&Unit, u32)> {
        let mut begin = self.begin;
        let total = u128::from(self.len_bytes.max(1));
        self.units.iter().map(move |unit| {
            let at = u128::from(begin).min(total - 1);
            let number = at * u128::from(of.max(1)) / total;
            begin = begin.saturating_add(unit.len_bytes);
            (unit, u32::try_from(number).unwrap_or(u32::MAX))
        })
    }

    /// The steps of a shard in each run.
    pub(crate) fn shard(&self, shard: ShardNumber, runs: usize) -> Vec<Arc<Shard>> {
        let mut all: Vec<Shard> = Vec::new();
        all.resize_with(runs, Shard::default);
        let mut last: Option<&Unit> = None;
        for (unit, number) in self.numbered(shard.of) {
            if number == shard.number
                && let Some(of_run) = all.get_mut(unit.run)
            {
                of_run.steps.insert((unit.rank, unit.step));
                if let Some(last) =
                    last.filter(|last| (last.run, last.rank) == (unit.run, unit.rank))
                {
                    of_run.before.insert((last.rank, last.step));
                }
            }
            last = Some(unit);
        }
        all.into_iter().map(Arc::new).collect()
    }

    /// The shards that these steps of ranks belong to, with the runs by number.
    pub(crate) fn shards_of(
        &self,
        of: u32,
        is_meant: impl Fn(usize, u32, i64) -> bool,
    ) -> BTreeSet<u32> {
        let meant = self.numbered(of);
        let meant = meant.filter(|(unit, _)| is_meant(unit.run, unit.rank, unit.step));
        meant.map(|(_, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::SystemTime;

    use proptest::prelude::*;

    use super::*;
    use crate::discovery::runs::{RankFiles, TensorKind, TensorSource};
    use crate::discovery::stamp::Stamp;

    fn run(lens: &[Vec<u64>]) -> RunFiles {
        let source = |len_bytes| TensorSource {
            path: PathBuf::new(),
            shown: "".into(),
            kind: TensorKind::Dumped { graph: 0 },
            len_bytes,
            stamp: Stamp {
                len_bytes,
                modified: SystemTime::UNIX_EPOCH,
            },
        };
        let ranks = (0..).zip(lens).map(|(rank, lens)| {
            let steps = (0..)
                .zip(lens)
                .map(|(step, len)| (step, vec![source(*len)]));
            let files = RankFiles {
                steps: steps.collect(),
                ..RankFiles::default()
            };
            (rank, files)
        });
        RunFiles {
            ranks: ranks.collect::<BTreeMap<_, _>>(),
            ..RunFiles::default()
        }
    }

    proptest! {
        #[test]
        fn every_step_belongs_to_one_shard(
            lens in prop::collection::vec(prop::collection::vec(0_u64..100, 0..6), 0..6),
            of in 1_u32..70,
        ) {
            let runs = [run(&lens), run(&lens)];
            let work = Work::of(runs.iter());
            for (at, lens) in runs.iter().zip([&lens, &lens]).enumerate().map(|(at, (_, lens))| (at, lens)) {
                for (rank, lens) in (0..).zip(lens) {
                    for step in 0..i64::try_from(lens.len()).unwrap() {
                        let holders = (0..of).filter(|number| {
                            let shard = ShardNumber { number: *number, of };
                            work.shard(shard, 2)[at].has(rank, step)
                        });
                        prop_assert_eq!(holders.count(), 1);
                    }
                }
            }
        }
    }

    #[test]
    fn a_shard_wants_the_step_before_its_first_one() {
        let runs = [run(&[vec![10, 10, 10, 10]])];
        let work = Work::of(runs.iter());
        let shard = &work.shard(ShardNumber { number: 1, of: 2 }, 1)[0];
        let wanted = (0..4).map(|step| (shard.has(0, step), shard.wants(0, step)));
        assert_eq!(
            wanted.collect::<Vec<_>>(),
            [(false, false), (false, true), (true, true), (true, true)]
        );
        assert_eq!((work.len(), work.len_bytes()), (4, 40));
    }
}
