//! Figures of the device with their meaning, idle time by cause, and the critical path.

use std::collections::BTreeMap;

use trainscope_api::profile::{OperatorGroup, SessionSummary};
use trainscope_charts::profile::Shade;

use super::lack::{Lack, missing};
use super::model::{BY, DATA, HOST, IDLE, Model, css_of, share, swatch, time, use_model};
use super::parts::{linked, share_row};
use crate::parameters::PATH;
use crate::segment::kind_of;
use trainscope_web_kit::components::profile_tabs::ProfileTab;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::parameters::ProfileView;
use trainscope_web_kit::prelude::*;

/// Position of the rate of FLOPs among the tiles.
const FLOPS: usize = 4;
/// Unit of the peak in its field, FLOP/s.
const TERA: f64 = 1e12;

/// Prefixes of powers of a thousand, starting at 1.
const PREFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];

/// Small tiles in one row. Those without data are left out.
#[component]
pub(super) fn Tiles() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts();
        model.with(|summary| {
            let values = tiles(summary, model.peak_flops(), texts)
                .into_iter()
                .zip(texts.profile().tiles)
                .enumerate();
            let values = values
                .filter_map(|(at, (value, [name, meaning]))| Some((at, value?, name, meaning)));
            let values = values.map(|(at, (value, beside), name, meaning)| {
                let value = view! { <b>{value}</b> };
                let peak = (at == FLOPS).then(|| peak_field(&model, texts));
                view! {
                    <div class="tile" title=meaning>
                        <dt class="micro ink3">{name} {peak}</dt>
                        <dd>
                            {linked(evidence(&model, at), value.into_any())}
                            " "
                            <span class="micro ink3">{beside}</span>
                        </dd>
                    </div>
                }
            });
            let values = values.collect::<Vec<_>>();
            let note = summary
                .device
                .is_none()
                .then(|| missing(Lack::Device, &summary.format));
            (!values.is_empty() || note.is_some())
                .then(|| view! { <section class="tiles"><dl>{values}</dl>{note}</section> })
        })
    }
}

/// Address of the evidence of a tile, by its position: kernels, FLOPs by scope, collectives, memory, calls of the host.
fn evidence(model: &Model, tile: usize) -> Option<String> {
    let view = |view: ProfileView, by: OperatorGroup| {
        let tab = ProfileTab::View(view);
        Some(model.profiles.tab_href(tab, &[BY.to(by)]))
    };
    match tile {
        0..=3 => view(ProfileView::Operators, OperatorGroup::Kernel),
        4 => view(ProfileView::Operators, OperatorGroup::Scope),
        5 => model.kind_href(1),
        6 => view(ProfileView::Memory, OperatorGroup::Name),
        _ => model.kind_href(4),
    }
}

/// Minimum share of the products with known FLOPs for which the share of the peak is shown (chosen).
const COUNTED: f64 = 0.9;

/// Maximum number of devices whose utilization a tile shows next to their mean.
const DEVICES: usize = 8;

/// Values of the tiles in the order of their texts, with a remark each.
fn tiles(
    summary: &SessionSummary,
    peak_flops: Option<f64>,
    texts: Texts,
) -> [Option<(String, String)>; 8] {
    let percent = |value: f64| (format::percent(value), String::new());
    let device = summary.device.as_ref();
    let steps = i64::try_from(summary.step_count).unwrap_or(i64::MAX);
    let all = summary.mean_step_nanos.saturating_mul(steps);
    let all = if all > 0 { all } else { summary.extent_nanos };
    let flops = summary
        .flops
        .values()
        .map(|flops| *flops as f64)
        .sum::<f64>();
    let rate = (flops > 0.0 && all > 0).then(|| {
        let rate = flops / (all as f64 / 1e9);
        let in_part = summary.counted_flops.filter(|share| *share < COUNTED);
        if let Some(share) = in_part {
            let beside = (texts.profile().flops_in_part)(&format::percent(share));
            return (per_second(rate), beside);
        }
        let mfu = peak_flops.filter(|peak| *peak > 0.0);
        let mfu = mfu.map(|peak| (texts.profile().mfu)(&format::percent(rate / peak)));
        match mfu {
            Some(mfu) => (mfu, per_second(rate)),
            None => (per_second(rate), String::new()),
        }
    });
    let peak = summary
        .memory
        .iter()
        .max_by_key(|total| total.peak_len_bytes);
    let peak = peak.map(|total| {
        let of_device = total.share().map(format::percent);
        let since = total
            .since_recording
            .then(|| texts.profile().since_recording.to_owned());
        let beside = of_device.or(since).unwrap_or_default();
        (format::bytes(total.peak_len_bytes), beside)
    });
    let delay = summary.launch_delay_nanos.map(|delay| {
        let most = (texts.profile().at_most)(&time(delay.max));
        (time(delay.median), most)
    });
    [
        device.map(|device| {
            let each = summary.devices.iter().take(DEVICES);
            let each: Vec<String> = each
                .map(|entry| format::percent(entry.utilization))
                .collect();
            (format::percent(device.utilization), each.join(" · "))
        }),
        device.and_then(|device| device.sm_efficiency).map(percent),
        device.and_then(|device| device.occupancy).map(percent),
        device.and_then(|device| device.tensor_cores).map(percent),
        rate,
        device.and_then(|device| device.overlap).map(percent),
        peak,
        delay,
    ]
}

/// Input of the peak in TFLOP/s, the base of the share.
fn peak_field(model: &Model, texts: Texts) -> impl IntoView + use<> {
    let model = *model;
    let tera = move || {
        model
            .peak_flops()
            .map(|peak| format::number(peak / TERA, 4))
    };
    let keep = move |text: &str| {
        let peak = text.trim().parse::<f64>().ok();
        let peak = peak.filter(|peak| *peak > 0.0 && peak.is_finite());
        model.set_peak_flops(peak.map(|peak| peak * TERA));
    };
    view! {
        <label title=texts.profile().peak_title>
            " · "
            {texts.profile().of_peak}
            " "
            <input
                class="field micro peak"
                type="text"
                inputmode="decimal"
                name="peak"
                aria-label=texts.profile().peak_label
                prop:value=move || tera().unwrap_or_default()
                on:change=move |event| keep(&event_target_value(&event))
            />
            " TFLOP/s"
        </label>
    }
}

/// `12.4 TFLOP/s`.
fn per_second(rate: f64) -> String {
    let (value, prefix) = prefixed(rate);
    format!("{value} {prefix}FLOP/s")
}

/// `12.4 M`.
pub(super) fn short(count: f64) -> String {
    let (value, prefix) = prefixed(count);
    format!("{value} {prefix}").trim_end().to_owned()
}

/// A number with three digits and its prefix of a thousand.
fn prefixed(number: f64) -> (String, &'static str) {
    let (mut value, mut prefix) = (number, 0);
    while value >= 1e3 && prefix + 1 < PREFIXES.len() {
        value /= 1e3;
        prefix += 1;
    }
    let name = PREFIXES.get(prefix).copied().unwrap_or_default();
    (format::number(value, 3), name)
}

/// Idle time by cause and by activity of the host, and the critical path by kind.
#[component]
pub(super) fn Causes() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts();
        model.with(|summary| {
            let has_idle = !summary.idle.is_empty();
            let has_path = !summary.critical_path_nanos.is_empty();
            (has_idle || has_path).then(|| {
                view! {
                    <div class="profile-causes">
                        {has_path.then(|| path(summary, texts))}
                        {has_idle.then(|| idle(summary, texts))}
                    </div>
                }
            })
        })
    }
}

/// Start and length of a stretch of time, ns.
type Span = (i64, i64);

fn idle(summary: &SessionSummary, texts: Texts) -> AnyView {
    let model = use_model();
    let mut causes: BTreeMap<&str, (i64, u64, Span)> = BTreeMap::new();
    for one in &summary.idle {
        let cause = causes.entry(&one.cause).or_default();
        cause.0 += one.nanos;
        cause.1 += one.count;
        if one.longest_nanos > cause.2.1 {
            cause.2 = (one.longest_begin_nanos, one.longest_nanos);
        }
    }
    let all: i64 = causes.values().map(|cause| cause.0).sum();
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.1.0));
    let causes = causes.into_iter().map(|(cause, (nanos, count, longest))| {
        let part = share(nanos, all);
        let name = (texts.profile().cause)(cause).unwrap_or(cause);
        let gaps = (texts.profile().gaps)(count);
        let value = time(nanos);
        let longest_gap = (texts.profile().longest_gap)(&time(longest.1));
        let title = (texts.profile().cause_meaning)(cause);
        let title = title.map_or_else(
            || longest_gap.clone(),
            |title| format!("{title} {longest_gap}"),
        );
        let href = model.around_href((longest.0, longest.0 + longest.1), None);
        share_row(
            name,
            Shade::Plain,
            part,
            [value, gaps],
            Some(href),
            Some(title),
        )
    });
    let host: i64 = summary.host_while_idle_nanos.values().sum();
    let mut doings: Vec<_> = summary.host_while_idle_nanos.iter().collect();
    doings.sort_by_key(|doing| std::cmp::Reverse(*doing.1));
    let doings = doings.into_iter().filter(|doing| *doing.1 > 0);
    let doings = doings.map(|(doing, nanos)| {
        let part = share(*nanos, host);
        let name = (texts.profile().doing)(doing).unwrap_or(doing);
        let shade = match &**doing {
            "data" => Shade::Time(DATA),
            "nothing" | "waiting" => Shade::Time(IDLE),
            _ => Shade::Time(4),
        };
        let href = match &**doing {
            "data" => model.kind_href(DATA),
            "python" | "operators" => model.kind_href(HOST),
            _ => None,
        };
        let values = [time(*nanos), format::percent(part)];
        share_row(name, shade, part, values, href, None)
    });
    let doings = doings.collect::<Vec<_>>();
    let has_doings = !doings.is_empty();
    view! {
        <section class="card" data-part="idle">
            <div class="head">
                <h2>{texts.profile().idle}</h2>
                <span class="micro ink3 cut">{texts.profile().idle_beside}</span>
                <span class="grow"></span>
                <b class="med small">{time(all)}</b>
            </div>
            <div class="body">
                <ul>{causes.collect::<Vec<_>>()}</ul>
                {has_doings.then(|| view! { <p class="micro ink3">{texts.profile().meanwhile}</p> })}
                <ul>{doings}</ul>
            </div>
        </section>
    }
    .into_any()
}

fn path(summary: &SessionSummary, texts: Texts) -> AnyView {
    let model = use_model();
    let all: i64 = summary.critical_path_nanos.values().sum();
    let steps = i64::try_from(summary.step_count).unwrap_or(i64::MAX).max(1);
    let mut segments: Vec<_> = summary.critical_path_nanos.iter().collect();
    segments.retain(|segment| *segment.1 > 0);
    segments.sort_by_key(|segment| std::cmp::Reverse(*segment.1));
    let parts = segments.iter().map(|(segment, nanos)| {
        let width = format!("{:.2}%", share(**nanos, all) * 100.0);
        let colour = css_of(Shade::Time(kind_of(segment)));
        let name = (texts.profile().segment)(segment).unwrap_or(segment);
        let title = format!("{name}: {}", time(**nanos / steps));
        view! { <i style:width=width style:background=colour title=title></i> }
    });
    let rows = segments.iter().map(|(segment, nanos)| {
        let name = (texts.profile().segment)(segment)
            .unwrap_or(segment)
            .to_owned();
        view! {
            <li>
                {swatch(Shade::Time(kind_of(segment)))}
                <span class="cut grow">
                    {linked(model.kind_href(kind_of(segment)), name.into_any())}
                </span>
                <b class="med num">{time(**nanos / steps)}</b>
                <span class="num ink3 micro">{format::percent(share(**nanos, all))}</span>
            </li>
        }
    });
    let drawn = move || {
        let changes = [PATH.to(true)];
        model.profiles.tab_href(ProfileTab::Timeline, &changes)
    };
    view! {
        <section class="card" data-part="path">
            <div class="head">
                <h2>{texts.profile().path}</h2>
                <span class="micro ink3 cut" title=texts.profile().path_meaning>
                    {texts.profile().path_meaning}
                </span>
                <span class="grow"></span>
                <a class="link small" href=drawn>
                    {texts.profile().draw_path}
                </a>
            </div>
            <div class="body">
                <div class="path-bar">{parts.collect::<Vec<_>>()}</div>
                <ul class="path-rows small">{rows.collect::<Vec<_>>()}</ul>
            </div>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::{per_second, short};

    #[test]
    fn rates_have_a_prefix() {
        assert_eq!(per_second(12.4e12), "12.4 TFLOP/s");
        assert_eq!(per_second(999.0), "999 FLOP/s");
        assert_eq!(per_second(3e21), "3e6 PFLOP/s");
        assert_eq!(
            [short(2.21e6), short(92_160.0), short(12.0)],
            ["2.21 M", "92.2 k", "12"]
        );
    }
}
