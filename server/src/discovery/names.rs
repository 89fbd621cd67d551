//! Run, rank, step and names of tensors, read from the path of a file.
//!
//! Writers of dumps use many layouts: `steps/step_00012.safetensors`, `steps/12/weight.fc1.npy`,
//! `checkpoint-500/model.safetensors`, `rank_1/dump/step_3.safetensors`, `rank_0/Net/0/12/….npy`.

use std::path::Path;

use trainscope_format::Format;
use trainscope_format::formats::mindspore_dump::DumpedFile;

use super::steps::step_of;

/// A tensor file, or a file that accompanies some.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The folder of its run, below the walked one.
    pub(super) run: Vec<String>,
    pub(super) rank: u32,
    pub(super) kind: PartKind,
}

/// Content of a [`Part`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    Safetensors {
        /// Step of its folder.
        above: Option<i64>,
        /// Name without extension and attempt: its step is found by comparison with the other files of the folder.
        stem: String,
        prefix: String,
        /// Number of the attempt at that step: a restarted training writes another file.
        attempt: u32,
    },
    Npy {
        step: i64,
        name: String,
    },
    /// A file in the folder of an iteration of `MindSpore`.
    Dumped {
        step: i64,
        graph: u32,
    },
    /// A constant of a `MindSpore` graph, which belongs to all steps.
    Constant {
        name: String,
    },
    /// Part of a dump that is reported elsewhere.
    Beside,
    /// The execution order of this graph.
    Order(u32),
    /// The graph with this number.
    Graph(u32),
}

/// Folder names that never form a separate run.
const TENSOR_PARTS: [&str; 6] = [
    "steps",
    "dump",
    "dumps",
    "tensors",
    "tensor_dump",
    "checkpoints",
];
/// Roles of tensors, as the first part of their names.
const ROLES: [&str; 12] = [
    "weight",
    "weights",
    "param",
    "grad",
    "gradient",
    "activation",
    "activation_grad",
    "buffer",
    "input",
    "output",
    "optimizer",
    "target",
];

/// Classifies a file by its name and the folders above it; `None` for files without tensors.
pub(super) fn part_of(folders: &[String], file_name: &str) -> Option<Part> {
    if let Some(part) = dump_of_mindspore(folders, file_name) {
        return Some(part);
    }
    // Copies of the content of summary files.
    if folders.iter().any(|name| is_export(name)) {
        return None;
    }
    let (stem, extension) = file_name.rsplit_once('.')?;
    let mut folders = folders.to_vec();
    let rank = take_rank(&mut folders).unwrap_or(0);
    let (run_len, above) = match folders.iter().rposition(|name| step_of(name).is_some()) {
        Some(at) => (at, step_of(&folders[at])),
        None => (folders.len(), None),
    };
    let inner = folders.get(run_len + 1..).unwrap_or_default().join("/");
    let run = |mut folders: Vec<String>| {
        folders.truncate(run_len);
        folders.pop_if(|name| TENSOR_PARTS.contains(&&**name));
        folders
    };
    let kind = match &*extension.to_ascii_lowercase() {
        // In the folder of a step, file names are tensor names. Without any number the file is a complete state.
        "safetensors" => {
            let (attempt, stem) = attempt_of(stem);
            PartKind::Safetensors {
                above,
                stem: stem.to_owned(),
                prefix: if inner.is_empty() {
                    inner
                } else {
                    format!("{inner}/")
                },
                attempt,
            }
        }
        "npy" => PartKind::Npy {
            step: above.unwrap_or(0),
            name: tensor_name(&inner, stem),
        },
        _ => return None,
    };
    Some(Part {
        run: run(folders),
        rank,
        kind,
    })
}

/// Removes the folders of a profile at the end of a path: they are parts of the run around them.
pub(super) fn take_profile(format: Format, folders: &mut Vec<String>) {
    if !matches!(format, Format::Queues(_) | Format::Trace(_)) {
        return;
    }
    // Those of MindSpore and Ascend, of torchtitan, and of torchtune.
    let is_iteration = |name: &String| {
        let number = name.strip_prefix("iteration_");
        number.is_some_and(|number| number.parse::<u64>().is_ok())
    };
    let is_begin = |name: &String| {
        name.starts_with("profiler")
            || name.starts_with("PROF_")
            || name.ends_with("_ascend_ms")
            || name.ends_with("_ascend_pt")
            || name == "profile_traces"
            || name == "profiling_outputs"
            || name == "memory_snapshot"
            || is_iteration(name)
    };
    if let Some(at) = folders.iter().position(is_begin) {
        folders.truncate(at);
    }
    let plugin = folders
        .windows(2)
        .position(|two| two[0] == "plugins" && two[1] == "profile");
    if let Some(at) = plugin {
        folders.truncate(at);
    }
}

/// Removes a rank folder from the path and returns the rank.
pub(super) fn take_rank(folders: &mut Vec<String>) -> Option<u32> {
    let rank_of = |name: &String| name.strip_prefix("rank_")?.parse().ok();
    let (at, rank) = folders
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, name)| Some((at, rank_of(name)?)))?;
    folders.remove(at);
    Some(rank)
}

/// The number of the attempt at a step, and the name without it: `step_attempt_2.step_100` is the second at step 100.
fn attempt_of(stem: &str) -> (u32, &str) {
    let again = stem
        .strip_prefix("step_attempt_")
        .and_then(|rest| rest.split_once('.'))
        .and_then(|(attempt, stem)| Some((attempt.parse().ok()?, stem)));
    again.unwrap_or((1, stem))
}

/// Name of a tensor: writers replace the `/` after the role in file names.
fn tensor_name(folders: &str, stem: &str) -> String {
    if !folders.is_empty() {
        return format!("{folders}/{stem}");
    }
    match stem.split_once('.') {
        Some((role, rest)) if ROLES.contains(&role) => format!("{role}/{rest}"),
        _ => stem.to_owned(),
    }
}

/// `rank_<r>/<net>/<graph>/<iteration>/<file>`, and its sibling folders.
fn dump_of_mindspore(folders: &[String], file_name: &str) -> Option<Part> {
    let at = folders
        .iter()
        .rposition(|name| name.strip_prefix("rank_").is_some_and(is_number))?;
    let rank = folders[at].strip_prefix("rank_")?.parse().ok()?;
    let number = |name: &str, before: &str, after: &str| -> Option<u32> {
        name.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
    };
    let kind = match &folders[at + 1..] {
        [net, graph, iteration]
            if is_number(graph) && is_number(iteration) && step_of(net).is_none() =>
        {
            PartKind::Dumped {
                step: iteration.parse().ok()?,
                graph: graph.parse().ok()?,
            }
        }
        [files, iteration] if files == "debug_files" && is_number(iteration) => PartKind::Dumped {
            step: iteration.parse().ok()?,
            graph: 0,
        },
        [order] if order == "execution_order" => {
            number(file_name, "ms_execution_order_graph_", ".csv")
                .map_or(PartKind::Beside, PartKind::Order)
        }
        [graphs] if graphs == "graphs" => number(file_name, "ms_output_trace_code_graph_", ".pb")
            .map_or(PartKind::Beside, PartKind::Graph),
        [net, graph, constants]
            if is_number(graph) && constants == "constants" && step_of(net).is_none() =>
        {
            match DumpedFile::of(file_name) {
                DumpedFile::Tensor(name) if graph == "0" => PartKind::Constant {
                    name: format!("constants/{}", name.op_name),
                },
                DumpedFile::Tensor(name) => PartKind::Constant {
                    name: format!("constants/graph_{graph}/{}", name.op_name),
                },
                _ => PartKind::Beside,
            }
        }
        [metadata] if metadata == ".dump_metadata" => PartKind::Beside,
        _ => return None,
    };
    Some(Part {
        run: folders[..at].to_vec(),
        rank,
        kind,
    })
}

/// True for the folder that `MindSpore` exports summaries to.
fn is_export(name: &str) -> bool {
    name.strip_prefix("export_").is_some_and(is_number)
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.len() < 19 && name.bytes().all(|b| b.is_ascii_digit())
}

/// A path below a folder for display, with `/` between parts.
pub(crate) fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::{Part, PartKind, part_of};

    #[test]
    fn paths_of_tensors() {
        let part = |path: &str| {
            let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
            let file = parts.pop().unwrap();
            part_of(&parts, &file)
        };
        let text = |part: Part| {
            let kind = match part.kind {
                PartKind::Safetensors {
                    above,
                    stem,
                    prefix,
                    attempt,
                } => {
                    let step = above.map_or("-".to_owned(), |step| step.to_string());
                    format!("safetensors {step} {prefix}{stem} {attempt}")
                }
                PartKind::Npy { step, name } => format!("npy {step} {name}"),
                PartKind::Constant { name } => format!("constant {name}"),
                PartKind::Dumped { step, graph } => format!("dumped {step} graph {graph}"),
                PartKind::Order(graph) => format!("order {graph}"),
                PartKind::Graph(graph) => format!("graph {graph}"),
                PartKind::Beside => "beside".to_owned(),
            };
            format!("run `{}` rank {}: {kind}", part.run.join("/"), part.rank)
        };
        for row in [
            "steps/step_00012.safetensors: run `` rank 0: safetensors - step_00012 1",
            "a/rank_3/steps/step_1.safetensors: run `a` rank 3: safetensors - step_1 1",
            "a/rank_3/dump/step_1.safetensors: run `a` rank 3: safetensors - step_1 1",
            "a/checkpoint-5/model.safetensors: run `a` rank 0: safetensors 5 model 1",
            "a/step_5/ema/model.safetensors: run `a` rank 0: safetensors 5 ema/model 1",
            "model.safetensors: run `` rank 0: safetensors - model 1",
            "a/dump/step_attempt_2.step_100.safetensors: run `a` rank 0: safetensors - step_100 2",
            "steps/3/weight.0.weight.npy: run `` rank 0: npy 3 weight/0.weight",
            "x/3/grad/fc.npy: run `x` rank 0: npy 3 grad/fc",
            "d/rank_1/Net/0/12/Add.x.0.0.1.output.0.DefaultFormat.npy: run `d` rank 1: dumped 12 graph 0",
            "rank_0/Net/2/12/statistic.csv: run `` rank 0: dumped 12 graph 2",
            "rank_0/execution_order/ms_execution_order_graph_1.csv: run `` rank 0: order 1",
            "rank_0/graphs/ms_output_trace_code_graph_0.pb: run `` rank 0: graph 0",
            "rank_0/Net/0/constants/Parameter.data-1.0.0.1.output.0.DefaultFormat.npy: run `` rank 0: constant constants/data-1",
            "rank_0/Net/0/constants/notes.txt: run `` rank 0: beside",
        ] {
            let (path, expected) = row.split_once(": ").unwrap();
            assert_eq!(part(path).map(text).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(part("README.md"), None);
    }
}
