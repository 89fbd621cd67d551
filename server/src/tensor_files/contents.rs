//! Contents of the files of one step: tensors with the location of their values, and unreadable parts.

use std::sync::Arc;

use trainscope_api::findings::SharedNames;
use trainscope_format::formats::mindspore_dump::RowFigures;
use trainscope_format::{OpaqueTensor, Role};

use super::read::{Place, TensorReadError};
use crate::discovery::runs::TensorSource;

/// Contents of the files of one step of a rank.
#[derive(Default)]
pub(crate) struct Listing<'a> {
    /// Tensors in the order of the files.
    pub(crate) tensors: Vec<ListedTensor<'a>>,
    /// Modules in the order they ran forward; empty if the writer does not record it.
    pub(crate) execution_order: String,
    /// Operators that overflowed according to the device.
    pub(crate) overflows: Vec<String>,
    /// Reason why recorded overflows are unreadable.
    pub(crate) unread_overflows: Option<String>,
    /// Files, or parts of them, that cannot be read.
    pub(crate) faults: Vec<(&'a TensorSource, TensorReadError)>,
    /// Files that hold tensors of the same names, without a step in their names that distinguishes them.
    pub(crate) shared: Option<SharedNames>,
}

/// A tensor of a step.
pub(crate) struct ListedTensor<'a> {
    pub(crate) name: Arc<str>,
    /// Type of the operation that computed it; empty if unknown.
    pub(crate) op: Arc<str>,
    pub(crate) role: Role,
    pub(crate) source: &'a TensorSource,
    pub(crate) content: Content,
}

/// Location of the values of a tensor.
#[derive(Clone)]
pub(crate) enum Content {
    /// In a file.
    At(Place),
    /// Nowhere: only these figures were recorded.
    Known(RowFigures),
    /// In a file, with elements of an unsupported type.
    Opaque(OpaqueTensor),
}
