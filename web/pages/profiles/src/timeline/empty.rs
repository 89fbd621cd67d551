//! Instructions for recording a profile, in a tab for each framework.

use leptos::task::spawn_local;

use trainscope_web_kit::components::{Icon, IconName};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// A way to record: its tab and its code, where `{dir}` is the watched folder.
struct Snippet {
    tab: &'static str,
    code: &'static str,
}

const SNIPPETS: [Snippet; 4] = [
    Snippet {
        tab: "PyTorch",
        code: r#"from torch.profiler import profile, schedule, tensorboard_trace_handler

with profile(
    schedule=schedule(wait=5, warmup=2, active=10),
    on_trace_ready=tensorboard_trace_handler("{dir}/my-run"),
    record_shapes=True, profile_memory=True, with_stack=True,
) as profiler:
    for batch in loader:
        train(batch)
        profiler.step()"#,
    },
    Snippet {
        tab: "MindSpore",
        code: r#"from mindspore import Profiler

profiler = Profiler(output_path="{dir}/my-run", profile_memory=True, data_process=True)
model.train(epochs, dataset)
profiler.analyse()"#,
    },
    Snippet {
        tab: "JAX",
        code: r#"import jax

with jax.profiler.trace("{dir}/my-run"):
    for step, batch in zip(range(10), loader):
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            train(batch)"#,
    },
    Snippet {
        tab: "Rust",
        code: r#"let collector = Collector::builder("{dir}/my-run").start()?;
for number in 0..steps {
    let step = collector.step(number);
    let batch = { let _span = collector.span("data"); loader.next() };
    { let _span = collector.span("forward"); model.forward(&batch) };
    { let _span = collector.span("backward"); model.backward() };
}"#,
    },
];

/// Tabs with code.
#[component]
pub(super) fn Recording() -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let chosen = RwSignal::new(0_usize);
    let copied = RwSignal::new(false);
    let code = Memo::new(move |_| {
        let status = state.status.get();
        let dir = status.and_then(|status| status.base_dirs.into_iter().next());
        let template = SNIPPETS
            .get(chosen.get())
            .map_or("", |snippet| snippet.code);
        template.replace("{dir}", &dir.unwrap_or_else(|| ".".to_owned()))
    });
    let tabs = SNIPPETS.iter().enumerate().map(|(position, snippet)| {
        view! {
            <button
                type="button"
                role="tab"
                aria-selected=move || (chosen.get() == position).to_string()
                on:click=move |_| {
                    chosen.set(position);
                    copied.set(false);
                }
            >
                {snippet.tab}
            </button>
        }
    });
    let copy = move |_| {
        let text = code.get_untracked();
        spawn_local(async move {
            let clipboard = window().navigator().clipboard();
            let written = wasm_bindgen_futures::JsFuture::from(clipboard.write_text(&text)).await;
            copied.set(written.is_ok());
        });
    };
    let copy_text = move || {
        let texts = i18n.texts().record();
        if copied.get() {
            texts.copied
        } else {
            texts.copy
        }
    };
    view! {
        <div class="tabs" role="tablist">
            {tabs.collect_view()}
        </div>
        <pre class="snippet" role="tabpanel">
            {move || code.get()}
        </pre>
        <div class="acts">
            <button type="button" class="btn primary" on:click=copy>
                <Icon name=IconName::Copy size=14 />
                {copy_text}
            </button>
        </div>
    }
}
