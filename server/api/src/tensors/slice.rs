//! Slices of a tensor in the notation of `NumPy`: `17, 3, 48:70, :`.

use std::fmt;

/// Part of one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One index, which removes the axis.
    At(u64),
    /// A range from the first index up to, but excluding, the second.
    Range(u64, u64),
}

impl Axis {
    /// First index.
    pub const fn start(self) -> u64 {
        match self {
            Self::At(at) => at,
            Self::Range(from, _) => from,
        }
    }

    /// Number of indices.
    pub const fn len(self) -> u64 {
        match self {
            Self::At(_) => 1,
            Self::Range(from, to) => to.saturating_sub(from),
        }
    }

    /// `true` if it holds no index.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// `true` if the axis is kept.
    pub const fn is_range(self) -> bool {
        matches!(self, Self::Range(..))
    }
}

/// Part of a tensor: one entry per axis of its shape, all within bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Axes, outermost first.
    pub axes: Vec<Axis>,
}

impl Slice {
    /// Slice of a whole tensor.
    pub fn whole(shape: &[u64]) -> Self {
        Self {
            axes: shape.iter().map(|&len| Axis::Range(0, len)).collect(),
        }
    }

    /// Slice of the last two axes, at the first index of the others. An empty axis is kept.
    pub fn last_two(shape: &[u64]) -> Self {
        let fixed = shape.len().saturating_sub(2);
        let axes = shape.iter().enumerate();
        let axes = axes.map(|(axis, &len)| {
            if axis < fixed && len > 0 {
                Axis::At(0)
            } else {
                Axis::Range(0, len)
            }
        });
        Self {
            axes: axes.collect(),
        }
    }

    /// Parses a slice; axes left out at the end are taken whole. The error is a sentence for people.
    pub fn parse(text: &str, shape: &[u64]) -> Result<Self, String> {
        let text = text.trim().trim_start_matches('[').trim_end_matches(']');
        let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
        parts.pop_if(|last| last.is_empty());
        let mut dots = parts.iter().enumerate().filter(|(_, part)| **part == "...");
        if let Some((at, _)) = dots.next() {
            if dots.next().is_some() {
                return Err(format!("the slice `{text}` has `...` twice"));
            }
            let missing = shape.len().saturating_sub(parts.len() - 1);
            parts.splice(at..=at, std::iter::repeat_n(":", missing));
        }
        if parts.len() > shape.len() {
            return Err(format!(
                "the slice `{text}` has {} axes and the tensor has {}",
                parts.len(),
                shape.len()
            ));
        }
        parts.resize(shape.len(), ":");
        let axes = parts.iter().zip(shape).enumerate();
        let axes = axes.map(|(axis, (part, &len))| {
            one(part, len).map_err(|what| format!("axis {axis} of the slice `{text}` {what}"))
        });
        Ok(Self {
            axes: axes.collect::<Result<_, _>>()?,
        })
    }

    /// Lengths of the axes that are ranges.
    pub fn extent(&self) -> Vec<u64> {
        let ranges = self.axes.iter().filter(|axis| axis.is_range());
        ranges.map(|axis| axis.len()).collect()
    }

    /// Number of elements, saturating at `u64::MAX`.
    pub fn len(&self) -> u64 {
        let lens = self.axes.iter().map(|axis| axis.len());
        if lens.clone().any(|len| len == 0) {
            return 0;
        }
        lens.fold(1, u64::saturating_mul)
    }

    /// `true` if it holds no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Indices of the axes that are ranges.
    pub fn free(&self) -> Vec<usize> {
        let axes = self.axes.iter().enumerate();
        axes.filter_map(|(at, axis)| axis.is_range().then_some(at))
            .collect()
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, axis) in self.axes.iter().enumerate() {
            if number > 0 {
                f.write_str(",")?;
            }
            match axis {
                Axis::At(at) => write!(f, "{at}")?,
                Axis::Range(from, to) => write!(f, "{from}:{to}")?,
            }
        }
        Ok(())
    }
}

/// Parses one axis of length `len`. The error begins with a verb.
fn one(part: &str, len: u64) -> Result<Axis, String> {
    let number = |text: &str| -> Result<i128, String> {
        // `i64` is enough for any index that fits into memory.
        let number: i128 = text
            .trim()
            .parse::<i64>()
            .map_err(|_| format!("is `{part}`, which is neither an index nor a range"))?
            .into();
        Ok(if number < 0 {
            number + i128::from(len)
        } else {
            number
        })
    };
    let bound = |text: &str, otherwise: u64| -> Result<u64, String> {
        if text.trim().is_empty() {
            return Ok(otherwise);
        }
        // As in NumPy, a range ends where its axis does.
        let clamped = number(text)?.clamp(0, i128::from(len));
        Ok(u64::try_from(clamped).unwrap_or(otherwise))
    };
    match part.split_once(':') {
        Some((_, to)) if to.contains(':') => Err(format!(
            "is `{part}`: every index of a range is read, so a stride is not understood"
        )),
        Some((from, to)) => {
            let from = bound(from, 0)?;
            Ok(Axis::Range(from, bound(to, len)?.max(from)))
        }
        None => match u64::try_from(number(part)?) {
            Ok(at) if at < len => Ok(Axis::At(at)),
            _ => Err(format!("is {part}, and it has {len} indices")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Slice;

    #[test]
    fn as_numpy_reads_them() {
        for (text, shape, written, len) in [
            (
                "17, 3, 48:70, :",
                &[64, 8, 128, 100][..],
                "17,3,48:70,0:100",
                2200,
            ),
            ("", &[2, 3], "0:2,0:3", 6),
            ("", &[], "", 1),
            ("-1", &[5, 2], "4,0:2", 2),
            ("..., 0", &[5, 4, 3], "0:5,0:4,0", 20),
            ("1, ...", &[5, 4, 3], "1,0:4,0:3", 12),
            ("...", &[3], "0:3", 3),
            ("[-3:-1]", &[10], "7:9", 2),
            ("5:3", &[10], "5:5", 0),
            ("5:100", &[10], "5:10", 5),
            (":", &[0], "0:0", 0),
        ] {
            let slice = Slice::parse(text, shape).unwrap();
            assert_eq!(slice.to_string(), written, "{text}");
            assert_eq!(slice.len(), len, "{text}");
            assert_eq!(Slice::parse(written, shape), Ok(slice));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, shape, says) in [
            (
                "5",
                &[5][..],
                "axis 0 of the slice `5` is 5, and it has 5 indices",
            ),
            ("-6", &[5], "it has 5 indices"),
            ("0", &[0], "it has 0 indices"),
            ("x", &[5], "neither an index nor a range"),
            ("0:5:2", &[5], "a stride is not understood"),
            ("1,2", &[5], "has 2 axes and the tensor has 1"),
            ("0", &[], "has 1 axes and the tensor has 0"),
            ("...,...", &[5], "twice"),
            ("99999999999999999999", &[5], "neither an index nor a range"),
        ] {
            let error = Slice::parse(text, shape).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_plane_to_begin_with() {
        let slice = |shape: &[u64]| Slice::last_two(shape).to_string();
        assert_eq!(slice(&[4, 3, 2, 5]), "0,0,0:2,0:5");
        assert_eq!(slice(&[7]), "0:7");
        assert_eq!(slice(&[]), "");
        assert_eq!(slice(&[0, 3, 2]), "0:0,0:3,0:2");
    }
}
