//! Values at the crosshair: in full on the card under the pointer, one value per run in the headers of the others.

use std::sync::Arc;

use trainscope_api::scalars::NonFiniteClass;
use trainscope_charts::geometry::Geometry;
use trainscope_charts::label;

use super::attempts::{attempt_at, label_of, overwritten_at};
use super::choices::{ScaleChoice, Spread, XChoice};
use super::data::Curve;
use super::drawing::x_text;
use super::page::PageState;
use super::picture::{Picture, class_of};
use super::reading::Reading;
use trainscope_web_kit::components::RunChip;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_name::short_name;

/// Maximum number of values in a head.
const MAX_IN_HEAD: usize = 6;
/// Pixels of a head for parts other than name and values, beyond the width of the plot: padding, buttons, pin, gaps.
const HEAD_PIXELS: f64 = 100.0;
/// Pixels of the word for a scale that is not linear.
const SCALE_PIXELS: f64 = 48.0;
/// Pixels of a chip and the gaps around it.
const CHIP_PIXELS: f64 = 24.0;
/// Pixels between the parts of a head.
const GAP: f64 = 8.0;
/// Pixels of the count of omitted values.
const MORE_PIXELS: f64 = 24.0;
/// Pixels between the crosshair and the read-out, and between it and the edge of the card.
const BESIDE: f64 = 14.0;
const EDGE: f64 = 4.0;
/// Width of the read-out before its first layout.
const FIRST_WIDTH: f64 = 300.0;
/// Maximum number of rows of the read-out; the others are counted.
const MAX_ROWS: usize = 12;

/// CSS class of a value that is not finite.
fn value_class(value: f64) -> &'static str {
    if value.is_nan() {
        "nan"
    } else if value.is_infinite() {
        "inf"
    } else {
        ""
    }
}

/// Chip and value of each run in the head: at the crosshair, or the last one.
#[component]
pub(super) fn HeadValues(
    page: PageState,
    tag: StoredValue<String>,
    picture: Memo<Picture>,
    readings: Memo<Option<Vec<Option<Reading>>>>,
    width: Signal<f64>,
    /// Text between name and values.
    #[prop(into)]
    note: Signal<Option<String>>,
) -> impl IntoView {
    let i18n = use_i18n();
    let values = move || {
        let is_pointed = page.pointer.with(|pointer| {
            pointer
                .as_ref()
                .is_some_and(|pointer| tag.with_value(|tag| *tag == pointer.tag))
        });
        if is_pointed {
            return None;
        }
        picture.with(|picture| {
            let readings = readings.get().unwrap_or_else(|| picture.last_readings());
            let is_linear = tag.with_value(|tag| page.y_scale(tag)) == ScaleChoice::Linear;
            let name = tag.with_value(|tag| 1.05 * label::width(tag))
                + if is_linear { 0.0 } else { SCALE_PIXELS }
                + note.with(|note| note.as_ref().map_or(0.0, |note| GAP + label::width(note)));
            let has_more_runs = picture.runs() > 1;
            let readings: Vec<Reading> = readings.into_iter().flatten().collect();
            let locale = i18n.locale();
            let curves = &picture.loaded.curves;
            let attempt = |reading: &Reading| {
                let series = &curves.get(reading.line)?.series;
                let number = attempt_at(series, reading.step)?;
                Some(label_of(number, series, locale))
            };
            let marks = |with_attempts: bool| -> Vec<String> {
                let mark = |reading: &Reading| {
                    let mark = mark_of(curves, reading.line, has_more_runs);
                    let attempt = attempt(reading).filter(|_| with_attempts);
                    attempt.map_or(mark.clone(), |attempt| format!("{mark}{attempt} "))
                };
                readings.iter().map(mark).collect()
            };
            let room = width.get() - name - HEAD_PIXELS;
            let count = |marks: &[String]| {
                let widths = readings.iter().zip(marks).map(|(reading, mark)| {
                    let value = label::width(&label::value(reading.value));
                    CHIP_PIXELS + value + label::width(mark)
                });
                fitting(&widths.collect::<Vec<_>>(), room)
            };
            // Values take precedence over the names of their attempts, which the full read-out has too.
            let mut marks_shown = marks(true);
            let mut fitting = count(&marks_shown);
            if fitting < readings.len() {
                marks_shown = marks(false);
                fitting = count(&marks_shown);
            }
            let left_out = readings.len() - fitting;
            let found = readings.iter().zip(marks_shown).take(fitting);
            let found = found.filter_map(|(reading, mark)| {
                let curve = curves.get(reading.line)?;
                let step = label::step(reading.step);
                let title = match attempt(reading) {
                    Some(attempt) => format!("{} · {attempt} · {step}", curve.label()),
                    None => format!("{} · {step}", curve.label()),
                };
                let run = curve.id.run.clone();
                Some(view! {
                    <span title=title>
                        <RunChip run=run />
                        {mark}
                        <b class=value_class(reading.value)>{label::value(reading.value)}</b>
                    </span>
                })
            });
            let more = (left_out > 0 && fitting > 0).then(|| format!("+{left_out}"));
            Some((found.collect_view(), more).into_any())
        })
    };
    view! { <span class="ro">{values}</span> }
}

/// Number of values of these widths that fit completely: a truncated value reads like another one. If some are omitted,
/// their count takes room, too.
fn fitting(widths: &[f64], room: f64) -> usize {
    if widths.len() <= MAX_IN_HEAD && widths.iter().sum::<f64>() <= room {
        return widths.len();
    }
    let mut left = room - MORE_PIXELS;
    let fits = widths.iter().take(MAX_IN_HEAD).take_while(|width| {
        left -= **width;
        left >= 0.0
    });
    fits.count()
}

/// The rank of a line, or the number of its program, if its run has several lines on the card; with the name of the run
/// if there are more runs.
fn mark_of(curves: &[Curve], line: usize, has_more_runs: bool) -> String {
    let Some(curve) = curves.get(line) else {
        return String::new();
    };
    let id = &curve.id;
    if curve.group.is_some() || !id.is_one_of_many {
        return String::new();
    }
    let same = curves[..line].iter();
    let same = same.filter(|other| other.id.run == id.run && other.id.rank == id.rank);
    // Programs that wrote at the same time share a rank.
    let mark = match (id.rank, &id.file) {
        (rank, None) => format!("r{rank}"),
        (0, Some(_)) => format!("#{}", same.count() + 1),
        (rank, Some(_)) => format!("r{rank} #{}", same.count() + 1),
    };
    if has_more_runs {
        format!("{} {mark} ", short_name(&id.run))
    } else {
        format!("{mark} ")
    }
}

/// The full read-out next to the crosshair.
#[component]
pub(super) fn ReadOut(
    page: PageState,
    tag: StoredValue<String>,
    picture: Memo<Picture>,
    readings: Memo<Option<Vec<Option<Reading>>>>,
    geometry: RwSignal<Option<Arc<Geometry>>>,
) -> impl IntoView {
    let i18n = use_i18n();
    let texts = move || i18n.texts().scalars();
    let x = move || page.pointer.with(|pointer| pointer.as_ref().map(|p| p.x));
    let settings = page.settings;
    let tip = NodeRef::<leptos::html::Div>::new();
    let width = RwSignal::new(FIRST_WIDTH);
    Effect::new(move || {
        readings.track();
        tip.track();
        // Its width follows its text, which is rendered by then.
        request_animation_frame(move || {
            let now = tip.try_get_untracked().flatten();
            let now = now.map(|tip| f64::from(tip.offset_width()));
            if let Some(now) = now.filter(|now| width.try_get_untracked() != Some(*now)) {
                width.try_set(now);
            }
        });
    });
    // Next to the crosshair; over it only if neither side has room, and never beyond the card.
    let left = move || {
        let layout = geometry.get()?;
        let px = layout.x_px(x()?);
        let wanted = width.get();
        let most = (layout.width - wanted - EDGE).max(EDGE);
        let before = px - BESIDE - wanted;
        let left = if px + BESIDE <= most || before < EDGE {
            (px + BESIDE).min(most)
        } else {
            before
        };
        Some(format!("{left:.0}px"))
    };
    // Time from the start of its run to the first of the lines' points.
    let elapsed = move || {
        let found = readings.get()?;
        let reading = found.into_iter().flatten().next()?;
        picture.with(|picture| {
            let curve = picture.loaded.curves.get(reading.line)?;
            let at = curve.series.steps.binary_search(&reading.step).ok()?;
            let wall = curve.series.wall_times_secs.get(at)?;
            let start = page.facts.with(|facts| facts.get(&curve.id.run)?.start)?;
            Some(label::duration(wall - start, 1.0))
        })
    };
    let title = move || {
        let at = x().unwrap_or_default();
        let choice = tag.with_value(|tag| settings.x_of(tag));
        let text = x_text(choice, at);
        if choice == XChoice::Step {
            let step = (texts().at_step)(&text);
            elapsed().map_or(step.clone(), |elapsed| format!("{step} · +{elapsed}"))
        } else {
            let found = readings.get().unwrap_or_default();
            let step = found.iter().flatten().next().map(|reading| reading.step);
            match step {
                Some(step) => format!("{text} · {}", (texts().at_step)(&label::step(step))),
                None => text,
            }
        }
    };
    let is_cut = move || {
        readings.with(|readings| {
            let all = readings.iter().flatten().flatten();
            all.into_iter().any(|reading| reading.bounds.is_some())
        })
    };
    let is_smoothed = move || settings.smoothing.get() > 0.0;
    // Only if there is a line to compare.
    let baseline = Memo::new(move |_| {
        let baseline = settings.baseline.get()?;
        picture.with(|picture| {
            let curves = &picture.loaded.curves;
            let is_here = curves.len() > 1 && curves.iter().any(|curve| curve.shows(&baseline));
            is_here.then_some(baseline)
        })
    });
    let has_baseline = move || baseline.with(Option::is_some);
    let is_grouped = move || page.groups.with(Option::is_some);
    let bounds = move || {
        let is_range = !is_grouped() || settings.spread.get() == Spread::Range;
        if is_range {
            (texts().min, texts().max)
        } else {
            (texts().below, texts().above)
        }
    };
    let rows = move || {
        let found = readings.get().unwrap_or_default();
        let (is_cut, is_smoothed) = (is_cut(), is_smoothed());
        picture.with(|picture| {
            let page_run = settings.page_run.get();
            let rows = found.iter().enumerate().take(MAX_ROWS);
            let rows = rows.filter_map(|(line, reading)| {
                let curve = picture.loaded.curves.get(line)?;
                let step = reading.map_or(i64::MIN, |reading| reading.step);
                let name = |number: u64| label_of(number, &curve.series, i18n.locale());
                let shown = RowCells {
                    attempt: attempt_at(&curve.series, step).map(name),
                    is_smoothed,
                    is_cut,
                    is_grouped: curve.group.is_some(),
                    difference: baseline.with(|baseline| {
                        let baseline = baseline.as_ref()?;
                        Some(difference(picture, &found, line, baseline))
                    }),
                };
                let old = overwritten_at(curve, step)
                    .into_iter()
                    .map(|(number, value)| overwritten_row(curve, name(number), value, &shown));
                let old = old.collect_view();
                Some((
                    row(curve, reading.as_ref(), curve.shows(&page_run), &shown),
                    old,
                ))
            });
            rows.collect_view()
        })
    };
    let more = move || {
        let lines = picture.with(|picture| picture.lines.len());
        (lines > MAX_ROWS).then(|| format!("+{}", lines - MAX_ROWS))
    };
    let context = move || picture.with(|picture| context_lines(picture, x()?, texts().non_finite));
    view! {
        <div class="tip" data-part="readout" node_ref=tip style:left=left>
            <table>
                <thead>
                    <tr>
                        <th>{title}</th>
                        <Show when=is_smoothed>
                            <th class="num">{move || texts().smoothed}</th>
                        </Show>
                        <th class="num">
                            {move || {
                                if is_grouped() {
                                    texts().mean
                                } else if is_cut() {
                                    texts().last_of
                                } else {
                                    texts().value
                                }
                            }}
                        </th>
                        <Show when=is_cut>
                            <th class="num">{move || bounds().0}</th>
                            <th class="num">{move || bounds().1}</th>
                        </Show>
                        <Show when=is_grouped>
                            <th class="num">"n"</th>
                        </Show>
                        <Show when=has_baseline>
                            <th class="num">{move || texts().minus_baseline}</th>
                        </Show>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            {move || more().map(|more| view! { <div class="ink3">{more}</div> })}
            {move || context().map(|text| view! { <div class="context ink3">{text}</div> })}
        </div>
    }
}

/// Columns of a row, and their values that depend on other rows.
struct RowCells {
    /// Name of the attempt that wrote the value, if there are several.
    attempt: Option<String>,
    is_smoothed: bool,
    is_cut: bool,
    is_grouped: bool,
    difference: Option<String>,
}

/// Distance of a line from its baseline, as drawn; NaN and infinities are displayed instead of it.
fn difference(
    picture: &Picture,
    readings: &[Option<Reading>],
    line: usize,
    baseline: &str,
) -> String {
    let none = || "–".to_owned();
    let Some(other) = picture
        .baseline_of(line, baseline)
        .filter(|&other| other != line)
    else {
        return none();
    };
    let at = |line: usize| readings.get(line).copied().flatten();
    match (at(line), at(other)) {
        (Some(mine), Some(_)) if !mine.smoothed.is_finite() => label::value(mine.smoothed),
        (Some(mine), Some(base)) if base.smoothed.is_finite() => {
            let difference = mine.smoothed - base.smoothed;
            let sign = if difference > 0.0 { "+" } else { "" };
            format!("{sign}{}", label::value(difference))
        }
        _ => none(),
    }
}

fn row(
    curve: &super::data::Curve,
    reading: Option<&Reading>,
    is_own: bool,
    shown: &RowCells,
) -> impl IntoView + use<> {
    let text = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), label::value);
    let class = |value: Option<f64>| format!("num {}", value.map_or("", value_class));
    let smoothed = reading
        .map(|r| r.smoothed)
        .filter(|value| value.is_finite());
    let value = reading.map(|r| r.value);
    let bounds = reading.and_then(|r| r.bounds);
    let (low, high) = (bounds.map(|b| b.0), bounds.map(|b| b.1));
    // A bucket without finite values has no bounds.
    let finite = |bound: Option<f64>| bound.filter(|value| value.is_finite());
    let run = curve.id.run.clone();
    let name = match &shown.attempt {
        Some(attempt) => format!("{} · {attempt}", curve.label()),
        None => curve.label(),
    };
    let count = reading.and_then(|r| r.count);
    let count = count.map_or_else(|| "–".to_owned(), |count| count.to_string());
    view! {
        <tr>
            <td>
                <span>
                    <RunChip run=run />
                    <span class="cut" class:med=is_own>{name}</span>
                </span>
            </td>
            {shown.is_smoothed.then(|| view! { <td class="num">{text(smoothed)}</td> })}
            <td class=class(value)>{text(value)}</td>
            {shown
                .is_cut
                .then(|| {
                    view! {
                        <td class="num">{text(finite(low))}</td>
                        <td class="num">{text(finite(high))}</td>
                    }
                })}
            {shown.is_grouped.then(|| view! { <td class="num">{count}</td> })}
            {shown
                .difference
                .clone()
                .map(|text| {
                    let is_bad = text.contains("NaN") || text.contains('∞');
                    view! { <td class="num ink3" class:nan=is_bad>{text}</td> }
                })}
        </tr>
    }
}

/// A value that a later attempt has overwritten; its other columns are empty.
fn overwritten_row(
    curve: &Curve,
    attempt: String,
    value: f64,
    shown: &RowCells,
) -> impl IntoView + use<> {
    let others = if shown.is_cut { 2 } else { 0 };
    let others = others + usize::from(shown.is_grouped) + usize::from(shown.difference.is_some());
    let empty = |count: usize| (0..count).map(|_| view! { <td></td> }).collect_view();
    view! {
        <tr data-part="overwritten">
            <td>
                <span>
                    <RunChip run=curve.id.run.clone() />
                    <span class="cut ink3">{attempt}</span>
                </span>
            </td>
            {empty(usize::from(shown.is_smoothed))}
            <td class=format!("num ink3 {}", value_class(value))>{label::value(value)}</td>
            {empty(others)}
        </tr>
    }
}

/// "NaN from 412 to 1,184" for the stretches at or near the crosshair, most severe first.
fn context_lines(
    picture: &Picture,
    x: f64,
    sentence: fn(&str, &str, &str) -> String,
) -> Option<String> {
    let mut found = Vec::new();
    for (curve, line) in picture.loaded.curves.iter().zip(picture.lines.iter()) {
        for (stretch, drawn) in picture.stretches(curve).iter().zip(&line.stretches) {
            if drawn.first <= x && x <= drawn.last {
                let (_, class) = class_of(stretch.class);
                let (first, last) = (
                    label::step(stretch.first_step),
                    label::step(stretch.last_step),
                );
                let text = sentence(class, &first, &last);
                let text = if picture.loaded.curves.len() > 1 {
                    format!("{}: {text}", curve.label())
                } else {
                    text
                };
                found.push((stretch.class != NonFiniteClass::Nan, text));
            }
        }
    }
    found.sort();
    found.truncate(3);
    let texts: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    (!texts.is_empty()).then(|| texts.join(" · "))
}

#[cfg(test)]
mod tests {
    use trainscope_web_kit::components::browse::SeriesId;

    use super::*;

    #[test]
    fn programs_that_wrote_at_the_same_time_are_numbered() {
        let line = |run: &str, rank: u32, file: Option<&str>| Curve {
            id: SeriesId {
                run: run.to_owned(),
                rank,
                file: file.map(str::to_owned),
                is_one_of_many: run != "alone",
                ..SeriesId::default()
            },
            ..Curve::default()
        };
        let curves = [
            line("both", 0, Some("both/1")),
            line("both", 0, Some("both/2")),
            line("ranks", 0, None),
            line("ranks", 1, Some("ranks/3")),
            line("alone", 0, None),
        ];
        let marks = [0, 1, 2, 3, 4, 5].map(|line| mark_of(&curves, line, false));
        assert_eq!(marks, ["#1 ", "#2 ", "r0 ", "r1 #1 ", "", ""]);
        assert_eq!(mark_of(&curves, 1, true), "both #2 ");
    }

    #[test]
    fn values_in_a_head_are_whole_and_the_others_counted() {
        assert_eq!(fitting(&[40.0; 3], 120.0), 3);
        assert_eq!(fitting(&[40.0; 3], 119.0), 2);
        assert_eq!(fitting(&[40.0; 3], 50.0), 0);
        assert_eq!(fitting(&[10.0; 9], 500.0), MAX_IN_HEAD);
        assert_eq!(fitting(&[], 10.0), 0);
    }
}
