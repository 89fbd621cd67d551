//! Uses of the tensors that a training shows at a gate, other than recording: a search for NaN, names, and elements.

use trainscope_format::session::{
    FailureCode, MAX_BINARY_BYTES, MAX_ITEMS, Place, SessionItem, SliceHead,
};
use trainscope_format::statistics::Role;
use trainscope_format::tensor::TensorStats;
use wildmatch::WildMatch;

use crate::tensor::TensorView;

/// Use of the tensors of one gate.
#[derive(Debug)]
pub(crate) enum Probe {
    /// One look at all gradients.
    Sentinel { is_finite: bool },
    /// Names.
    List {
        filter: Filter,
        offset: u64,
        items: Vec<SessionItem>,
        is_cut: bool,
    },
    /// Elements of one tensor.
    Read {
        id: u64,
        step: i64,
        name: String,
        slice: Vec<(u64, u64)>,
        answer: Result<(SliceHead, Vec<u8>), (FailureCode, String)>,
    },
}

/// Selection of names: a pattern with `*`, or a part of the name.
#[derive(Debug)]
pub(crate) struct Filter(Option<WildMatch>);

impl Filter {
    pub(crate) fn of(pattern: &str) -> Self {
        if pattern.is_empty() {
            return Self(None);
        }
        let has_star = pattern.contains(['*', '?']);
        let pattern = if has_star {
            WildMatch::new(pattern)
        } else {
            WildMatch::new(&format!("*{pattern}*"))
        };
        Self(Some(pattern))
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|pattern| pattern.matches(name))
    }
}

impl Probe {
    pub(crate) fn list(pattern: &str, offset: u64) -> Self {
        Self::List {
            filter: Filter::of(pattern),
            offset,
            items: Vec::new(),
            is_cut: false,
        }
    }

    pub(crate) fn read(id: u64, step: i64, name: String, slice: Vec<(u64, u64)>) -> Self {
        let message = format!("the training shows no tensor {name:?} at this gate");
        Self::Read {
            id,
            step,
            name,
            slice,
            answer: Err((FailureCode::UnknownTensor, message)),
        }
    }

    /// `true` if it uses a tensor of this name.
    pub(crate) fn wants(&self, name: &str) -> bool {
        match self {
            Self::Sentinel { is_finite } => *is_finite,
            Self::List { filter, .. } => filter.matches(name),
            Self::Read { name: wanted, .. } => wanted == name,
        }
    }

    /// Notes a tensor whose elements were changed in place since it was made.
    pub(crate) fn changed(&mut self, name: &str) {
        if self.wants(name) {
            self.add(SessionItem {
                name: name.to_owned(),
                role: Role::Activation,
                dtype: None,
                shape: Vec::new(),
                place: None,
            });
        }
    }

    fn add(&mut self, item: SessionItem) {
        let Self::List {
            offset,
            items,
            is_cut,
            ..
        } = self
        else {
            return;
        };
        if *offset > 0 {
            *offset -= 1;
        } else if items.len() >= MAX_ITEMS {
            *is_cut = true;
        } else {
            items.push(item);
        }
    }

    pub(crate) fn tensor(&mut self, name: &str, role: Role, view: &TensorView<'_>) {
        if !self.wants(name) {
            return;
        }
        match self {
            Self::Sentinel { is_finite } => {
                if role == Role::Gradient
                    && let Some(bytes) = view.elements_in_any_order()
                {
                    let stats = TensorStats::of(view.dtype(), &bytes);
                    *is_finite &= stats.nan + stats.pos_inf + stats.neg_inf == 0;
                }
            }
            Self::List { .. } => self.add(SessionItem {
                name: name.to_owned(),
                role,
                dtype: Some(view.dtype()),
                shape: view.file_shape(),
                place: (role == Role::Gradient).then_some(Place::BeforeUpdate),
            }),
            Self::Read {
                id,
                step,
                slice,
                answer,
                ..
            } => {
                *answer = elements(view, slice).map(|(shape, bytes)| {
                    let head = SliceHead {
                        id: *id,
                        dtype: view.dtype(),
                        shape,
                        full_shape: view.file_shape(),
                        len_bytes: bytes.len() as u64,
                        step: *step,
                    };
                    (head, bytes)
                });
            }
        }
    }
}

/// Shape and bytes of a slice in row-major order.
fn elements(
    view: &TensorView<'_>,
    slice: &[(u64, u64)],
) -> Result<(Vec<u64>, Vec<u8>), (FailureCode, String)> {
    let full = view.file_shape();
    let whole: Vec<(u64, u64)> = full.iter().map(|size| (0, *size)).collect();
    let slice = if slice.is_empty() { &whole } else { slice };
    let fits = slice.len() == full.len()
        && slice
            .iter()
            .zip(&full)
            .all(|((begin, end), size)| begin <= end && end <= size);
    if !fits {
        let message = format!("the slice {slice:?} is not within the shape {full:?}");
        return Err((FailureCode::UnknownTensor, message));
    }
    let shape: Vec<u64> = slice.iter().map(|(begin, end)| end - begin).collect();
    let size = view.dtype().size_bytes();
    let len_bytes = shape
        .iter()
        .try_fold(size as u64, |len, axis| len.checked_mul(*axis));
    let most = MAX_BINARY_BYTES as u64;
    let Some(len_bytes) = len_bytes.filter(|len| *len <= most) else {
        let message = format!("the slice has more than {MAX_BINARY_BYTES} bytes");
        return Err((FailureCode::TooLarge, message));
    };
    let unreadable = || {
        let message = "shape, strides and elements do not match".to_owned();
        (FailureCode::Gone, message)
    };
    let bytes = view.elements().ok_or_else(unreadable)?;
    if slice == whole.as_slice() {
        return Ok((shape, bytes.into_owned()));
    }
    let mut out = Vec::with_capacity(usize::try_from(len_bytes).unwrap_or(0));
    if len_bytes > 0 {
        copy_rows(&bytes, &full, slice, size, 0, &mut out).ok_or_else(unreadable)?;
    }
    Ok((shape, out))
}

/// Appends the elements of a slice below an element offset; `None` if they are out of range.
fn copy_rows(
    bytes: &[u8],
    full: &[u64],
    slice: &[(u64, u64)],
    size: usize,
    offset: usize,
    out: &mut Vec<u8>,
) -> Option<()> {
    let (Some((axis, full)), Some(((begin, end), slice))) =
        (full.split_first(), slice.split_first())
    else {
        let from = offset.checked_mul(size)?;
        out.extend_from_slice(bytes.get(from..from.checked_add(size)?)?);
        return Some(());
    };
    let (axis, begin, end) = (
        usize::try_from(*axis).ok()?,
        usize::try_from(*begin).ok()?,
        usize::try_from(*end).ok()?,
    );
    let offset = offset.checked_mul(axis)?;
    if full.is_empty() {
        let from = offset.checked_add(begin)?.checked_mul(size)?;
        let to = offset.checked_add(end)?.checked_mul(size)?;
        out.extend_from_slice(bytes.get(from..to)?);
        return Some(());
    }
    for index in begin..end {
        copy_rows(bytes, full, slice, size, offset.checked_add(index)?, out)?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use trainscope_format::session::FailureCode;

    use super::{Filter, elements};
    use crate::tensor::TensorView;

    #[test]
    fn slices_are_exact() {
        let values: Vec<u8> = (0..24).collect();
        let view = TensorView::of(&values, &[2, 3, 4]);
        for (slice, shape, wanted) in [
            (vec![], vec![2, 3, 4], (0..24).collect::<Vec<u8>>()),
            (
                vec![(1, 2), (0, 3), (0, 4)],
                vec![1, 3, 4],
                (12..24).collect(),
            ),
            (
                vec![(0, 2), (1, 2), (2, 4)],
                vec![2, 1, 2],
                vec![6, 7, 18, 19],
            ),
            (vec![(0, 1), (1, 1), (0, 4)], vec![1, 0, 4], vec![]),
        ] {
            assert_eq!(elements(&view, &slice), Ok((shape, wanted)), "{slice:?}");
        }
        let scalar = 7_u8;
        let seen = elements(&TensorView::from(&scalar), &[]);
        assert_eq!(seen, Ok((vec![], vec![7])));
        for slice in [
            vec![(0, 1)],
            vec![(0, 3), (0, 3), (0, 4)],
            vec![(2, 1), (0, 3), (0, 4)],
        ] {
            let code = elements(&view, &slice).unwrap_err().0;
            assert_eq!(code, FailureCode::UnknownTensor, "{slice:?}");
        }
        let large = vec![0_u8; (8 << 20) + 1];
        let view = [large.len()];
        let code = elements(&TensorView::of(&large, &view), &[]).unwrap_err().0;
        assert_eq!(code, FailureCode::TooLarge);
    }

    #[test]
    fn names_match_by_part_or_pattern() {
        for (pattern, name, wanted) in [
            ("", "a", true),
            ("fc", "net.fc1", true),
            ("fc*", "net.fc1", false),
            ("*.fc?", "net.fc1", true),
        ] {
            assert_eq!(
                Filter::of(pattern).matches(name),
                wanted,
                "{pattern} {name}"
            );
        }
    }
}
