//! Elements of a slice, compared with those of another step, rank or run.

use trainscope_api::tensors::{
    Axis, Element, MAX_ELEMENTS, Slice, TensorComparison, TensorPlace, TensorQuery, TensorValues,
};
use trainscope_format::tensor::Tolerance;

use super::find::{OpenTensor, Steps, TensorError};
use crate::index::Index;
use crate::tensor_files::stored::elements;

/// Elements in the requested order, with the number of bytes read.
pub(crate) fn values(
    index: &Index,
    query: &TensorQuery,
) -> Result<(TensorValues, Vec<u8>), TensorError> {
    let opened = open(index, query)?;
    let window = window_of(query, &opened.stored.shape)?;
    let unread = |unread| TensorError::unread(&opened.place.file, unread);
    let (bytes, read_bytes) = opened.stored.read(&window.0).map_err(unread)?;
    let values = elements(opened.stored.dtype, &bytes);
    let answer = beside(index, query, opened.place, window, (values, read_bytes))?;
    Ok((answer, bytes))
}

/// The part of the requested slice that one answer holds; `true` if that leaves some elements out.
pub(crate) fn window_of(query: &TensorQuery, shape: &[u64]) -> Result<(Slice, bool), TensorError> {
    let slice = slice(query, shape)?;
    if slice.free().len() > 2 {
        return Err(TensorError::BadRequest(format!(
            "the slice `{slice}` has {} ranges; at most two axes may be ranges, the others want an index",
            slice.free().len()
        )));
    }
    Ok(window(&slice))
}

/// Elements of a window with those that they are compared with. `read_bytes` were read for the elements.
pub(crate) fn beside(
    index: &Index,
    query: &TensorQuery,
    place: TensorPlace,
    (shown, cut): (Slice, bool),
    (values, mut read_bytes): (Vec<Element>, u64),
) -> Result<TensorValues, TensorError> {
    let compared = match other(index, query, &place)? {
        None => None,
        Some((run, other)) => {
            let unread = |unread| TensorError::unread(&other.place.file, unread);
            let (bytes, read) = other.stored.read(&shown).map_err(unread)?;
            read_bytes += read;
            let others = elements(other.stored.dtype, &bytes);
            let (differences, beyond) = differences(&values, &others, tolerance(query));
            Some(TensorComparison {
                run,
                rank: other.place.rank,
                step: other.place.step,
                values: others,
                differences,
                beyond,
            })
        }
    };
    Ok(TensorValues {
        place,
        slice: shown.to_string(),
        cut,
        extent: shown.extent(),
        values,
        compared,
        read_bytes,
    })
}

pub(crate) fn open(index: &Index, query: &TensorQuery) -> Result<OpenTensor, TensorError> {
    let steps = Steps::find(index, &query.run, &query.tensor, query.rank)?;
    steps.open(steps.step(query.step)?, query.source)
}

pub(crate) fn slice(query: &TensorQuery, shape: &[u64]) -> Result<Slice, TensorError> {
    match &query.slice {
        Some(text) => Slice::parse(text, shape).map_err(TensorError::BadRequest),
        None => Ok(Slice::last_two(shape)),
    }
}

/// The requested slice, by default all elements.
pub(crate) fn slice_or_whole(query: &TensorQuery, shape: &[u64]) -> Result<Slice, TensorError> {
    match &query.slice {
        Some(_) => slice(query, shape),
        None => Ok(Slice::whole(shape)),
    }
}

pub(crate) fn tolerance(query: &TensorQuery) -> Tolerance {
    let usual = Tolerance::default();
    Tolerance {
        absolute: query.absolute.unwrap_or(usual.absolute),
        relative: query.relative.unwrap_or(usual.relative),
    }
}

/// Run and tensor of the comparison, if any.
pub(crate) fn other(
    index: &Index,
    query: &TensorQuery,
    place: &TensorPlace,
) -> Result<Option<(String, OpenTensor)>, TensorError> {
    let Some(compare) = &query.compare else {
        return Ok(None);
    };
    let not_understood = || {
        TensorError::BadRequest(format!(
            "`compare` is `{compare}`; it wants `previous`, `step:`, `rank:` or `run:` with a value behind it"
        ))
    };
    let (mut run, mut rank, mut step) = (&*query.run, query.rank, place.step);
    match compare.split_once(':') {
        None if compare == "previous" => match place.previous_step {
            Some(previous) => step = previous,
            None => {
                return Err(TensorError::Unknown(format!(
                    "step {step} is the first at which the values of `{}` were recorded",
                    query.tensor
                )));
            }
        },
        Some(("step", text)) => step = text.parse().map_err(|_| not_understood())?,
        Some(("rank", text)) => rank = text.parse().map_err(|_| not_understood())?,
        Some(("run", name)) => run = name,
        _ => return Err(not_understood()),
    }
    let steps = Steps::find(index, run, &query.tensor, rank)?;
    let other = steps.open(steps.step(Some(step))?, None)?;
    if other.stored.shape != place.shape {
        return Err(TensorError::BadRequest(format!(
            "shapes differ: {:?} here and {:?} there",
            place.shape, other.stored.shape
        )));
    }
    Ok(Some((run.to_owned(), other)))
}

/// Cuts a slice to the columns and then rows that one answer holds; true if that leaves some out.
fn window(slice: &Slice) -> (Slice, bool) {
    let mut shown = slice.clone();
    let mut most = MAX_ELEMENTS;
    for axis in shown.axes.iter_mut().rev() {
        if let Axis::Range(from, to) = axis {
            let len = (*to - *from).min(most.max(1));
            *to = *from + len;
            most /= len.max(1);
        }
    }
    let cut = shown != *slice;
    (shown, cut)
}

/// Differences of elements, and the number of those above the tolerance.
fn differences(
    values: &[Element],
    others: &[Element],
    tolerance: Tolerance,
) -> (Vec<Element>, u64) {
    let mut beyond = 0;
    let pairs = values.iter().zip(others);
    let differences = pairs.map(|(value, other)| {
        // Integers beyond 2^53 first, exactly.
        let integers = integer(value).zip(integer(other));
        let (difference, magnitude) = if let Some((a, b)) = integers {
            ((a - b) as f64, b as f64)
        } else {
            let (a, b) = (value.number(), other.number());
            if a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan() {
                return Element::Number(if a.is_nan() { f64::NAN } else { 0.0 });
            }
            (a - b, b)
        };
        let allowed = tolerance.absolute + tolerance.relative * magnitude.abs();
        let is_within = difference.abs() <= allowed && difference.is_finite();
        beyond += u64::from(!is_within);
        Element::Number(difference)
    });
    (differences.collect(), beyond)
}

fn integer(element: &Element) -> Option<i128> {
    match element {
        Element::Digits(digits) => digits.parse().ok(),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is an integer below 2^53"
        )]
        Element::Number(number)
            if number.fract().abs() < f64::MIN_POSITIVE && number.abs() < 9e15 =>
        {
            Some(*number as i128)
        }
        Element::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::tensors::{Element, Slice};
    use trainscope_format::tensor::Tolerance;

    use super::{differences, window};

    #[test]
    fn a_window_is_never_larger_than_an_answer() {
        for (text, shape, shown, is_cut) in [
            (":,:", &[10, 10][..], "0:10,0:10", false),
            (":,:", &[1_000_000, 100], "0:163,0:100", true),
            (":,:", &[100, 1_000_000], "0:1,0:16384", true),
            ("5:,5,:", &[9, 9, 20_000], "5:6,5,0:16384", true),
            (":", &[0], "0:0", false),
            (":,:", &[10, 0], "0:10,0:0", false),
        ] {
            let (window, cut) = window(&Slice::parse(text, shape).unwrap());
            assert_eq!(
                (window.to_string().as_str(), cut),
                (shown, is_cut),
                "{text}"
            );
        }
    }

    #[test]
    fn what_differs_by_more_than_the_tolerance() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let numbers = |numbers: &[f64]| -> Vec<Element> {
            numbers.iter().map(|n| Element::Number(*n)).collect()
        };
        let (found, beyond) = differences(
            &numbers(&[1.0, 1.0, inf, inf, nan, nan, 1.5, -0.0]),
            &numbers(&[1.0 + 1e-9, 2.0, inf, -inf, nan, 1.0, 1.25, 0.0]),
            Tolerance::default(),
        );
        let found: Vec<String> = found.iter().map(|e| format!("{:?}", e.number())).collect();
        assert_eq!(
            found[1..],
            ["-1.0", "0.0", "inf", "NaN", "NaN", "0.25", "0.0"]
        );
        assert_eq!(beyond, 4);
        let exact = |number: i64| vec![Element::from(number)];
        let (found, beyond) = differences(
            &exact(i64::MAX),
            &exact(i64::MAX - 1),
            Tolerance {
                absolute: 0.5,
                relative: 0.0,
            },
        );
        assert_eq!((found, beyond), (vec![Element::Number(1.0)], 1));
    }
}
