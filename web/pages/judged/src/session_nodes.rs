//! Layers at which a connected training can wait: a list to choose from, and a button for one of them.

use std::sync::Arc;

use trainscope_api::sessions::{
    Session, SessionCommand, SessionItems, SessionItemsQuery, SessionRankState, SessionState,
};
use trainscope_format::session::Capability;

use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::{IconName, Popover, ToolButton};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::sessions::use_sessions;

/// `true` if a training can be sent to one of its layers now.
fn can_run_to(session: &Session) -> bool {
    let is_ready = matches!(
        session.state,
        SessionState::Running | SessionState::Waiting | SessionState::Stepping
    );
    is_ready && session.can.contains(&Capability::Nodes)
}

/// Requests the layers with names that match a pattern; no request without a pattern.
fn nodes(
    session: Memo<Option<Arc<Session>>>,
    pattern: impl Fn() -> Option<String> + Send + Sync + 'static,
) -> Query<SessionItems> {
    let asked = Memo::new(move |_| {
        session.with(|session| {
            let session = session.as_ref().filter(|session| can_run_to(session))?;
            let mut ranks = session.ranks.iter();
            // All ranks have the same layers.
            let rank = ranks
                .find(|rank| rank.state != SessionRankState::Lost)?
                .rank;
            Some((session.id.clone(), rank))
        })
    });
    query(
        move || Some((asked.get()?, pattern()?)),
        |((session, rank), pattern)| async move {
            let query = SessionItemsQuery {
                session,
                rank,
                pattern,
                offset: 0,
            };
            client::session_nodes(&query).await
        },
    )
}

/// Button *To layer…* with a list of layers.
#[component]
pub(crate) fn NodeMenu(
    session: Memo<Option<Arc<Session>>>,
    /// Called with the answer to the command.
    on_answer: impl Fn(Option<ClientError>) + Copy + Send + Sync + 'static,
) -> impl IntoView {
    let i18n = use_i18n();
    let sessions = use_sessions();
    let is_open = RwSignal::new(false);
    let pattern = RwSignal::new(String::new());
    let list = nodes(session, move || is_open.get().then(|| pattern.get()));
    let can =
        Memo::new(move |_| session.with(|session| session.as_deref().is_some_and(can_run_to)));
    let rows = move || {
        let texts = i18n.texts().session();
        let answer = list.answer.get().unwrap_or_default();
        let row = |name: &str| {
            let (node, label) = (name.to_owned(), name.to_owned());
            view! {
                <button
                    type="button"
                    class="hit"
                    role="menuitem"
                    data-node=name.to_owned()
                    on:click=move |_| {
                        is_open.set(false);
                        let node = node.clone();
                        if let Some(session) = session.get_untracked() {
                            sessions.command(&session, SessionCommand::ToNode { node }, on_answer);
                        }
                    }
                >
                    <span class="cut">{label}</span>
                </button>
            }
        };
        let rows = answer
            .items
            .iter()
            .map(|item| row(&item.name))
            .collect_view();
        let is_empty = answer.items.is_empty() && !list.is_fetching.get();
        view! {
            {rows}
            {answer.cut.then(|| view! { <p class="micro ink3">{texts.more_nodes}</p> })}
            {is_empty.then(|| view! { <p class="small ink2">{texts.no_node}</p> })}
        }
    };
    let face =
        move || view! { <span class="small">{i18n.texts().session().to_node}</span> }.into_any();
    view! {
        <Show when=move || can.get()>
            <Popover
                is_open=is_open
                label=i18n.label(|t| t.session().to_node)
                class="btn"
                role="menu"
                panel_class="popover narrow-menu"
                face=ViewFn::from(face)
            >
                <input
                    class="field"
                    type="search"
                    autocomplete="off"
                    aria-label=i18n.text(|t| t.session().find_node)
                    placeholder=i18n.text(|t| t.session().find_node)
                    prop:value=move || pattern.get()
                    on:input=move |event| pattern.set(event_target_value(&event))
                />
                {rows}
            </Popover>
        </Show>
    }
}

/// Button *Run to here* for a layer; nothing if the training has no such layer or is not connected.
#[component]
pub(crate) fn RunToHere(
    run: Memo<String>,
    /// Name of the layer.
    node: String,
) -> impl IntoView {
    let i18n = use_i18n();
    let sessions = use_sessions();
    let session = Memo::new(move |_| run.with(|run| sessions.of_run(run)).map(Arc::new));
    let node = StoredValue::new(node);
    let list = nodes(session, move || Some(node.get_value()));
    let is_there = Memo::new(move |_| {
        let is_ready = session.with(|session| session.as_deref().is_some_and(can_run_to));
        let answer = list.answer.get().unwrap_or_default();
        is_ready && node.with_value(|node| answer.items.iter().any(|item| item.name == *node))
    });
    let refusal = RwSignal::new(None::<String>);
    view! {
        <Show when=move || is_there.get()>
            <ToolButton
                icon=IconName::Play
                label=i18n.label(|t| t.session().run_to_here)
                class="grow"
                on_press=move || {
                    let node = node.get_value();
                    if let Some(session) = session.get_untracked() {
                        sessions.command(&session, SessionCommand::ToNode { node }, move |error| {
                            // The node may have been left.
                            let unreachable = i18n.texts().session().unreachable;
                            refusal.try_set(error.map(|error| error.message_or(unreachable)));
                        });
                    }
                }
            />
        </Show>
        {move || refusal.get().map(|text| view! { <p class="small warn" role="alert">{text}</p> })}
    }
}
