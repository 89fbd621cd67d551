//! Precision over recall of all shown runs at one step, the area below, and the counts at each threshold.

use trainscope_charts::label;
use trainscope_charts::line::{Line, XKind, YRange};
use trainscope_charts::overlay::Crosshair;
use trainscope_format::PrCurve;

use super::load::SeriesRecord;
use super::settings::Settings;
use trainscope_web_kit::components::{ChartEvents, Figure, LineChart, RunChip, use_palette};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_colour::use_run_colours;

/// The curves of a card.
#[component]
pub(super) fn Curves(
    settings: Settings,
    tag: StoredValue<String>,
    shown: Signal<Vec<SeriesRecord<PrCurve>>>,
) -> impl IntoView {
    let i18n = use_i18n();
    let palette = use_palette();
    let colours = use_run_colours();
    let pointer = RwSignal::new(None::<f64>);
    let figure = Signal::derive(move || {
        let palette = palette.get();
        let page_run = settings.browse.own.get();
        let lines = shown.get().into_iter().filter_map(|one| {
            let record = one.record?;
            Some(Line {
                colour: palette.run(colours.get(&one.id.run)),
                is_main: one.id.run == page_run,
                x: record.body.recall.clone(),
                values: record.body.precision.clone(),
                is_raw: true,
                ..Line::default()
            })
        });
        Figure {
            x_kind: XKind::Value,
            y_range: YRange::Unit,
            ..Figure::over_steps(lines.collect(), (0.0, 1.0))
        }
    });
    let crosshair = Signal::derive(move || {
        pointer.get().map(|x| Crosshair {
            x,
            text: label::value(x),
            dots: Vec::new(),
        })
    });
    let events = ChartEvents {
        hover: Callback::new(move |x: Option<f64>| {
            pointer.set(x.map(|x| x.clamp(0.0, 1.0)));
        }),
        ..ChartEvents::default()
    };
    let rows = move || {
        let texts = i18n.texts().recorded();
        let x = pointer.get();
        let rows = shown.get().into_iter().filter_map(|one| {
            let record = one.record?;
            let at = point(&record.body, x);
            let run = one.id.run.clone();
            let of = |list: &[f64]| at.and_then(|at| list.get(at).copied());
            let number = |list: &[f64]| of(list).map_or_else(String::new, label::value);
            let count = |list: &[f64]| of(list).map_or_else(String::new, count_text);
            let (precision, recall) = (of(&record.body.precision), of(&record.body.recall));
            let f1 = precision.zip(recall).and_then(f1);
            Some(view! {
                <tr>
                    <td>
                        <span class="flex">
                            <RunChip run=run />
                            <span class="cut">{one.id.label()}</span>
                        </span>
                    </td>
                    <td class="num">{label::step(record.step)}</td>
                    <td class="num" data-column="area">{area(&record.body).map(label::value)}</td>
                    <td class="num" data-column="threshold">{number(&record.body.thresholds)}</td>
                    <td class="num">{number(&record.body.precision)}</td>
                    <td class="num">{number(&record.body.recall)}</td>
                    <td class="num" data-column="f1">{f1.map(label::value)}</td>
                </tr>
                <tr class="counts micro ink3">
                    <td colspan="7">
                        <span title=texts.true_positives>
                            "TP " <b data-column="tp">{count(&record.body.true_positives)}</b>
                        </span>
                        <span title=texts.false_positives>
                            "FP " <b data-column="fp">{count(&record.body.false_positives)}</b>
                        </span>
                        <span title=texts.true_negatives>
                            "TN " <b data-column="tn">{count(&record.body.true_negatives)}</b>
                        </span>
                        <span title=texts.false_negatives>
                            "FN " <b data-column="fn">{count(&record.body.false_negatives)}</b>
                        </span>
                    </td>
                </tr>
            })
        });
        view! {
            <div class="pr-scroll" tabindex="0" role="region" aria-label=texts.at_threshold>
            <table class="pr small">
                <thead>
                    <tr class="micro ink3">
                        <td></td>
                        <th class="num">{texts.step}</th>
                        <th class="num">{texts.area}</th>
                        <th class="num">{texts.threshold}</th>
                        <th class="num">{texts.precision}</th>
                        <th class="num">{texts.recall}</th>
                        <th class="num" title=texts.f1>"F1"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
            </div>
        }
    };
    view! {
        <div class="curves">
            <span class="micro ink3 axis-y">{i18n.text(|t| t.recorded().precision)}</span>
            <LineChart
                figure=figure
                label=Signal::derive(move || {
                    tag.with_value(|tag| format!("{tag}: {}", i18n.texts().recorded().pr_chart))
                })
                crosshair=crosshair
                events=events
            />
            <p class="micro ink3 axes">{i18n.text(|t| t.recorded().recall)}</p>
            {rows}
        </div>
    }
}

/// Index of the point nearest to a recall; without a recall, that of the threshold nearest to 0.5.
fn point(curve: &PrCurve, recall: Option<f64>) -> Option<usize> {
    let (list, wanted) = match recall {
        Some(recall) => (&curve.recall, recall),
        None => (&curve.thresholds, 0.5),
    };
    let distances = list.iter().map(|value| (value - wanted).abs()).enumerate();
    let finite = distances.filter(|(_, distance)| distance.is_finite());
    finite.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

/// The harmonic mean of precision and recall, 0 to 1; `None` if either is not a number or both are 0.
fn f1((precision, recall): (f64, f64)) -> Option<f64> {
    let f1 = 2.0 * precision * recall / (precision + recall);
    f1.is_finite().then_some(f1)
}

/// A weighted count: without decimals if it is a whole number.
fn count_text(count: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be a whole number that `i64` holds"
    )]
    if count.fract() == 0.0 && count.abs() < 1e15 {
        format::integer(count as i64)
    } else {
        label::value(count)
    }
}

/// The area below the curve by trapezoids, starting at a recall of 0; `None` with fewer than two finite points. A
/// threshold without a match has no precision, whatever was written for it. Below the minimum recall, precision is that
/// of the point there, as in average precision.
fn area(curve: &PrCurve) -> Option<f64> {
    let is_empty = |at: usize| {
        curve
            .false_positives
            .get(at)
            .is_none_or(|found| *found <= 0.0)
    };
    let points = curve
        .recall
        .iter()
        .copied()
        .zip(curve.precision.iter().copied());
    let points = points.enumerate().filter(|(at, (recall, precision))| {
        recall.is_finite() && precision.is_finite() && (*recall > 0.0 || !is_empty(*at))
    });
    let mut points: Vec<(f64, f64)> = points.map(|(_, point)| point).collect();
    // Thresholds ascend, recall descends with them: at equal recalls, the curve drops to the next precision.
    points.reverse();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (_, precision) = *points.first()?;
    points.insert(0, (0.0, precision));
    let pairs = points.windows(2);
    let sum = pairs.map(|pair| (pair[1].0 - pair[0].0) * (pair[0].1 + pair[1].1) / 2.0);
    (points.len() > 2).then(|| sum.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_and_f1_needs_both() {
        assert_eq!(count_text(23.0), "23");
        assert_eq!(count_text(1_234.0), "1,234");
        assert_eq!(count_text(0.5), label::value(0.5));
        assert_eq!(f1((1.0, 0.5)), Some(2.0 / 3.0));
        assert_eq!(f1((0.0, 0.0)), None);
        assert_eq!(f1((f64::NAN, 0.5)), None);
    }

    #[test]
    fn the_area_of_a_perfect_classifier_is_one() {
        let curve = PrCurve {
            thresholds: vec![0.0, 0.5, 1.0],
            recall: vec![1.0, 1.0, 0.0],
            precision: vec![0.5, 1.0, 1.0],
            ..PrCurve::default()
        };
        assert_eq!(area(&curve), Some(1.0));
        assert_eq!(area(&PrCurve::default()), None);
        // The highest threshold matches most positives, or nothing with a written precision of 0.
        let high = PrCurve {
            recall: vec![1.0, 0.75],
            precision: vec![1.0, 1.0],
            ..PrCurve::default()
        };
        assert_eq!(area(&high), Some(1.0));
        let none = PrCurve {
            recall: vec![1.0, 0.75, 0.0],
            precision: vec![1.0, 1.0, 0.0],
            false_positives: vec![0.0; 3],
            ..PrCurve::default()
        };
        assert_eq!(area(&none), Some(1.0));
        // The highest threshold has wrong predictions only.
        let wrong = PrCurve {
            recall: vec![1.0, 0.5, 0.0],
            precision: vec![0.5, 0.5, 0.0],
            false_positives: vec![4.0, 2.0, 1.0],
            ..PrCurve::default()
        };
        assert_eq!(area(&wrong), Some(0.375));
        assert_eq!(point(&curve, None), Some(1));
        assert_eq!(point(&curve, Some(0.1)), Some(2));
    }
}
