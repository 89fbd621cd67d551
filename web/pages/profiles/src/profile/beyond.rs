//! Last row of the overview of a run with profiles only: its size, the code that records a loss, and a comparison.

use trainscope_web_kit::components::profile_tabs::{ProfileTab, Profiles};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::ProfileView;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// Records the loss with a profile.
const CODE: &str = "run = trainscope.start(folder)
run.scalar(\"loss\", loss)";

#[component]
pub(super) fn Beyond(profiles: Profiles) -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let size = Memo::new(move |_| {
        let run = profiles.run.with(|run| state.run(run));
        run.map(|run| run.len_bytes)
    });
    let alone = move || {
        let size = format::bytes(size.get()?);
        Some((i18n.texts().profile().alone.1)(&size))
    };
    let compare = move || profiles.tab_href(ProfileTab::View(ProfileView::Compare), &[]);
    view! {
        <section class="card beyond">
            <div>
                <h2>{i18n.text(|t| t.profile().alone.0)}</h2>
                <p class="small ink2">{alone}</p>
            </div>
            <div>
                <h2>{i18n.text(|t| t.profile().loss_too.0)}</h2>
                <p class="small ink2">{i18n.text(|t| t.profile().loss_too.1)}</p>
                <pre class="snippet mono small">{CODE}</pre>
            </div>
            <div>
                <h2>{i18n.text(|t| t.profile().against.0)}</h2>
                <a class="link small" href=compare>
                    {i18n.text(|t| t.profile().against.1)}
                </a>
            </div>
        </section>
    }
}
