//! A menu with the activations that a training keeps while it waits.

use trainscope_api::sessions::SessionCommand;
use trainscope_format::session::Capability;

use super::Bar;
use trainscope_web_kit::components::{IconName, Popover, TextField, fixed_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// A button that opens a field with the patterns; nothing for a training that cannot keep activations.
#[component]
pub(super) fn KeepMenu(bar: Bar) -> impl IntoView {
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let typed = RwSignal::new(String::new());
    let can = Memo::new(move |_| {
        bar.session.with(|session| {
            session.as_ref().is_some_and(|session| {
                !session.state.is_over() && session.can.contains(&Capability::Keep)
            })
        })
    });
    let kept = Memo::new(move |_| {
        bar.session
            .with(|session| session.as_ref().map(|session| session.keep.join(", ")))
            .unwrap_or_default()
    });
    Effect::new(move |_| {
        if is_open.get() {
            typed.set(kept.get());
        }
    });
    let keep = move |text: &str| {
        bar.command(SessionCommand::Keep {
            patterns: patterns(text),
        });
        is_open.set(false);
    };
    let content = move || {
        view! {
            <form
                class="flex column"
                data-part="keep"
                on:submit=move |event| {
                    event.prevent_default();
                    keep(&typed.get_untracked());
                }
            >
                <TextField
                    label=i18n.label(|t| t.session().keep_patterns)
                    name="patterns"
                    value=typed
                    placeholder="block1.*, fc"
                />
                <p class="micro ink2">{i18n.text(|t| t.session().keep_cost)}</p>
                <span class="flex">
                    <button type="submit" class="btn primary">
                        {i18n.text(|t| t.session().keep_these)}
                    </button>
                    <Show when=move || !kept.with(String::is_empty)>
                        <button type="button" class="btn" on:click=move |_| keep("")>
                            {i18n.text(|t| t.session().keep_none)}
                        </button>
                    </Show>
                </span>
            </form>
        }
    };
    view! {
        <Show when=move || can.get()>
            <Popover
                is_open=is_open
                label=i18n.label(|t| t.session().keep_activations)
                pressed=Signal::derive(move || !kept.with(String::is_empty))
                panel_class="popover keep-menu"
                face=ViewFn::from(|| fixed_icon(IconName::Sliders, 14))
            >
                {content}
            </Popover>
        </Show>
    }
}

/// The patterns in a text, between commas or spaces.
fn patterns(text: &str) -> Vec<String> {
    let parts = text.split([',', ' ', '，', '、']);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::patterns;

    #[test]
    fn patterns_are_between_commas_or_spaces() {
        assert_eq!(patterns(" block1.*, fc,,x"), ["block1.*", "fc", "x"]);
        assert_eq!(patterns(" "), [""; 0]);
    }
}
