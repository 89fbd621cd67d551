//! Parts of steps: each moment of a step belongs to one of eight. They add up to its length.

use trainscope_api::profile::Parts;
use trainscope_format::trace::{LaneKind, SliceClass};

use super::ranges::{Span, cut, meet, merge, minus, push, total, within};
use super::{Model, Role, Step};

/// Roles in the order in which their time is taken from a step.
const ROLES: [Role; 7] = [
    Role::Kernel,
    Role::Memcpy,
    Role::Memset,
    Role::Communication,
    Role::Runtime,
    Role::Data,
    Role::Operators,
];

/// Merged ranges of all lanes, by role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleRanges {
    roles: [Vec<Span>; ROLES.len()],
    /// Kernels, collectives and copies of devices.
    pub device: Vec<Span>,
    /// Kernels and collectives of devices.
    pub kernels: Vec<Span>,
}

/// Time of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTime {
    /// Parts, which add up to the length of the step.
    pub parts: Parts,
    /// Communication, hidden or not.
    pub communication: i64,
    /// Communication during kernels that compute.
    pub hidden: i64,
    /// Time during which a device was busy.
    pub busy: i64,
    /// Time during which a device ran kernels or collectives.
    pub kernels: i64,
}

impl RoleRanges {
    /// Merges the slices of each role.
    pub fn new(model: &Model) -> Self {
        let mut ranges = Self::default();
        for slice in model.slices() {
            let role = model.roles[slice as usize];
            let Some(spans) = ranges.slot(role) else {
                continue;
            };
            let (begin, end) = model.span(slice);
            push(spans, begin, end);
            if model.is_device(slice) {
                push(&mut ranges.device, begin, end);
                if matches!(role, Role::Kernel | Role::Communication) {
                    push(&mut ranges.kernels, begin, end);
                }
            }
        }
        let lists = ranges.roles.iter_mut();
        for list in lists.chain([&mut ranges.device, &mut ranges.kernels]) {
            *list = merge(std::mem::take(list));
        }
        ranges
    }

    fn slot(&mut self, role: Role) -> Option<&mut Vec<Span>> {
        let index = ROLES.iter().position(|known| *known == role)?;
        self.roles.get_mut(index)
    }

    /// Merged ranges of a role; empty for [`Role::None`].
    pub fn of(&self, role: Role) -> &[Span] {
        let index = ROLES.iter().position(|known| *known == role);
        index.map_or(&[], |index| &self.roles[index])
    }

    /// Time of a step.
    pub fn time(&self, step: &Step) -> StepTime {
        let (begin, end) = (step.begin, step.end);
        let mut left = vec![(begin, end)];
        let mut rest = total(&left);
        let mut parts = [0; ROLES.len()];
        for (part, ranges) in parts.iter_mut().zip(&self.roles) {
            let ranges = within(ranges, begin, end);
            if ranges.is_empty() {
                continue;
            }
            left = minus(&left, ranges);
            let remaining = total(&left);
            *part = rest - remaining;
            rest = remaining;
        }
        let [
            kernel,
            memcpy,
            memset,
            communication,
            runtime,
            data,
            operators,
        ] = parts;
        let collectives = cut(self.of(Role::Communication), begin, end);
        let compute = within(self.of(Role::Kernel), begin, end);
        StepTime {
            parts: Parts {
                kernel,
                memcpy,
                memset,
                communication,
                runtime,
                data,
                operators,
                other: rest,
            },
            communication: total(&collectives),
            hidden: total(&meet(&collectives, compute)),
            busy: total(&cut(&self.device, begin, end)),
            kernels: total(&cut(&self.kernels, begin, end)),
        }
    }
}

impl Model {
    /// `true` for work of a device.
    pub fn is_device(&self, slice: u32) -> bool {
        let is_work = matches!(
            self.class(slice),
            SliceClass::Kernel | SliceClass::Memcpy | SliceClass::Memset
        );
        is_work
            // Waiting for data is not work, on any unit.
            || !matches!(self.roles[slice as usize], Role::None | Role::Data) && {
                let lane = self.trace.slices.lanes[slice as usize];
                let lane = self.trace.lanes.get(usize::from(lane));
                lane.is_some_and(|lane| lane.kind == LaneKind::Device)
            }
    }
}

/// Mean of parts, to the nearest nanosecond; zeros if there are no parts.
pub fn mean(parts: &[Parts]) -> Parts {
    let count = i64::try_from(parts.len()).unwrap_or(i64::MAX).max(1);
    let mean = |part: fn(&Parts) -> i64| {
        let sum = parts.iter().map(part).fold(0, i64::saturating_add);
        super::robust::rounded(sum, count)
    };
    Parts {
        kernel: mean(|step| step.kernel),
        memcpy: mean(|step| step.memcpy),
        memset: mean(|step| step.memset),
        communication: mean(|step| step.communication),
        runtime: mean(|step| step.runtime),
        data: mean(|step| step.data),
        operators: mean(|step| step.operators),
        other: mean(|step| step.other),
    }
}
