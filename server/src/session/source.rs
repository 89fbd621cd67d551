//! Tensors in the memory of a training that waits: one more source of elements.

use trainscope_api::sessions::{SessionItems, SessionItemsQuery};
use trainscope_api::tensors::{Axis, Slice, TensorPlace, TensorQuery, TensorSource, TensorValues};
use trainscope_format::session::{FailureCode, SliceHead, ToTraining};

use super::entry::Reply;
use super::registry::{SessionError, Sessions};
use crate::tensor_files::stored::elements;
use crate::tensors::values;

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

/// Elements of a slice of a tensor in memory.
pub(crate) fn values(
    sessions: &Sessions,
    session: &str,
    query: &TensorQuery,
) -> Result<(TensorValues, Vec<u8>), SessionError> {
    // The shape is known to the training only.
    let list = items(
        sessions,
        &SessionItemsQuery {
            session: session.to_owned(),
            rank: query.rank,
            ..SessionItemsQuery::default()
        },
        |id| ToTraining::List {
            id,
            pattern: query.tensor.clone(),
            offset: 0,
        },
    )?;
    let item = list.items.into_iter().find(|own| own.name == query.tensor);
    let unknown = || {
        let message = format!(
            "the training shows no tensor `{}` at this gate",
            query.tensor
        );
        SessionError::Failed(FailureCode::UnknownTensor, message)
    };
    let shape = item.ok_or_else(unknown)?.shape;
    let bad = |error: String| SessionError::Refused(error);
    let slice = match &query.slice {
        Some(text) => Slice::parse(text, &shape).map_err(bad)?,
        None => Slice::last_two(&shape),
    };
    if slice.free().len() > 2 {
        return Err(bad(format!(
            "the slice `{slice}` has {} ranges; at most two axes may be ranges, the others want an index",
            slice.free().len()
        )));
    }
    let (shown, cut) = values::window(&slice);
    let (head, bytes) = read(sessions, session, query, &shown)?;
    let place = TensorPlace {
        step: head.step,
        rank: query.rank,
        source: Some(TensorSource::Session),
        file: String::new(),
        dtype: head.dtype.as_str().to_owned(),
        len_bytes: shape.iter().product::<u64>() * head.dtype.size_bytes() as u64,
        shape,
        previous_step: None,
        next_step: None,
    };
    let answer = TensorValues {
        place,
        slice: shown.to_string(),
        cut,
        extent: shown.extent(),
        values: elements(head.dtype, &bytes),
        compared: None,
        read_bytes: bytes.len() as u64,
    };
    Ok((answer, bytes))
}

fn read(
    sessions: &Sessions,
    session: &str,
    query: &TensorQuery,
    slice: &Slice,
) -> Result<(SliceHead, Vec<u8>), SessionError> {
    let ranges = slice.axes.iter().map(|axis| match axis {
        Axis::At(at) => (*at, at + 1),
        Axis::Range(from, to) => (*from, *to),
    });
    let slice = ranges.collect();
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
