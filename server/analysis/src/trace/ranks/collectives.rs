//! The same collectives on all ranks: the order of arrival, and the clocks of the ranks.

use std::collections::{BTreeMap, HashMap};

use trainscope_api::profile::CollectiveRow;
use trainscope_format::trace::{NONE, SliceClass};

use super::super::kernels::short_name;
use super::super::ranges;
use super::super::work::role;
use super::super::{Model, Role, figures};
use super::{RankModel, compute, rounded};

/// A collective of one rank.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    key: Key,
    pub(super) slice: u32,
    pub(super) begin: i64,
    pub(super) end: i64,
}

/// The same for the same collective on all ranks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// Process group, and number in it.
    Sequence(String, u32),
    /// Name, stream, and number among those of this name on it.
    Place(String, String, u32),
}

/// A collective that several ranks took part in.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    /// Indices of the ranks, and of their collectives.
    pub(super) members: Vec<(usize, usize)>,
    /// Clock of each member minus that of the first rank.
    offsets: Vec<i64>,
    /// Start of the first, of the last, and the last end, on the clock of the first rank.
    first: i64,
    pub(super) arrived: i64,
    end: i64,
}

impl Meeting {
    /// Clock of a rank minus that of the first one.
    pub(super) fn offset_of(&self, rank: usize) -> i64 {
        let mut own = self.members.iter().zip(&self.offsets);
        own.find(|((member, _), _)| *member == rank)
            .map_or(0, |(_, offset)| *offset)
    }
}

/// Collectives of a trace in the order of lanes and time: those of devices; without any those of the host.
pub(super) fn of_model(model: &Model) -> Vec<Collective> {
    let communicates = |slice: &u32| role(model, *slice) == Role::Communication;
    let on_device = model
        .slices()
        .filter(|slice| communicates(slice) && model.is_device(*slice));
    let mut slices: Vec<u32> = on_device.collect();
    if slices.is_empty() {
        slices = model.slices().filter(communicates).collect();
    }
    let mut counts: HashMap<(u32, u16), u32, foldhash::fast::RandomState> = HashMap::default();
    let all = slices.into_iter().map(|slice| {
        let (begin, end) = model.span(slice);
        Collective {
            key: key(model, slice, &mut counts),
            slice,
            begin,
            end,
        }
    });
    all.collect()
}

fn key(
    model: &Model,
    slice: u32,
    counts: &mut HashMap<(u32, u16), u32, foldhash::fast::RandomState>,
) -> Key {
    let index = slice as usize;
    let slices = &model.trace.slices;
    if let Some(work) = work(model, slice).filter(|work| work.sequence != NONE) {
        let group = work.group.map_or("", |group| model.trace.texts.get(group));
        return Key::Sequence(group.to_owned(), work.sequence);
    }
    let (name, lane) = (slices.names[index], slices.lanes[index]);
    let count = counts.entry((name.0, lane)).or_default();
    *count += 1;
    let thread = model.trace.lanes.get(usize::from(lane));
    // Threads of a host have other numbers on each rank.
    let is_host = matches!(
        model.class(slice),
        SliceClass::Operator | SliceClass::Annotation | SliceClass::Span
    );
    let stream = thread.filter(|_| !is_host).map(|lane| lane.thread.clone());
    Key::Place(
        model.name(slice).to_owned(),
        stream.unwrap_or_default(),
        *count,
    )
}

fn work(model: &Model, slice: u32) -> Option<&trainscope_format::trace::DeviceWork> {
    if model.class(slice) != SliceClass::Kernel {
        return None;
    }
    let detail = model.trace.slices.details.get(slice as usize)?;
    model.trace.device_work.get(*detail as usize)
}

/// Clock of each rank minus that of the first: the median difference of the ends of the same collectives; without any
/// the difference of what their clocks say of 1970, or 0.
pub(super) fn offsets(own: &[Vec<Collective>]) -> Vec<i64> {
    let Some((first, _)) = own.split_first() else {
        return Vec::new();
    };
    let ends: HashMap<&Key, i64, foldhash::fast::RandomState> =
        first.iter().map(|one| (&one.key, one.end)).collect();
    let offset = |own: &Vec<Collective>| {
        let same = own.iter().filter_map(|one| {
            let end = ends.get(&one.key)?;
            Some(one.end.saturating_sub(*end))
        });
        figures::median(&mut same.collect::<Vec<i64>>())
    };
    own.iter().map(offset).collect()
}

/// Collectives of at least two ranks.
pub(super) fn meetings(own: &[Vec<Collective>], offsets: &[i64]) -> Vec<Meeting> {
    let mut members: BTreeMap<&Key, Vec<(usize, usize)>> = BTreeMap::new();
    for (rank, own) in own.iter().enumerate() {
        for (place, one) in own.iter().enumerate() {
            let all = members.entry(&one.key).or_default();
            // A number that comes twice on a rank is another collective, of which no other rank is known.
            if all.last().is_none_or(|last| last.0 != rank) {
                all.push((rank, place));
            }
        }
    }
    let met = members.into_values().filter(|members| members.len() > 1);
    let meeting = |members: Vec<(usize, usize)>| {
        let offset = |rank: usize| offsets.get(rank).copied().unwrap_or_default();
        let times = || {
            members.iter().filter_map(|(rank, place)| {
                let one = own.get(*rank)?.get(*place)?;
                let moved = |time: i64| time.saturating_sub(offset(*rank));
                Some((moved(one.begin), moved(one.end)))
            })
        };
        let begins = || times().map(|time| time.0);
        Meeting {
            first: begins().min().unwrap_or_default(),
            arrived: begins().max().unwrap_or_default(),
            end: times().map(|time| time.1).max().unwrap_or_default(),
            offsets: members.iter().map(|(rank, _)| offset(*rank)).collect(),
            members,
        }
    };
    met.map(meeting).collect()
}

/// Sums of the collectives of a name.
#[derive(Default)]
struct Sums {
    count: u64,
    bytes: u64,
    nanos: i64,
    hidden: i64,
    meetings: u64,
    spread: i64,
    transfer: i64,
    ranks: u64,
}

/// Rows by name, those that take longest first; `true` if rows were left out.
pub(super) fn rows(
    of: &[RankModel<'_>],
    own: &[Vec<Collective>],
    meetings: &[Meeting],
    limit: usize,
) -> (Vec<CollectiveRow>, bool) {
    let mut sums: BTreeMap<&str, Sums> = BTreeMap::new();
    for (rank, own) in of.iter().zip(own) {
        let compute = compute(rank.model);
        for one in own {
            let sum = sums
                .entry(short_name(rank.model.name(one.slice)))
                .or_default();
            let hidden = ranges::total(&ranges::cut(&compute, one.begin, one.end));
            let bytes = work(rank.model, one.slice).map_or(0, |work| work.bytes);
            sum.count += 1;
            sum.bytes = sum.bytes.saturating_add(bytes);
            sum.nanos = sum.nanos.saturating_add(one.end.saturating_sub(one.begin));
            sum.hidden = sum.hidden.saturating_add(hidden);
        }
    }
    for meeting in meetings {
        let Some((rank, place)) = meeting.members.first() else {
            continue;
        };
        let one = own.get(*rank).and_then(|own| own.get(*place));
        let (Some(one), Some(rank)) = (one, of.get(*rank)) else {
            continue;
        };
        let sum = sums
            .entry(short_name(rank.model.name(one.slice)))
            .or_default();
        sum.meetings += 1;
        sum.ranks = sum.ranks.max(meeting.members.len() as u64);
        let spread = meeting.arrived.saturating_sub(meeting.first);
        let transfer = meeting.end.saturating_sub(meeting.arrived).max(0);
        sum.spread = sum.spread.saturating_add(spread);
        sum.transfer = sum.transfer.saturating_add(transfer);
    }
    let ranks = of.len().max(1) as u64;
    let mut rows: Vec<CollectiveRow> = sums
        .into_iter()
        .map(|(name, sum)| row(name, &sum, ranks))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.nanos.saturating_mul(row.count.cast_signed())));
    let cut = rows.len() > limit;
    rows.truncate(limit);
    (rows, cut)
}

fn row(name: &str, sum: &Sums, ranks: u64) -> CollectiveRow {
    let mean = |total: i64, count: u64| rounded(total as f64 / count.max(1) as f64);
    let bytes = sum.bytes / sum.count.max(1);
    let transfer_nanos = mean(sum.transfer, sum.meetings);
    let bandwidth = if transfer_nanos > 0 {
        bus_factor(name, sum.ranks) * bytes as f64 * 1e9 / transfer_nanos as f64
    } else {
        0.0
    };
    CollectiveRow {
        name: name.to_owned(),
        count: sum.count / ranks,
        bytes,
        nanos: mean(sum.nanos, sum.count),
        hidden: sum.hidden as f64 / sum.nanos.max(1) as f64,
        spread_nanos: mean(sum.spread, sum.meetings),
        transfer_nanos,
        bandwidth,
    }
}

/// Share of its bytes that a collective sends over each link (NVIDIA's nccl-tests, `PERFORMANCE.md`).
fn bus_factor(name: &str, ranks: u64) -> f64 {
    let letters = name.to_ascii_lowercase().replace('_', "");
    let others = ranks.saturating_sub(1) as f64 / ranks.max(1) as f64;
    if letters.contains("allreduce") {
        2.0 * others
    } else if letters.contains("gather") || letters.contains("scatter") {
        others
    } else {
        1.0
    }
}
