//! Properties of an operation, with links to its neighbours.

use trainscope_api::pipeline::{
    OperationStats, PipelineOperation, PipelinePart, SlowOperation, WorkersEstimate,
};

use super::against::{Difference, Parameters, Values};
use super::flow::of_all;
use super::model::{use_model, whole_share};
use super::waiting::{bars, sentences};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// The panel at the right.
#[component]
pub(super) fn Inspector() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let content = move || {
        let texts = i18n.texts().pipeline();
        let (index, operation) = (model.operation.get()?, model.shown()?);
        let difference = model
            .differing
            .with(|all| all.as_ref()?.operations.get(index).cloned());
        let (values, is_alone) = match difference {
            Some(Difference::Values(values)) => (values, false),
            Some(Difference::OnlyHere) => (Values::default(), true),
            None => (Values::default(), false),
        };
        let (all, users, interval_millis, processors, slow) = model.with_pipeline(|pipeline| {
            let users = pipeline.operations.iter().enumerate().filter(|(_, user)| {
                let mut inputs = user.inputs.iter();
                inputs.any(|input| *input as usize == index)
            });
            let users = users.map(|(user, _)| user).collect::<Vec<_>>();
            let all = pipeline.operations.len() as u64;
            let slow = pipeline.slow.clone();
            let slow = slow.filter(|slow| slow.operation as usize == index);
            let interval_millis = pipeline.interval_millis;
            (all, users, interval_millis, pipeline.processors, slow)
        })?;
        let inputs = operation
            .inputs
            .iter()
            .map(|input| *input as usize)
            .collect();
        let [from, to] = texts.neighbours;
        let name = if operation.name.is_empty() {
            texts.unnamed.to_owned()
        } else {
            operation.name.clone()
        };
        let nothing = operation.parameters.is_empty() && operation.transforms.is_empty();
        let outside = outside(&values.parameters, &operation);
        Some(view! {
            <section>
                <h2 class="flex">
                    <span class="cut" title=name.clone()>
                        {name.clone()}
                    </span>
                    <span class="grow"></span>
                    <span class="micro ink3">{(texts.place)(index as u64 + 1, all)}</span>
                </h2>
                {is_alone.then(|| view! { <span class="badge warning">{texts.differs[0]}</span> })}
            </section>
            {slow.map(|slow| help(&slow, processors))}
            <section>
                <h3>{texts.parameters}</h3>
                {pairs(&operation.parameters, &outside)}
                {nothing.then(|| view! { <p class="small ink3">{texts.no_parameters}</p> })}
            </section>
            {operation.running.as_ref().map(|running| ran(running, interval_millis))}
            {parts(
                texts.transforms,
                &operation.transforms,
                values.transforms.as_deref(),
                &values.parameters,
            )}
            {parts(
                texts.sampler,
                operation.sampler.as_slice(),
                values.sampler.as_deref(),
                &values.parameters,
            )}
            {neighbours(from, inputs)}
            {neighbours(to, users)}
        })
    };
    view! {
        <aside class="insp" aria-label=i18n.text(|t| t.pipeline().parameters)>
            {content}
        </aside>
    }
}

/// Names and values, with the value in the other run if it differs; below them, parameters that only that run has.
fn pairs(parameters: &[(String, String)], values: &Parameters) -> Vec<AnyView> {
    let pair = |(name, value): &(String, String)| {
        let there = values
            .get(name)
            .map(|there| format!("≠ {}", there.as_deref().unwrap_or("–")));
        view! {
            <div class="pair">
                <span class="ink3 cut" title=name.clone()>
                    {name.clone()}
                </span>
                <span class="value" title=value.clone()>
                    {value.clone()}
                    {there.map(|there| view! { <span class="warn">" " {there}</span> })}
                </span>
            </div>
        }
        .into_any()
    };
    let is_here = |name: &str| parameters.iter().any(|(key, _)| key == name);
    let others = values.iter().filter(|(name, _)| !is_here(name));
    let other = |(name, there): (&String, &Option<String>)| {
        let value = format!("≠ {}", there.as_deref().unwrap_or("–"));
        view! {
            <div class="pair">
                <span class="ink3 cut" title=name.clone()>
                    {name.clone()}
                </span>
                <span class="value warn">{value}</span>
            </div>
        }
        .into_any()
    };
    parameters
        .iter()
        .map(pair)
        .chain(others.map(other))
        .collect()
}

/// Differing parameters of an operation outside its parts.
fn outside(values: &Parameters, operation: &PipelineOperation) -> Parameters {
    let is_inside = |name: &str| {
        let mut parts = operation.transforms.iter().chain(&operation.sampler);
        parts.any(|part| inside(name, part).is_some())
    };
    let all = values.iter().filter(|(name, _)| !is_inside(name));
    all.map(|(name, there)| (name.clone(), there.clone()))
        .collect()
}

/// Name of a parameter in a part; `None` for one outside it.
fn inside<'a>(name: &'a str, part: &PipelinePart) -> Option<&'a str> {
    name.strip_prefix(&*part.name)?.strip_prefix('.')
}

/// Execution of the operation: times, and occupancy of its output queue.
fn ran(stats: &OperationStats, interval_millis: u64) -> AnyView {
    let texts = use_i18n().texts().pipeline();
    let [workers, mean, empty, busy] = texts.ran_rows;
    let mut rows = vec![(workers.to_owned(), format::count(stats.workers))];
    if stats.samples > 0 {
        let of = (texts.of)(stats.capacity);
        let fill = format!("{} {of}", whole_share(stats.fill));
        let found = of_all(stats.empty, stats.samples);
        rows.extend([(mean.to_owned(), fill), (empty.to_owned(), found)]);
    }
    if let Some(share) = stats.busy {
        rows.push((busy.to_owned(), whole_share(share)));
    }
    let rows = pairs(&rows, &Parameters::new());
    let curve = (stats.samples > 0).then(|| {
        let apart = format::nanos(interval_millis.saturating_mul(1_000_000));
        let label = (texts.samples)(stats.samples, &apart);
        view! {
            <div class="plot">
                <svg
                    role="img"
                    aria-label=label
                    viewBox=format!("0 0 {} 100", stats.sizes.len())
                    preserveAspectRatio="none"
                >
                    <path d=bars(&stats.sizes, stats.capacity)></path>
                </svg>
            </div>
        }
    });
    view! { <section><h3>{texts.ran}</h3> {rows} {curve}</section> }.into_any()
}

/// Estimated gain of more workers, if the times carry an estimate.
fn help(slow: &SlowOperation, processors: u64) -> Option<AnyView> {
    let texts = use_i18n().texts().pipeline();
    let all = &slow.more_workers;
    let (first, last) = (all.first()?, all.last()?);
    let row = |estimate: &WorkersEstimate| {
        let share = estimate.step_nanos as f64 / (first.step_nanos as f64).max(1.0);
        let class = if estimate == first {
            "warn"
        } else if estimate == last {
            "okc"
        } else {
            "ink2"
        };
        view! {
            <div class=format!("estimate small {class}") data-part="estimate">
                <span>{(texts.with_workers)(estimate.workers)}</span>
                <span class="track">
                    <i style:width=format!("{}%", share * 100.0)></i>
                </span>
                <b class="med">{format::nanos(estimate.step_nanos)}</b>
            </div>
        }
        .into_any()
    };
    let rows = all.iter().map(row).collect_view();
    let beyond = if (1..last.workers).contains(&processors) {
        (texts.processors)(processors)
    } else {
        String::new()
    };
    let section = view! {
        <section>
            <h3 class="flex">
                {texts.help[0]} <span class="grow"></span>
                <span class="micro ink3">{texts.help[1]}</span>
            </h3>
            {rows}
            <p class="micro ink3">{sentences(&[texts.help[2], &beyond])}</p>
        </section>
    };
    Some(section.into_any())
}

/// Parts with their parameters, and the names of the parts in the other run if those differ.
fn parts(
    title: &'static str,
    parts: &[PipelinePart],
    there: Option<&[String]>,
    values: &Parameters,
) -> AnyView {
    // The content of a user-defined function may not have been recorded.
    let is_told = |part: &PipelinePart| !part.name.is_empty() || !part.parameters.is_empty();
    if there.is_none() && !parts.iter().any(is_told) {
        return ().into_any();
    }
    let there = there.map(|names| {
        let names = match names {
            [] => "–".to_owned(),
            names => names.join(" · "),
        };
        view! { <p class="small warn">"≠ " {names}</p> }
    });
    let part = |part: &PipelinePart| {
        let of_part = values
            .iter()
            .filter_map(|(name, there)| Some((inside(name, part)?.to_owned(), there.clone())));
        let of_part: Parameters = of_part.collect();
        let rows = pairs(&part.parameters, &of_part);
        view! {
            <div class="part">
                <b class="med small">{part.name.clone()}</b>
                {rows}
            </div>
        }
    };
    let parts = parts.iter().map(part).collect_view();
    view! { <section><h3>{title}</h3> {there} {parts}</section> }.into_any()
}

fn neighbours(title: &'static str, all: Vec<usize>) -> AnyView {
    let model = use_model();
    if all.is_empty() {
        return ().into_any();
    }
    let link = |index: usize| {
        let name = model.with_pipeline(|pipeline| {
            let other = pipeline.operations.get(index);
            other.map_or_else(String::new, |other| other.name.clone())
        });
        view! {
            <button type="button" class="link cut" on:click=move |_| model.select(index)>
                {name}
            </button>
        }
    };
    let links = all.into_iter().map(link).collect_view();
    view! { <section><h3>{title}</h3> {links}</section> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_difference_is_shown_with_its_part_or_outside() {
        let part = |name: &str| PipelinePart {
            name: name.to_owned(),
            ..PipelinePart::default()
        };
        let operation = PipelineOperation {
            transforms: vec![part("Resize")],
            sampler: Some(part("Random")),
            ..PipelineOperation::default()
        };
        let names = ["Flip.share", "Random.seed", "Resize.size", "rows"];
        let values = names.map(|name| (name.to_owned(), None));
        let found = outside(&Parameters::from(values), &operation);
        assert_eq!(
            found.into_keys().collect::<Vec<_>>(),
            ["Flip.share", "rows"]
        );
        let inside = names.map(|name| inside(name, &operation.transforms[0]));
        assert_eq!(inside, [None, None, Some("size"), None]);
    }
}
