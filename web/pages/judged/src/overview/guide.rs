//! Guided diagnosis: the topics of an expert's examination in order, each with its finding and the next page.

use std::collections::BTreeSet;

use leptos::task::spawn_local;
use trainscope_api::findings::Findings;
use trainscope_api::guide::{GuideRow, RowState, Topic};
use trainscope_api::runs::{LastValue, Run};
use trainscope_api::scalars::Series;
use trainscope_format::Severity;

use super::checks;
use super::hyperparameters::named;
use super::model::{Model, by_count, curve_of};
use super::program;
use super::undecided::undecided;
use crate::advice::advice_on;
use trainscope_web_kit::components::{Icon, IconName, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{I18n, OverviewTexts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// A way to record tensors.
struct Way {
    framework: &'static str,
    /// The call that records.
    call: &'static str,
    /// The whole code.
    code: &'static str,
}

/// Statistics of the tensors of a training in `PyTorch`, with the package of this program.
const WATCH: Way = Way {
    framework: "PyTorch",
    call: "run.watch(…)",
    code: r#"# pip install ./collector/python
import trainscope

# Before the first step, with the folder of this run:
run = trainscope.start("runs/name")
run.watch(model, optimizer)"#,
};
/// Weights and gradients in full, in files that the server finds, for a training in `PyTorch`.
const PYTORCH: Way = Way {
    framework: "PyTorch",
    call: "save_file(…)",
    code: r#"# pip install safetensors
import os
from safetensors.torch import save_file

# After loss.backward(); run is the folder of this run.
tensors = {}
for name, p in model.named_parameters():
    tensors[name] = p.detach().clone()
    if p.grad is not None:
        tensors[name + ".grad"] = p.grad.detach().clone()
os.makedirs(f"{run}/dump", exist_ok=True)
save_file(tensors, f"{run}/dump/step_{step}.safetensors")"#,
};
/// The same for `TensorFlow` and Keras.
const TENSORFLOW: Way = Way {
    framework: "TensorFlow",
    call: "save_file(…)",
    code: r#"# pip install safetensors
import os
import tensorflow as tf
from safetensors.tensorflow import save_file

# After grads = tape.gradient(loss, model.trainable_variables); run is the folder of this run.
tensors = {}
for v, grad in zip(model.trainable_variables, grads):
    tensors[v.name] = tf.convert_to_tensor(v)
    if grad is not None:
        tensors[v.name + ".grad"] = tf.convert_to_tensor(grad)
os.makedirs(f"{run}/dump", exist_ok=True)
save_file(tensors, f"{run}/dump/step_{step}.safetensors")"#,
};
/// Statistics of the tensors of a training in Rust, with the collector of this program.
const RUST: Way = Way {
    framework: "Rust",
    call: "step.tensor(…)",
    code: r#"// cargo add trainscope-collector
use trainscope_collector::{Collector, Role, TensorView};

// Once, before the training:
let collector = Collector::builder("runs/name").start()?;
// In each step; weight and gradient are slices of f32 with 2 × 3 elements:
let mut step = collector.step(number);
step.tensor("fc1.weight", Role::Weight, TensorView::of(&weight, &[2, 3]));
step.tensor("fc1.weight.grad", Role::Gradient, TensorView::of(&gradient, &[2, 3]));
// At the end:
collector.finish();"#,
};
/// Kinds of records that only the collectors of this program, for Python and for Rust, write into event files.
const OF_COLLECTOR: [&str; 4] = ["profile", "lineage", "statistics", "dumps"];

/// A dump of a `MindSpore` training: its settings, and the variable that names them.
const MINDSPORE: Way = Way {
    framework: "MindSpore",
    call: "MINDSPORE_DUMP_CONFIG",
    code: r#"# Write dump.json, with the absolute path of this run's folder:
cat > dump.json <<'EOF'
{
  "common_dump_settings": {
    "op_debug_mode": 0, "dump_mode": 0, "path": "/absolute/path/of/run/dump",
    "net_name": "net", "iteration": "0|100", "saved_data": "tensor",
    "input_output": 0, "kernels": [], "support_device": [0, 1, 2, 3, 4, 5, 6, 7]
  },
  "e2e_dump_settings": {"enable": true, "trans_flag": true}
}
EOF
# Before the training starts:
export MINDSPORE_DUMP_CONFIG=$PWD/dump.json"#,
};

/// Ways to record the tensors of a training, chosen by its files.
fn recording(formats: &[&str], names: &[&str], kinds: &[&str]) -> &'static [Way] {
    let is_of_collector = || kinds.iter().any(|kind| OF_COLLECTOR.contains(kind));
    if formats.contains(&"mindspore_summary") {
        &[MINDSPORE]
    } else if formats.contains(&"tfevents") && is_of_collector() {
        &[WATCH, RUST]
    } else if names
        .iter()
        .any(|name| name.rsplit('.').next() == Some("v2"))
    {
        &[TENSORFLOW]
    } else {
        &[WATCH, PYTORCH]
    }
}

/// Card of the diagnosis.
pub(super) fn view(model: Model) -> AnyView {
    let i18n = use_i18n();
    // All rows are built at once: they are few, and equal nodes of the page stay untouched.
    let rows = move || {
        let found = model.findings.get();
        let rows = found
            .as_deref()
            .map(|found| &*found.guide)
            .unwrap_or_default();
        let row_of = |topic: Topic| rows.iter().find(|row| row.topic == topic);
        let shown = Topic::ALL.into_iter();
        let shown = shown.filter(|topic| is_shown(model, *topic, row_of(*topic)));
        let rows = shown.map(|topic| row(model, topic, row_of(topic), i18n));
        rows.collect::<Vec<AnyView>>()
    };
    view! {
        <section class="card guide" aria-label=i18n.text(|t| t.overview().guide)>
            <div class="head ruled">
                <h2>{i18n.text(|t| t.overview().guide)}</h2>
                <span class="micro ink3 cut grow">{i18n.text(|t| t.overview().guide_order)}</span>
                {checks::view(model)}
            </div>
            <ol class="steps">{rows}</ol>
            {move || advice(model, i18n)}
        </section>
    }
    .into_any()
}

/// `true` if the row has content.
fn is_shown(model: Model, topic: Topic, row: Option<&GuideRow>) -> bool {
    let has = |kinds: &[&str]| kinds.iter().any(|kind| model.kind(kind) > 0);
    let is_hit = || row.is_some_and(|row| row.state >= RowState::Note);
    let info = model.info.get();
    let of_run = |read: fn(&Run) -> bool| info.as_deref().is_some_and(read);
    match topic {
        Topic::Recorded => true,
        Topic::Hyperparameters => of_run(|run| !run.hparams.is_empty()) || is_hit(),
        Topic::Model => has(&["graphs", "statistics", "dumps"]) || is_hit(),
        Topic::Input => has(&["images", "lineage"]) || is_hit(),
        Topic::Loss => of_run(|run| run.loss.is_some()) || is_hit(),
        Topic::Metric => of_run(|run| run.metric.is_some()) || is_hit(),
        Topic::Speed => row.is_some_and(|row| row.state > RowState::Skipped),
    }
}

fn row(model: Model, topic: Topic, row: Option<&GuideRow>, i18n: I18n) -> AnyView {
    let (class, icon) = row.map_or(("ink3", IconName::Gone), |row| icon_of(row.state));
    let finding = row.map(|row| finding(model, topic, row, i18n));
    let link = next_page(model, topic, row, i18n);
    let link = link.map(|(href, name)| view! { <a class="link" href=href>{name}</a> });
    view! {
        <li data-topic=topic as usize>
            <span class="n">{topic as usize}</span>
            <span class=class>
                <Icon name=icon size=14 />
            </span>
            <span class="t">
                <b class="cut">{i18n.texts().overview().topics[topic as usize]}</b>
                <span class="micro ink3 cut">{amount(model, topic, i18n)}</span>
            </span>
            <span class="f">{finding}</span>
            {link}
        </li>
    }
    .into_any()
}

const fn icon_of(state: RowState) -> (&'static str, IconName) {
    match state {
        RowState::Skipped | RowState::Open => ("inf", IconName::Info),
        RowState::Passed => ("okc", IconName::Ok),
        RowState::Note => severity_icon(Severity::Info),
        RowState::Warning => severity_icon(Severity::Warning),
        RowState::Error => severity_icon(Severity::Error),
    }
}

/// Amount of data examined.
fn amount(model: Model, topic: Topic, i18n: I18n) -> String {
    let texts = i18n.texts().overview();
    let judged = || {
        let found = model.findings.get();
        found.map_or(0, |found| found.judged.tensors)
    };
    let info = model.info.get();
    let points = |last: fn(&Run) -> Option<&LastValue>| {
        let curves = model.curves.get();
        let last = info.as_deref().and_then(last);
        let series = last.and_then(|last| curve_of(&curves, &last.tag));
        series.map_or_else(String::new, |series| (texts.points)(series.total))
    };
    match topic {
        Topic::Recorded => {
            let found = model.findings.get();
            let steps = found.map_or(0, |found| found.judged.steps);
            if steps > 0 {
                (texts.steps)(steps)
            } else {
                String::new()
            }
        }
        Topic::Hyperparameters => {
            let count = info.as_ref().map_or(0, |run| run.hparams.len());
            (texts.values)(count as u64)
        }
        Topic::Model => match model.graph.get() {
            Some(graph) => (texts.nodes)(graph.nodes),
            None if model.kind("graphs") > 0 => String::new(),
            // Gradients may be recorded as scalars alone.
            None if judged() == 0 => String::new(),
            None => (texts.tensors)(judged()),
        },
        Topic::Input => (texts.tags)(model.kind("images") + model.kind("lineage")),
        Topic::Loss => points(|run| run.loss.as_ref()),
        Topic::Metric => points(|run| run.metric.as_ref()),
        Topic::Speed => {
            let found = model.findings.get();
            let profiles = found.map_or(0, |found| found.judged.profiles);
            (texts.profiles)(profiles)
        }
    }
}

/// Finding of a row. A row without hits names the examined data, not just "healthy".
fn finding(model: Model, topic: Topic, row: &GuideRow, i18n: I18n) -> AnyView {
    let texts = i18n.texts().overview();
    if topic == Topic::Recorded {
        return recorded(model, i18n);
    }
    let mut parts = Vec::new();
    match topic {
        Topic::Loss => parts.extend(ends(model, |run| run.loss.as_ref(), false, i18n)),
        Topic::Metric => parts.extend(ends(model, |run| run.metric.as_ref(), true, i18n)),
        Topic::Hyperparameters if row.hits == 0 => {
            parts.extend(model.info.get().as_deref().map(named));
        }
        _ => {}
    }
    let hit = row.worst.as_ref().map(|hit| {
        let more =
            (row.hits > 1).then(|| format!("{}{}", texts.comma, (texts.more_hits)(row.hits - 1)));
        let before = (!parts.is_empty()).then_some(texts.semicolon);
        view! {
            {before}
            <b title=hit.tensor.clone()>{i18n.words_of(&hit.sentence, &hit.tensor)}</b>
            {more}
        }
    });
    let remark = row.remark.as_ref().map(|remark| {
        let before = (!parts.is_empty() || row.hits > 0).then_some(texts.semicolon);
        view! {
            {before}
            <b>{i18n.words(&remark.sentence)}</b>
        }
    });
    // The values of settings and metrics say more than the number of watchpoints.
    let is_value = matches!(topic, Topic::Hyperparameters | Topic::Metric);
    if !is_value && !row.sentence.en.is_empty() {
        parts.push(i18n.words(&row.sentence));
    }
    view! {
        {parts.join(texts.semicolon)}
        {hit}
        {remark}
    }
    .into_any()
}

/// Unreadable tensors, and files with indistinguishable names.
fn notes_on_files(found: &Findings, texts: &OverviewTexts) -> Vec<String> {
    let mut notes = Vec::new();
    if !found.unread.is_empty() {
        let types = found.unread.iter().map(|tensor| &*tensor.dtype);
        let types: BTreeSet<&str> = types.collect();
        let types: Vec<&str> = types.into_iter().collect();
        notes.push((texts.unread)(found.unread.len() as u64, &types.join(", ")));
    }
    for entry in &found.shared {
        notes.push((texts.shared)(entry.files, &entry.tensor, entry.step));
    }
    notes
}

/// Recorded data, and the conditions that need more.
fn recorded(model: Model, i18n: I18n) -> AnyView {
    let texts = i18n.texts().overview();
    let found = model.findings.get();
    let about = found.iter().flat_map(|found| &found.about_files);
    let about: Vec<String> = about.map(|words| i18n.words(words)).collect();
    let about = (!about.is_empty()).then(|| {
        view! {
            <b>{about.join(texts.gap)}</b>
            " "
        }
    });
    let (tensors, open, notes) = found.map_or((0, Vec::new(), Vec::new()), |found| {
        let notes = notes_on_files(&found, texts);
        (
            found.judged.tensors,
            undecided(&found, |words| i18n.raw(words)),
            notes,
        )
    });
    let open = open
        .into_iter()
        .map(|(reason, count)| (texts.undecided)(count, &reason));
    let has_unread = !notes.is_empty();
    let open: Vec<String> = notes.into_iter().chain(open).collect();
    let info = model.info.get();
    let is_damaged = model
        .findings
        .get()
        .is_some_and(|findings| findings.damage.is_some());
    let is_empty = info.as_deref().is_none_or(|run| run.kinds.is_empty());
    if is_damaged && is_empty {
        return texts.nothing_read.into_any();
    }
    // Unreadable files may contain them.
    if tensors == 0 && !has_unread && !is_damaged {
        let files = info.as_deref().map_or(&[][..], |run| &run.files);
        let formats: Vec<&str> = files.iter().map(|file| &*file.format).collect();
        let names: Vec<&str> = files.iter().map(|file| &*file.path).collect();
        let kinds = info.iter().flat_map(|run| run.kinds.keys());
        let kinds: Vec<&str> = kinds.map(String::as_str).collect();
        let ways = recording(&formats, &names, &kinds).iter();
        let ways = ways.map(|way| code_of(way, i18n)).collect_view();
        return view! {
            {about}
            {texts.no_tensors}
            {ways}
        }
        .into_any();
    }
    let kinds = info.map(|info| info.kinds.clone()).unwrap_or_default();
    let kinds = by_count(kinds.into_iter().collect());
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, count)| {
            let name = (i18n.texts().runs().kind)(kind);
            format!("{name} {}", format::count(*count))
        })
        .collect();
    let open = (!open.is_empty()).then(|| view! { <b>{open.join(texts.semicolon)}</b> " · " });
    view! {
        {about}
        {open}
        {kinds.join(" · ")}
    }
    .into_any()
}

/// The code of a way to record tensors, which opens in place.
fn code_of(way: &'static Way, i18n: I18n) -> AnyView {
    let texts = i18n.texts();
    let copy = move |_| {
        spawn_local(async move {
            let clipboard = window().navigator().clipboard();
            // Without the permission the code can be selected.
            drop(wasm_bindgen_futures::JsFuture::from(clipboard.write_text(way.code)).await);
        });
    };
    view! {
        " "
        <details class="record">
            <summary class="link">
                {(texts.overview().record_with)(way.framework)} " " <code>{way.call}</code>
            </summary>
            <div class="code">
                <button type="button" class="btn" on:click=copy>
                    {texts.record().copy}
                </button>
                <pre>{way.code}</pre>
            </div>
        </details>
    }
    .into_any()
}

/// First and last value of a scalar, and the best one of a metric.
fn ends(
    model: Model,
    last: fn(&Run) -> Option<&LastValue>,
    has_best: bool,
    i18n: I18n,
) -> Option<String> {
    let info = model.info.get();
    let last = last(info.as_deref()?)?;
    let texts = i18n.texts().overview();
    let curves = model.curves.get();
    let Some(series) = curve_of(&curves, &last.tag) else {
        return Some(format::cell(last.value));
    };
    let first = series.values.first().copied().unwrap_or(last.value);
    let mut text = format!("{} → {}", format::cell(first), format::cell(last.value));
    if let Some((value, step)) = best_of(series).filter(|_| has_best) {
        text.push_str(texts.semicolon);
        text.push_str(&(texts.best)(&format::cell(value), &format::integer(step)));
    }
    Some(text)
}

/// Maximum finite value and the first step with it.
fn best_of(series: &Series) -> Option<(f64, i64)> {
    let values = series
        .values
        .iter()
        .copied()
        .zip(series.steps.iter().copied());
    let finite = values.filter(|(value, _)| value.is_finite());
    finite.reduce(|best, one| if one.0 > best.0 { one } else { best })
}

/// Next page to examine: the page of the finding, else the curve.
fn next_page(
    model: Model,
    topic: Topic,
    row: Option<&GuideRow>,
    i18n: I18n,
) -> Option<(String, &'static str)> {
    let run = model.run();
    if topic == Topic::Speed {
        let href = route::run_href(&run, route::RunPage::Profile);
        return Some((href, i18n.texts().titles().profile));
    }
    let is_damaged = || {
        model
            .findings
            .get()
            .is_some_and(|findings| findings.damage.is_some())
    };
    if topic == Topic::Recorded && is_damaged() {
        return Some((route::files_href(&run), i18n.texts().overview().files));
    }
    let hit = row.and_then(|row| row.worst.as_ref());
    if let (Some(hit), false) = (hit, matches!(topic, Topic::Loss | Topic::Metric)) {
        let href = route::hit_href(&run, &hit.key());
        return Some((href, i18n.texts().titles().debugger));
    }
    let remark = row.and_then(|row| row.remark.as_ref());
    if let Some(node) = remark.and_then(|remark| remark.node.as_deref()) {
        return Some((
            route::graph_href(&run, Some(node)),
            i18n.texts().titles().graph,
        ));
    }
    let info = model.info.get();
    let info = info.as_deref()?;
    let last = match topic {
        Topic::Loss => info.loss.as_ref(),
        Topic::Metric => info.metric.as_ref(),
        _ => None,
    };
    let tag = &last?.tag;
    let href = route::scalars_href(&run, &[], Some(tag));
    Some((href, i18n.texts().titles().scalars))
}

/// Most probable remedy.
fn advice(model: Model, i18n: I18n) -> Option<AnyView> {
    let found = model.findings.get()?;
    // If the line of the program is shown, the advice is next to it.
    if program::source_of(&found).is_some() {
        return None;
    }
    let words = advice_on(&found, &found.first_cause.as_ref()?.hit)?;
    Some(
        view! {
            <p class="adv">
                <Icon name=IconName::Wand size=14 />
                <span>
                    <b>{i18n.texts().overview().most_likely}</b>
                    " "
                    {i18n.words(words)}
                </span>
            </p>
        }
        .into_any(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_of_the_framework_that_wrote_the_files() {
        let of = |format, name| {
            let ways = recording(&[format], &[name], &["scalars"]).iter();
            ways.map(|way| (way.framework, way.call))
                .collect::<Vec<_>>()
        };
        let ways = recording(&["tfevents"], &["events.out.tfevents.1.vm.0"], &["profile"]);
        let [python, rust] = ways else {
            panic!("{} ways", ways.len());
        };
        assert!(python.code.contains("run.watch(model, optimizer)"));
        assert_eq!(rust.framework, "Rust");
        for line in [
            "use trainscope_collector",
            ".start()?",
            "step.tensor(",
            "finish()",
        ] {
            assert!(rust.code.contains(line), "{line}");
        }
        assert_eq!(
            of("mindspore_summary", "events.summary.1_MS"),
            [("MindSpore", "MINDSPORE_DUMP_CONFIG")]
        );
        assert_eq!(
            of("tfevents", "events.out.tfevents.1.vm.0.v2"),
            [("TensorFlow", "save_file(…)")]
        );
        // The package first: it records statistics of all tensors.
        assert_eq!(
            of("tfevents", "events.out.tfevents.1.vm.0"),
            [("PyTorch", "run.watch(…)"), ("PyTorch", "save_file(…)")]
        );
    }

    #[test]
    fn the_best_value_is_finite_and_the_first_of_its_size() {
        let series = Series {
            steps: vec![0, 5, 10, 15],
            values: vec![0.5, 0.9, f64::INFINITY, 0.9],
            ..Series::default()
        };
        assert_eq!(best_of(&series), Some((0.9, 5)));
        assert_eq!(best_of(&Series::default()), None);
    }
}
