//! Gestures of the pointer. The place of a press selects the kind of drag, its path the effect.

use super::layout::Layout;
use super::overlay::{RULER, STEPS, STRIP, TOP, strip_frame};
use super::view::{View, nanos};
use trainscope_web_kit::parameters::Area;

/// Minimum distance of a press that is a drag, CSS pixels.
const DRAG: f64 = 4.0;
/// Maximum distance of a press from an edge of the frame in the strip that drags this edge, CSS pixels.
const EDGE: f64 = 4.0;

/// Bands from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Band {
    Strip,
    Ruler,
    Steps,
    Lanes,
}

/// The band at a height.
pub(super) fn band_at(y: f64) -> Band {
    if y < STRIP {
        Band::Strip
    } else if y < STRIP + RULER {
        Band::Ruler
    } else if y < STRIP + RULER + STEPS {
        Band::Steps
    } else {
        Band::Lanes
    }
}

/// The object that a drag changes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Aim {
    /// The frame in the strip as a whole.
    Frame,
    /// One end of the frame.
    FrameFrom,
    FrameTo,
    /// The view.
    Pan,
    /// An area of all lanes, or of those between press and pointer.
    Area {
        has_lanes: bool,
    },
    /// Nothing but a click.
    Nothing,
}

/// A press that may become a drag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drag {
    aim: Aim,
    start: (f64, f64),
    view: View,
    scroll: f64,
    pub(super) has_moved: bool,
}

/// Width of the canvas, CSS pixels, and length of the session, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Room {
    pub(super) width: f64,
    pub(super) extent: f64,
}

/// Effect of a drag.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Effect {
    None,
    Show { view: View, scroll: f64 },
    Select(Area),
}

impl Drag {
    /// A press at a place. With `is_pan` the lanes are moved instead of selected.
    pub(super) fn new(at: (f64, f64), is_pan: bool, view: View, scroll: f64, room: Room) -> Self {
        let aim = match band_at(at.1) {
            Band::Strip => {
                let (from, to) = strip_frame(view, room.extent, room.width);
                if (at.0 - from).abs() <= EDGE && at.0 < f64::midpoint(from, to) {
                    Aim::FrameFrom
                } else if (at.0 - to).abs() <= EDGE {
                    Aim::FrameTo
                } else {
                    Aim::Frame
                }
            }
            _ if is_pan => Aim::Pan,
            Band::Ruler => Aim::Area { has_lanes: false },
            Band::Steps => Aim::Nothing,
            Band::Lanes => Aim::Area { has_lanes: true },
        };
        // A press outside the frame moves it there.
        let view = match aim {
            Aim::Frame => {
                let time = at.0 / room.width.max(1.0) * room.extent;
                if time < view.from || time > view.to {
                    let half = view.span() / 2.0;
                    View {
                        from: time - half,
                        to: time + half,
                    }
                    .inside(room.extent)
                } else {
                    view
                }
            }
            _ => view,
        };
        Self {
            aim,
            start: at,
            view,
            scroll,
            has_moved: false,
        }
    }

    /// Effect of the press itself: a press in the strip moves the frame.
    pub(super) fn begin(&self) -> Effect {
        if self.aim == Aim::Frame {
            Effect::Show {
                view: self.view,
                scroll: self.scroll,
            }
        } else {
            Effect::None
        }
    }

    /// Effect of a move of the pointer.
    pub(super) fn moved(&mut self, at: (f64, f64), room: Room, layout: &Layout) -> Effect {
        let (dx, dy) = (at.0 - self.start.0, at.1 - self.start.1);
        self.has_moved |= dx.hypot(dy) >= DRAG;
        if !self.has_moved {
            return Effect::None;
        }
        let width = room.width.max(1.0);
        let show = |view: View, scroll: f64| Effect::Show {
            view: view.inside(room.extent),
            scroll,
        };
        let (view, by) = (self.view, dx / width * room.extent);
        match self.aim {
            Aim::Nothing => Effect::None,
            Aim::Frame => show(
                View {
                    from: view.from + by,
                    to: view.to + by,
                },
                self.scroll,
            ),
            Aim::FrameFrom => show(
                View {
                    from: (view.from + by).clamp(0.0, view.to - 1.0),
                    ..view
                },
                self.scroll,
            ),
            Aim::FrameTo => show(
                View {
                    to: (view.to + by).clamp(view.from + 1.0, room.extent),
                    ..view
                },
                self.scroll,
            ),
            Aim::Pan => {
                let by = -dx / width * view.span();
                show(
                    View {
                        from: view.from + by,
                        to: view.to + by,
                    },
                    self.scroll - dy,
                )
            }
            Aim::Area { has_lanes } => {
                let time = |x: f64| nanos(view.time(x.clamp(0.0, width), width));
                let (one, other) = (time(self.start.0), time(at.0));
                let lane_y = |y: f64| (y - TOP).max(0.0) + self.scroll;
                let lanes = if has_lanes {
                    layout.lanes_between(lane_y(self.start.1), lane_y(at.1))
                } else {
                    Vec::new()
                };
                Effect::Select(Area {
                    from: one.min(other),
                    to: one.max(other).max(one.min(other) + 1),
                    lanes,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::timeline::{LaneEntry, LaneGroup, TimelineLanes};

    use super::super::layout::Choices;
    use super::*;

    const ROOM: Room = Room {
        width: 1_000.0,
        extent: 1_000_000.0,
    };
    const VIEW: View = View {
        from: 400_000.0,
        to: 600_000.0,
    };

    fn layout() -> Layout {
        let lane = |lane: u32| LaneEntry {
            lane,
            rows: 1,
            ..LaneEntry::default()
        };
        let lanes = TimelineLanes {
            groups: vec![LaneGroup {
                lanes: vec![lane(2), lane(5)],
                ..LaneGroup::default()
            }],
            ..TimelineLanes::default()
        };
        Layout::new(&lanes, &Choices::default())
    }

    fn dragged(from: (f64, f64), to: (f64, f64), is_pan: bool) -> Effect {
        let mut drag = Drag::new(from, is_pan, VIEW, 0.0, ROOM);
        drag.moved(to, ROOM, &layout())
    }

    fn view_after(from: (f64, f64), to: (f64, f64), is_pan: bool) -> View {
        match dragged(from, to, is_pan) {
            Effect::Show { view, .. } => view,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_drag_over_lanes_selects_these_and_one_on_the_ruler_all() {
        let over = dragged((100.0, TOP + 30.0), (200.0, TOP + 50.0), false);
        let area = |from, to, lanes: &[u32]| {
            Effect::Select(Area {
                from,
                to,
                lanes: lanes.to_vec(),
            })
        };
        assert_eq!(over, area(420_000, 440_000, &[2, 5]));
        let back = dragged((200.0, TOP + 30.0), (100.0, TOP + 31.0), false);
        assert_eq!(back, area(420_000, 440_000, &[2]));
        let ruler = dragged((100.0, STRIP + 5.0), (5_000.0, 400.0), false);
        assert_eq!(ruler, area(420_000, 600_000, &[]));
        assert_eq!(
            dragged((100.0, TOP + 30.0), (102.0, TOP + 30.0), false),
            Effect::None,
            "a click"
        );
        assert_eq!(
            dragged((100.0, STRIP + RULER + 2.0), (400.0, 70.0), false),
            Effect::None
        );
    }

    #[test]
    fn a_drag_with_shift_pans() {
        let view = view_after((500.0, TOP + 30.0), (600.0, TOP + 30.0), true);
        assert_eq!((view.from, view.to), (380_000.0, 580_000.0));
    }

    #[test]
    fn the_frame_is_moved_and_stretched() {
        let view = view_after((500.0, 10.0), (600.0, 10.0), false);
        assert_eq!((view.from, view.to), (500_000.0, 700_000.0));
        let view = view_after((401.0, 10.0), (301.0, 10.0), false);
        assert_eq!((view.from, view.to), (300_000.0, 600_000.0));
        let view = view_after((599.0, 10.0), (5_000.0, 10.0), true);
        assert_eq!((view.from, view.to), (400_000.0, 1_000_000.0));
        let beside = Drag::new((100.0, 10.0), false, VIEW, 7.0, ROOM);
        assert_eq!(
            beside.begin(),
            Effect::Show {
                view: View {
                    from: 0.0,
                    to: 200_000.0
                },
                scroll: 7.0
            }
        );
    }

    #[test]
    fn bands_follow_each_other() {
        let bands = [0.0, STRIP, STRIP + RULER, TOP, 9_999.0].map(band_at);
        assert_eq!(
            bands,
            [
                Band::Strip,
                Band::Ruler,
                Band::Steps,
                Band::Lanes,
                Band::Lanes
            ]
        );
    }
}
