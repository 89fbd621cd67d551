//! History of a tensor: a few figures of each step, for comparison with later steps, other tensors and other ranks.

use super::observation::Observation;

/// Number of first steps, and of newest steps, to keep: those in between are judged only once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistoryLimit {
    pub(crate) first: usize,
    pub(crate) newest: usize,
    /// Scalars and hits are limited too.
    pub(crate) is_short: bool,
}

impl Default for HistoryLimit {
    fn default() -> Self {
        Self {
            first: 256,
            newest: 256,
            is_short: false,
        }
    }
}

impl HistoryLimit {
    /// Removes the steps after the first and before the newest ones, once there are twice as many of the latter.
    pub(crate) fn trim<T>(self, steps: &mut Vec<T>) {
        let Self { first, newest, .. } = self;
        if steps.len() >= first + 2 * newest {
            steps.drain(first..first + newest);
        }
    }
}

/// Added to mean |before| in the recorded ratio of an update: the default `epsilon` of `MindInsight`.
const EPSILON: f64 = 1e-9;
/// Spread of elements, relative to their size, below which they are equal: some ten times the rounding error of single
/// precision.
pub(crate) const ROUNDING: f64 = 1e-6;
/// Minimum number of samples for the state of a unit: one alone says nothing about others.
const MIN_SAMPLES: u64 = 2;
/// Mean |x| above which a unit of tanh or sigmoid is at its upper end, and maximum below which one of sigmoid is at its
/// lower end: chosen; the slope there is 2 % (tanh) or 4 % (sigmoid) of the largest.
const UPPER_END: f64 = 0.99;
const LOWER_END: f64 = 0.01;

/// Figures of a tensor at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Digest {
    pub(crate) step: i64,
    /// Content hash; 0 if unknown.
    pub(crate) hash: u64,
    pub(crate) count: u64,
    pub(crate) l2: f64,
    pub(crate) mean: f64,
    pub(crate) mean_abs: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) zero_share: f32,
    /// Share of non-zero elements below the smallest normal number of their type.
    pub(crate) subnormal_share: f32,
    /// Mean |change| divided by mean |before|; NaN if unknown.
    pub(crate) change_ratio: f32,
    /// Share of elements that changed by more than the tolerance; NaN if unknown.
    pub(crate) changed_share: f32,
    /// Share of units that are zero for every sample; NaN if unknown.
    pub(crate) idle_units: f32,
    /// Share of units that hardly depend on the sample and are saturated; NaN if unknown.
    pub(crate) stuck_units: f32,
    /// Share of units that are the same for every sample; NaN if unknown.
    pub(crate) constant_units: f32,
    pub(crate) nan: u64,
    pub(crate) neg_inf: u64,
    pub(crate) has_nan: bool,
    pub(crate) has_pos_inf: bool,
    pub(crate) has_neg_inf: bool,
}

impl Digest {
    pub(crate) fn of(seen: &Observation<'_>) -> Self {
        let summary = seen.summary;
        let stats = &summary.stats;
        let finite = stats.finite.unwrap_or_default();
        let change = summary.change.filter(|c| c.count == stats.count);
        let unchanged_share = change.map_or(f32::NAN, |c| share(c.changed, c.count));
        let units = Units::of(seen);
        Self {
            step: seen.step,
            hash: summary.hash.unwrap_or(0),
            count: stats.count,
            l2: finite.l2,
            mean: finite.mean,
            mean_abs: finite.mean_abs,
            min: finite.min,
            max: finite.max,
            zero_share: share(stats.zero, stats.count),
            subnormal_share: share(stats.subnormal, stats.negative + stats.positive),
            change_ratio: change
                .and_then(|c| c.mean_change_ratio(EPSILON))
                .map_or(f32::NAN, narrow),
            changed_share: unchanged_share,
            idle_units: units.idle,
            stuck_units: units.stuck,
            constant_units: units.constant,
            nan: stats.nan,
            neg_inf: stats.neg_inf,
            has_nan: stats.nan > 0,
            has_pos_inf: stats.pos_inf > 0,
            has_neg_inf: stats.neg_inf > 0,
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        !(self.has_nan || self.has_pos_inf || self.has_neg_inf)
    }

    pub(crate) fn abs_max(&self) -> f64 {
        self.min.abs().max(self.max.abs())
    }

    /// Share of elements that are −∞, in 0..=1.
    pub(crate) fn neg_inf_share(&self) -> f64 {
        self.neg_inf as f64 / self.count.max(1) as f64
    }

    /// True if every element is zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.count > 0 && self.zero_share >= 1.0
    }

    /// True if it is bit-identical to `before`; `None` if unknown.
    pub(crate) fn is_identical(&self, before: &Self) -> Option<bool> {
        (self.hash != 0 && before.hash != 0).then_some(self.hash == before.hash)
    }

    pub(crate) fn variance(&self) -> f64 {
        (self.l2 * self.l2 / self.count.max(1) as f64 - self.mean * self.mean).max(0.0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a share needs no more")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Ratio of part and whole; 0 for an empty whole.
pub(crate) fn share(part: u64, whole: u64) -> f32 {
    if whole == 0 {
        0.0
    } else {
        narrow(part as f64 / whole as f64)
    }
}

/// Shares of the units of a layer.
struct Units {
    idle: f32,
    stuck: f32,
    constant: f32,
}

impl Units {
    fn of(seen: &Observation<'_>) -> Self {
        let nothing = Self {
            idle: f32::NAN,
            stuck: f32::NAN,
            constant: f32::NAN,
        };
        let Some(channels) = seen.summary.channels.as_ref().filter(|c| !c.is_empty()) else {
            return nothing;
        };
        if channels.count < MIN_SAMPLES {
            return nothing;
        }
        let (mut idle, mut stuck, mut constant) = (0, 0, 0);
        let extremes = channels.min.iter().zip(&channels.max);
        for ((min, max), (zero, mean_abs)) in
            extremes.zip(channels.zero.iter().zip(&channels.mean_abs))
        {
            idle += u64::from(*zero == channels.count);
            constant += u64::from(max - min <= ROUNDING * mean_abs);
            // The ends of tanh are ±1, those of the logistic function 0 and 1; neither leaves [-1, 1].
            let is_bounded = *min >= -1.0 && *max <= 1.0;
            let at_an_end =
                *mean_abs > UPPER_END || (*min >= 0.0 && *max < LOWER_END && *max > 0.0);
            stuck += u64::from(is_bounded && at_an_end);
        }
        let of = |count| share(count, channels.len() as u64);
        Self {
            idle: of(idle),
            stuck: of(stuck),
            constant: of(constant),
        }
    }
}

/// Figures of a tensor by ascending step.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    digests: Vec<Digest>,
    /// Number of observed steps, including forgotten ones.
    pub(crate) seen: u64,
}

impl History {
    pub(crate) fn last(&self) -> Option<&Digest> {
        self.digests.last()
    }

    pub(crate) fn first(&self) -> Option<&Digest> {
        self.digests.first()
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Digest> {
        self.digests.iter()
    }

    /// Each step with the one before.
    pub(crate) fn pairs(&self) -> impl DoubleEndedIterator<Item = (&Digest, &Digest)> {
        self.digests.iter().zip(self.digests.iter().skip(1))
    }

    pub(crate) fn len(&self) -> usize {
        self.digests.len()
    }

    pub(crate) fn at(&self, step: i64) -> Option<&Digest> {
        let index = self.digests.binary_search_by_key(&step, |d| d.step).ok()?;
        self.digests.get(index)
    }

    pub(crate) fn at_with_before(&self, step: i64) -> Option<(&Digest, &Digest)> {
        let index = self.digests.binary_search_by_key(&step, |d| d.step).ok()?;
        Some((
            self.digests.get(index.checked_sub(1)?)?,
            self.digests.get(index)?,
        ))
    }

    /// Appends a step. An existing or earlier step replaces it and all later ones: the training was restarted there.
    pub(crate) fn push(&mut self, digest: Digest, limit: HistoryLimit) {
        if self.last().is_some_and(|last| last.step >= digest.step) {
            let keep = self.digests.partition_point(|d| d.step < digest.step);
            self.digests.truncate(keep);
        }
        limit.trim(&mut self.digests);
        if self.digests.is_empty() {
            // There may be millions of tensors of one step.
            self.digests.reserve_exact(1);
        } else if limit.is_short && self.digests.len() == self.digests.capacity() {
            // Doubling would allocate up to twice the limit.
            let most = limit.first + 2 * limit.newest;
            let len = self.digests.len();
            let more = most.saturating_sub(len).min(len.max(4)).max(1);
            self.digests.reserve_exact(more);
        }
        self.digests.push(digest);
        self.seen += 1;
    }
}
