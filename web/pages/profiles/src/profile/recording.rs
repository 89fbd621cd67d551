//! The lines of code that record a profile, in tabs.

use trainscope_web_kit::components::{IconName, StatePage};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Ways to record: name of the tab and code.
const SNIPPETS: [(&str, &str); 5] = [
    (
        "PyTorch",
        "from torch.profiler import profile, schedule, tensorboard_trace_handler

with profile(
    schedule=schedule(wait=1, warmup=1, active=10, repeat=1),
    on_trace_ready=tensorboard_trace_handler(folder),
    record_shapes=True,
    profile_memory=True,
    with_stack=True,
) as profiler:
    for batch in loader:
        train(batch)
        profiler.step()",
    ),
    (
        "MindSpore",
        "profiler = mindspore.Profiler(output_path=folder, profile_memory=True)
model.train(epochs, dataset)
profiler.analyse()",
    ),
    (
        "JAX",
        "with jax.profiler.trace(folder):
    for batch in batches:
        state = train_step(state, batch)",
    ),
    (
        "Python",
        "run = trainscope.start(folder)
for batch in run.steps(loader):
    train(batch)",
    ),
    (
        "Rust",
        r#"for number in 0..steps {
    let _step = collector.step(number);
    let batch = {
        let _span = collector.span("data");
        loader.next()
    };
    let _span = collector.span("forward");
    train(batch);
}"#,
    ),
];

/// The page of a run without a profile.
#[component]
pub(super) fn Recording(
    /// Files of profilers that cannot be read, with the reason.
    unread: Vec<(String, String)>,
) -> impl IntoView {
    let i18n = use_i18n();
    let chosen = RwSignal::new(0_usize);
    let tabs = SNIPPETS.iter().enumerate().map(move |(at, (name, _))| {
        view! {
            <button
                type="button"
                role="tab"
                aria-selected=move || (chosen.get() == at).to_string()
                on:click=move |_| chosen.set(at)
            >
                {*name}
            </button>
        }
    });
    let code = move || SNIPPETS.get(chosen.get()).map_or("", |snippet| snippet.1);
    let unread = unread.into_iter().map(|(path, reason)| {
        view! {
            <li class="small">
                <code>{path}</code>
                " "
                <span class="ink2">{reason}</span>
            </li>
        }
    });
    view! {
        <StatePage
            icon=IconName::Profile
            title=i18n.label(|t| t.profile().none)
            next=i18n.label(|t| t.profile().none_next)
        >
            <ul>{unread.collect::<Vec<_>>()}</ul>
            <div class="tabs" role="tablist">
                {tabs.collect::<Vec<_>>()}
            </div>
            <pre class="snippet mono small" role="tabpanel">
                {code}
            </pre>
        </StatePage>
    }
}
