//! Statistics of a tensor at the steps around a given one.

use trainscope_api::tensors::HistoryPoint;
use trainscope_format::TensorSummary;
use trainscope_format::tensor::{ChangeStats, TensorStats};

use trainscope_web_kit::client;

/// Maximum number of recorded steps before and after the selected one.
pub(super) const AROUND: (usize, usize) = (47, 48);

/// Statistics of a tensor at one step, recorded by the program or computed from its elements.
#[derive(Clone, PartialEq)]
pub(super) struct StepStats {
    pub(super) step: i64,
    pub(super) stats: TensorStats,
    /// Type and shape, if the statistics are recorded.
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
    /// `true` if its statistics are recorded.
    pub(super) is_recorded: bool,
}

/// Statistics of a tensor around its step; empty without data.
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

/// Index of the last entry up to a step; 0 if all are later.
pub(super) fn at_step(found: &[StepStats], step: i64) -> usize {
    found
        .partition_point(|record| record.step <= step)
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

/// Requests the steps around a given one whose elements, or tables of statistics, are in files. The server reads the
/// files on request: several requests may be needed until the step is among them.
async fn stats_in_files(place: &TensorPlace) -> Vec<StepStats> {
    let step = place.step;
    loop {
        let found = client::tensor_history(&place.run, &place.tensor, place.rank, None).await;
        let Ok(found) = found else {
            return Vec::new();
        };
        let is_missing = |point: &HistoryPoint| point.step == step && point.stats.is_none();
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
        let at = known.partition_point(|record| record.step < step);
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
