//! Elements of a tensor as a table, coloured by sign and size.

use trainscope_api::tensors::{Element, TensorValues};

use super::plane::{Plane, Window};
use crate::format;
use crate::prelude::*;

/// Elements of a window of a plane.
#[derive(Clone, PartialEq)]
pub struct Tile {
    pub tensor: String,
    pub plane: Plane,
    pub window: Window,
    pub values: TensorValues,
}

/// Heads and cells of a view of a tile; elements for which `is_alike` holds are pale.
pub fn grid(
    tile: &Tile,
    view: Window,
    values: &[Element],
    at: Option<(u64, u64)>,
    is_alike: &dyn Fn(usize, &Element) -> bool,
) -> AnyView {
    // Maximum of the tile: scrolling a little does not change colours.
    let most = values
        .iter()
        .map(|value| value.number().abs())
        .filter(|number| number.is_finite())
        .fold(0.0, f64::max);
    let heads = (view.column..view.column + view.columns).map(|column| {
        let is_at = at.is_some_and(|at| at.1 == column);
        view! { <b class:at=is_at>{column}</b> }
    });
    let rows = (view.row..view.row + view.rows).map(|row| {
        let is_at = at.is_some_and(|at| at.0 == row);
        let cells = (view.column..view.column + view.columns).map(|column| {
            let place = tile.plane.place(tile.window, row, column);
            match place.and_then(|place| Some((place, values.get(place)?))) {
                Some((place, value)) => {
                    let is_alike = is_alike(place, value);
                    let kind = if is_alike {
                        "alike"
                    } else {
                        class(value.number(), most)
                    };
                    let is_at = at == Some((row, column));
                    let class = format!("{kind}{}", if is_at { " at" } else { "" });
                    // The text says which finite number it is.
                    let kind = (is_alike || !value.number().is_finite()).then_some(kind);
                    view! {
                        <i class=class data-kind=kind aria-current=is_at.then_some("true")>
                            {short(value)}
                        </i>
                    }
                    .into_any()
                }
                None => view! { <i class="wait" data-kind="wait"></i> }.into_any(),
            }
        });
        view! {
            <div class="sheet-row">
                <b class:at=is_at>{row}</b>
                {cells.collect_view()}
            </div>
        }
    });
    view! {
        <div class="sheet-row sheet-head">
            <b></b>
            {heads.collect_view()}
        </div>
        {rows.collect_view()}
    }
    .into_any()
}

/// The colour of a cell: by its sign and the square root of its share of the maximum, which shows small numbers too.
fn class(number: f64, most: f64) -> &'static str {
    if number.is_nan() {
        return "nan";
    }
    if number.is_infinite() {
        return if number > 0.0 { "pinf" } else { "ninf" };
    }
    let share = if most > 0.0 {
        (number.abs() / most).sqrt()
    } else {
        0.0
    };
    let levels = [
        ("d0", "d0"),
        ("n1", "p1"),
        ("n2", "p2"),
        ("n3", "p3"),
        ("n4", "p4"),
    ];
    let level = [0.05, 0.3, 0.55, 0.8]
        .iter()
        .filter(|limit| share > **limit)
        .count();
    let (negative, positive) = levels[level];
    if number < 0.0 { negative } else { positive }
}

/// Text that fits into a cell: truncated digits would read as another number.
fn short(value: &Element) -> String {
    format::number(value.number(), 3)
}

#[cfg(test)]
mod tests {
    use super::{class, short};
    use trainscope_api::tensors::Element;

    #[test]
    fn no_number_is_cut_to_another_one() {
        let digits = |text: &str| short(&Element::Digits(text.to_owned()));
        assert_eq!(digits("9223372036854775807"), "9.22e18");
        assert_eq!(digits("-9223372036854775808"), "−9.22e18");
        assert_eq!(digits("9007199254740993"), "9.01e15");
    }

    #[test]
    fn colours_say_sign_and_size() {
        for (number, name) in [
            (f64::NAN, "nan"),
            (f64::INFINITY, "pinf"),
            (f64::NEG_INFINITY, "ninf"),
            (0.0, "d0"),
            (100.0, "p4"),
            (-100.0, "n4"),
            (-10.0, "n2"),
            (1.0, "p1"),
        ] {
            assert_eq!(class(number, 100.0), name, "{number}");
        }
        assert_eq!(class(0.0, 0.0), "d0");
    }
}
