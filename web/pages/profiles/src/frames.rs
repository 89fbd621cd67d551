//! Frames of stacks as a flame chart: their places, their view, and the lines for other tools.

use trainscope_api::profile::{FlameAnswer, FlameFrame};

use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Height of a frame with the space below it, CSS pixels.
const ROW: f64 = 18.0;
/// Minimum width of a shown frame, as a share of the chart.
const MIN_SHARE: f64 = 0.002;

/// A frame with its place: shares of the width, and the depth below the root.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    frame: usize,
    left: f64,
    width: f64,
    depth: u32,
}

/// Places of the frames that are wide enough: those below `root`, or all without a root. A root of other frames, which
/// these lack, is none.
fn places(frames: &[FlameFrame], root: Option<usize>) -> Vec<Place> {
    let root = root.and_then(|root| Some((root, frames.get(root)?)));
    let (first, top, total) = if let Some((index, frame)) = root {
        (index, frame.depth, frame.total_nanos)
    } else {
        let roots = frames.iter().filter(|frame| frame.depth == 0);
        (0, 0, roots.map(|frame| frame.total_nanos).sum())
    };
    let total = (total as f64).max(1.0);
    let mut places = Vec::new();
    // The next free place at each depth.
    let mut free: Vec<f64> = Vec::new();
    for (index, frame) in frames.iter().enumerate().skip(first) {
        let is_below = root.is_none() || index == first || frame.depth > top;
        if !is_below {
            break;
        }
        let depth = frame.depth.saturating_sub(top) as usize;
        // A frame begins under its parent.
        free.truncate(depth + 1);
        let parent = places_begin(&free, depth);
        if free.len() <= depth {
            free.resize(depth + 1, parent);
        }
        let (left, width) = (free[depth], frame.total_nanos as f64 / total);
        free[depth] = left + width;
        // Children begin at its left end.
        free.push(left);
        if width >= MIN_SHARE {
            places.push(Place {
                frame: index,
                left,
                width,
                depth: u32::try_from(depth).unwrap_or(u32::MAX),
            });
        }
    }
    places
}

/// Left end of the next frame at a depth; that of its parent if it is the first there.
fn places_begin(free: &[f64], depth: usize) -> f64 {
    free.get(depth).or(free.last()).copied().unwrap_or(0.0)
}

/// All stacks as lines of `a;b;c nanoseconds`, for other tools.
pub(crate) fn folded(frames: &[FlameFrame]) -> String {
    let mut stack: Vec<&str> = Vec::new();
    let mut text = String::new();
    for frame in frames {
        stack.truncate(frame.depth as usize);
        stack.push(&frame.name);
        if frame.self_nanos > 0 {
            let names: Vec<String> = stack.iter().map(|name| name.replace(';', ":")).collect();
            text += &names.join(";");
            text += " ";
            text += &frame.self_nanos.to_string();
            text.push('\n');
        }
    }
    text
}

/// Names of a frame and its callers, the outermost first.
pub(crate) fn path(frames: &[FlameFrame], index: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = u32::MAX;
    for frame in frames.iter().take(index + 1).rev() {
        if frame.depth < depth {
            depth = frame.depth;
            names.push(frame.name.clone());
        }
        if depth == 0 {
            break;
        }
    }
    names.reverse();
    names
}

/// Texts and colours of frames.
#[derive(Clone, Copy)]
pub(crate) struct FrameLook {
    /// Text of a total.
    pub(crate) length: fn(i64) -> String,
    /// Visible part of a name.
    pub(crate) short: fn(&str) -> &str,
    /// CSS colour of a kind of time.
    pub(crate) colour: fn(u8) -> String,
}

/// The frames as buttons; a press makes a frame the root.
pub(crate) fn frames_view(
    answer: &FlameAnswer,
    root: RwSignal<Option<usize>>,
    look: FrameLook,
) -> AnyView {
    let label = use_i18n().texts().timeline().flame_label;
    let places = places(&answer.frames, root.get());
    let deepest = places.iter().map(|place| place.depth + 1).max();
    let height = format!("{}px", f64::from(deepest.unwrap_or(1)) * ROW);
    let frames = places.into_iter();
    let frames = frames.filter_map(|place| frame_view(answer, place, root, look));
    view! {
        <div class="flame" role="group" aria-label=label style:height=height>
            {frames.collect_view()}
        </div>
    }
    .into_any()
}

fn frame_view(
    answer: &FlameAnswer,
    place: Place,
    root: RwSignal<Option<usize>>,
    look: FrameLook,
) -> Option<AnyView> {
    let frame = answer.frames.get(place.frame)?;
    let share = frame.total_nanos as f64 / (answer.total_nanos as f64).max(1.0);
    let label = format!(
        "{} · {} · {} · {}×",
        frame.name,
        (look.length)(frame.total_nanos),
        format::percent(share),
        format::count(frame.count)
    );
    let index = place.frame;
    Some(
        view! {
            <button
                type="button"
                style:left=format!("{:.4}%", place.left * 100.0)
                style:width=format!("{:.4}%", place.width * 100.0)
                style:top=format!("{}px", f64::from(place.depth) * ROW)
                style:--c=(look.colour)(frame.kind)
                title=label.clone()
                aria-label=label
                on:click=move |_| root.set(Some(index))
            >
                {(look.short)(&frame.name).to_owned()}
            </button>
        }
        .into_any(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(name: &str, depth: u32, total_nanos: i64, self_nanos: i64) -> FlameFrame {
        FlameFrame {
            name: name.to_owned(),
            depth,
            total_nanos,
            self_nanos,
            ..FlameFrame::default()
        }
    }

    fn frames() -> Vec<FlameFrame> {
        vec![
            frame("train", 0, 80, 10),
            frame("forward", 1, 40, 40),
            frame("backward", 1, 30, 20),
            frame("mm", 2, 10, 10),
            frame("load", 0, 20, 20),
            frame("read;x", 1, 0, 5),
        ]
    }

    #[test]
    fn frames_are_below_their_parents() {
        let of = |root: Option<usize>| {
            let all = places(&frames(), root).into_iter();
            let all = all.map(|place| {
                let percent = |share: f64| (share * 100.0).round();
                (
                    place.frame,
                    percent(place.left),
                    percent(place.width),
                    place.depth,
                )
            });
            all.collect::<Vec<_>>()
        };
        assert_eq!(
            of(None),
            [
                (0, 0.0, 80.0, 0),
                (1, 0.0, 40.0, 1),
                (2, 40.0, 30.0, 1),
                (3, 40.0, 10.0, 2),
                (4, 80.0, 20.0, 0),
            ]
        );
        assert_eq!(of(Some(2)), [(2, 0.0, 100.0, 0), (3, 0.0, 33.0, 1)]);
        assert_eq!(of(Some(4)), [(4, 0.0, 100.0, 0)]);
        assert!(places(&[], None).is_empty());
        // The root of an answer before, whose index these frames lack.
        assert_eq!(of(Some(99)), of(None));
    }

    #[test]
    fn stacks_are_lines_for_other_tools() {
        assert_eq!(
            folded(&frames()),
            "train 10\ntrain;forward 40\ntrain;backward 20\ntrain;backward;mm 10\nload 20\nload;read:x 5\n"
        );
        assert_eq!(path(&frames(), 3), ["train", "backward", "mm"]);
        assert_eq!(path(&frames(), 4), ["load"]);
    }
}
