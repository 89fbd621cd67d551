//! The left panel: runs above tags, because they change more often; groups of runs between them.

use super::page::PageState;
use trainscope_web_kit::components::RunChip;
use trainscope_web_kit::components::browse;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Runs, groups, filter, tags, totals.
#[component]
pub(super) fn Side() -> impl IntoView {
    let page = PageState::get();
    let i18n = use_i18n();
    let totals = Signal::derive(move || {
        let tags = page.entries.with(|entries| entries.len() as u64);
        (i18n.texts().scalars().all_kept)(tags, page.browse.all_points())
    });
    view! {
        <browse::Side browse=page.browse totals=totals>
            <GroupList page=page />
        </browse::Side>
    }
}

/// The groups, each with the colour of its line and its number of runs.
#[component]
pub(super) fn GroupList(page: PageState) -> impl IntoView {
    let i18n = use_i18n();
    let groups = Memo::new(move |_| {
        let names = page.groups.get()?;
        let shown = page.settings.shown.get();
        let mut found: Vec<(String, String, usize)> = Vec::new();
        for run in shown.iter() {
            let Some(name) = names.get(run) else { continue };
            match found.iter_mut().find(|(other, ..)| other == name) {
                Some((_, _, count)) => *count += 1,
                None => found.push((name.clone(), run.clone(), 1)),
            }
        }
        Some(found)
    });
    view! {
        {move || {
            groups
                .get()
                .map(|groups| {
                    let rows = groups
                        .into_iter()
                        .map(|(name, run, count)| {
                            let title = name.clone();
                            view! {
                                <li class="flex" title=title>
                                    <RunChip run=run />
                                    <span class="cut">{name}</span>
                                    <span class="ink3">{format!("n = {count}")}</span>
                                </li>
                            }
                        })
                        .collect_view();
                    view! {
                        <ul class="groups small" aria-label=i18n.texts().scalars().groups>
                            {rows}
                        </ul>
                    }
                })
        }}
    }
}
