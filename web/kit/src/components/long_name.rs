//! Names of operators and slices in a narrow place: the middle is cut, since paths begin alike and end with what differs.

use trainscope_charts::label::halves;

use crate::prelude::*;

/// A name of which the end stays, inside of an element that gives it a width.
pub fn long_name(text: &str) -> AnyView {
    let (start, end) = halves(text);
    let (start, end) = (start.to_owned(), end.to_owned());
    view! {
        <span class="halves">
            <span class="cut">{start}</span>
            <span class="end">{end}</span>
        </span>
    }
    .into_any()
}
