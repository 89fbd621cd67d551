//! The list under the filter: keys and values that complete the last word.

use std::sync::Arc;

use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Row above or below a row, out of `rows`. Without a row, the first or the last; `None` past either end.
pub(super) fn next_row(row: Option<usize>, rows: usize, is_down: bool) -> Option<usize> {
    match (row, is_down) {
        (None, true) => (rows > 0).then_some(0),
        (None, false) => rows.checked_sub(1),
        (Some(row), true) => (row + 1 < rows).then_some(row + 1),
        (Some(row), false) => row.checked_sub(1),
    }
}

/// The suggestions; hidden if the list is empty.
#[component]
pub(super) fn Suggestions(
    suggested: Memo<Arc<Vec<String>>>,
    /// Row that the arrow keys have chosen.
    chosen: RwSignal<Option<usize>>,
    /// Puts a suggestion into the field.
    take: UnsyncCallback<String>,
) -> impl IntoView {
    let i18n = use_i18n();
    let rows = move || {
        let all = suggested.get();
        let rows = all.iter().enumerate().map(|(position, word)| {
            let (shown, taken) = (word.clone(), word.clone());
            view! {
                <li
                    role="option"
                    id=format!("suggested-{position}")
                    aria-selected=move || (chosen.get() == Some(position)).to_string()
                >
                    <button
                        type="button"
                        class="hit"
                        tabindex="-1"
                        on:click=move |_| take.run(taken.clone())
                    >
                        {shown}
                    </button>
                </li>
            }
        });
        rows.collect_view()
    };
    view! {
        <Show when=move || suggested.with(|all| !all.is_empty())>
            // The field keeps the focus, or the list would be gone before the click.
            <div class="popover" on:mousedown=|event| event.prevent_default()>
                <ul
                    class="hits"
                    role="listbox"
                    id="filter-suggestions"
                    aria-label=i18n.text(|t| t.runs().suggestions)
                >
                    {rows}
                </ul>
            </div>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::next_row;

    #[test]
    fn arrows_go_through_the_rows_and_leave_them_at_the_ends() {
        assert_eq!(next_row(None, 3, true), Some(0));
        assert_eq!(next_row(Some(2), 3, true), None);
        assert_eq!(next_row(None, 3, false), Some(2));
        assert_eq!(next_row(Some(0), 3, false), None);
        assert_eq!(next_row(None, 0, true), None);
        assert_eq!(next_row(None, 0, false), None);
    }
}
