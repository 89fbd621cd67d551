//! Tensors in the memory of a training that waits: one more source of elements.

use std::cmp::Ordering;

use trainscope_api::error::ErrorCode;
use trainscope_api::sessions::{SessionItems, SessionItemsQuery};
use trainscope_api::tensors::{Axis, Slice, TensorPlace, TensorQuery, TensorSource, TensorValues};
use trainscope_format::Stretch;
use trainscope_format::formats::tensor_file::StoredTensor;
use trainscope_format::session::{
    FailureCode, MAX_BINARY_BYTES, SessionItem, SliceHead, ToTraining,
};

use super::entry::Reply;
use super::registry::{SessionError, Sessions};
use crate::index::{Index, ReadError};
use crate::queries::error::Failure;
use crate::tensor_files::stored::{ReadableTensor, elements};
use crate::tensors::find::{OpenTensor, Steps, TensorError};
use crate::tensors::values;

/// Maximum size of a tensor that is copied as a whole from the memory of a training, in bytes.
const MAX_COPY_BYTES: u64 = 256 << 20;

/// Names of tensors that a rank shows at its gate.
pub(crate) fn tensors(
    sessions: &Sessions,
    query: &SessionItemsQuery,
) -> Result<SessionItems, SessionError> {
    items(sessions, query, |id| ToTraining::List {
        id,
        pattern: query.pattern.clone(),
        offset: query.offset,
    })
}

/// Names of nodes at which a rank can wait.
pub(crate) fn nodes(
    sessions: &Sessions,
    query: &SessionItemsQuery,
) -> Result<SessionItems, SessionError> {
    items(sessions, query, |id| ToTraining::Nodes {
        id,
        pattern: query.pattern.clone(),
        offset: query.offset,
    })
}

fn items(
    sessions: &Sessions,
    query: &SessionItemsQuery,
    question: impl FnOnce(u64) -> ToTraining,
) -> Result<SessionItems, SessionError> {
    match sessions.ask(&query.session, query.rank, question)? {
        Reply::Items(list) => Ok(SessionItems {
            items: list.items,
            cut: list.cut,
        }),
        _ => Err(wrong_answer()),
    }
}

fn wrong_answer() -> SessionError {
    SessionError::Failed(
        FailureCode::Unknown,
        "the training gave an answer to another question".to_owned(),
    )
}

/// Elements of a slice of a tensor in memory, with recorded ones if the query compares.
pub(crate) fn values(
    sessions: &Sessions,
    index: &Index,
    session: &str,
    query: &TensorQuery,
) -> Result<(TensorValues, Vec<u8>), Failure> {
    let item = item(sessions, session, query)?;
    let window = values::window_of(query, &item.shape)?;
    let (head, bytes) = read(sessions, session, query, ranges(&window.0))?;
    let place = place(index, query, &head, item.shape)?;
    let values = (elements(head.dtype, &bytes), bytes.len() as u64);
    let answer = values::beside(index, query, place, window, values)?;
    Ok((answer, bytes))
}

/// A copy of a whole tensor in memory.
pub(crate) fn open(
    sessions: &Sessions,
    index: &Index,
    session: &str,
    query: &TensorQuery,
) -> Result<OpenTensor, Failure> {
    let item = item(sessions, session, query)?;
    let size = item.dtype.map_or(1, |dtype| dtype.size_bytes() as u64);
    let len_bytes = item
        .shape
        .iter()
        .try_fold(size, |len, axis| len.checked_mul(*axis));
    if len_bytes.is_none_or(|len| len > MAX_COPY_BYTES) {
        let message = format!(
            "`{}` is too large: at most {} MiB of a training's memory are copied; ask for the values of a slice",
            query.tensor,
            MAX_COPY_BYTES >> 20
        );
        return Err(Failure::new(ErrorCode::TooLarge, message));
    }
    let mut copy = Vec::new();
    let mut head = None;
    for part in parts(&item.shape, size) {
        let (slice, bytes) = read(sessions, session, query, part)?;
        copy.extend_from_slice(&bytes);
        head = Some(slice);
    }
    let Some(head) = head else {
        return Err(wrong_answer().into());
    };
    let place = place(index, query, &head, item.shape)?;
    let tensor = StoredTensor {
        name: query.tensor.clone(),
        dtype: head.dtype,
        shape: place.shape.clone(),
        data: Stretch::default(),
        is_big_endian: false,
        is_column_major: false,
    };
    Ok(OpenTensor {
        stored: ReadableTensor::inline(tensor, copy),
        place,
    })
}

/// Ranges of parts of a tensor that fit into one message each, in the order of its elements.
fn parts(shape: &[u64], size: u64) -> Vec<Vec<(u64, u64)>> {
    let most = (MAX_BINARY_BYTES as u64 / size).max(1);
    // The axis that is cut: the elements of one of its indices fit into a message.
    let mut inner = 1;
    let mut cut = shape.len();
    while cut > 0 && inner * shape[cut - 1] <= most {
        cut -= 1;
        inner *= shape[cut];
    }
    let mut all = vec![Vec::new()];
    for (axis, len) in shape.iter().enumerate() {
        let stride = match (axis + 1).cmp(&cut) {
            Ordering::Less => 1,
            Ordering::Equal => (most / inner.max(1)).max(1),
            Ordering::Greater => (*len).max(1),
        };
        let starts = || (0..(*len).max(1)).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
        let longer = |before: &Vec<(u64, u64)>| {
            let prefix = before.clone();
            starts().map(move |from| {
                let range = (from, from.saturating_add(stride).min(*len));
                prefix.iter().copied().chain([range]).collect::<Vec<_>>()
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The entry of a tensor in the list of the training, which alone knows its shape.
fn item(
    sessions: &Sessions,
    session: &str,
    query: &TensorQuery,
) -> Result<SessionItem, SessionError> {
    let mut wanted = SessionItemsQuery {
        session: session.to_owned(),
        rank: query.rank,
        pattern: query.tensor.clone(),
        offset: 0,
    };
    loop {
        // Names that have this one as a part are listed too.
        let list = tensors(sessions, &wanted)?;
        let (len, cut) = (list.items.len() as u64, list.cut);
        let item = list
            .items
            .into_iter()
            .find(|item| item.name == query.tensor);
        if let Some(item) = item {
            if item.dtype.is_none() {
                let message = format!(
                    "`{}` was changed in place since its forward pass",
                    item.name
                );
                return Err(SessionError::Failed(FailureCode::Gone, message));
            }
            return Ok(item);
        }
        if !cut || len == 0 {
            let message = format!(
                "the training shows no tensor `{}` at this gate",
                query.tensor
            );
            return Err(SessionError::Failed(FailureCode::UnknownTensor, message));
        }
        wanted.offset += len;
    }
}

/// Place of a tensor in memory, with the last step at which its elements were recorded.
fn place(
    index: &Index,
    query: &TensorQuery,
    head: &SliceHead,
    shape: Vec<u64>,
) -> Result<TensorPlace, TensorError> {
    let recorded = match Steps::find(index, &query.run, &query.tensor, query.rank) {
        Ok(steps) => steps.before(head.step),
        // A training may show tensors that it does not record.
        Err(TensorError::Unknown(_) | TensorError::Read(ReadError::UnknownRun(_))) => None,
        Err(error) => return Err(error),
    };
    Ok(TensorPlace {
        step: head.step,
        rank: query.rank,
        source: Some(TensorSource::Session),
        file: String::new(),
        dtype: head.dtype.as_str().to_owned(),
        len_bytes: shape.iter().product::<u64>() * head.dtype.size_bytes() as u64,
        shape,
        previous_step: recorded,
        next_step: None,
    })
}

/// Ranges of a slice on all axes.
fn ranges(slice: &Slice) -> Vec<(u64, u64)> {
    let ranges = slice.axes.iter().map(|axis| match axis {
        Axis::At(at) => (*at, at + 1),
        Axis::Range(from, to) => (*from, *to),
    });
    ranges.collect()
}

fn read(
    sessions: &Sessions,
    session: &str,
    query: &TensorQuery,
    slice: Vec<(u64, u64)>,
) -> Result<(SliceHead, Vec<u8>), SessionError> {
    let question = |id| ToTraining::Read {
        id,
        tensor: query.tensor.clone(),
        slice,
    };
    match sessions.ask(session, query.rank, question)? {
        Reply::Slice(head, bytes) => {
            let wanted = head
                .shape
                .iter()
                .try_fold(head.dtype.size_bytes() as u64, |len, axis| {
                    len.checked_mul(*axis)
                });
            if wanted != Some(bytes.len() as u64) {
                return Err(wrong_answer());
            }
            Ok((head, bytes))
        }
        _ => Err(wrong_answer()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hold_each_element_once_in_order_and_fit_into_a_message() {
        let size = 1 << 20;
        for shape in [
            &[][..],
            &[3],
            &[100],
            &[2, 3],
            &[5, 4, 3],
            &[2, 2, 30],
            &[40, 1],
            &[0, 4],
        ] {
            let all = parts(shape, size);
            let mut elements: Vec<Vec<u64>> = Vec::new();
            for part in &all {
                let len: u64 = part.iter().map(|(from, to)| to - from).product();
                assert!(len * size <= MAX_BINARY_BYTES as u64, "{shape:?} {part:?}");
                let mut indices = vec![Vec::new()];
                for (from, to) in part {
                    let longer = |index: &Vec<u64>| {
                        let index = index.clone();
                        (*from..*to).map(move |at| [&index[..], &[at]].concat())
                    };
                    indices = indices.iter().flat_map(longer).collect();
                }
                elements.extend(indices);
            }
            let is_ascending = elements.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(is_ascending, "{shape:?}");
            assert_eq!(
                elements.len() as u64,
                shape.iter().product::<u64>(),
                "{shape:?}"
            );
        }
    }
}
