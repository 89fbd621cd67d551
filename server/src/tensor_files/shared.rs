//! Files of one step that hold tensors of the same names: distinguished by other parts of their names.

use std::ffi::OsStr;

use rustc_hash::{FxHashMap, FxHashSet};
use trainscope_api::findings::SharedNames;

use super::contents::ListedTensor;
use crate::discovery::names;
use crate::discovery::runs::{TensorKind, TensorSource};

/// Number of files named in a note.
const TOLD_FILES: usize = 3;

/// Prefixes the names of tensors with the difference of the file names, if several files hold one of the same name.
pub(super) fn tell_apart(tensors: &mut [ListedTensor<'_>]) -> Option<SharedNames> {
    let mut first: FxHashMap<&str, &TensorSource> = FxHashMap::default();
    let mut sources: Vec<&TensorSource> = Vec::new();
    let mut names: FxHashSet<&str> = FxHashSet::default();
    let mut example = "";
    for tensor in &*tensors {
        let kind = &tensor.source.kind;
        if matches!(
            kind,
            TensorKind::Dumped { .. } | TensorKind::Constant { .. }
        ) {
            continue;
        }
        let other = *first.entry(&tensor.name).or_insert(tensor.source);
        if !std::ptr::eq(other, tensor.source) {
            if names.is_empty() {
                example = &tensor.name;
            }
            names.insert(&tensor.name);
            sources.extend([other, tensor.source]);
        }
    }
    if names.is_empty() {
        return None;
    }
    sources.sort_by_key(|source| std::ptr::from_ref(*source));
    sources.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let has_step = |source: &&TensorSource| {
        matches!(source.kind, TensorKind::Safetensors { has_step: true, .. })
    };
    let shared = SharedNames {
        files: sources.len() as u64,
        examples: sources
            .iter()
            .take(TOLD_FILES)
            .map(|source| source.shown.to_string())
            .collect(),
        tensor: example.to_owned(),
        tensors: names.len() as u64,
        ..SharedNames::default()
    };
    let is_understood = sources.iter().all(has_step);
    let labels: FxHashMap<*const TensorSource, String> = sources
        .iter()
        .map(|source| std::ptr::from_ref(*source))
        .zip(labels(&sources))
        .collect();
    for tensor in tensors {
        if let Some(label) = labels.get(&std::ptr::from_ref(tensor.source)) {
            tensor.name = format!("{label}/{}", tensor.name).into();
        }
    }
    (!is_understood).then_some(shared)
}

/// A label for each file, the shortest kind that differs in all: its name without step, its folder, its path.
fn labels(sources: &[&TensorSource]) -> Vec<String> {
    let stem = |source: &TensorSource| match &source.kind {
        TensorKind::Safetensors { stem, .. } => stem.clone(),
        _ => String::new(),
    };
    let folder = |source: &TensorSource| {
        let folder = source.path.parent().and_then(|folder| folder.file_name());
        folder
            .and_then(OsStr::to_str)
            .unwrap_or_default()
            .to_owned()
    };
    let path = |source: &TensorSource| {
        let path = std::path::Path::new(&*source.shown).with_extension("");
        names::shown(&path)
    };
    let kinds: [&dyn Fn(&TensorSource) -> String; 2] = [&stem, &folder];
    let differ = |labels: &Vec<String>| {
        let distinct: FxHashSet<&str> = labels.iter().map(|label| &**label).collect();
        distinct.len() == labels.len() && !distinct.contains("")
    };
    let all = |label: &dyn Fn(&TensorSource) -> String| -> Vec<String> {
        sources.iter().map(|source| label(source)).collect()
    };
    let mut found = kinds.into_iter().map(all);
    found.find(differ).unwrap_or_else(|| all(&path))
}
