//! Statistics of a tensor at the steps around one.

use trainscope_api::tensors::HistoryPoint;
use trainscope_format::TensorSummary;
use trainscope_format::tensor::{ChangeStats, TensorStats};

use trainscope_web_kit::client;

/// Recorded steps before and after the one that is looked at.
pub(super) const AROUND: (usize, usize) = (47, 48);

/// The tensor at a step: as the program has recorded it, or as its elements say.
#[derive(Clone, PartialEq)]
pub(super) struct StepStats {
    pub(super) step: i64,
    pub(super) stats: TensorStats,
    /// Type and shape, where the statistics are recorded.
    pub(super) kind: Option<String>,
    pub(super) change: Option<ChangeStats>,
}

/// A tensor at a step.
#[derive(Clone, PartialEq)]
pub(super) struct TensorPlace {
    pub(super) run: String,
    pub(super) tensor: String,
    pub(super) rank: u32,
    pub(super) step: i64,
    /// Its statistics are recorded.
    pub(super) is_recorded: bool,
}

/// Steps of a tensor around one; empty without data.
pub(super) async fn around(place: &TensorPlace) -> Vec<StepStats> {
    if !place.is_recorded {
        return stats_in_files(place).await;
    }
    let (run, tensor) = (&place.run, &place.tensor);
    let found = client::statistics_around(run, tensor, place.rank, place.step, AROUND).await;
    let found = found.unwrap_or_default().into_iter();
    found
        .map(|at| StepStats::recorded(at.step, at.body))
        .collect()
}

/// Index of the last step up to one.
pub(super) fn at_step(found: &[StepStats], step: i64) -> usize {
    found
        .partition_point(|own| own.step <= step)
        .saturating_sub(1)
}

impl StepStats {
    fn recorded(step: i64, body: TensorSummary) -> Self {
        Self {
            step,
            kind: Some(kind_of(&body)),
            stats: body.stats,
            change: body.change,
        }
    }
}

/// The steps around one at which the elements of a tensor, or tables of statistics, lie in files. They are read for it,
/// so that it takes several requests until that step is among them.
async fn stats_in_files(place: &TensorPlace) -> Vec<StepStats> {
    let step = place.step;
    loop {
        let found = client::tensor_history(&place.run, &place.tensor, place.rank).await;
        let Ok(found) = found else {
            return Vec::new();
        };
        let is_missing = |own: &HistoryPoint| own.step == step && own.stats.is_none();
        if found.pending_bytes > 0 && found.points.iter().any(is_missing) {
            continue;
        }
        let known = found.points.into_iter().filter_map(|point| {
            Some(StepStats {
                step: point.step,
                stats: point.stats?,
                kind: None,
                change: None,
            })
        });
        let mut known: Vec<StepStats> = known.collect();
        let at = known.partition_point(|own| own.step < step);
        known.truncate(at + 1 + AROUND.1);
        return known.split_off(at.saturating_sub(AROUND.0));
    }
}

fn kind_of(summary: &TensorSummary) -> String {
    let sizes: Vec<String> = summary.shape.iter().map(u64::to_string).collect();
    let shape = if sizes.is_empty() {
        String::new()
    } else {
        format!(" · {}", sizes.join("×"))
    };
    format!("{}{shape}", summary.dtype)
}
