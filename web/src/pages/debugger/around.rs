//! What the tensor is computed from, and what is computed from it, with how each of that is. A press leads there.

use leptos::prelude::*;
use leptos::task::spawn_local;
use trainscope_api::findings::{Neighbour, Neighbours, NeighboursQuery};

use super::model::use_model;
use crate::client;
use crate::components::{IconName, fixed_icon, severity_icon};
use crate::i18n::use_i18n;
use crate::live::use_live;

/// Three columns: upstream, the layer itself, downstream.
#[component]
pub(super) fn Around() -> impl IntoView {
    let model = use_model();
    let live = use_live();
    let i18n = use_i18n();
    let known = RwSignal::new(Neighbours::default());
    let asked = StoredValue::new(0_u64);
    Effect::new(move |_| {
        live.list_version.track();
        let Some((tensor, rank, step)) = model.place.get() else {
            return;
        };
        let query = NeighboursQuery {
            run: model.run.get(),
            tensor,
            rank,
            step,
        };
        let number = asked.get_value() + 1;
        asked.set_value(number);
        spawn_local(async move {
            let found = client::neighbours(&query).await.unwrap_or_default();
            if asked.try_get_value() == Some(number) && known.with_untracked(|own| *own != found) {
                known.set(found);
            }
        });
    });
    move || {
        let Neighbours {
            upstream,
            own,
            downstream,
            ..
        } = known.get();
        if upstream.is_empty() && downstream.is_empty() && own.len() < 2 {
            return None;
        }
        let texts = &i18n.texts().debugger;
        let column = |head: &'static str, all: Vec<Neighbour>| {
            let all = all.into_iter().map(|one| node(&one)).collect_view();
            view! { <div><p class="micro ink3">{head}</p> {all}</div> }.into_any()
        };
        let layer = own.first().map(|own| own.layer.clone()).unwrap_or_default();
        let own = own.into_iter().map(|one| node(&one)).collect_view();
        Some(view! {
            <section class="around" aria-label=texts.around>
                <h3>{texts.around}</h3>
                <div class="columns">
                    {column(texts.upstream, upstream)}
                    <div>
                        <p class="micro ink3 cut" title=layer.clone()>
                            {layer.clone()}
                        </p>
                        {own}
                    </div>
                    {column(texts.downstream, downstream)}
                </div>
            </section>
        })
    }
}

fn node(one: &Neighbour) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let (class, icon) = one.severity.map_or(("okc", IconName::Ok), severity_icon);
    let tensor = one.tensor.clone();
    let is_it = {
        let tensor = tensor.clone();
        move || {
            model
                .place
                .with(|place| place.as_ref().is_some_and(|own| own.0 == tensor))
        }
    };
    let title = match &one.says {
        Some(says) => format!("{tensor}: {}", i18n.words(says)),
        None => tensor.clone(),
    };
    // What tells it apart within its layer, which stands above.
    let short = tensor
        .strip_prefix(&one.layer)
        .map(|rest| rest.trim_start_matches(['.', '/', ':']));
    let short = short
        .filter(|rest| !rest.is_empty())
        .unwrap_or(&tensor)
        .to_owned();
    let is_own = model.place.with_untracked(|place| {
        place
            .as_ref()
            .is_some_and(|own| own.0.starts_with(&*one.layer))
    });
    let name = if is_own { short } else { tensor.clone() };
    let is_current = is_it.clone();
    view! {
        <button
            type="button"
            class=format!("node {class}")
            class:cur=is_it
            aria-current=move || is_current().to_string()
            title=title
            on:click=move |_| model.look_at(Some(&tensor))
        >
            {fixed_icon(icon, 12)}
            <span class="cut">
                <bdi>{name}</bdi>
            </span>
        </button>
    }
    .into_any()
}
