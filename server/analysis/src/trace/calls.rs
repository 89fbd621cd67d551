//! Calls of operators: nesting among operators and annotations alone, self time, and the launched device work.

use trainscope_format::trace::{LaneKind, NONE, SliceClass};

use super::meaning::is_step;
use super::rows::nest_lane;
use super::{Model, Role};

/// Calls of operators and annotations as columns, in the order of their slices: parents come before children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Slice of each call.
    pub slices: Vec<u32>,
    /// Call that contains each call, as an index into these columns; [`NONE`] without one.
    pub parents: Vec<u32>,
    /// Number of calls directly within each.
    pub children: Vec<u32>,
    /// Duration without the union of the calls within each.
    pub self_nanos: Vec<i64>,
    /// Call of each slice that is one; [`NONE`] for all others.
    of_slice: Vec<u32>,
}

impl Calls {
    /// The calls of a model.
    pub fn new(model: &Model) -> Self {
        let mut calls = Self {
            of_slice: vec![NONE; model.trace.slices.len()],
            ..Self::default()
        };
        // End of the last child of each call, up to which its time is covered.
        let mut covered = Vec::new();
        for lane in &model.lanes {
            let slices = lane.slices.clone();
            let slices = slices.filter(|slice| is_call(model, *slice));
            nest_lane(&model.trace.slices, slices, |slice, _, parent| {
                let (begin, end) = model.span(slice);
                let index = u32::try_from(calls.slices.len()).unwrap_or(NONE);
                let parent = calls.of_slice.get(parent as usize).copied().unwrap_or(NONE);
                if let Some(children) = calls.children.get_mut(parent as usize) {
                    *children += 1;
                    let covered = &mut covered[parent as usize];
                    calls.self_nanos[parent as usize] -=
                        end.saturating_sub(begin.max(*covered)).max(0);
                    *covered = end.max(*covered);
                }
                calls.of_slice[slice as usize] = index;
                calls.slices.push(slice);
                calls.parents.push(parent);
                calls.children.push(0);
                calls.self_nanos.push(end.saturating_sub(begin));
                covered.push(i64::MIN);
            });
        }
        calls
    }

    /// Number of calls.
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// `true` without calls.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// Call of a slice, or the innermost one around it.
    pub fn around(&self, model: &Model, mut slice: u32) -> Option<usize> {
        loop {
            match *self.of_slice.get(slice as usize)? {
                NONE => slice = *model.parents.get(slice as usize)?,
                call => return Some(call as usize),
            }
        }
    }

    /// Call that contains a call.
    pub fn parent(&self, call: usize) -> Option<usize> {
        let parent = *self.parents.get(call)?;
        (parent != NONE).then_some(parent as usize)
    }

    /// `false` for the only call within its namesake: `PyTorch` counts only the outer one.
    pub fn counts(&self, model: &Model, call: usize) -> bool {
        let names = &model.trace.slices.names;
        let name = |call: usize| names[self.slices[call] as usize];
        let parent = self.parent(call);
        !parent.is_some_and(|parent| self.children[parent] == 1 && name(parent) == name(call))
    }
}

fn is_call(model: &Model, slice: u32) -> bool {
    let lane = usize::from(model.trace.slices.lanes[slice as usize]);
    let lane = model
        .trace
        .lanes
        .get(lane)
        .map(|lane| lane.kind)
        .unwrap_or_default();
    if matches!(lane, LaneKind::Derived | LaneKind::Profiler) {
        return false;
    }
    // A step is no operator: its own time is that of the host between operators.
    if is_step(model.name(slice)) {
        return false;
    }
    match model.class(slice) {
        SliceClass::Operator | SliceClass::Annotation => true,
        SliceClass::Span => lane != LaneKind::Device && model.roles[slice as usize] != Role::None,
        _ => false,
    }
}

/// Device work with the call that launched it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchedWork {
    /// Slice of the work.
    pub slice: u32,
    /// Call that launched it.
    pub call: usize,
}

impl Calls {
    /// Device work in the order of its launches.
    pub fn launched(&self, model: &Model) -> Vec<LaunchedWork> {
        let slices = model.slices();
        let mut launched: Vec<LaunchedWork> = slices
            .filter_map(|slice| {
                let call = self.around(model, model.launches[slice as usize])?;
                Some(LaunchedWork { slice, call })
            })
            .collect();
        // The place in the sorted trace decides among launches of one time.
        launched.sort_by_key(|work| {
            let launch = model.launches[work.slice as usize];
            (model.span(launch).0, work.slice)
        });
        launched
    }

    /// Device time of each call: of its launches, and with the launches of all calls within it.
    pub fn device_times(&self, model: &Model, launched: &[LaunchedWork]) -> (Vec<i64>, Vec<i64>) {
        // Operators of a compiled graph are themselves device work.
        let on_device = self.slices.iter().zip(&self.self_nanos);
        let on_device =
            on_device.map(|(slice, time)| if model.is_device(*slice) { *time } else { 0 });
        let mut direct: Vec<i64> = on_device.collect();
        for work in launched {
            let (begin, end) = model.span(work.slice);
            direct[work.call] = direct[work.call].saturating_add(end.saturating_sub(begin));
        }
        let mut total = direct.clone();
        for call in (0..self.len()).rev() {
            if let Some(parent) = self.parent(call) {
                total[parent] = total[parent].saturating_add(total[call]);
            }
        }
        (direct, total)
    }
}
