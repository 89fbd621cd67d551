//! The lines of a program that allocated memory, from the call stacks of a memory snapshot.

use std::collections::HashMap;

use trainscope_api::profile::{MemoryCategory, without_folders};
use trainscope_format::trace::{NONE, TextId};

use super::super::Model;

/// Parts of the paths of files that are not the user's program.
const FRAMEWORK: [&str; 7] = [
    "/torch/",
    "site-packages/",
    "dist-packages/",
    "/lib/python3",
    "<frozen",
    "<eval_with_key>",
    "torch_compile_debug/",
];
/// Calls that tell the purpose of their allocations, in order of precedence.
const PURPOSES: [(&str, MemoryCategory); 8] = [
    // Module.to, Module.cuda and the construction of layers on a device.
    (": _apply", MemoryCategory::Parameters),
    (": reset_parameters", MemoryCategory::Parameters),
    ("/optim/", MemoryCategory::Optimizer),
    ("/optimizers/", MemoryCategory::Optimizer),
    ("torch::autograd::Engine", MemoryCategory::Gradients),
    ("/autograd/graph.py", MemoryCategory::Gradients),
    ("/autograd/__init__.py", MemoryCategory::Gradients),
    (": _call_impl", MemoryCategory::Activations),
];

/// The line of the user's program that made an allocation, and those that called it.
#[derive(Clone, Debug, Default)]
pub(super) struct Caller {
    /// `model.py(33): forward`.
    pub(super) line: String,
    /// All lines of the program from the innermost to the outermost, with `‹` between them.
    pub(super) path: String,
    /// The same for callers in the same files.
    pub(super) number: usize,
}

/// Callers of stacks, each looked up once.
pub(super) struct Callers<'m> {
    model: &'m Model,
    found: HashMap<u32, Caller, foldhash::fast::RandomState>,
    numbers: HashMap<Vec<&'m str>, usize>,
}

impl<'m> Callers<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        Self {
            model,
            found: HashMap::default(),
            numbers: HashMap::new(),
        }
    }

    /// Caller of a stack; its texts are empty for an unknown stack.
    pub(super) fn get(&mut self, stack: u32) -> &Caller {
        let (model, numbers) = (self.model, &mut self.numbers);
        self.found.entry(stack).or_insert_with(|| {
            let lines = lines(model, stack);
            let mut caller = caller(&lines);
            let next = numbers.len();
            caller.number = *numbers.entry(lines).or_insert(next);
            caller
        })
    }
}

/// Lines of the user's program, the innermost first; if it has no lines, the innermost frame of Python, else of C++.
fn lines(model: &Model, stack: u32) -> Vec<&str> {
    let of_user: Vec<&str> = frames(model, stack)
        .filter(|frame| is_of_user(frame))
        .collect();
    if !of_user.is_empty() {
        return of_user;
    }
    let python = frames(model, stack).find(|frame| is_python(frame));
    python
        .or_else(|| frames(model, stack).next())
        .into_iter()
        .collect()
}

fn caller(lines: &[&str]) -> Caller {
    let path: Vec<&str> = lines.iter().map(|line| without_folders(line)).collect();
    Caller {
        line: path.first().copied().unwrap_or_default().to_owned(),
        path: path.join(" ‹ "),
        number: 0,
    }
}

/// Purpose of an allocation by the calls that made it.
pub(super) fn purpose(model: &Model, stack: u32) -> Option<MemoryCategory> {
    let mut purposes = PURPOSES.iter();
    let found = purposes.find(|(call, _)| frames(model, stack).any(|frame| frame.contains(call)));
    found.map(|(_, category)| *category)
}

/// Frames of a stack from the innermost to the outermost.
fn frames(model: &Model, stack: u32) -> impl Iterator<Item = &str> {
    let trace = &model.trace;
    let frames = (stack != NONE).then(|| trace.stacks.frames(stack));
    frames
        .into_iter()
        .flatten()
        .map(|name: TextId| trace.texts.get(name))
}

fn is_python(frame: &str) -> bool {
    let file = frame
        .split_once("): ")
        .and_then(|(place, _)| place.rsplit_once('('));
    file.is_some_and(|(file, _)| [".py", ".ipynb", ">"].iter().any(|end| file.ends_with(end)))
}

fn is_of_user(frame: &str) -> bool {
    is_python(frame) && !FRAMEWORK.iter().any(|part| frame.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(frames: &[&str]) -> (Model, u32) {
        let mut model = Model::default();
        let mut stack = NONE;
        for frame in frames.iter().rev() {
            let name = model.trace.texts.intern(frame);
            stack = model.trace.stacks.child(stack, name).unwrap();
        }
        (model, stack)
    }

    #[test]
    fn the_line_is_that_of_the_users_program() {
        for (frames, line, path) in [
            (
                &[
                    "at::empty_cuda()",
                    "/opt/py/site-packages/torch/nn/functional.py(10): linear",
                    "/home/me/model.py(33): forward",
                    "/opt/py/site-packages/torch/nn/modules/module.py(1): _call_impl",
                    "/home/me/train.py(8): main",
                ][..],
                "model.py(33): forward",
                "model.py(33): forward ‹ train.py(8): main",
            ),
            (
                &["c10::alloc", "/x/torch/optim/adam.py(5): step"],
                "adam.py(5): step",
                "adam.py(5): step",
            ),
            (&["c10::alloc", "engine"], "c10::alloc", "c10::alloc"),
            (&[], "", ""),
        ] {
            let (model, stack) = model(frames);
            let found = caller(&lines(&model, stack));
            assert_eq!((&*found.line, &*found.path), (line, path));
        }
        assert!(
            is_of_user("C:\\me\\a.py(3): f")
                && without_folders("C:\\me\\a.py(3): f") == "a.py(3): f"
        );
        assert!(is_of_user("<stdin>(1): <module>") && !is_of_user("a.cpp(3): f"));
    }

    #[test]
    fn calls_tell_the_purpose() {
        let of = |frame: &str| {
            let (model, stack) = model(&["at::empty", frame, "/me/train.py(1): main"]);
            purpose(&model, stack)
        };
        assert_eq!(
            of("/x/torch/nn/modules/module.py(9): _apply"),
            Some(MemoryCategory::Parameters)
        );
        assert_eq!(
            of("/x/torch/optim/adamw.py(9): step"),
            Some(MemoryCategory::Optimizer)
        );
        assert_eq!(
            of("torch::autograd::Engine::thread_main"),
            Some(MemoryCategory::Gradients)
        );
        assert_eq!(
            of("/x/torch/nn/modules/module.py(9): _call_impl"),
            Some(MemoryCategory::Activations)
        );
        assert_eq!(of("/me/data.py(9): load"), None);
    }
}
