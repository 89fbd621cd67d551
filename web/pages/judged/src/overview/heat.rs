//! Small heat map of histograms over steps. All share the bins; levels are relative to the fullest bin of a column.

use serde::Deserialize;
use trainscope_format::float;

/// Rows of the heat map.
pub(super) const BINS: usize = 24;
/// Level of the fullest bin.
pub(super) const FULLEST: u8 = 9;
/// A histogram wider than the median one by this factor does not compress the others: its tails are clamped to the
/// outermost bins.
const WIDER: f64 = 8.0;

/// Drawn part of a histogram; see [`trainscope_format::Histogram`].
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Bins {
    step: i64,
    #[serde(with = "float::list")]
    lefts: Vec<f64>,
    #[serde(with = "float::list")]
    rights: Vec<f64>,
    #[serde(with = "float::list")]
    counts: Vec<f64>,
    nan: u64,
    pos_inf: u64,
    neg_inf: u64,
}

/// The heat map of a tag.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heat {
    pub(super) tag: String,
    /// The step of each column.
    pub(super) steps: Vec<i64>,
    /// Lower edge of the lowest bin.
    pub(super) low: f64,
    /// Upper edge of the highest bin.
    pub(super) high: f64,
    /// One for each histogram.
    pub(super) columns: Vec<Column>,
    /// The newest histogram, if none of its elements is finite.
    pub(super) not_finite: Option<NotFinite>,
}

/// Elements of a histogram without finite values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotFinite {
    pub(super) step: i64,
    /// Number of NaN elements.
    pub(super) nan: u64,
    /// Number of infinite elements.
    pub(super) inf: u64,
}

/// One histogram.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    /// Fill level of each bin, 0 to 9, lowest first.
    pub(super) levels: [u8; BINS],
    /// `true` if values were NaN or infinite.
    pub(super) is_bad: bool,
}

impl Heat {
    /// Computes the heat map of the histograms of one tag.
    pub(super) fn new(tag: &str, records: &[Bins]) -> Self {
        let extents: Vec<(f64, f64)> = records.iter().filter_map(extent).collect();
        let mut widths: Vec<f64> = extents.iter().map(|one| one.1 - one.0).collect();
        widths.sort_by(f64::total_cmp);
        let widest = widths
            .get(widths.len() / 2)
            .map_or(0.0, |middle| middle * WIDER);
        let usual = extents.iter().filter(|one| one.1 - one.0 <= widest);
        let (low, high) = usual.fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| {
            (all.0.min(one.0), all.1.max(one.1))
        });
        let (low, high) = if low < high { (low, high) } else { (0.0, 1.0) };
        Self {
            tag: tag.to_owned(),
            steps: records.iter().map(|at| at.step).collect(),
            low,
            high,
            columns: records.iter().map(|at| column(at, low, high)).collect(),
            not_finite: records.last().and_then(not_finite),
        }
    }
}

impl Heat {
    /// Index of the newest histogram with finite values.
    pub(super) fn last_filled(&self) -> Option<usize> {
        let is_filled = |column: &Column| column.levels.iter().any(|level| *level > 0);
        self.columns.iter().rposition(is_filled)
    }
}

/// Non-empty bins with finite edges: left, right, count.
fn bins(histogram: &Bins) -> impl Iterator<Item = (f64, f64, f64)> {
    let edges = histogram.lefts.iter().zip(&histogram.rights);
    edges
        .zip(&histogram.counts)
        .map(|((left, right), count)| (*left, *right, *count))
        .filter(|(left, right, count)| left.is_finite() && right.is_finite() && *count > 0.0)
}

fn not_finite(histogram: &Bins) -> Option<NotFinite> {
    let inf = histogram.pos_inf + histogram.neg_inf;
    let has_finite = histogram.counts.iter().any(|count| *count > 0.0);
    (!has_finite && histogram.nan + inf > 0).then_some(NotFinite {
        step: histogram.step,
        nan: histogram.nan,
        inf,
    })
}

fn extent(histogram: &Bins) -> Option<(f64, f64)> {
    bins(histogram)
        .map(|(left, right, _)| (left.min(right), left.max(right)))
        .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of the range are clamped to the bins before"
)]
fn column(histogram: &Bins, low: f64, high: f64) -> Column {
    let width = (high - low) / BINS as f64;
    let place = |value: f64| ((value - low) / width).clamp(0.0, BINS as f64);
    let mut counts = [0.0_f64; BINS];
    for (left, right, count) in bins(histogram) {
        let (from, to) = (place(left.min(right)), place(left.max(right)));
        let first = (from as usize).min(BINS - 1);
        let last = ((to.ceil() as usize).max(first + 1)).min(BINS);
        let spread = to - from;
        for (bin, sum) in counts.iter_mut().enumerate().take(last).skip(first) {
            let share = if spread > 0.0 {
                (to.min((bin + 1) as f64) - from.max(bin as f64)).max(0.0) / spread
            } else {
                1.0
            };
            *sum += count * share;
        }
    }
    let fullest = counts.iter().copied().fold(0.0, f64::max);
    let level = |count: f64| {
        if count > 0.0 {
            ((count / fullest).sqrt() * f64::from(FULLEST))
                .ceil()
                .clamp(1.0, f64::from(FULLEST)) as u8
        } else {
            0
        }
    };
    Column {
        levels: counts.map(level),
        is_bad: histogram.nan + histogram.pos_inf + histogram.neg_inf > 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(step: i64, bins: &[(f64, f64, f64)]) -> Bins {
        Bins {
            step,
            lefts: bins.iter().map(|bin| bin.0).collect(),
            rights: bins.iter().map(|bin| bin.1).collect(),
            counts: bins.iter().map(|bin| bin.2).collect(),
            ..Bins::default()
        }
    }

    #[test]
    fn counts_are_spread_over_the_bins_they_cover() {
        let heat = Heat::new("t", &[at(0, &[(0.0, 12.0, 4.0), (12.0, 24.0, 1.0)])]);
        assert_eq!((heat.low, heat.high), (0.0, 24.0));
        let levels = heat.columns[0].levels;
        assert_eq!((levels[0], levels[11]), (9, 9));
        assert_eq!((levels[12], levels[23]), (5, 5));
    }

    #[test]
    fn one_explosion_does_not_squeeze_the_rest() {
        let usual = |step| at(step, &[(-1.0, 1.0, 5.0)]);
        let heat = Heat::new("t", &[usual(0), usual(1), at(2, &[(-1e9, 1e9, 5.0)])]);
        assert_eq!((heat.low, heat.high), (-1.0, 1.0));
    }

    #[test]
    fn odd_histograms_do_no_harm() {
        let mut odd = at(0, &[(f64::NEG_INFINITY, f64::NAN, 3.0), (2.0, 2.0, 1.0)]);
        odd.nan = 1;
        let heat = Heat::new("t", &[odd, at(1, &[])]);
        assert!(heat.columns[0].is_bad && !heat.columns[1].is_bad);
        assert_eq!(heat.columns[1].levels, [0; BINS]);
        assert_eq!(Heat::new("t", &[]).columns, []);
    }

    #[test]
    fn a_newest_histogram_without_finite_values_is_counted() {
        let mut lost = at(4, &[]);
        lost.nan = 36;
        let heat = Heat::new("t", &[at(0, &[(0.0, 1.0, 36.0)]), lost.clone()]);
        let expected = NotFinite {
            step: 4,
            nan: 36,
            inf: 0,
        };
        assert_eq!(heat.not_finite, Some(expected));
        assert_eq!(heat.last_filled(), Some(0));
        assert_eq!(Heat::new("t", &[lost]).last_filled(), None);
        assert_eq!(Heat::new("t", &[at(4, &[])]).not_finite, None);
    }
}
