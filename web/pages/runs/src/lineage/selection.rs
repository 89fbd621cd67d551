//! The bar at the foot of the table while rows are selected.

use trainscope_api::status::AccessRole;

use super::model::use_model;
use crate::bulk_notes::BulkNotes;
use trainscope_web_kit::components::{IconButton, IconName, Needs, ToolButton};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Number of selected runs, and the actions on them.
#[component]
pub(super) fn SelectionBar() -> impl IntoView {
    let model = use_model();
    let i18n = model.i18n;
    let count = Memo::new(move |_| model.selected.with(Vec::len));
    view! {
        <Show when=move || { count.get() > 0 }>
            <div class="selbar" role="toolbar" data-part="selection">
                <b class="med">{move || (i18n.texts().runs().selected)(count.get() as u64)}</b>
                <span class="grow"></span>
                <Needs role=AccessRole::Annotate>
                    <BulkNotes runs=model.selected />
                    <ToolButton
                        icon=IconName::Hide
                        class="bare"
                        label=i18n.label(|t| t.runs().hide)
                        on_press=move || {
                            model.hide(model.selected.get_untracked());
                            model.select_none();
                        }
                    />
                </Needs>
                <a
                    class="btn hide-small"
                    href=move || model.selected.with(|selected| {
                        let (first, others) = selected.split_first()?;
                        Some(route::scalars_href(first, others, None))
                    })
                >
                    {i18n.text(|t| t.runs().show_scalars)}
                    " "
                    <kbd>"s"</kbd>
                </a>
                <a
                    class="btn primary"
                    data-part="compare"
                    href=move || model.selected.with(|selected| route::compare_href(selected))
                >
                    {i18n.text(|t| t.compare().compare_selected)}
                    " "
                    <kbd>"c"</kbd>
                </a>
                <IconButton
                    icon=IconName::Close
                    label=i18n.label(|t| t.runs().clear)
                    on_press=move || model.select_none()
                />
            </div>
        </Show>
    }
}
