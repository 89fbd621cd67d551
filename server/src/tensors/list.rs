//! The tensors of a run, filtered and bounded.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHasher};
use trainscope_analysis::watchpoint::role_of;
use trainscope_api::order::natural;
use trainscope_api::records::RecordsQuery;
use trainscope_api::tensors::{
    SourceSteps, TensorEntry, TensorIndex, TensorIndexQuery, TensorSource,
};
use trainscope_format::{Body, Format, Kind, OpaqueTensor, Role, TensorSummary};

use super::Memory;
use super::find::TensorError;
use crate::index::{Index, ReadError};
use crate::tensor_files::contents::Content;
use crate::tensor_files::read::TensorReadError;

/// Maximum number of cached forms; above it, the cache is cleared.
const MAX_FORMS: usize = 100_000;

/// A tensor before any of its data is read.
struct ListEntry {
    name: Arc<str>,
    role: Role,
    /// Number of steps, first and last step, by source and rank.
    steps: BTreeMap<(TensorSource, u32), (u64, i64, i64)>,
}

/// Type and shape of a tensor at its last step, each if its file has it.
#[derive(Clone, Default)]
struct Form {
    role: Role,
    dtype: Option<String>,
    shape: Option<Vec<u64>>,
}

/// Cached forms of recorded tensors by run, name, rank and step: they never change. Cloning is cheap.
#[derive(Clone, Default)]
pub(super) struct Forms(Arc<Mutex<FxHashMap<u64, Form>>>);

/// The tensors that match a query.
pub(crate) fn list(
    index: &Index,
    memory: &Memory,
    query: &TensorIndexQuery,
    limit: usize,
) -> Result<TensorIndex, TensorError> {
    let mut forms = Looking {
        index,
        run: &query.run,
        known: memory.forms.clone(),
        steps: FxHashMap::default(),
    };
    let all = known(&mut forms)?;
    let wanted = query.search.as_ref().map(|text| text.to_lowercase());
    let is_asked = |known: &&ListEntry| {
        wanted
            .as_ref()
            .is_none_or(|text| known.name.to_lowercase().contains(text))
            && query
                .rank
                .is_none_or(|rank| known.steps.keys().any(|(_, of)| *of == rank))
    };
    let asked: Vec<&ListEntry> = all.iter().filter(is_asked).collect();
    let mut answer = TensorIndex::default();
    for known in &asked {
        *answer.roles.entry(role_name(known.role)).or_default() += 1;
    }
    let of_role = |known: &&&ListEntry| query.role.is_none_or(|role| role == known.role);
    let asked = asked.iter().filter(of_role);
    answer.total = asked.clone().count() as u64;
    for known in asked.skip(query.from).take(limit) {
        answer.tensors.push(entry(&mut forms, known)?);
    }
    answer.cut = (answer.tensors.len() as u64) < answer.total;
    Ok(answer)
}

fn known(forms: &mut Looking<'_>) -> Result<Vec<ListEntry>, TensorError> {
    let (index, run) = (forms.index, forms.run);
    let mut all: Vec<ListEntry> = Vec::new();
    let mut by_name: FxHashMap<Arc<str>, usize> = FxHashMap::default();
    // Requested first: it is the error for an unknown run.
    let tags = index.tags(run)?;
    if let Some(recorded) = index.recording(run) {
        for tensor in &recorded.catalog().tensors {
            let mut steps = BTreeMap::new();
            for (&rank, listed) in &tensor.steps {
                for &(step, has_elements) in listed {
                    let source = if has_elements {
                        TensorSource::Dump
                    } else {
                        TensorSource::Statistics
                    };
                    let known = steps.entry((source, rank)).or_insert((0, step, step));
                    *known = (known.0 + 1, known.1.min(step), known.2.max(step));
                }
            }
            by_name.insert(Arc::clone(&tensor.name), all.len());
            all.push(ListEntry {
                name: Arc::clone(&tensor.name),
                role: tensor.role,
                steps,
            });
        }
    }
    let is_summary = index.has_format(run, Format::MindsporeSummary);
    for tag in tags.tags {
        let source = match tag.kind {
            Kind::Tensors if is_summary => TensorSource::Summary,
            Kind::Tensors => TensorSource::Tfevents,
            Kind::Statistics => TensorSource::Statistics,
            _ => continue,
        };
        let (Some(first), Some(last)) = (tag.first_step, tag.last_step) else {
            continue;
        };
        // A recorded role takes precedence over the name.
        let said = if tag.kind == Kind::Statistics {
            forms.recorded(tag.kind, &tag.tag, tag.rank, last)?.role
        } else {
            Role::Other
        };
        let at = *by_name.entry((*tag.tag).into()).or_insert_with_key(|name| {
            all.push(ListEntry {
                name: Arc::clone(name),
                role: role_of(said, name, ""),
                steps: BTreeMap::new(),
            });
            all.len() - 1
        });
        let known = &mut all[at];
        if said != Role::Other {
            known.role = said;
        }
        let steps = &mut known.steps;
        steps
            .entry((source, tag.rank))
            .or_insert((tag.points, first, last));
    }
    all.sort_by(|a, b| natural(&a.name, &b.name));
    Ok(all)
}

fn entry(forms: &mut Looking<'_>, known: &ListEntry) -> Result<TensorEntry, TensorError> {
    let mut sources: BTreeMap<TensorSource, SourceSteps> = BTreeMap::new();
    let mut ranks: Vec<u32> = known.steps.keys().map(|(_, rank)| *rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    for (&(source, _), &(steps, first_step, last_step)) in &known.steps {
        let all = sources.entry(source).or_insert(SourceSteps {
            source,
            steps,
            first_step,
            last_step,
        });
        all.steps = all.steps.max(steps);
        all.first_step = all.first_step.min(first_step);
        all.last_step = all.last_step.max(last_step);
    }
    let form = forms.of(known)?;
    Ok(TensorEntry {
        tensor: known.name.to_string(),
        role: known.role,
        ranks,
        dtype: form.dtype,
        shape: form.shape,
        sources: sources.into_values().collect(),
    })
}

/// Cached access to files and records for the form of tensors.
struct Looking<'a> {
    index: &'a Index,
    run: &'a str,
    known: Forms,
    /// Content of the files of a rank and step.
    steps: FxHashMap<(u32, i64), FxHashMap<Arc<str>, Content>>,
}

impl Looking<'_> {
    fn of(&mut self, known: &ListEntry) -> Result<Form, TensorError> {
        let Some((&(source, rank), &(_, _, last))) = known.steps.first_key_value() else {
            return Ok(Form::default());
        };
        let kind = match source {
            TensorSource::Summary | TensorSource::Tfevents => Kind::Tensors,
            TensorSource::Dump | TensorSource::Statistics | TensorSource::Session => {
                Kind::Statistics
            }
        };
        if kind == Kind::Statistics
            && let Some(recorded) = self.index.recording(self.run)
        {
            let step = self.steps.entry((rank, last));
            let step = step.or_insert_with(|| recorded.contents(rank, last));
            match step.get(&*known.name) {
                // An unreadable tensor is still listed; opening it returns the error.
                Some(Content::At(place)) => {
                    let form = match place.open() {
                        Ok((_, tensor)) => Some((tensor.dtype.as_str().to_owned(), tensor.shape)),
                        Err(TensorReadError::Opaque(opaque)) => Some((opaque.dtype, opaque.shape)),
                        Err(_) => None,
                    };
                    let (dtype, shape) = form.unzip();
                    return Ok(Form {
                        role: known.role,
                        dtype,
                        shape,
                    });
                }
                Some(Content::Opaque(opaque)) => return Ok(opaque_form(known.role, opaque)),
                Some(Content::Known(figures)) => return Ok(summary_form(&figures.summary())),
                None => {}
            }
        }
        self.recorded(kind, &known.name, rank, last)
    }

    /// Form from a record at a step.
    fn recorded(&self, kind: Kind, name: &str, rank: u32, step: i64) -> Result<Form, TensorError> {
        let mut hasher = FxHasher::default();
        (self.run, name, rank, step, kind).hash(&mut hasher);
        let key = hasher.finish();
        if let Some(form) = self.known.0.lock().get(&key) {
            return Ok(form.clone());
        }
        let query = RecordsQuery {
            run: self.run.to_owned(),
            tag: name.to_owned(),
            rank,
            from: Some(step),
            to: Some(step),
            points: Some(1),
            ..RecordsQuery::default()
        };
        let found = self.index.records(kind, &query, |found| {
            Ok(match found.body {
                Body::Tensor(tensor) => Some(Form {
                    role: Role::Other,
                    dtype: Some(tensor.dtype.as_str().to_owned()),
                    shape: Some(tensor.shape),
                }),
                Body::Opaque(opaque) => Some(opaque_form(Role::Other, &opaque)),
                Body::Statistics(summary) => Some(summary_form(&summary)),
                _ => None,
            })
        });
        let form = match found {
            Ok(found) => found
                .records
                .into_iter()
                .next_back()
                .map(|record| record.body),
            Err(storage @ ReadError::Storage(_)) => return Err(storage.into()),
            // It was removed in the meantime.
            Err(_) => None,
        };
        let form = form.unwrap_or_default();
        let mut known = self.known.0.lock();
        if known.len() >= MAX_FORMS {
            known.clear();
        }
        known.insert(key, form.clone());
        Ok(form)
    }
}

fn summary_form(summary: &TensorSummary) -> Form {
    Form {
        role: summary.role,
        dtype: Some(summary.dtype.as_str().to_owned()),
        shape: Some(summary.shape.clone()),
    }
}

fn opaque_form(role: Role, opaque: &OpaqueTensor) -> Form {
    Form {
        role,
        dtype: Some(opaque.dtype.clone()),
        shape: Some(opaque.shape.clone()),
    }
}

/// Name of a role in the API.
fn role_name(role: Role) -> String {
    let name = serde_json::to_value(role).ok();
    name.and_then(|name| Some(name.as_str()?.to_owned()))
        .unwrap_or_default()
}
