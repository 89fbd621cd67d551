//! The Chrome file of a profile on a CPU: its lanes are sorted into executions and rows that the writer derived.

use crate::trace::{Category, Lane, LaneKind, NONE, SliceClass, Slices, Trace};

/// Name of the process of executions.
pub(super) const CPU_PROCESS: &str = "CPU OP";

/// Begin of the threads of executions in version 2.0.
const CPU_THREAD: &str = "HostCpuOps";

/// Threads of version 2.0 with steps, which are wrong, and with scopes, which may have the number of a level behind it.
const DERIVED_THREADS: [&str; 2] = ["100000", "100001"];

/// Process of version 2.0 with unions of other slices.
const UNIONS_PROCESS: &str = "12000";

/// Process of later versions with scopes.
const SCOPES_PROCESS: &str = "Scope Layer";

/// Meaning of a lane; `None` for one that is no matter of a CPU.
fn class(lane: &Lane) -> Option<SliceClass> {
    let thread = lane.thread.split('#').next().unwrap_or_default();
    let is_derived = DERIVED_THREADS.contains(&thread)
        || lane.process == UNIONS_PROCESS
        || lane.process_name == SCOPES_PROCESS;
    if is_derived {
        Some(SliceClass::Derived)
    } else if lane.process_name == CPU_PROCESS || lane.thread.starts_with(CPU_THREAD) {
        Some(SliceClass::Operator)
    } else {
        None
    }
}

/// Sets the kinds of lanes and the categories of slices, and removes the executions if asked for. Returns the lane
/// of the executions.
pub(super) fn without_executions(trace: &mut Trace, is_removed: bool) -> Option<u16> {
    let classes: Vec<_> = trace.lanes.iter().map(class).collect();
    for (lane, class) in trace.lanes.iter_mut().zip(&classes) {
        match class {
            Some(SliceClass::Derived) => lane.kind = LaneKind::Derived,
            Some(_) => {
                lane.kind = LaneKind::Host;
                if lane.process_name.is_empty() {
                    CPU_PROCESS.clone_into(&mut lane.process_name);
                }
            }
            None => {}
        }
    }
    let is_execution = |class: &Option<SliceClass>| *class == Some(SliceClass::Operator);
    let executions = classes.iter().position(is_execution);
    let old = std::mem::take(&mut trace.slices);
    let mut numbers = vec![NONE; old.len()];
    let mut categories = Categories::of(&mut trace.categories);
    let mut kept = Slices::default();
    for (index, number) in numbers.iter_mut().enumerate() {
        let Some(mut slice) = old.get(index) else {
            continue;
        };
        let class = classes.get(usize::from(slice.lane)).copied().flatten();
        if is_removed && is_execution(&class) {
            continue;
        }
        slice.category = categories.place(slice.category, class, slice.duration);
        *number = u32::try_from(kept.len()).unwrap_or(NONE);
        kept.push(&slice);
    }
    trace.slices = kept;
    trace.categories = categories.new;
    let number = |slice: &mut u32| {
        *slice = numbers.get(*slice as usize).copied().unwrap_or(NONE);
        *slice != NONE
    };
    trace
        .flows
        .retain_mut(|flow| number(&mut flow.from) && number(&mut flow.to));
    trace.counts.unfinished.retain_mut(number);
    executions.and_then(|lane| lane.try_into().ok())
}

/// Categories that are made anew: the files have none on a CPU.
struct Categories {
    old: Vec<Category>,
    new: Vec<Category>,
}

impl Categories {
    fn of(old: &mut Vec<Category>) -> Self {
        Self {
            old: std::mem::take(old),
            new: Vec::new(),
        }
    }

    fn place(&mut self, old: u16, class: Option<SliceClass>, nanos: u64) -> u16 {
        let (name, class) = match (class, self.old.get(usize::from(old))) {
            (Some(SliceClass::Operator), _) => ("operator", SliceClass::Operator),
            (Some(class), _) => ("derived", class),
            (None, Some(old)) => (&*old.name, old.class),
            (None, None) => ("", SliceClass::default()),
        };
        let same = |one: &Category| one.name == name && one.class == class;
        let index = self.new.iter().position(same).unwrap_or_else(|| {
            self.new.push(Category {
                name: name.to_owned(),
                class,
                ..Category::default()
            });
            self.new.len() - 1
        });
        if let Some(category) = self.new.get_mut(index) {
            category.count += 1;
            category.nanos = category.nanos.saturating_add(nanos);
        }
        u16::try_from(index).unwrap_or(u16::MAX)
    }
}
