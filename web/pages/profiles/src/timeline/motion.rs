//! Keys that zoom and pan: a press moves by a step, and the view glides while a key is held.

use leptos::ev;

use super::model::{Model, use_model};
use trainscope_web_kit::format;
use trainscope_web_kit::keys::use_keys;
use trainscope_web_kit::prelude::*;

/// Keys in the order of [`Motion::held`].
const KEYS: [&str; 4] = ["w", "s", "a", "d"];
/// Factor of one press of a zoom key.
const ZOOM_STEP: f64 = 1.25;
/// Share of the view that one press of a pan key moves.
const PAN_STEP: f64 = 0.08;
/// Factor per second while a zoom key is held.
const ZOOM_SECOND: f64 = 6.0;
/// Views per second while a pan key is held.
const PAN_SECOND: f64 = 0.9;
/// Time after which a pressed key counts as held, ms.
const HELD_MILLIS: f64 = 180.0;
/// Maximum time between two frames that the view catches up with, s.
const LONGEST_FRAME: f64 = 0.1;

/// Pressed keys, each with the time of its press, ms.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    held: [Option<f64>; 4],
    /// Time of the last frame, ms; `None` while nothing moves.
    frame: Option<f64>,
}

/// Moves the view by keys.
pub(super) fn use_motion() {
    let model = use_model();
    let motion = StoredValue::new(Motion::default());
    use_keys(move |key, event| {
        let Some(index) = KEYS.iter().position(|known| *known == key) else {
            return false;
        };
        if event.repeat() {
            return true;
        }
        match index {
            0 => model.zoom(ZOOM_STEP, place(model)),
            1 => model.zoom(1.0 / ZOOM_STEP, place(model)),
            2 => model.pan(-PAN_STEP),
            _ => model.pan(PAN_STEP),
        }
        let now = format::now_millis();
        let mut is_still = false;
        motion.update_value(|motion| {
            motion.held[index] = Some(now);
            is_still = motion.frame.replace(now).is_none();
        });
        if is_still {
            glide(model, motion);
        }
        true
    });
    let up = window_event_listener(ev::keyup, move |event| {
        let key = event.key().to_lowercase();
        if let Some(index) = KEYS.iter().position(|known| *known == key) {
            motion.update_value(|motion| motion.held[index] = None);
        }
    });
    // A key that is released in another window is never reported.
    let blur = window_event_listener(ev::blur, move |_| {
        motion.update_value(|motion| motion.held = [None; 4]);
    });
    on_cleanup(move || {
        up.remove();
        blur.remove();
    });
}

/// Moves the view in each frame until no key is down.
fn glide(model: Model, motion: StoredValue<Motion>) {
    request_animation_frame(move || {
        let Some(state) = motion.try_get_value() else {
            return;
        };
        let now = format::now_millis();
        if state.held.iter().all(Option::is_none) {
            motion.update_value(|motion| motion.frame = None);
            return;
        }
        let secs = ((now - state.frame.unwrap_or(now)) / 1_000.0).clamp(0.0, LONGEST_FRAME);
        let (zoom, pan) = speeds(state.held, now);
        if zoom != 0.0 {
            model.zoom(ZOOM_SECOND.powf(zoom * secs), place(model));
        }
        if pan != 0.0 {
            model.pan(pan * PAN_SECOND * secs);
        }
        motion.update_value(|motion| motion.frame = Some(now));
        glide(model, motion);
    });
}

/// Centre of a zoom in the view, 0 to 1: the pointer, else the middle.
fn place(model: Model) -> f64 {
    let width = model.size.get_untracked().0;
    match model.pointer.get_untracked() {
        Some((x, _)) if width > 0.0 => (x / width).clamp(0.0, 1.0),
        _ => 0.5,
    }
}

/// Zoom and pan of the held keys: −1, 0 or 1 each.
fn speeds(held: [Option<f64>; 4], now: f64) -> (f64, f64) {
    let [zoom_in, zoom_out, left, right] = held.map(|since| {
        let is_held = since.is_some_and(|since| now - since >= HELD_MILLIS);
        f64::from(u8::from(is_held))
    });
    (zoom_in - zoom_out, right - left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_are_held_glide() {
        let now = 1_000.0;
        assert_eq!(speeds([None; 4], now), (0.0, 0.0));
        assert_eq!(
            speeds([Some(990.0), None, None, Some(0.0)], now),
            (0.0, 1.0)
        );
        assert_eq!(
            speeds([Some(0.0), Some(0.0), Some(0.0), None], now),
            (0.0, -1.0)
        );
    }
}
