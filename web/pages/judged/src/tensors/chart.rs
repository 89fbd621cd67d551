//! Head of the page, and the tensor over steps: range, spread or norm, with NaN and infinities in a lane. A slider
//! chooses the step.

use trainscope_api::tensors::{HistoryPoint, TensorSource};
use trainscope_charts::line::{Class, Line, Stretch};
use trainscope_charts::overlay::Crosshair;
use trainscope_charts::theme::Rgb;

use super::list::shape_text;
use super::model::use_model;
use trainscope_web_kit::components::{
    ChartEvents, Figure, Icon, IconButton, IconName, LineChart, SegOption, Segmented,
    severity_icon, severity_name, use_palette,
};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_colour::use_run_colours;

/// Quantity charted: range, standard deviation, L2 norm.
type Figures = u8;

/// Name, step and chart of the shown tensor.
#[component]
pub(super) fn StepChart() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let palette = use_palette();
    let colours = use_run_colours();
    let colour = Memo::new(move |_| model.run.with(|run| colours.get(run)));
    let figures = RwSignal::new(0 as Figures);
    let hovered = RwSignal::new(None::<f64>);
    let figure = Signal::derive(move || {
        let palette = palette.get();
        let colour = palette.run(colour.get());
        model.history.with(|history| {
            let points = &history.points;
            let steps = points.iter().map(|point| point.step as f64);
            let (first, last) = (
                steps.clone().next().unwrap_or(0.0),
                steps.clone().next_back().unwrap_or(1.0),
            );
            let margin = if first < last { 0.0 } else { 0.5 };
            let line = line(points, figures.get(), colour);
            Figure::over_steps(vec![line], (first - margin, last + margin))
        })
    });
    let crosshair = Memo::new(move |_| {
        let step = hovered
            .get()
            .or_else(|| model.step.get().map(|s| s as f64))?;
        let palette = palette.get();
        let value = model.history.with(|history| {
            let mut points = history.points.iter();
            let point = points.find(|point| (point.step as f64 - step).abs() < 0.5)?;
            Some(numbers(point, figures.get())?.1)
        });
        Some(Crosshair {
            x: step,
            text: format!("{step:.0}"),
            dots: value
                .map(|value| (value, palette.run(colour.get())))
                .into_iter()
                .collect(),
        })
    });
    let nearest = move |x: f64| {
        model.history.with_untracked(|history| {
            let steps = history.points.iter().map(|point| point.step);
            steps.min_by(|a, b| (*a as f64 - x).abs().total_cmp(&(*b as f64 - x).abs()))
        })
    };
    let hover = move |x: Option<f64>| {
        hovered.set(x.and_then(nearest).map(|step| step as f64));
    };
    let events = ChartEvents {
        hover: Callback::new(hover),
        ..ChartEvents::default()
    };
    let choose = move |_| {
        let step = hovered.get_untracked().and_then(nearest);
        if let Some(step) = step {
            model.set_step(step);
        }
    };
    let readout = move || {
        let step = hovered
            .get()
            .and_then(nearest)
            .or_else(|| model.step.get())?;
        let stats = model.point(step)?.stats?;
        let texts = i18n.texts().tensors();
        let mut parts = vec![("", (texts.step)(step))];
        if let Some(finite) = stats.finite {
            let std = stats.variance().unwrap_or(f64::NAN).max(0.0).sqrt();
            let [max, mean, _, min, spread] = i18n.texts().debugger().figures;
            let numbers = [
                (min, finite.min),
                (mean, finite.mean),
                (max, finite.max),
                (spread, std),
                ("L2", finite.l2),
            ];
            parts.extend(numbers.map(|(name, number)| (name, format::number(number, 4))));
        }
        let classes = [
            ("NaN", stats.nan),
            ("+∞", stats.pos_inf),
            ("−∞", stats.neg_inf),
        ];
        let bad = classes.into_iter().filter(|(_, count)| *count > 0);
        parts.extend(bad.map(|(name, count)| (name, format::count(count))));
        let parts = parts.into_iter().map(|(name, text)| {
            view! {
                <span>
                    <span class="ink3">{name}</span>
                    " "
                    {text}
                </span>
            }
        });
        Some(parts.collect_view())
    };
    let option = move |value: Figures, label: fn() -> &'static str| SegOption {
        value,
        label: Signal::derive(move || label().to_owned()),
    };
    let options = vec![
        option(0, move || use_i18n().texts().tensors().range),
        option(1, move || use_i18n().texts().tensors().std),
        option(2, move || use_i18n().texts().tensors().norm),
    ];
    let pending = move || {
        let left = model.history.with(|history| history.pending_bytes);
        (left > 0).then(|| (i18n.texts().tensors().pending)(left))
    };
    view! {
        <Head />
        <div class="toolbar tensor-stats">
            <Segmented
                label=i18n.label(|t| t.tensors().statistics)
                options=options
                value=figures
                on_choose=move |value| figures.set(value)
            />
            <div class="readout micro">{readout}</div>
            <span class="micro ink3 pending">{pending}</span>
        </div>
        <div class="step-chart" on:click=choose>
            <LineChart
                figure=figure
                label=Signal::derive(move || (i18n.texts().tensors().chart)(&model.tensor.get()))
                crosshair=crosshair
                events=events
            />
        </div>
        <Dumps />
        <Slider />
    }
}

/// Tensor name, type and shape, and the step.
#[component]
fn Head() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let severity = move || {
        let name = model.tensor.get();
        let severity = model.health.with(|health| health.get(&name).copied())?;
        let (class, icon) = severity_icon(severity);
        Some(view! {
            <span class=class data-severity=severity_name(severity)>
                <Icon name=icon size=16 />
            </span>
        })
    };
    let kind = move || {
        let entry = model.entry.get();
        let dtype = entry.as_ref().and_then(|entry| entry.dtype.clone());
        let shape = model.shape.get().map(|shape| shape_text(&shape));
        let parts = [dtype, shape].into_iter().flatten();
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    };
    let ranks = move || {
        let mut ranks = model
            .entry
            .with(|entry| entry.as_ref().map(|e| e.ranks.clone()))?;
        // A missing rank in the address is listed, because it is shown.
        let now = model.rank.get();
        if !ranks.contains(&now) {
            ranks.push(now);
        }
        (ranks.len() > 1).then(|| {
            let options = ranks.into_iter().map(|rank| {
                view! {
                    <option value=rank.to_string() selected=move || model.rank.get() == rank>
                        {(i18n.texts().tensors().with_rank)(rank)}
                    </option>
                }
            });
            view! {
                <select
                    class="btn"
                    aria-label=i18n.text(|t| t.tensors().rank)
                    on:change=move |event| model.set_rank(event_target_value(&event))
                >
                    {options.collect_view()}
                </select>
            }
        })
    };
    let step = move || {
        let step = model.step.get()?;
        Some((i18n.texts().tensors().step)(step))
    };
    view! {
        <div class="tensor-head">
            {severity} <h1 class="cut" title=move || model.tensor.get()>
                <bdi>{move || model.tensor.get()}</bdi>
            </h1> <span class="micro ink3 kind">{kind}</span> <span class="grow"></span> {ranks}
            <span class="step-buttons">
                <IconButton
                    icon=IconName::Left
                    label=i18n.label(|t| t.tensors().previous_step)
                    size=12
                    on_press=move || {
                        model.step_by(-1);
                    }
                />
                <b>{step}</b>
                <Show when=move || model.is_now.get()>
                    <span class="tok" data-part="live">{i18n.text(|t| t.session().now)}</span>
                </Show>
                <IconButton
                    icon=IconName::Right
                    label=i18n.label(|t| t.tensors().next_step)
                    size=12
                    on_press=move || {
                        model.step_by(1);
                    }
                />
            </span>
            <Show when=move || model.held.with(Option::is_some) && !model.is_now.get()>
                <a
                    class="btn live-now"
                    data-part="now"
                    href=move || model.now_href()
                    title=i18n.text(|t| t.session().now_title)
                >
                    {i18n.text(|t| t.session().live_values)}
                </a>
            </Show>
        </div>
    }
}

/// Steps of the slider with elements, unless all have them.
#[component]
fn Dumps() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let marks = Memo::new(move |_| {
        model.history.with(|history| {
            let points = &history.points;
            let mut path = String::new();
            let mut count = 0;
            for (at, point) in points.iter().enumerate() {
                if point.source != TensorSource::Statistics {
                    count += 1;
                    path.extend([format!("M{at} 0V1")]);
                }
            }
            let is_some = count > 0 && count < points.len();
            is_some.then(|| (points.len() - 1, path))
        })
    });
    move || {
        marks.get().map(|(last, path)| {
            view! {
                <div class="dump-lane" title=i18n.texts().tensors().dumps_title>
                    <span class="micro ink3">{i18n.texts().tensors().dumps}</span>
                    <svg viewBox=format!("0 0 {last} 1") preserveAspectRatio="none" aria-hidden="true">
                        <path d=path />
                    </svg>
                </div>
            }
        })
    }
}

/// Slider over all recorded steps, evenly spaced.
#[component]
fn Slider() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let count = Memo::new(move |_| model.history.with(|history| history.points.len()));
    let position = move || {
        let step = model.step.get().unwrap_or(0);
        model
            .history
            .with(|history| history.points.partition_point(|point| point.step < step))
    };
    let slide = move |event| {
        let position: usize = event_target_value(&event).parse().unwrap_or(0);
        let step = model
            .history
            .with_untracked(|history| history.points.get(position).map(|point| point.step));
        if let Some(step) = step {
            model.set_step(step);
        }
    };
    let text = move || {
        model
            .step
            .get()
            .map(|step| (i18n.texts().tensors().step)(step))
    };
    view! {
        <input
            type="range"
            class="range step-slider"
            min="0"
            max=move || count.get().saturating_sub(1).to_string()
            hidden=move || { count.get() < 2 }
            aria-label=i18n.text(|t| t.tensors().steps)
            aria-valuetext=text
            prop:value=move || position().to_string()
            style:--v=move || {
                let last = count.get().saturating_sub(1).max(1);
                format!("{:.1}%", 100.0 * position() as f64 / last as f64)
            }
            on:input=slide
        />
    }
}

/// Lower edge, line and upper edge of a point. For spread and norm all three are equal.
fn numbers(point: &HistoryPoint, figures: Figures) -> Option<(f64, f64, f64)> {
    let stats = point.stats.as_ref()?;
    let finite = stats.finite?;
    Some(match figures {
        0 => (finite.min, finite.mean, finite.max),
        1 => {
            let std = stats.variance()?.max(0.0).sqrt();
            (std, std, std)
        }
        _ => (finite.l2, finite.l2, finite.l2),
    })
}

fn line(points: &[HistoryPoint], figures: Figures, colour: Rgb) -> Line {
    let mut line = Line {
        colour,
        is_main: true,
        is_raw: true,
        ..Line::default()
    };
    for point in points {
        let numbers = numbers(point, figures).unwrap_or((f64::NAN, f64::NAN, f64::NAN));
        let x = point.step as f64;
        line.x.push(x);
        line.values.push(numbers.1);
        line.low.push(numbers.0);
        line.high.push(numbers.2);
        let Some(stats) = &point.stats else { continue };
        let classes = [
            (Class::Nan, stats.nan),
            (Class::PosInf, stats.pos_inf),
            (Class::NegInf, stats.neg_inf),
        ];
        for (class, _) in classes.into_iter().filter(|(_, count)| *count > 0) {
            let mut open = line.stretches.iter_mut().rev();
            let before = line.x.iter().rev().nth(1).copied();
            match open.find(|stretch| stretch.class == class) {
                Some(stretch) if Some(stretch.last) == before => stretch.last = x,
                _ => line.stretches.push(Stretch {
                    class,
                    first: x,
                    last: x,
                    label: String::new(),
                }),
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use trainscope_api::tensors::{HistoryPoint, TensorSource};
    use trainscope_charts::line::Class;
    use trainscope_charts::theme::Theme;
    use trainscope_format::tensor::{DType, TensorStats};

    use super::line;

    #[test]
    fn neighbours_of_a_class_are_one_stretch() {
        let point = |step, numbers: &[f32]| HistoryPoint {
            step,
            source: TensorSource::Dump,
            stats: Some(TensorStats::of(
                DType::F32,
                &numbers
                    .iter()
                    .flat_map(|n| n.to_le_bytes())
                    .collect::<Vec<u8>>(),
            )),
        };
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let points = [
            point(0, &[1.0, 3.0]),
            point(5, &[nan, 2.0]),
            point(9, &[nan, inf]),
            point(12, &[1.0]),
            point(13, &[nan]),
        ];
        let line = line(&points, 0, Theme::light().ink);
        assert_eq!((line.low[0], line.values[0], line.high[0]), (1.0, 2.0, 3.0));
        assert!(line.values[2].is_nan() && line.values[4].is_nan());
        let found: Vec<_> = line
            .stretches
            .iter()
            .map(|s| (s.class, s.first, s.last))
            .collect();
        assert_eq!(
            found,
            [
                (Class::Nan, 5.0, 9.0),
                (Class::PosInf, 9.0, 9.0),
                (Class::Nan, 13.0, 13.0)
            ]
        );
    }
}
