//! Scopes of slices: the modules around them, or the scope in the name of an operator of a graph.

use std::collections::HashMap;

use trainscope_format::trace::{Flow, NONE, TextId, Texts, TraceFormat};

use super::Model;

/// Prefix of the Python frames of modules.
const MODULE: &str = "nn.Module: ";
/// Maximum length of a scope in bytes; deeper modules belong to the scope that reaches it.
const MAX_BYTES: usize = 1_000;

/// Scope of each slice.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    texts: Texts,
    /// Scope of each slice; the empty one for slices outside of modules.
    slices: Vec<TextId>,
}

impl Scopes {
    /// Scopes of a model.
    pub fn new(model: &Model) -> Self {
        let mut texts = Texts::default();
        texts.intern("");
        let mut scopes = Self {
            texts,
            slices: vec![TextId(0); model.trace.slices.len()],
        };
        if model.trace.head.format == TraceFormat::Mindspore {
            scopes.by_names(model);
        } else {
            scopes.by_modules(model);
            scopes.follow_flows(model);
        }
        scopes
    }

    /// Number of the scope of a slice.
    pub fn id(&self, slice: u32) -> TextId {
        self.slices.get(slice as usize).copied().unwrap_or_default()
    }

    /// Text of a scope: modules from the outermost to the innermost, joined by `/`.
    pub fn text(&self, scope: TextId) -> &str {
        self.texts.get(scope)
    }

    fn by_names(&mut self, model: &Model) {
        let mut known: HashMap<TextId, TextId, foldhash::fast::RandomState> = HashMap::default();
        for (scope, name) in self.slices.iter_mut().zip(&model.trace.slices.names) {
            *scope = *known.entry(*name).or_insert_with(|| {
                let name = model.trace.texts.get(*name);
                self.texts
                    .intern(name.rsplit_once('/').map_or("", |(scope, _)| scope))
            });
        }
    }

    fn by_modules(&mut self, model: &Model) {
        let is_module: Vec<bool> = model
            .trace
            .texts
            .iter()
            .map(|name| name.starts_with(MODULE))
            .collect();
        if !is_module.contains(&true) {
            return;
        }
        let mut known: HashMap<(TextId, TextId), TextId, foldhash::fast::RandomState> =
            HashMap::default();
        for slice in 0..self.slices.len() {
            let parent = model.parents[slice] as usize;
            let outer = self.slices.get(parent).copied().unwrap_or_default();
            let name = model.trace.slices.names[slice];
            self.slices[slice] = if is_module.get(name.0 as usize) == Some(&true) {
                *known.entry((outer, name)).or_insert_with(|| {
                    let name = model.trace.texts.get(name);
                    joined(&mut self.texts, outer, name.trim_start_matches(MODULE))
                })
            } else {
                outer
            };
        }
    }

    /// Gives slices of the backward pass the scope of their forward slices.
    fn follow_flows(&mut self, model: &Model) {
        let Some(category) = model.trace.texts.find("fwdbwd") else {
            return;
        };
        let flows = model.trace.flows.iter();
        let flows: Vec<&Flow> = flows.filter(|flow| flow.category == category).collect();
        if flows.is_empty() || self.texts.len() < 2 {
            return;
        }
        let mut given = vec![NONE; self.slices.len()];
        for flow in flows {
            if let Some(given) = given.get_mut(flow.to as usize) {
                *given = self.id(flow.from).0;
            }
        }
        for slice in 0..given.len() {
            if given[slice] == NONE {
                let parent = model.parents[slice] as usize;
                given[slice] = given.get(parent).copied().unwrap_or(NONE);
            }
            if given[slice] != NONE {
                self.slices[slice] = TextId(given[slice]);
            }
        }
    }
}

fn joined(texts: &mut Texts, outer: TextId, name: &str) -> TextId {
    let text = texts.get(outer);
    if text.is_empty() {
        return texts.intern(name);
    }
    if text.len() + name.len() >= MAX_BYTES {
        return outer;
    }
    let text = format!("{text}/{name}");
    texts.intern(&text)
}
