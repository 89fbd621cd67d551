//! Instructions for recording: snippets that run unchanged, on the empty page and in a panel.

use leptos::task::spawn_local;

use super::model::use_model;
use trainscope_web_kit::components::{Icon, IconName, RightPanel};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::live::{Connection, use_live};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

/// Tab and code of a way to record; `{dir}` in the code is the watched folder.
struct Snippet {
    tab: &'static str,
    code: &'static str,
}

const SNIPPETS: [Snippet; 8] = [
    Snippet {
        tab: "Python",
        code: r#"import trainscope

run = trainscope.start("{dir}/my-run")
run.watch(model, optimizer)
for step, batch in enumerate(loader):
    run.scalar("train/loss", train(batch), step)"#,
    },
    Snippet {
        tab: "PyTorch",
        code: r#"from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter("{dir}/my-run")
for step, batch in enumerate(loader):
    writer.add_scalar("train/loss", train(batch), step)
writer.close()"#,
    },
    Snippet {
        tab: "MindSpore",
        code: r#"from mindspore import SummaryCollector

collector = SummaryCollector("{dir}/my-run", collect_freq=10)
model.train(epochs, dataset, callbacks=[collector])"#,
    },
    Snippet {
        tab: "TensorFlow",
        code: r#"import tensorflow as tf

writer = tf.summary.create_file_writer("{dir}/my-run")
with writer.as_default():
    for step, batch in enumerate(dataset):
        tf.summary.scalar("train/loss", train(batch), step)"#,
    },
    Snippet {
        tab: "tensorboardX",
        code: r#"from tensorboardX import SummaryWriter

writer = SummaryWriter("{dir}/my-run")
for step, batch in enumerate(loader):
    writer.add_scalar("train/loss", train(batch), step)
writer.close()"#,
    },
    Snippet {
        tab: "Rust",
        code: r#"use trainscope_collector::{Collector, Role, TensorView};

let collector = Collector::builder("{dir}/my-run").start()?;
for number in 0..steps {
    let loss = train();
    let mut step = collector.step(number);
    step.scalars(&[("train/loss", loss.into())]);
    step.tensor("fc1.weight", Role::Weight, TensorView::of(&weights, &[2, 3]));
}
collector.finish();"#,
    },
    Snippet {
        tab: "safetensors",
        code: r#"import os
from safetensors.torch import save_file

os.makedirs("{dir}/my-run/dump", exist_ok=True)
for step, batch in enumerate(loader):
    train(batch)
    if step % 100 == 0:
        save_file(model.state_dict(), f"{dir}/my-run/dump/step_{step}.safetensors")"#,
    },
    Snippet {
        tab: "npy",
        code: r#"import os
import numpy as np

for step, batch in enumerate(loader):
    train(batch)
    if step % 100 == 0:
        os.makedirs(f"{dir}/my-run/dump/step_{step}", exist_ok=True)
        np.save(f"{dir}/my-run/dump/step_{step}/fc1.weight.npy", weights)"#,
    },
];

const KEYWORDS: [&str; 10] = [
    "from", "import", "for", "in", "with", "as", "if", "use", "let", "mut",
];

/// The page of a folder without runs.
#[component]
pub(super) fn EmptyPage() -> impl IntoView {
    let i18n = use_i18n();
    let state = use_app_state();
    let title = move || {
        let status = state.status.get();
        let dir = status.map_or_else(String::new, |status| status.base_dirs.join(", "));
        (i18n.texts().record().empty)(&dir)
    };
    view! {
        <section class="card state-page empty-page">
            <h1>{title}</h1>
            <p>{i18n.text(|t| t.record().empty_next)}</p>
            <Snippets />
        </section>
    }
}

/// The same instructions in a panel, for a list with runs.
#[component]
pub(super) fn RecordPanel() -> impl IntoView {
    let i18n = use_i18n();
    let model = use_model();
    view! {
        <RightPanel
            title=i18n.label(|t| t.record().title)
            on_close=move || model.open_panel(None)
        >
            <p class="small ink2">{i18n.text(|t| t.record().next)}</p>
            <Snippets />
        </RightPanel>
    }
}

#[component]
fn Snippets() -> impl IntoView {
    let i18n = use_i18n();
    let live = use_live();
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
    let tabs = SNIPPETS
        .iter()
        .enumerate()
        .map(|(position, snippet)| {
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
        })
        .collect_view();
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
            {tabs}
        </div>
        <pre class="snippet" role="tabpanel">
            {move || code.get().lines().map(highlighted).collect_view()}
        </pre>
        <div class="acts">
            <button type="button" class="btn primary" on:click=copy>
                <Icon name=IconName::Copy size=14 />
                {copy_text}
            </button>
            <span class="grow"></span>
            <Show when=move || live.connection.get() == Connection::Open>
                <span class="flex small ink3">
                    <i class="dot live small-dot"></i>
                    {i18n.text(|t| t.record().watching)}
                </span>
            </Show>
        </div>
    }
}

/// A line of code with its strings and keywords marked.
fn highlighted(line: &str) -> impl IntoView + use<> {
    let parts = line
        .split('"')
        .enumerate()
        .map(|(position, part)| {
            if position % 2 == 1 {
                view! { <span class="s">{format!("\"{part}\"")}</span> }.into_any()
            } else {
                part.split_inclusive(' ')
                    .map(|word| {
                        if KEYWORDS.contains(&word.trim()) {
                            view! { <span class="k">{word.to_owned()}</span> }.into_any()
                        } else {
                            word.to_owned().into_any()
                        }
                    })
                    .collect_view()
                    .into_any()
            }
        })
        .collect_view();
    view! {
        {parts}
        "\n"
    }
}
