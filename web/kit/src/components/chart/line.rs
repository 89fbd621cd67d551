//! The line of a series.

use trainscope_api::scalars::{NonFinite, NonFiniteClass, Series};
use trainscope_charts::line::{Class, Line, Stretch};
use trainscope_charts::theme::Rgb;

/// The curve of a series.
pub fn line_of(series: &Series, colour: Rgb) -> Line {
    let stretch = |one: &NonFinite| Stretch {
        class: match one.class {
            NonFiniteClass::Nan => Class::Nan,
            NonFiniteClass::PosInf => Class::PosInf,
            NonFiniteClass::NegInf => Class::NegInf,
        },
        first: one.first_step as f64,
        last: one.last_step as f64,
        label: String::new(),
    };
    Line {
        colour,
        is_main: true,
        x: series.steps.iter().map(|step| *step as f64).collect(),
        values: series.values.clone(),
        low: if series.cut {
            series.min.clone()
        } else {
            Vec::new()
        },
        high: if series.cut {
            series.max.clone()
        } else {
            Vec::new()
        },
        stretches: series.non_finite.iter().map(stretch).collect(),
        is_raw: !series.cut,
        ..Line::default()
    }
}
