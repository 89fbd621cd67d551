//! The help panel: keys.

use trainscope_web_kit::components::RightPanel;
use trainscope_web_kit::frame_state::FrameState;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::{KeyGroup, Page};
use trainscope_web_kit::route::{Place, use_place};

/// The panel that `?` opens.
#[component]
pub(super) fn HelpPanel() -> impl IntoView {
    let i18n = use_i18n();
    let frame: FrameState = expect_context();
    let place = use_place();
    let groups = move || {
        let keys = i18n.texts().keys();
        let [_, _, ctrl_wheel, shift_wheel] = keys.gestures;
        // The keys of the open page come first.
        let of_page = match place.with(Place::page) {
            Some(Page::Site(page)) => page.entry().keys,
            Some(Page::Run(page)) => page.entry().keys,
            None => &[],
        };
        let mut groups = KeyGroup::all();
        groups.sort_by_key(|group| !of_page.contains(group));
        let sections = groups.into_iter().map(|group| {
            let texts = i18n.texts();
            (group.heading(texts), group.rows(texts))
        });
        [(
            keys.everywhere,
            vec![
                ("/", keys.search),
                ("?", keys.help),
                (".", keys.pause),
                ("Esc", keys.escape),
                (ctrl_wheel, keys.wheel_zoom),
                (shift_wheel, keys.wheel_pan),
            ],
        )]
        .into_iter()
        .chain(sections)
        .map(|(heading, rows)| {
            let rows = rows
                .into_iter()
                .map(|(key, what)| {
                    let caps = key
                        .split(' ')
                        .map(|cap| view! { <kbd>{cap.to_owned()}</kbd> })
                        .collect_view();
                    view! {
                        <dt>{what}</dt>
                        <dd>
                            <span class="keycaps">{caps}</span>
                        </dd>
                    }
                })
                .collect_view();
            view! {
                <section class="help-group">
                    <h3>{heading}</h3>
                    <dl class="kv">{rows}</dl>
                </section>
            }
        })
        .collect_view()
    };
    view! {
        <RightPanel
            title=i18n.label(|t| t.keys().title)
            on_close=move || frame.panel.set(None)
        >
            {groups}
        </RightPanel>
    }
}
