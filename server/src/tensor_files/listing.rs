//! Lists what the files of one step hold, before any element is read: names, places, and what else they say.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use trainscope_format::{OpaqueTensor, Role, TensorSummary};

use super::dumps::{self, DumpGraphs};
use super::read::{Place, Unread, safetensors_header};
use super::shared::{self, SharedNames};
use crate::discovery::runs::{TensorKind, TensorSource};

/// What the files of a step of a rank hold.
#[derive(Default)]
pub(crate) struct Listing<'a> {
    /// In the order of the files.
    pub(crate) tensors: Vec<ListedTensor<'a>>,
    /// The modules in the order they ran forward, as the writer says; empty if it does not.
    pub(crate) execution_order: String,
    /// Operators that overflowed, as the device says.
    pub(crate) overflows: Vec<String>,
    /// Why overflows are not known, though the device recorded them.
    pub(crate) unread_overflows: Option<String>,
    /// What cannot be read.
    pub(crate) faults: Vec<(&'a TensorSource, Unread)>,
    /// Files that hold tensors of the same names, though no step in their names tells them apart.
    pub(crate) shared: Option<SharedNames>,
}

/// A tensor that is there.
pub(crate) struct ListedTensor<'a> {
    pub(crate) name: String,
    /// The operation that made it; empty if it is not known.
    pub(crate) op: String,
    pub(crate) role: Role,
    pub(crate) source: &'a TensorSource,
    pub(crate) content: Content,
}

/// Where the values of a tensor are.
#[derive(Clone)]
pub(crate) enum Content {
    /// In a file.
    At(Place),
    /// Nowhere: this is all that is known of them.
    Known(Box<TensorSummary>),
    /// In a file, as elements of a type that is not computed with.
    Opaque(OpaqueTensor),
}

/// Lists the files of a step; `graphs` are those of the rank.
pub(crate) fn list<'a>(sources: &'a [TensorSource], graphs: &DumpGraphs) -> Listing<'a> {
    let mut listing = Listing::default();
    let mut dumped: BTreeMap<u32, Vec<&TensorSource>> = BTreeMap::new();
    for source in sources {
        match &source.kind {
            TensorKind::Safetensors { prefix, .. } => listing.add_safetensors(source, prefix),
            TensorKind::Npy { name } | TensorKind::Constant { name } => {
                listing.tensors.push(ListedTensor {
                    name: name.clone(),
                    op: String::new(),
                    role: Role::Other,
                    source,
                    content: Content::At(Place {
                        path: source.path.as_path().into(),
                        tensor: None,
                        dtype: None,
                    }),
                });
            }
            TensorKind::Dumped { graph } => dumped.entry(*graph).or_default().push(source),
        }
    }
    for (graph, sources) in dumped {
        dumps::add_iteration(&mut listing, graph, &sources, graphs);
    }
    listing.shared = shared::tell_apart(&mut listing.tensors);
    listing
}

impl<'a> Listing<'a> {
    fn add_safetensors(&mut self, source: &'a TensorSource, prefix: &str) {
        let header = match safetensors_header(&source.path) {
            Ok(header) => header,
            Err(unread) => return self.faults.push((source, unread)),
        };
        let order = header
            .metadata
            .into_iter()
            .find(|(key, _)| key == "execution_order");
        if let Some((_, order)) = order {
            self.execution_order = order;
        }
        if let Some(refused) = header.refused.first() {
            let more = match header.refused.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more are not either"),
            };
            self.faults.push((
                source,
                Unread::Refused {
                    offset: refused.offset,
                    reason: format!(
                        "the tensor {} is not read: {}{more}",
                        refused.name, refused.reason
                    ),
                },
            ));
        }
        for (name, tensor) in header.opaque {
            self.tensors.push(ListedTensor {
                name: format!("{prefix}{name}"),
                op: String::new(),
                role: Role::Other,
                source,
                content: Content::Opaque(tensor),
            });
        }
        let path: Arc<Path> = source.path.as_path().into();
        for mut tensor in header.tensors {
            self.tensors.push(ListedTensor {
                name: format!("{prefix}{}", std::mem::take(&mut tensor.name)),
                op: String::new(),
                role: Role::Other,
                source,
                content: Content::At(Place {
                    path: Arc::clone(&path),
                    tensor: Some(tensor),
                    dtype: None,
                }),
            });
        }
    }
}
