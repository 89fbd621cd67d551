//! Kind, role, phase and launch of each slice.

use std::collections::HashMap;

use trainscope_api::profile::PhaseKind;
use trainscope_api::timeline::TimeKind;
use trainscope_format::trace::{LaneKind, NONE, SliceClass, Trace, TraceFormat};

use super::{Model, Role, recomputation};
use crate::pipeline::{INPUT_NAMES, is_input};

/// `true` for the name of an annotation of a step.
pub fn is_step(name: &str) -> bool {
    step_number(name).is_some() || numbered_step(name).is_some()
}

/// Number of a step in the name of its annotation, `ProfilerStep#N`.
pub fn step_number(name: &str) -> Option<i64> {
    let digits = name.strip_prefix("ProfilerStep#")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// Word and number of an annotation that a program makes for each of its steps: `iteration 3`, `train_step_3`, `step #3`.
pub fn numbered_step(name: &str) -> Option<(&str, i64)> {
    const WORDS: [&str; 8] = [
        "step",
        "iteration",
        "iter",
        "train_step",
        "training_step",
        "train step",
        "training step",
        "global_step",
    ];
    let word = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = name[word.len()..].parse().ok()?;
    let word = word.trim_end_matches([' ', '_', '#', ':', '=', '-']);
    WORDS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
        .then_some((word, number))
}

/// `true` for the name of an annotation or operator that waits for data.
pub fn is_data(name: &str) -> bool {
    let loader = name.strip_prefix("enumerate(DataLoader)#");
    if loader.is_some_and(|rest| rest.ends_with(".__next__"))
        || name.starts_with("enumerate(DataPipe)#")
    {
        return true;
    }
    is_word(name, &INPUT_NAMES)
}

/// `true` for an operator of a graph of `MindSpore` that takes a batch, and for the time before a step of its step trace.
fn is_graph_data(name: &str) -> bool {
    name == "iteration_interval" || type_of(name, TraceFormat::Mindspore) == "GetNext"
}

/// `true` if the letters of a name are one of `words`.
fn is_word(name: &str, words: &[&str]) -> bool {
    // Longer names cannot be one of the words, with any characters between their letters.
    const MAX_BYTES: usize = 128;
    if name.len() > MAX_BYTES {
        return false;
    }
    let letters = name.bytes().map(|byte| byte.to_ascii_lowercase());
    let letters: Vec<u8> = letters.filter(u8::is_ascii_lowercase).collect();
    words.iter().any(|word| word.as_bytes() == letters)
}

/// `true` for the name of a collective of any library.
pub fn is_communication(name: &str) -> bool {
    const BEGINS: [&str; 7] = [
        "nccl", "rccl", "hccl", "hcom_", "mscclpp", "oneccl", "gloo:",
    ];
    const PARTS: [&str; 3] = ["nccldevkernel", "ncclkernel", "cross_device_reduce"];
    let name = name.to_ascii_lowercase();
    let reduces = |word: &str| {
        let at = name.find(word);
        at.is_some_and(|at| name[at..].contains("kernel"))
    };
    BEGINS.iter().any(|begin| name.starts_with(begin))
        || PARTS.iter().any(|part| name.contains(part))
        || reduces("all_reduce")
        || reduces("allreduce")
}

/// Meaning of a name.
#[derive(Clone, Copy)]
struct Meaning {
    subject: Subject,
    phase: Option<PhaseKind>,
}

/// Subject of a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Step,
    Data,
    /// Collective of Gloo, which runs on the host.
    Gloo,
    Collective,
    Copy,
    /// Waiting of a device for an event, which MTIA records among its kernels.
    Wait,
    Other,
}

/// Name of the waiting of an MTIA device.
const EVENT_WAIT: &str = "event_wait";

impl Subject {
    fn new(name: &str, format: TraceFormat) -> Self {
        if format == TraceFormat::Mindspore && is_graph_data(name) {
            return Self::Data;
        }
        let is_span =
            |words: &[&str]| format == TraceFormat::Spans && is_word(last_part(name), words);
        if step_number(name).is_some() {
            Self::Step
        } else if is_data(name) || format == TraceFormat::Spans && is_input(name) {
            Self::Data
        } else if name == EVENT_WAIT {
            Self::Wait
        } else if name.starts_with("gloo:") {
            Self::Gloo
        } else if is_communication(name) || is_span(&["allreduce", "collective"]) {
            Self::Collective
        } else if is_span(&["copy", "memcpy"]) {
            Self::Copy
        } else {
            Self::Other
        }
    }

    fn is_communication(self) -> bool {
        matches!(self, Self::Gloo | Self::Collective)
    }
}

impl Meaning {
    fn new(name: &str, format: TraceFormat) -> Self {
        let subject = Subject::new(name, format);
        Self {
            subject,
            phase: phase(name, format, subject == Subject::Data),
        }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn phase(name: &str, format: TraceFormat, is_data: bool) -> Option<PhaseKind> {
    if is_data {
        return Some(PhaseKind::Data);
    }
    if format == TraceFormat::Mindspore {
        return Some(if name == "fp_and_bp" {
            PhaseKind::Training
        } else if name.starts_with("Gradients/") {
            PhaseKind::Backward
        } else if name.contains("/optimizer") || name == "tail" {
            PhaseKind::Update
        } else {
            PhaseKind::Forward
        });
    }
    let is_update = name.starts_with("Optimizer.step#")
        || is_word(last_part(name), &["optimizer", "optimizerstep", "update"]);
    if is_update {
        return Some(PhaseKind::Update);
    }
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("autograd::engine::evaluate_function") || lower.contains("backward") {
        Some(PhaseKind::Backward)
    } else if name.starts_with("nn.Module:") || lower.contains("forward") {
        Some(PhaseKind::Forward)
    } else {
        None
    }
}

/// Fills kinds, roles, launches and phases.
pub(super) fn fill(model: &mut Model) {
    model.launches = launches(&model.trace);
    let (roles, kinds, phases) = classify(model);
    (model.roles, model.kinds, model.phases) = (roles, kinds, phases);
}

type Classes = (Vec<Role>, Vec<TimeKind>, Vec<PhaseKind>);

fn classify(model: &Model) -> Classes {
    let trace = &model.trace;
    let slices = &trace.slices;
    let context = Context::new(trace);
    let mut meanings: Vec<Option<Meaning>> = vec![None; trace.texts.len() + 1];
    let unnamed = trace.texts.len();
    let count = slices.len();
    let mut roles = Vec::with_capacity(count);
    let mut kinds = Vec::with_capacity(count);
    let mut phases: Vec<PhaseKind> = Vec::with_capacity(count);
    for slice in 0..count {
        let name = (slices.names[slice].0 as usize).min(unnamed);
        let meaning = *meanings[name].get_or_insert_with(|| {
            Meaning::new(trace.texts.get(slices.names[slice]), trace.head.format)
        });
        let category = usize::from(slices.categories[slice]);
        let class = trace
            .categories
            .get(category)
            .map(|c| c.class)
            .unwrap_or_default();
        let declared = context.declared.get(category).copied().flatten();
        let lane = trace.lanes.get(usize::from(slices.lanes[slice]));
        let lane = lane.map_or(LaneKind::Host, |lane| lane.kind);
        let role = context.role(class, lane, meaning, declared);
        kinds.push(context.kind(class, lane, role, meaning, declared));
        roles.push(role);
        let parent = model.parents[slice] as usize;
        let inherited = phases.get(parent).copied().unwrap_or_default();
        phases.push(meaning.phase.unwrap_or(inherited));
    }
    recomputation::mark(model, &mut phases);
    // Calls may come behind their work in the order of slices.
    for slice in 0..count {
        if let Some(phase) = phases.get(model.launches[slice] as usize).copied() {
            phases[slice] = phase;
        }
    }
    (roles, kinds, phases)
}

/// Properties of a trace that decide the meaning of its slices.
struct Context {
    format: TraceFormat,
    has_operators: bool,
    has_device: bool,
    /// Kinds that categories of native spans declare, and those of MindSpore's tables.
    declared: Vec<Option<TimeKind>>,
}

impl Context {
    fn new(trace: &Trace) -> Self {
        let used = || {
            trace
                .categories
                .iter()
                .filter(|category| category.count > 0)
        };
        let is_device = |class| {
            matches!(
                class,
                SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset
            )
        };
        let format = trace.head.format;
        let declared = |name: &str| match name {
            "HCCL" if format == TraceFormat::Mindspore => Some(TimeKind::Communication),
            _ if format != TraceFormat::Spans => None,
            "compute" => Some(TimeKind::Compute),
            "communication" => Some(TimeKind::Communication),
            "copy" => Some(TimeKind::Copy),
            "data" => Some(TimeKind::Data),
            "host" => Some(TimeKind::Host),
            "idle" => Some(TimeKind::Idle),
            _ => None,
        };
        let device_lane = trace.lanes.iter().any(|lane| lane.kind == LaneKind::Device);
        Self {
            format,
            has_operators: used().any(|category| category.class == SliceClass::Operator),
            has_device: device_lane || used().any(|category| is_device(category.class)),
            declared: trace
                .categories
                .iter()
                .map(|category| declared(&category.name))
                .collect(),
        }
    }

    fn role(
        &self,
        class: SliceClass,
        lane: LaneKind,
        name: Meaning,
        declared: Option<TimeKind>,
    ) -> Role {
        if matches!(lane, LaneKind::Derived | LaneKind::Profiler) {
            return Role::None;
        }
        match class {
            SliceClass::Kernel
                if name.subject.is_communication() || declared == Some(TimeKind::Communication) =>
            {
                Role::Communication
            }
            SliceClass::Kernel if name.subject == Subject::Wait => Role::None,
            SliceClass::Kernel => Role::Kernel,
            SliceClass::Memcpy => Role::Memcpy,
            SliceClass::Memset => Role::Memset,
            SliceClass::Runtime => Role::Runtime,
            SliceClass::Operator | SliceClass::Annotation => match name.subject {
                Subject::Step => Role::None,
                Subject::Data => Role::Data,
                Subject::Gloo => Role::Communication,
                _ if declared == Some(TimeKind::Communication) => Role::Communication,
                // Operators of a compiled graph are themselves device work.
                _ if class == SliceClass::Operator && lane == LaneKind::Device => Role::Kernel,
                Subject::Collective | Subject::Copy | Subject::Wait | Subject::Other => {
                    Role::Operators
                }
            },
            SliceClass::Span if !self.has_operators => span_role(lane, name.subject, declared),
            _ => Role::None,
        }
    }

    fn kind(
        &self,
        class: SliceClass,
        lane: LaneKind,
        role: Role,
        name: Meaning,
        declared: Option<TimeKind>,
    ) -> TimeKind {
        let is_waiting = matches!(
            class,
            SliceClass::DeviceAnnotation
                | SliceClass::DeviceWait
                | SliceClass::Overhead
                | SliceClass::Window
                | SliceClass::Derived
        );
        let is_waiting = is_waiting || class == SliceClass::Kernel && name.subject == Subject::Wait;
        if is_waiting || matches!(lane, LaneKind::Derived | LaneKind::Profiler) {
            return TimeKind::Idle;
        }
        if let (Some(kind), SliceClass::Span) = (declared, class) {
            return kind;
        }
        let computes = match class {
            // Without a device, operators compute.
            SliceClass::Operator | SliceClass::Annotation => !self.has_device,
            SliceClass::Span => {
                let phase = name.phase.unwrap_or_default();
                self.format == TraceFormat::Spans
                    && matches!(
                        phase,
                        PhaseKind::Forward | PhaseKind::Backward | PhaseKind::Update
                    )
            }
            _ => false,
        };
        match role {
            Role::Kernel => TimeKind::Compute,
            Role::Memcpy | Role::Memset => TimeKind::Copy,
            Role::Communication => TimeKind::Communication,
            Role::Data => TimeKind::Data,
            Role::Operators if computes => TimeKind::Compute,
            Role::Operators | Role::Runtime | Role::None => TimeKind::Host,
        }
    }
}

fn span_role(lane: LaneKind, subject: Subject, declared: Option<TimeKind>) -> Role {
    let work = if lane == LaneKind::Device {
        Role::Kernel
    } else {
        Role::Operators
    };
    match (declared, subject) {
        (Some(TimeKind::Idle), _) | (None, Subject::Step) => Role::None,
        (Some(TimeKind::Host), _) => Role::Operators,
        (Some(TimeKind::Communication), _) | (None, Subject::Gloo | Subject::Collective) => {
            Role::Communication
        }
        (Some(TimeKind::Copy), _) | (None, Subject::Copy) => Role::Memcpy,
        (Some(TimeKind::Data), _) | (None, Subject::Data) => Role::Data,
        (Some(TimeKind::Compute), _) | (None, Subject::Wait | Subject::Other) => work,
    }
}

/// The runtime call of each device slice, by correlation; of several calls with one correlation the last of the file.
fn launches(trace: &Trace) -> Vec<u32> {
    let slices = &trace.slices;
    let has_class = |wanted: &[SliceClass]| -> Vec<bool> {
        let classes = trace.categories.iter().map(|category| category.class);
        classes.map(|class| wanted.contains(&class)).collect()
    };
    let calls = has_class(&[SliceClass::Runtime]);
    let work = has_class(&[SliceClass::Kernel, SliceClass::Memcpy, SliceClass::Memset]);
    let linked = |chosen: Vec<bool>| {
        let entries = (0_u32..).zip(&slices.links).zip(&slices.categories);
        entries
            .filter(move |((_, link), category)| {
                **link != NONE && chosen.get(usize::from(**category)) == Some(&true)
            })
            .map(|((slice, link), _)| (slice, *link))
    };
    let mut by_link: HashMap<u32, u32, foldhash::fast::RandomState> = HashMap::default();
    for (slice, link) in linked(calls) {
        let call = by_link.entry(link).or_insert(slice);
        if slices.places[slice as usize] >= slices.places[*call as usize] {
            *call = slice;
        }
    }
    let mut launches = vec![NONE; slices.len()];
    if !by_link.is_empty() {
        for (slice, link) in linked(work) {
            if let Some(call) = by_link.get(&link) {
                launches[slice as usize] = *call;
            }
        }
    }
    launches
}

/// Type of an operator: its name without namespaces and overload; for operators of graphs without scope and number.
pub fn type_of(name: &str, format: TraceFormat) -> &str {
    if format == TraceFormat::Mindspore {
        let last = name.rsplit_once('/').map_or(name, |(_, last)| last);
        return last
            .rsplit_once("-op")
            .map_or(last, |(operator, _)| operator);
    }
    if let Some(function) = name.strip_prefix("autograd::engine::evaluate_function: ") {
        return function;
    }
    match name.rsplit_once("::") {
        Some((_, operator)) => operator.split_once('.').map_or(operator, |(base, _)| base),
        None => name,
    }
}
