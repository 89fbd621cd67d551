//! The system's clock, or one given by the program.
//!
//! The system's clock is read once; after that the elapsed time is added, so that setting the clock back does not
//! change the order of records.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Tolerated difference from the system's clock. If that is further ahead (after the machine slept), it is followed; if
/// it is further behind, the lag is reported.
const TOLERANCE_NANOS: i64 = 1_000_000_000;

/// A clock given by the program: seconds since 1970.
pub(crate) type CustomClock = Box<dyn Fn() -> f64 + Send + Sync>;

pub(crate) enum Clock {
    System {
        begun: Instant,
        /// Nanoseconds since 1970 at `begun`.
        anchor_nanos: AtomicI64,
        /// Greatest observed lag of the system's clock.
        behind_nanos: AtomicI64,
    },
    Custom(CustomClock),
}

impl Clock {
    pub(crate) fn system() -> Self {
        Self::System {
            begun: Instant::now(),
            anchor_nanos: AtomicI64::new(system_nanos()),
            behind_nanos: AtomicI64::new(0),
        }
    }

    /// Current time in nanoseconds since 1970.
    #[inline]
    pub(crate) fn nanos(&self) -> i64 {
        match self {
            Self::System {
                begun,
                anchor_nanos,
                ..
            } => anchor_nanos
                .load(Ordering::Relaxed)
                .saturating_add(nanos_since(*begun)),
            // Saturates; NaN is 0.
            #[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
            Self::Custom(secs) => (secs() * 1e9) as i64,
        }
    }

    /// Current time in seconds since 1970.
    #[inline]
    pub(crate) fn secs(&self) -> f64 {
        match self {
            Self::System { .. } => self.nanos() as f64 / 1e9,
            Self::Custom(secs) => secs(),
        }
    }

    /// Follows the system's clock if it is ahead, and records its lag if it is behind.
    pub(crate) fn compare(&self) {
        self.compare_with(system_nanos());
    }

    fn compare_with(&self, system_nanos: i64) {
        if let Self::System {
            anchor_nanos,
            behind_nanos,
            ..
        } = self
        {
            let ahead = system_nanos.saturating_sub(self.nanos());
            if ahead > TOLERANCE_NANOS {
                anchor_nanos.fetch_add(ahead, Ordering::Relaxed);
            } else if ahead < -TOLERANCE_NANOS {
                behind_nanos.fetch_max(-ahead, Ordering::Relaxed);
            }
        }
    }

    /// Greatest observed lag of the system's clock, in seconds.
    pub(crate) fn behind_secs(&self) -> f64 {
        match self {
            Self::System { behind_nanos, .. } => behind_nanos.load(Ordering::Relaxed) as f64 / 1e9,
            Self::Custom(_) => 0.0,
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System { .. } => "Clock::System",
            Self::Custom(_) => "Clock::Custom",
        })
    }
}

/// `as_nanos` counts in 128 bits, which takes three times as long.
#[inline]
fn nanos_since(begun: Instant) -> i64 {
    let passed = begun.elapsed();
    let secs = passed.as_secs().cast_signed();
    secs.saturating_mul(1_000_000_000)
        .saturating_add(i64::from(passed.subsec_nanos()))
}

fn system_nanos() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;

    #[test]
    fn a_clock_that_is_set_back_is_noticed_and_not_followed() {
        let clock = Clock::system();
        let before = clock.nanos();
        clock.compare_with(before - 3_600_000_000_000);
        assert!(clock.nanos() >= before);
        assert!((3_599.0..3_601.0).contains(&clock.behind_secs()));
    }

    #[test]
    fn a_clock_that_runs_ahead_is_followed() {
        let clock = Clock::system();
        let later = clock.nanos() + 3_600_000_000_000;
        clock.compare_with(later);
        assert!(clock.nanos() >= later);
        assert!(clock.behind_secs() < 0.5);
    }

    #[test]
    fn a_given_clock_may_say_anything() {
        for secs in [f64::NAN, f64::INFINITY, -1e300, 0.0] {
            let clock = Clock::Custom(Box::new(move || secs));
            assert_eq!(clock.secs().to_bits(), secs.to_bits());
            let _no_panic = clock.nanos();
        }
    }
}
