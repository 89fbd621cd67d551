//! Zoom, pan, selection, and the effects of the keys.

use leptos::task::spawn_local;
use trainscope_api::timeline::{SliceAnswer, SliceEntry};

use super::Model;
use crate::timeline::layout::{Item, Place, group_key};
use crate::timeline::times;
use crate::timeline::view::View;
use trainscope_web_kit::components::profile_tabs::ProfileTab;
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::location::History;
use trainscope_web_kit::parameters::{Area, ProfileView, STEP};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Distance that a key scrolls the lanes, CSS pixels.
const SCROLL: f64 = 60.0;

impl Model {
    pub(in crate::timeline) fn set_view(self, view: View) {
        let view = view.inside(self.extent.get_untracked());
        if self.view.get_untracked() != view {
            self.view.set(view);
        }
    }

    /// Zooms around a place in the view, 0 to 1.
    pub(in crate::timeline) fn zoom(self, factor: f64, place: f64) {
        let view = self.view.get_untracked();
        self.set_view(view.zoomed(factor, place, self.extent.get_untracked()));
    }

    /// Moves the view by a part of its length.
    pub(in crate::timeline) fn pan(self, share: f64) {
        let view = self.view.get_untracked();
        self.set_view(view.moved(share, self.extent.get_untracked()));
    }

    pub(in crate::timeline) fn scroll_by(self, pixels: f64) {
        let (_, height, _) = self.size.get_untracked();
        let most = self
            .layout
            .with_untracked(|layout| layout.most_scroll(height));
        let scroll = self.scroll.get_untracked();
        let next = (scroll + pixels).clamp(0.0, most);
        if (next - scroll).abs() > 0.0 {
            self.scroll.set(next);
        }
    }

    /// Selects a slice and brings it into view.
    pub(in crate::timeline) fn go_to(self, slice: &SliceEntry) {
        self.merged.set(None);
        let (begin, end) = (
            slice.begin_nanos as f64,
            (slice.begin_nanos + slice.duration_nanos) as f64,
        );
        let view = self.view.get_untracked();
        self.set_view(view.showing(begin, end, self.extent.get_untracked()));
        self.unfold(slice.lane);
        let (_, height, _) = self.size.get_untracked();
        let top = self
            .layout
            .with_untracked(|layout| layout.row_of(slice.lane, slice.depth));
        if let Some((top, _)) = top {
            let scroll = self.scroll.get_untracked();
            let next = self
                .layout
                .with_untracked(|layout| layout.scroll_to(top, scroll, height));
            if (next - scroll).abs() > 0.0 {
                self.scroll.set(next);
            }
        }
        self.select(Some(slice.index));
    }

    /// Shows a hidden lane, and unfolds its group.
    fn unfold(self, lane: u32) {
        let is_shown = self
            .layout
            .with_untracked(|layout| layout.row_of(lane, 0).is_some());
        if is_shown {
            return;
        }
        if self
            .choices
            .with_untracked(|choices| choices.hidden.contains(&lane))
        {
            self.turn_hidden(lane);
        }
        let group = self.frame.with_untracked(|frame| {
            let has = |group: &&trainscope_api::timeline::LaneGroup| {
                group.lanes.iter().any(|entry| entry.lane == lane)
            };
            frame.groups.iter().position(|group| has(&group))
        });
        let folded = group.filter(|group| {
            self.layout.with_untracked(|layout| {
                let mut places = layout.places.iter();
                places.any(|place| {
                    place.item == Item::Group(*group) && place.is_folded && place.session == 0
                })
            })
        });
        if let Some(group) = folded {
            self.turn_fold(&group_key(group));
        }
    }

    /// Shows the selected slice or area; the whole session if that already fills the view.
    fn fit(self) {
        let extent = self.extent.get_untracked();
        let slice = self
            .slice
            .answer
            .get_untracked()
            .filter(|_| self.selected.with_untracked(Option::is_some))
            .map(|answer| {
                let begin = answer.slice.begin_nanos;
                (begin, begin + answer.slice.duration_nanos)
            });
        let area = self.area.get_untracked().map(|area| (area.from, area.to));
        let wanted = slice.or(area).map(|(from, to)| {
            let (from, to) = (from as f64, to as f64);
            View::fitting(from, to, extent)
        });
        let whole = View::whole(extent);
        let view = self.view.get_untracked();
        self.set_view(
            wanted
                .filter(|wanted| !wanted.is_like(view))
                .unwrap_or(whole),
        );
    }

    /// Selects the step after or before the one in the middle of the view.
    fn step(self, is_next: bool) {
        let view = self.view.get_untracked();
        let at = self
            .area
            .get_untracked()
            .map_or(f64::midpoint(view.from, view.to), |area| {
                f64::midpoint(area.from as f64, area.to as f64)
            });
        let step = self.frame.with_untracked(|frame| {
            let steps = &frame.steps;
            let after = steps.partition_point(|step| step.begin_nanos as f64 <= at);
            let index = if is_next {
                Some(after)
            } else {
                after.checked_sub(2)
            };
            steps.get(index?).copied()
        });
        if let Some(step) = step {
            self.choose_step(step.begin_nanos, step.end_nanos);
        }
    }

    /// Selects a step as area and shows it.
    pub(in crate::timeline) fn choose_step(self, begin: i64, end: i64) {
        self.set_area(Some(&Area {
            from: begin,
            to: end,
            lanes: Vec::new(),
        }));
        let (from, to) = (begin as f64, end as f64);
        let (view, extent) = (self.view.get_untracked(), self.extent.get_untracked());
        self.set_view(view.showing(from, to, extent));
    }

    /// Goes to a slice next to the selected one; `false` without a selection.
    fn go(self, which: impl FnOnce(&SliceAnswer) -> Option<SliceEntry>) -> bool {
        let Some(answer) = self.slice.answer.get_untracked() else {
            return false;
        };
        if self.selected.with_untracked(Option::is_none) {
            return false;
        }
        if let Some(slice) = which(&answer) {
            self.go_to(&slice);
        }
        true
    }

    /// Handles a key of the table in the help panel; `true` if it is one.
    pub(in crate::timeline) fn press_key(self, key: &str, i18n: I18n) -> bool {
        match key {
            "f" => self.fit(),
            "0" => self.set_view(View::whole(self.extent.get_untracked())),
            "/" => self.focus_search.update(|count| *count += 1),
            "n" => self.step_match(true),
            "N" => self.step_match(false),
            "." => drop(self.go(|answer| answer.next.clone())),
            "," => drop(self.go(|answer| answer.previous.clone())),
            "ArrowUp" => {
                if !self.go(|answer| answer.parents.first().cloned()) {
                    self.scroll_by(-SCROLL);
                }
            }
            "ArrowDown" => {
                if !self.go(|answer| answer.child.clone()) {
                    self.scroll_by(SCROLL);
                }
            }
            "]" => drop(self.go(|answer| {
                let mut ends = answer.flows_out.iter().chain(&answer.launches);
                ends.next().cloned()
            })),
            "[" => drop(self.go(|answer| {
                let mut ends = answer.flows_in.iter().chain(&answer.launched_by);
                ends.next().cloned()
            })),
            "ArrowRight" => self.step(true),
            "ArrowLeft" => self.step(false),
            "m" => self.turn_mark(),
            "M" => self.begin_note(),
            "q" => self.turn_panel(),
            "p" => {
                if let Some(lane) = self.chosen_lane() {
                    self.turn_pin(lane);
                }
            }
            "c" => self.copy_link(i18n),
            "e" => self.open_step(),
            "g" => self.open_node(),
            "Escape" => return self.escape(),
            _ => return self.jump(key),
        }
        true
    }

    /// Clears the area, else the selection; `false` without either.
    fn escape(self) -> bool {
        let has_area = self.area.with_untracked(Option::is_some);
        if has_area {
            self.set_area(None);
        } else if self.selected.with_untracked(Option::is_some) {
            self.select(None);
        } else {
            return false;
        }
        true
    }

    /// Lane of the selected slice, else the only lane of the area.
    fn chosen_lane(self) -> Option<u32> {
        let slice = self.slice.answer.get_untracked();
        let slice = slice.filter(|_| self.selected.with_untracked(Option::is_some));
        slice.map(|answer| answer.slice.lane).or_else(|| {
            let area = self.area.get_untracked()?;
            match area.lanes.as_slice() {
                [lane] => Some(*lane),
                _ => None,
            }
        })
    }

    pub(in crate::timeline) fn copy_link(self, i18n: I18n) {
        let Ok(href) = window().location().href() else {
            return;
        };
        spawn_local(async move {
            let clipboard = window().navigator().clipboard();
            let written = wasm_bindgen_futures::JsFuture::from(clipboard.write_text(&href)).await;
            if written.is_ok() {
                let text = untrack(|| i18n.texts().timeline().copied);
                self.news.set(text.to_owned());
            }
        });
    }

    /// Opens the step of the selected slice on the page of steps.
    fn open_step(self) {
        let slice = self.slice.answer.get_untracked();
        let Some(step) = slice.and_then(|answer| answer.step) else {
            return;
        };
        let tab = ProfileTab::View(ProfileView::Steps);
        let href = untrack(|| self.profiles.tab_href(tab, &[STEP.to(step)]));
        self.open(&href);
    }

    /// Opens the node of the selected slice in the graph.
    fn open_node(self) {
        let slice = self.slice.answer.get_untracked();
        if let Some(node) = slice.and_then(|answer| answer.node.clone()) {
            let href = self
                .profiles
                .run
                .with_untracked(|run| route::graph_href(run, Some(&node)));
            self.open(&href);
        }
    }

    fn open(self, href: &str) {
        self.address.go(href, History::Push);
    }

    /// Folds or unfolds a group, the counters, the curves or a lane.
    pub(in crate::timeline) fn turn_place(self, place: &Place) {
        if let Some(key) = place.key() {
            self.turn_fold(&key);
        }
    }

    /// The selected slice in a sentence, for screen readers; reactive.
    pub(in crate::timeline) fn announcement(self, i18n: I18n) -> String {
        let slice = self.slice.answer.get();
        let slice = slice.filter(|_| self.selected.with(Option::is_some));
        let said = self.news.get();
        slice.map_or(said, |answer| {
            let slice = &answer.slice;
            (i18n.texts().timeline().selected)(
                &slice.name,
                &times::length(slice.duration_nanos),
                &times::moment(slice.begin_nanos),
            )
        })
    }
}
