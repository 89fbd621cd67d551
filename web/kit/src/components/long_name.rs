//! Names of operators and slices in a narrow place: the middle is cut, since paths begin alike and end with what differs.

use crate::prelude::*;

/// Names up to this length are cut at their end.
const SHORT: usize = 24;
/// Characters that stay at the end of a name without a separator, or with a long last part.
const END: usize = 20;

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

/// The part of a name that may be cut, and the end that stays: the last part of a path, or its last characters.
fn halves(text: &str) -> (&str, &str) {
    let chars = text.chars().count();
    if chars <= SHORT {
        return (text, "");
    }
    let last = ["/", "::", "."]
        .iter()
        .filter_map(|between| text.rfind(between));
    let latest = text.char_indices().nth(chars - END).map_or(0, |(at, _)| at);
    let at = last.max().unwrap_or(0).max(latest);
    text.split_at(at)
}

#[cfg(test)]
mod tests {
    use super::halves;

    #[test]
    fn the_end_of_a_path_stays() {
        let path = "Gradients/Default/network-WithLossCell/Conv2d-op12";
        assert_eq!(
            halves(path),
            ("Gradients/Default/network-WithLossCell", "/Conv2d-op12")
        );
        let long = "aten::convolution_backward_overrideable";
        assert_eq!(
            halves(long),
            ("aten::convolution_b", "ackward_overrideable")
        );
        assert_eq!(halves("aten::mm"), ("aten::mm", ""));
        assert_eq!(halves(&"é".repeat(30)).1, "é".repeat(20));
    }
}
