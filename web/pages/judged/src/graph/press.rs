//! Interpretation of clicks on a picture.

use trainscope_api::graphs::GraphScene;

use super::shape::{is_scope, place};
use trainscope_web_kit::components::hit_at;

/// Pixels at the left of a box with its arrow, and height of its row.
const CHEVRON: f64 = 26.0;
const ROW: f64 = 28.0;

/// Element under a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClickTarget {
    /// Nothing that does anything.
    Nothing,
    /// The ground: nothing is looked at any more.
    Ground,
    /// A box, to look at it.
    Node(String),
    /// A scope, to open or close it.
    Scope(String),
}

/// Element at a position, after a single or double click.
pub(super) fn pressed(scene: &GraphScene, (x, y): (f64, f64), is_twice: bool) -> ClickTarget {
    let Some(own) = hit_at(scene, (x, y)).and_then(|at| scene.boxes.get(at)) else {
        return if is_twice {
            ClickTarget::Nothing
        } else {
            ClickTarget::Ground
        };
    };
    let [left, top, _, _] = place(own);
    let icon = if own.severity.is_some() { 16.0 } else { 0.0 };
    let is_on_arrow = x - left < CHEVRON + icon && y - top < ROW;
    if is_scope(own) && is_twice != is_on_arrow {
        ClickTarget::Scope(own.path.clone())
    } else if is_twice {
        ClickTarget::Nothing
    } else {
        ClickTarget::Node(own.path.clone())
    }
}
