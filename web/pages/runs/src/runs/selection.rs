//! The bar at the foot of the table while runs are selected.

use trainscope_api::status::AccessRole;

use super::model::use_model;
use super::order::Item;
use crate::bulk_notes::BulkNotes;
use trainscope_web_kit::components::{Icon, IconButton, IconName, Needs, RunChip, ToolButton};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Maximum number of names in the bar; the others are a number.
const NAMES: usize = 5;

/// Selected runs, and the actions on them.
#[component]
pub(super) fn SelectionBar() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let count = Memo::new(move |_| model.selected.with(Vec::len));
    let out_of_view = Memo::new(move |_| {
        model.selected.with(|selected| {
            model.items.with(|items| {
                let shown = |id: &String| {
                    items
                        .iter()
                        .any(|item| matches!(item, Item::Run { id: other, .. } if other == id))
                };
                selected.iter().filter(|id| !shown(id)).count() as u64
            })
        })
    });
    let has_hidden = Memo::new(move |_| {
        model.hidden.with(|hidden| {
            let is_hidden = |run: &String| hidden.contains(run);
            model
                .selected
                .with(|selected| selected.iter().any(is_hidden))
        })
    });
    let chips = move || {
        let selected = model.selected.get();
        let more = selected.len().saturating_sub(NAMES);
        let chips = selected
            .into_iter()
            .take(NAMES)
            .map(|id| {
                let (name, full) = (model.state.short_name(&id), id.clone());
                view! {
                    <span class="flex gap4" title=full>
                        <RunChip run=id />
                        <span class="cut">{name}</span>
                    </span>
                }
            })
            .collect_view();
        view! {
            {chips}
            {(more > 0).then(|| format!("+{more}"))}
        }
    };
    view! {
        <Show when=move || { count.get() > 0 }>
            <div class="selbar" role="toolbar" data-part="selection">
                <b class="med">{move || (i18n.texts().runs().selected)(count.get() as u64)}</b>
                <span class="small ink3">
                    {move || {
                        let count = out_of_view.get();
                        (count > 0).then(|| (i18n.texts().runs().selected_hidden)(count))
                    }}
                </span>
                <span class="flex small ink2 chosen hide-small">{chips}</span>
                <span class="grow"></span>
                <Needs role=AccessRole::Annotate>
                    <BulkNotes runs=model.selected />
                    <Show when=move || has_hidden.get()>
                        <ToolButton
                            icon=IconName::Runs
                            class="bare"
                            label=i18n.label(|t| t.runs().unhide)
                            on_press=move || model.unhide_selected()
                        />
                    </Show>
                    <ToolButton
                        icon=IconName::Hide
                        class="bare"
                        label=i18n.label(|t| t.runs().hide)
                        on_press=move || model.hide_selected()
                    />
                </Needs>
                <a
                    class="btn bare hide-small"
                    href=move || model.selected.with(|selected| route::lineage_of_href(selected))
                >
                    <Icon name=IconName::Lineage size=14 />
                    {i18n.text(|t| t.titles().lineage)}
                </a>
                <a
                    class="btn hide-small"
                    href=move || {
                        model.selected.track();
                        model.together_href()
                    }
                >
                    {i18n.text(|t| t.runs().show_scalars)}
                    " "
                    <kbd>"s"</kbd>
                </a>
                <a
                    class="btn primary"
                    data-part="compare"
                    href=move || {
                        model.selected.track();
                        model.compare_href()
                    }
                >
                    {i18n.text(|t| t.compare().compare_selected)}
                    " "
                    <kbd>"c"</kbd>
                </a>
                <IconButton
                    icon=IconName::Close
                    label=i18n.label(|t| t.runs().clear)
                    on_press=move || model.select(&[])
                />
            </div>
        </Show>
    }
}
