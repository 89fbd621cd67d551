//! Names of operators and slices in a narrow place: the middle is cut, because paths start alike and differ at the end.

use trainscope_charts::label::halves;

use crate::prelude::*;

/// A name that keeps its end; the element around it limits its width.
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
