//! Lists the tensors of one step before any element is read: names, locations, and further content of the files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use trainscope_format::Role;

use super::contents::{Content, ListedTensor, Listing};
use super::dumps::{self, DumpGraphs};
use super::read::{Place, TensorReadError, safetensors_header};
use super::shared;
use crate::discovery::runs::{TensorKind, TensorSource};

/// Lists the files of a step; `graphs` are those of the rank.
pub(crate) fn list<'a>(sources: &'a [TensorSource], graphs: &DumpGraphs) -> Listing<'a> {
    let mut listing = Listing::default();
    let mut dumped: BTreeMap<u32, Vec<&TensorSource>> = BTreeMap::new();
    for source in sources {
        match &source.kind {
            TensorKind::Safetensors { prefix, .. } => listing.add_safetensors(source, prefix),
            TensorKind::Npy { name } | TensorKind::Constant { name } => {
                listing.tensors.push(ListedTensor {
                    name: name.as_str().into(),
                    op: Arc::default(),
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
                TensorReadError::Refused {
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
                name: format!("{prefix}{name}").into(),
                op: Arc::default(),
                role: Role::Other,
                source,
                content: Content::Opaque(tensor),
            });
        }
        let path: Arc<Path> = source.path.as_path().into();
        for mut tensor in header.tensors {
            self.tensors.push(ListedTensor {
                name: format!("{prefix}{}", std::mem::take(&mut tensor.name)).into(),
                op: Arc::default(),
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
