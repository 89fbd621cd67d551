//! Times of each part of a graph, from the spans of profiles that are named by nodes, or from operators of traces.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use rustc_hash::FxHashSet;
use trainscope_analysis::graph::names::Names;
use trainscope_analysis::graph::tree::{Tree, What};
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::operators::Operators;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_api::profile::OperatorGroup;
use trainscope_api::records::RecordsQuery;
use trainscope_format::{Body, Kind, Profile};

use crate::index::{Index, ReadError};

/// Time by item of the tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// Total nanoseconds over all steps.
    of_item: BTreeMap<usize, u64>,
    /// Operator of each item, if times come from operators.
    operators: BTreeMap<usize, String>,
    /// Profiled steps.
    steps: BTreeSet<i64>,
    /// Number of steps, if times come from operators.
    count: u64,
    /// Records read so far, by their location in a file.
    read: FxHashSet<String>,
}

impl Times {
    /// Reads the new profiles of a run and rank: all count.
    pub(crate) fn read_on(
        &mut self,
        index: &Index,
        run: &str,
        rank: u32,
        names: &Names,
    ) -> Result<(), ReadError> {
        let mut known = 0;
        let before = self.read.len();
        let tags = tags(index, run, rank)?;
        for (tag, _) in &tags {
            index.each_found(Kind::Profile, &query(run, tag, rank), |found| {
                let Body::Profile(source) = &found.body.body else {
                    return Ok(());
                };
                let id = found.body.blob_id(source.data);
                if self.read.contains(&id) {
                    known += 1;
                    return Ok(());
                }
                // A record that no longer decodes belongs to a replaced file.
                if let Ok(profile) = Profile::read(&found.body.read(source.data)?) {
                    self.observe(&profile, names);
                }
                self.read.insert(id);
                Ok(())
            })?;
        }
        if known < before {
            // Some counted profiles are superseded or gone.
            *self = Self::default();
            return self.read_on(index, run, rank, names);
        }
        Ok(())
    }

    /// Mean time of a part per step, nanoseconds; `None` if no span has the name of a node in it. A scope with a span
    /// takes that time, not the sum of its nodes.
    pub(crate) fn mean(&self, tree: &Tree, inside: &Range<usize>) -> Option<u64> {
        let mut sum = None;
        let mut from = inside.start;
        while let Some((item, nanos)) = self.of_item.range(from..inside.end).next() {
            sum = Some(sum.unwrap_or(0_u64).saturating_add(*nanos));
            from = tree.items[*item].end.max(item + 1);
        }
        sum.map(|sum| sum / self.count.max(self.steps.len() as u64).max(1))
    }

    /// Self times of the operators of a trace that have names of nodes.
    pub(crate) fn of_operators(model: &Model, tree: &Tree, names: &Names) -> Self {
        let table = Operators::new(model).table(OperatorGroup::Name, StepRange::default());
        let mut times = Self {
            count: table.steps,
            ..Self::default()
        };
        for row in table.rows {
            // Names of other frameworks are those of functions, which many nodes call.
            let item = row.name.contains('/').then(|| names.find(&row.name));
            // The name of an operator that the graph lacks leads to its scope, which does not count.
            let is_node = |item: &usize| matches!(tree.items[*item].what, What::Node(_));
            if let Some(item) = item.flatten().filter(is_node) {
                let nanos = times.of_item.entry(item).or_default();
                *nanos = nanos.saturating_add(row.self_nanos.unsigned_abs());
                times.operators.entry(item).or_insert(row.name);
            }
        }
        times
    }

    /// The operator of an item.
    pub(crate) fn operator(&self, item: usize) -> Option<&str> {
        self.operators.get(&item).map(String::as_str)
    }

    fn observe(&mut self, profile: &Profile, names: &Names) {
        let mut known: HashMap<u32, Option<usize>> = HashMap::new();
        for span in &profile.spans {
            let item = *known.entry(span.name).or_insert_with(|| {
                let name = profile.names.get(span.name as usize)?;
                names.find(name)
            });
            self.steps.insert(span.step);
            if let Some(item) = item {
                let nanos = self.of_item.entry(item).or_default();
                *nanos = nanos.saturating_add(span.duration_nanos);
            }
        }
    }
}

/// Number of profiles: times from the same number are up to date.
pub(crate) fn profiles(index: &Index, run: &str, rank: u32) -> Result<u64, ReadError> {
    let mut profiles = 0;
    for (tag, _) in tags(index, run, rank)? {
        let query = RecordsQuery {
            points: Some(0),
            ..query(run, &tag, rank)
        };
        profiles += index
            .records(Kind::Profile, &query, |_| Ok(Some(())))?
            .total;
    }
    Ok(profiles)
}

fn tags(index: &Index, run: &str, rank: u32) -> Result<Vec<(std::sync::Arc<str>, u32)>, ReadError> {
    let mut tags = index.tags_of(run, Kind::Profile)?;
    tags.retain(|(_, other)| *other == rank);
    Ok(tags)
}

fn query(run: &str, tag: &str, rank: u32) -> RecordsQuery {
    RecordsQuery {
        run: run.to_owned(),
        tag: tag.to_owned(),
        rank,
        ..RecordsQuery::default()
    }
}

#[cfg(test)]
mod tests {
    use trainscope_format::Graph;
    use trainscope_format::graph::Node;
    use trainscope_format::trace::{
        Category, Lane, LaneKind, NONE, Slice, SliceClass, Trace, TraceFormat,
    };

    use super::*;

    /// Two steps of operators that take 10 ns each.
    fn model(names: &[&str]) -> Model {
        let mut trace = Trace::default();
        trace.head.format = TraceFormat::Mindspore;
        trace.lanes.push(Lane {
            thread: "0".to_owned(),
            kind: LaneKind::Host,
            ..Lane::default()
        });
        trace.categories.push(Category {
            name: "operator".to_owned(),
            class: SliceClass::Operator,
            ..Category::default()
        });
        for (begin, name) in (0..).zip(names.iter().chain(names)) {
            let name = trace.texts.intern(name);
            trace.slices.push(&Slice {
                begin: begin * 10,
                duration: 10,
                name,
                lane: 0,
                category: 0,
                link: NONE,
                detail: NONE,
                place: begin.unsigned_abs(),
            });
        }
        Model::new(trace)
    }

    #[test]
    fn operators_of_a_trace_are_nodes_of_the_same_name() {
        let [conv, relu] = ["Default/net/conv1/Conv2D-op3", "Default/net/relu/ReLU-op1"];
        let graph = Graph {
            nodes: [conv, relu]
                .map(|name| Node {
                    name: name.to_owned(),
                    op_type: "Op".to_owned(),
                    ..Node::default()
                })
                .to_vec(),
            ..Graph::default()
        };
        let tree = Tree::new(&graph);
        let names = Names::new(&graph, &tree);
        let of_scope = "Default/net/conv1/Cast-op9";
        let times = Times::of_operators(&model(&[conv, of_scope, "ReLU-op1"]), &tree, &names);
        let item = |name: &str| names.find(name).unwrap();
        let mean = |item: usize| times.mean(&tree, &(item..tree.items[item].end));
        assert_eq!(mean(item(conv)), Some(10), "a step, of two");
        assert_eq!(times.operator(item(conv)), Some(conv));
        assert_eq!(
            mean(item(relu)),
            None,
            "an operator without a scope may be any"
        );
        assert_eq!(
            mean(0),
            Some(10),
            "what the graph does not have is no time of a scope"
        );
    }
}
