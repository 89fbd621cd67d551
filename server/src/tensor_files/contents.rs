//! Contents of the files of one step: tensors with the location of their values, and unreadable parts.

use std::sync::Arc;

use trainscope_format::{OpaqueTensor, Role, TensorSummary};

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
    pub(crate) name: String,
    /// Type of the operation that computed it; empty if unknown.
    pub(crate) op: String,
    pub(crate) role: Role,
    pub(crate) source: &'a TensorSource,
    pub(crate) content: Content,
}

/// Location of the values of a tensor.
#[derive(Clone)]
pub(crate) enum Content {
    /// In a file.
    At(Place),
    /// Nowhere: only this summary was recorded.
    Known(Box<TensorSummary>),
    /// In a file, with elements of an unsupported type.
    Opaque(OpaqueTensor),
}

/// Files of one step that hold tensors of the same names, and whose file names have no recognised step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedNames {
    /// Rank and step, set by [`Self::note`].
    pub(crate) rank: u32,
    pub(crate) step: i64,
    /// Number of the files.
    pub(crate) files: u64,
    /// Paths of the first files, relative to the walked folder.
    pub(crate) examples: Vec<Arc<str>>,
    /// A tensor in several of the files.
    pub(crate) tensor: String,
    /// Number of such tensors.
    pub(crate) tensors: u64,
}

impl SharedNames {
    /// Adds the first case of a rank to a list.
    pub(crate) fn note(self, rank: u32, step: i64, all: &mut Vec<Self>) {
        if all.iter().all(|known| known.rank != rank) {
            all.push(Self { rank, step, ..self });
        }
    }

    /// The note in English.
    pub(crate) fn sentence(&self) -> String {
        let more = match self.tensors - 1 {
            0 => String::new(),
            1 => " and 1 more tensor".to_owned(),
            more => format!(" and {more} more tensors"),
        };
        let dots = if self.files > self.examples.len() as u64 {
            ", …"
        } else {
            ""
        };
        format!(
            "{} files hold {}{more} at step {}: no step was recognized in their names; tensors are \
             shown under the names of their files ({}{dots})",
            self.files,
            self.tensor,
            self.step,
            self.examples.join(", ")
        )
    }
}
