//! The selected step, and its links to other pages of the run.

use trainscope_api::timeline::{StepSpan, TimelineLanes};

use super::Model;
use trainscope_web_kit::components::profile_tabs::ProfileTab;
use trainscope_web_kit::parameters::{Area, ProfileView, STEP};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// A step with its links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::timeline) struct ChosenStep {
    /// Number in the training.
    pub(in crate::timeline) number: i64,
    /// Its row on the page of steps.
    pub(in crate::timeline) steps: String,
    /// The curves with the crosshair at the step.
    pub(in crate::timeline) scalars: String,
    /// Hits of watchpoints at the step.
    pub(in crate::timeline) debugger: String,
}

impl Model {
    /// The step that is selected as a whole; reactive.
    pub(in crate::timeline) fn chosen_step(self) -> Option<ChosenStep> {
        let step = self
            .area
            .with(|area| self.frame.with(|frame| step_of(frame, area.as_ref()?)))?;
        Some(self.step_links(step.number))
    }

    /// Number, in the training, of the step in the middle of the area or of the view; reactive.
    pub(in crate::timeline) fn middle_step(self) -> Option<i64> {
        let area = self.area.get();
        let view = self.rested.get();
        let at = area.map_or(f64::midpoint(view.from, view.to), |area| {
            f64::midpoint(area.from as f64, area.to as f64)
        });
        self.frame.with(|frame| {
            let after = frame
                .steps
                .partition_point(|step| step.begin_nanos as f64 <= at);
            let step = frame.steps.get(after.saturating_sub(1))?;
            Some(step.number.saturating_add(frame.step_offset))
        })
    }

    /// Links of a step by its number in the profile; reactive.
    pub(in crate::timeline) fn step_links(self, step: i64) -> ChosenStep {
        let offset = self.frame.with(|frame| frame.step_offset);
        let number = step.saturating_add(offset);
        let tab = ProfileTab::View(ProfileView::Steps);
        let steps = self.profiles.tab_href(tab, &[STEP.to(step)]);
        self.profiles.run.with(|run| ChosenStep {
            number,
            steps,
            scalars: route::scalars_step_href(run, number),
            debugger: route::debugger_step_href(run, number),
        })
    }
}

/// The step with the ends of an area of all lanes.
fn step_of(frame: &TimelineLanes, area: &Area) -> Option<StepSpan> {
    if !area.lanes.is_empty() {
        return None;
    }
    let at = frame
        .steps
        .partition_point(|step| step.begin_nanos < area.from);
    let step = frame.steps.get(at)?;
    (step.begin_nanos == area.from && step.end_nanos == area.to).then_some(*step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_step_is_a_step() {
        let step = |number: i64| StepSpan {
            number,
            begin_nanos: 100 * number,
            end_nanos: 100 * number + 90,
        };
        let frame = TimelineLanes {
            steps: (3..7).map(step).collect(),
            ..TimelineLanes::default()
        };
        let of = |from, to, lanes: &[u32]| {
            let area = Area {
                from,
                to,
                lanes: lanes.to_vec(),
            };
            step_of(&frame, &area).map(|step| step.number)
        };
        assert_eq!(of(400, 490, &[]), Some(4));
        assert_eq!(of(400, 491, &[]), None);
        assert_eq!(of(400, 590, &[]), None);
        assert_eq!(of(400, 490, &[1]), None);
        assert_eq!(of(900, 990, &[]), None);
    }
}
