//! Properties of the selected node or scope, with links to its neighbours.

use trainscope_api::graphs::{GraphNode, Neighbour, Precision};
use trainscope_format::graph::TensorType;
use trainscope_format::{Kind, Severity};

use super::likeness::Likeness;
use super::model::use_model;
use super::shape::shape;
use crate::session_nodes::RunToHere;
use trainscope_web_kit::components::{IconName, ToolButton, fixed_icon, severity_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{GraphTexts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route;

/// Maximum number of entries of a list.
const LISTED: usize = 40;

/// The panel at the right.
#[component]
pub(super) fn NodePanel() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let content = move || {
        if let Some(node) = model.detail.get() {
            return of_node(&node);
        }
        let texts = i18n.texts().graph();
        view! {
            <section>
                <b class="med">{texts.nothing_chosen}</b>
                <p class="small ink2">{texts.nothing_chosen_next}</p>
            </section>
        }
        .into_any()
    };
    view! {
        <aside class="insp" aria-label=i18n.text(|t| t.graph().node)>
            {content}
            <Likeness />
        </aside>
    }
}

fn of_node(node: &GraphNode) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let texts = i18n.texts().graph();
    let worst = node.hits.iter().map(|hit| hit.severity).max();
    let is_first = model.scene.with_untracked(|scene| {
        scene
            .boxes
            .iter()
            .any(|graph_box| graph_box.is_first_cause && graph_box.path == node.path)
    });
    let kind = if node.op_type.is_empty() {
        (texts.nodes)(node.nodes)
    } else {
        node.op_type.clone()
    };
    let operator = node.operator.as_ref().map(|name| {
        let href = route::operator_href(&model.run.get(), name);
        view! {
            <section>
                <a class="link" href=href title=name.clone()>
                    {texts.operator}
                </a>
            </section>
        }
    });
    let begun = model.from.get().filter(|from| *from != node.path);
    let way = if begun.is_some() {
        texts.way_to
    } else {
        texts.way_from
    };
    let path = node.path.clone();
    let (open_path, is_scope) = (
        node.path.clone(),
        node.nodes > 1 || node.op_type.is_empty() && node.name.is_empty(),
    );
    let is_open = model.scene.with(|scene| scene.open.contains(&node.path));
    view! {
        <section>
            <h2 class="flex">
                {worst.map(sign)} <span class="cut" title=node.label.clone()>{node.label.clone()}</span>
            </h2>
            <p class="small ink3 path">{node.path.clone()}</p>
            <div class="badges">
                {is_first.then(|| view! { <span class="badge error">{texts.first_cause}</span> })}
                <span class="badge">{kind}</span>
                {node.precision.map(|precision| precision_badge(precision, texts.precision))}
            </div>
        </section>
        {findings(node)}
        {recorded(texts.tensors, node)}
        {neighbours(texts.inputs, &node.inputs, node.total_inputs)}
        {neighbours(texts.users, &node.users, node.total_users)}
        {outputs(texts.outputs, node)}
        {rows(texts.types, node.types.iter().filter(|_| is_scope).map(|of| (of.op_type.clone(), format::count(of.nodes))).collect())}
        {rows(texts.attributes, attributes(texts, node))}
        {operator}
        {source(texts.source, node)}
        <div class="acts">
            {is_scope.then(|| {
                let label = if is_open { texts.close } else { texts.open };
                view! {
                    <ToolButton
                        icon=if is_open { IconName::Minus } else { IconName::Plus }
                        label=label.to_owned()
                        class="grow"
                        on_press=move || model.toggle(&open_path)
                    />
                }
            })}
            <RunToHere run=model.run node=node.path.replace('/', ".") />
            <ToolButton
                icon=IconName::Path
                label=way.to_owned()
                class="grow"
                on_press=move || match &begun {
                    Some(from) => model.set_way(Some(from), Some(&path)),
                    None => model.set_way(Some(&path), None),
                }
            />
        </div>
    }
    .into_any()
}

fn sign(severity: Severity) -> AnyView {
    let (class, icon) = severity_icon(severity);
    view! { <span class=class>{fixed_icon(icon, 14)}</span> }.into_any()
}

fn precision_badge(precision: Precision, [reduced, raised]: [&'static str; 2]) -> AnyView {
    let (class, text) = match precision {
        Precision::Reduced => ("badge warning", reduced),
        Precision::Raised => ("badge", raised),
    };
    view! { <span class=class>{text}</span> }.into_any()
}

fn section(title: &'static str, content: Vec<AnyView>, left_out: u64) -> AnyView {
    let i18n = use_i18n();
    if content.is_empty() {
        return ().into_any();
    }
    let more = (left_out > 0).then(|| (i18n.texts().graph().more)(left_out));
    view! {
        <section>
            <h3>{title}</h3>
            {content}
            {more.map(|more| view! { <p class="micro ink3">{more}</p> })}
        </section>
    }
    .into_any()
}

fn left_out(total: u64, shown: usize) -> u64 {
    total.saturating_sub(shown as u64)
}

fn neighbours(title: &'static str, all: &[Neighbour], total: u64) -> AnyView {
    let shown: Vec<AnyView> = all.iter().take(LISTED).map(neighbour).collect();
    let left_out = left_out(total, shown.len());
    section(title, shown, left_out)
}

fn neighbour(neighbour: &Neighbour) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let texts = i18n.texts().graph();
    let tensor = neighbour.tensor.as_ref().map(shape).unwrap_or_default();
    let beside = if neighbour.kind.is_none() && neighbour.path.is_none() {
        texts.missing.to_owned()
    } else if neighbour.control {
        texts.control.to_owned()
    } else {
        tensor
    };
    // The last two parts of a name tell it apart from most others.
    let short: Vec<&str> = neighbour.name.rsplitn(3, '/').take(2).collect();
    let short = short.into_iter().rev().collect::<Vec<_>>().join("/");
    let name = match neighbour.path.clone() {
        Some(path) => view! {
            <button
                type="button"
                class="link cut"
                title=neighbour.name.clone()
                on:click=move |_| model.select(&path)
            >
                {short}
            </button>
        }
        .into_any(),
        None => view! { <span class="cut" title=neighbour.name.clone()>{short}</span> }.into_any(),
    };
    let icon = match neighbour.severity {
        Some(severity) => sign(severity),
        None => view! { <span></span> }.into_any(),
    };
    view! {
        <div class="io">
            {icon} {name} <span class="micro ink3">{beside}</span>
        </div>
    }
    .into_any()
}

fn outputs(title: &'static str, node: &GraphNode) -> AnyView {
    let known = known(&node.outputs);
    let all = known.len();
    let shown = known.into_iter().take(LISTED).map(|(slot, text)| {
        view! {
            <div class="io">
                <span class="micro ink3">{slot}</span>
                <span class="small">{text}</span>
            </div>
        }
        .into_any()
    });
    let shown: Vec<AnyView> = shown.collect();
    let left_out = left_out(all as u64, shown.len());
    section(title, shown, left_out)
}

/// Slots and texts of the outputs of which something is known.
fn known(outputs: &[TensorType]) -> Vec<(usize, String)> {
    let texts = outputs.iter().map(shape).enumerate();
    texts.filter(|(_, text)| !text.is_empty()).collect()
}

fn attributes(texts: &GraphTexts, node: &GraphNode) -> Vec<(String, String)> {
    let device = (!node.device.is_empty()).then(|| (texts.device.to_owned(), node.device.clone()));
    let time = node.mean_nanos;
    let time = time.map(|time| (texts.mean_time.to_owned(), format::nanos(time)));
    device
        .into_iter()
        .chain(time)
        .chain(node.attributes.iter().cloned())
        .collect()
}

fn rows(title: &'static str, rows: Vec<(String, String)>) -> AnyView {
    let all = rows.len();
    let shown = rows.into_iter().take(LISTED).map(|(name, value)| {
        let (name_title, value_title) = (name.clone(), value.clone());
        view! {
            <div class="pair">
                <span class="ink3 cut" title=name_title>{name}</span>
                <span class="value" title=value_title>{value}</span>
            </div>
        }
        .into_any()
    });
    let shown: Vec<AnyView> = shown.collect();
    let left_out = left_out(all as u64, shown.len());
    section(title, shown, left_out)
}

fn source(title: &'static str, node: &GraphNode) -> AnyView {
    let shown = node.source.iter().take(LISTED).map(|place| {
        let name = place.file.rsplit('/').next().unwrap_or_default();
        let at = if place.line > 0 {
            format!("{name}:{}", place.line)
        } else {
            String::new()
        };
        let whole = format!("{}:{}", place.file, place.line);
        view! {
            <div class="place mono" class:ink3=place.is_library>
                {(!at.is_empty()).then(|| view! { <span class="med" title=whole>{at}</span> })}
                " "
                <span class="ink3">{place.text.clone()}</span>
            </div>
        }
        .into_any()
    });
    let shown: Vec<AnyView> = shown.collect();
    let left_out = left_out(node.source.len() as u64, shown.len());
    section(title, shown, left_out)
}

/// Recorded data of the node, each a link to its page.
fn recorded(title: &'static str, node: &GraphNode) -> AnyView {
    let run = use_model().run.get();
    let shown = node.tensors.iter().take(LISTED).map(|tensor| {
        let href = if tensor.kind == Kind::Histograms {
            route::histograms_href(&run, &tensor.tag)
        } else {
            route::tensors_href(&run, &tensor.tag, tensor.rank, None)
        };
        let name = view! {
            <a class="link cut" title=tensor.tag.clone() href=href>
                {tensor.tag.clone()}
            </a>
        };
        view! {
            <div class="pair">
                {name} <span class="micro ink3">{tensor.kind.as_str()}</span>
            </div>
        }
        .into_any()
    });
    let shown: Vec<AnyView> = shown.collect();
    let left_out = left_out(node.tensors.len() as u64, shown.len());
    section(title, shown, left_out)
}

/// Findings of the node, each a link to the debugger.
fn findings(node: &GraphNode) -> AnyView {
    let model = use_model();
    let i18n = use_i18n();
    let run = model.run.get();
    let shown = node.hits.iter().take(5).map(|hit| {
        let href = route::hit_href(&run, &hit.key());
        view! {
            <div class="finding small">
                {sign(hit.severity)}
                <a class="plain" href=href>{i18n.words_of(&hit.sentence, &hit.tensor)}</a>
            </div>
        }
        .into_any()
    });
    let shown: Vec<AnyView> = shown.collect();
    let left_out = left_out(node.total_hits, shown.len());
    section(i18n.texts().graph().findings, shown, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_keep_their_slots_after_an_unknown_one() {
        let of = |dtype: &str| TensorType {
            dtype: dtype.to_owned(),
            shape: None,
        };
        let outputs = [of("f32"), of(""), of("i64")];
        let expected = [(0, "f32".to_owned()), (2, "i64".to_owned())];
        assert_eq!(known(&outputs), expected);
    }
}
