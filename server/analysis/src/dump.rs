//! Joins the files of one iteration of a `MindSpore` dump with its graph: full names, and the tensors to judge.
//!
//! The input is the names of the files, the execution order of operators, and the graph, each if it exists. A file gets
//! the name of an operator of that graph, or keeps its name.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use trainscope_format::Graph;
use trainscope_format::formats::mindspore_dump::DumpedName;
use trainscope_format::graph::NodeKind;

/// A graph whose operators were dumped.
#[derive(Clone, Debug, Default)]
pub struct DumpedGraph {
    /// Full names of operators in execution order.
    order: Vec<String>,
    /// By [`key`] of the name.
    parameters: HashMap<String, String>,
    /// Indices into `order` by the last part of the name; `None` if it is ambiguous.
    by_last_part: HashMap<String, Option<usize>>,
    /// Indices into `order` by [`base`] of the [`key`].
    by_base: HashMap<String, Vec<usize>>,
}

/// A dumped tensor to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpedTensor {
    /// Index of its file.
    pub file: usize,
    /// The operator's full name, with `:1` and so on for outputs beyond the first; inputs end in `:input:0` and so on.
    pub name: Arc<str>,
}

impl DumpedGraph {
    /// Creates the names from the execution order, which may be empty, and the graph.
    pub fn new(order: Vec<String>, graph: Option<&Graph>) -> Self {
        let nodes = graph.map(|graph| &*graph.nodes).unwrap_or_default();
        let operations = nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Operation)
            .map(|node| node.name.clone());
        let order = if order.is_empty() {
            operations.collect()
        } else {
            order
        };
        let parameters = nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Parameter)
            .map(|node| (key(&node.name), node.name.clone()))
            .collect();
        let mut by_last_part = HashMap::new();
        let mut by_base: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, name) in order.iter().enumerate() {
            let last = name.rsplit('/').next().unwrap_or(name);
            by_last_part
                .entry(last.to_owned())
                .and_modify(|shared| *shared = None)
                .or_insert(Some(place));
            by_base
                .entry(base(&key(name)).to_owned())
                .or_default()
                .push(place);
        }
        Self {
            order,
            parameters,
            by_last_part,
            by_base,
        }
    }

    /// Full names of operators in execution order.
    pub fn order(&self) -> &[String] {
        &self.order
    }

    /// True if this graph changes weights, or if its order is unknown: one without gradients only evaluates.
    pub fn is_training(&self) -> bool {
        self.order.is_empty()
            || self
                .order
                .iter()
                .any(|name| name.starts_with("Gradients/") || name.contains("optimizer-"))
    }

    /// Names of the tensors of an iteration, in the order of the files. Inputs are copies of outputs: they are left
    /// out unless outputs are missing.
    pub fn tensors<'a>(
        &self,
        files: impl Iterator<Item = &'a DumpedName> + Clone,
    ) -> Vec<DumpedTensor> {
        let names = self.operators(files.clone());
        let is_output = |file: &DumpedName| !file.is_input && !is_parameter(file);
        let has_outputs = files.clone().any(is_output);
        let is_part = || {
            let outputs = names.iter().zip(files.clone());
            let outputs = outputs.filter(|(_, file)| is_output(file));
            let distinct: HashSet<&str> = outputs.map(|(name, _)| &**name).collect();
            distinct.len() < self.order.len()
        };
        let wants_inputs = !has_outputs || !self.order.is_empty() && is_part();
        let all = names.into_iter().zip(files).enumerate();
        let tensor = |(at, (name, file)): (usize, (Arc<str>, &DumpedName))| {
            let name = match (file.is_input, file.slot) {
                (true, _) if !wants_inputs => return None,
                (true, slot) => format!("{name}:input:{slot}").into(),
                (false, 0) => name,
                (false, slot) => format!("{name}:{slot}").into(),
            };
            Some(DumpedTensor { file: at, name })
        };
        all.filter_map(tensor).collect()
    }

    /// The full name of the operator of each file.
    fn operators<'a>(&self, files: impl Iterator<Item = &'a DumpedName> + Clone) -> Vec<Arc<str>> {
        // Operators of this iteration that differ in their number only, in execution order.
        let mut started: BTreeMap<&str, u64> = BTreeMap::new();
        let is_known = |file: &&DumpedName| {
            !is_parameter(file) && self.by_base.contains_key(base(&file.op_name))
        };
        for file in files.clone().filter(is_known) {
            let time = started.entry(&file.op_name).or_insert(file.time_micros);
            *time = file.time_micros.min(*time);
        }
        let mut alike: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
        for (&name, &time) in &started {
            alike.entry(base(name)).or_default().push((time, name));
        }
        // Position of each file among these operators.
        let mut place_of: HashMap<&str, usize> = HashMap::new();
        for operators in alike.values_mut() {
            operators.sort_unstable();
            let places = operators.iter().enumerate();
            place_of.extend(places.map(|(place, (_, name))| (*name, place)));
        }
        let full_name = |file: &DumpedName| {
            let name = &*file.op_name;
            if is_parameter(file) {
                return self.parameters.get(&key(name));
            }
            if let Some(Some(place)) = self.by_last_part.get(name) {
                return self.order.get(*place);
            }
            // Numbers in file names restart in each graph; their order is preserved.
            let (places, operators) = (self.by_base.get(base(name))?, alike.get(base(name))?);
            let at = *place_of.get(name)?;
            let place = places.get(at).filter(|_| places.len() == operators.len())?;
            self.order.get(*place)
        };
        let named = files.map(|file| match full_name(file) {
            Some(name) => name.as_str().into(),
            None => Arc::clone(&file.op_name),
        });
        named.collect()
    }
}

/// True for a parameter or input data.
fn is_parameter(file: &DumpedName) -> bool {
    &*file.op_type == "Parameter"
}

/// A name as in file names, which cannot contain `/`.
fn key(name: &str) -> String {
    name.replace(['/', '.'], "_")
}

/// A name without the number at its end: `…/Conv2D-op83` and `…/Conv2D-op0` are equal.
fn base(name: &str) -> &str {
    let without = name.trim_end_matches(|c: char| c.is_ascii_digit());
    without.strip_suffix("-op").unwrap_or(name)
}

/// The first source line outside of installed packages, from the lines of a node: file and line number. `MindSpore`
/// writes `In file <file>:<line>/ <code>/`, the innermost call first.
pub fn own_source(source: &str) -> Option<(&str, u32)> {
    let calls = source.lines().filter_map(|call| {
        let (_, place) = call.split_once("In file ")?;
        // The code after it may contain anything; the file name contains no colon followed by a number and a slash.
        place.match_indices(':').find_map(|(at, _)| {
            let (number, _) = place[at + 1..].split_once('/')?;
            Some((&place[..at], number.parse().ok()?))
        })
    });
    let is_own =
        |file: &str| !file.contains("/site-packages/") && !file.contains("/dist-packages/");
    calls.into_iter().find(|(file, _)| is_own(file))
}

#[cfg(test)]
mod tests {
    use super::{DumpedGraph, own_source};
    use trainscope_format::Graph;
    use trainscope_format::formats::mindspore_dump::{DumpedFile, DumpedName};
    use trainscope_format::graph::{Node, NodeKind};

    fn file(name: &str) -> DumpedName {
        match DumpedFile::of(&format!("{name}.DefaultFormat.npy")) {
            DumpedFile::Tensor(name) => name,
            other => panic!("{other:?}"),
        }
    }

    fn graph() -> Graph {
        let parameter = |name: &str| Node {
            name: name.to_owned(),
            kind: NodeKind::Parameter,
            ..Node::default()
        };
        Graph {
            nodes: vec![parameter("conv1.weight"), parameter("fc_1.bias")],
            ..Graph::default()
        }
    }

    fn order(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn names(graph: &DumpedGraph, files: &[DumpedName]) -> Vec<String> {
        let tensors = graph.tensors(files.iter()).into_iter();
        tensors.map(|tensor| tensor.name.to_string()).collect()
    }

    #[test]
    fn last_parts_and_parameters_get_their_full_names() {
        let known = DumpedGraph::new(
            order(&["Default/a/Conv2D-op1", "Gradients/Default/Split-op2"]),
            Some(&graph()),
        );
        assert!(known.is_training());
        let files = [
            file("Conv2D.Conv2D-op1.0.0.5.input.0"),
            file("Conv2D.Conv2D-op1.0.0.6.output.0"),
            file("Split.Split-op2.0.0.7.output.1"),
            file("Parameter.conv1.weight.0.0.9.output.0"),
            file("Parameter.fc_1_bias.0.0.9.output.0"),
            file("Parameter.learning_rate.0.0.9.output.0"),
        ];
        let wanted = [
            "Default/a/Conv2D-op1",
            "Gradients/Default/Split-op2:1",
            "conv1.weight",
            "fc_1.bias",
            "learning_rate",
        ];
        assert_eq!(names(&known, &files), wanted);
    }

    #[test]
    fn whole_names_are_matched_by_their_order_where_numbers_differ() {
        let known = DumpedGraph::new(
            order(&[
                "Default/opt/AddN-op6",
                "Default/b/Relu-op0",
                "Default/opt/AddN-op7",
            ]),
            None,
        );
        assert!(!known.is_training());
        // `-op6` is the second one here.
        let files = [
            file("AddN.Default_opt_AddN-op6.0.0.9.output.0"),
            file("AddN.Default_opt_AddN-op5.0.0.2.output.0"),
            file("Relu.Default_b_Relu-op1.0.0.3.output.0"),
            file("Other.Default_c_Other-op1.0.0.3.output.0"),
        ];
        let wanted = [
            "Default/opt/AddN-op7",
            "Default/opt/AddN-op6",
            "Default/b/Relu-op0",
            "Default_c_Other-op1",
        ];
        assert_eq!(names(&known, &files), wanted);
    }

    #[test]
    fn inputs_stand_in_for_outputs_that_are_missing() {
        let known = DumpedGraph::new(order(&["Default/A-op1", "Default/B-op2"]), None);
        let files = [
            file("B.B-op2.0.0.5.input.1"),
            file("B.B-op2.0.0.6.output.0"),
        ];
        assert_eq!(
            names(&known, &files),
            ["Default/B-op2:input:1", "Default/B-op2"]
        );
        assert_eq!(names(&DumpedGraph::default(), &files), ["B-op2"]);
        assert_eq!(
            names(&DumpedGraph::default(), &files[..1]),
            ["B-op2:input:1"]
        );
    }

    #[test]
    fn the_first_line_of_ones_own_is_found() {
        let source = "# In file /v/lib/python3.9/site-packages/mindspore/nn/conv.py:313/  output = f(x)/\n\
            # In file /home/me/train.py:95/    x = self.pool(a[1:2]/3)/\n\
            # In file /home/me/main.py:7/  main()/";
        assert_eq!(own_source(source), Some(("/home/me/train.py", 95)));
        assert_eq!(
            own_source("# In file C:\\me\\a.py:3/ x/"),
            Some(("C:\\me\\a.py", 3))
        );
        assert_eq!(own_source("nothing: 3/"), None);
        assert_eq!(own_source(""), None);
    }
}
