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
    /// No action.
    Nothing,
    /// The background: clears the selection.
    Ground,
    /// A box, to select.
    Node(String),
    /// A scope, to open or close.
    Scope(String),
}

/// Element at a position, after a single or double click.
pub(super) fn pressed(scene: &GraphScene, (x, y): (f64, f64), is_twice: bool) -> ClickTarget {
    let Some(graph_box) = hit_at(scene, (x, y)).and_then(|at| scene.boxes.get(at)) else {
        return if is_twice {
            ClickTarget::Nothing
        } else {
            ClickTarget::Ground
        };
    };
    let [left, top, _, _] = place(graph_box);
    let icon = if graph_box.severity.is_some() {
        16.0
    } else {
        0.0
    };
    let is_on_arrow = x - left < CHEVRON + icon && y - top < ROW;
    if is_scope(graph_box) && is_twice != is_on_arrow {
        ClickTarget::Scope(graph_box.path.clone())
    } else if is_twice {
        ClickTarget::Nothing
    } else {
        ClickTarget::Node(graph_box.path.clone())
    }
}
