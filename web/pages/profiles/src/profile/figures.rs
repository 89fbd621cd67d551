//! Figures of the device with their meaning, idle time by cause, and the critical path.

use std::collections::BTreeMap;

use trainscope_api::profile::SessionSummary;
use trainscope_charts::profile::Shade;

use super::lack::{Lack, missing};
use super::model::{DATA, HOST, IDLE, Model, css_of, share, swatch, time, use_model};
use super::parts::{linked, share_row};
use crate::segment::kind_of;
use trainscope_web_kit::components::profile_tabs::{ProfileTab, ProfileView};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{ProfileTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// Position of the rate of FLOPs among the tiles.
const FLOPS: usize = 4;
/// Unit of the peak as users type it.
const TERA: f64 = 1e12;

/// Prefixes of a thousand, from units on.
const PREFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];

/// Small tiles in one row. Those without data are left out.
#[component]
pub(super) fn Tiles() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().profile;
        model.with(|own| {
            let values = tiles(own, model.peak_flops(), texts)
                .into_iter()
                .zip(texts.tiles)
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
            let note = own
                .device
                .is_none()
                .then(|| missing(Lack::Device, &own.format));
            (!values.is_empty() || note.is_some())
                .then(|| view! { <section class="tiles"><dl>{values}</dl>{note}</section> })
        })
    }
}

/// The address of what a tile is made of, by its place: kernels, FLOPs by scope, collectives, memory, calls of the host.
fn evidence(model: &Model, tile: usize) -> Option<String> {
    let view = |view: ProfileView, by: Option<&str>| {
        let changes = [("by", by)];
        let tab = ProfileTab::View(view);
        Some(model.profiles.tab_href(tab, &changes))
    };
    match tile {
        0..=3 => view(ProfileView::Operators, Some("kernel")),
        4 => view(ProfileView::Operators, Some("scope")),
        5 => model.kind_href(1),
        6 => view(ProfileView::Memory, None),
        _ => model.kind_href(4),
    }
}

/// With the FLOPs of a smaller part of the products known, no share of the peak is shown (chosen).
const COUNTED: f64 = 0.9;

/// Number of devices whose utilization a tile shows beside their mean.
const DEVICES: usize = 8;

/// Values of the tiles in the order of their texts, with a remark each.
fn tiles(
    own: &SessionSummary,
    peak_flops: Option<f64>,
    texts: &ProfileTexts,
) -> [Option<(String, String)>; 8] {
    let percent = |value: f64| (format::percent(value), String::new());
    let device = own.device.as_ref();
    let steps = i64::try_from(own.step_count).unwrap_or(i64::MAX);
    let all = own.mean_step_nanos.saturating_mul(steps);
    let all = if all > 0 { all } else { own.extent_nanos };
    let flops = own.flops.values().map(|flops| *flops as f64).sum::<f64>();
    let rate = (flops > 0.0 && all > 0).then(|| {
        let rate = flops / (all as f64 / 1e9);
        let in_part = own.counted_flops.filter(|share| *share < COUNTED);
        if let Some(share) = in_part {
            let beside = (texts.flops_in_part)(&format::percent(share));
            return (per_second(rate), beside);
        }
        let mfu = peak_flops.filter(|peak| *peak > 0.0);
        let mfu = mfu.map(|peak| (texts.mfu)(&format::percent(rate / peak)));
        match mfu {
            Some(mfu) => (mfu, per_second(rate)),
            None => (per_second(rate), String::new()),
        }
    });
    let peak = own.memory.iter().max_by_key(|own| own.peak_len_bytes);
    let peak = peak.map(|own| {
        let of_device = own.share().map(format::percent);
        let since = own
            .since_recording
            .then(|| texts.since_recording.to_owned());
        let beside = of_device.or(since).unwrap_or_default();
        (format::bytes(own.peak_len_bytes), beside)
    });
    let delay = own.launch_delay_nanos.map(|own| {
        let most = (texts.at_most)(&time(own.max));
        (time(own.median), most)
    });
    [
        device.map(|device| {
            let each = own.devices.iter().take(DEVICES);
            let each: Vec<String> = each.map(|own| format::percent(own.utilization)).collect();
            (format::percent(device.utilization), each.join(" · "))
        }),
        device.and_then(|own| own.sm_efficiency).map(percent),
        device.and_then(|own| own.occupancy).map(percent),
        device.and_then(|own| own.tensor_cores).map(percent),
        rate,
        device.and_then(|own| own.overlap).map(percent),
        peak,
        delay,
    ]
}

/// Field of the peak that the rate of FLOPs is a share of.
fn peak_field(model: &Model, texts: &ProfileTexts) -> impl IntoView + use<> {
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
        <label title=texts.peak_title>
            " · "
            {texts.of_peak}
            " "
            <input
                class="field micro peak"
                type="text"
                inputmode="decimal"
                name="peak"
                aria-label=texts.peak_label
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

/// Idle time by cause with what the host did, and the critical path by kind.
#[component]
pub(super) fn Causes() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    move || {
        let texts = i18n.texts().profile;
        model.with(|own| {
            let has_idle = !own.idle.is_empty();
            let has_path = !own.critical_path_nanos.is_empty();
            (has_idle || has_path).then(|| {
                view! {
                    <div class="profile-causes">
                        {has_path.then(|| path(own, texts))} {has_idle.then(|| idle(own, texts))}
                    </div>
                }
            })
        })
    }
}

/// Begin and length of a stretch of time, nanoseconds.
type Span = (i64, i64);

fn idle(own: &SessionSummary, texts: &ProfileTexts) -> AnyView {
    let model = use_model();
    let mut causes: BTreeMap<&str, (i64, u64, Span)> = BTreeMap::new();
    for one in &own.idle {
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
        let name = (texts.cause)(cause).unwrap_or(cause);
        let gaps = (texts.gaps)(count);
        let value = time(nanos);
        let longest_gap = (texts.longest_gap)(&time(longest.1));
        let title = (texts.cause_meaning)(cause);
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
    let host: i64 = own.host_while_idle_nanos.values().sum();
    let mut doings: Vec<_> = own.host_while_idle_nanos.iter().collect();
    doings.sort_by_key(|doing| std::cmp::Reverse(*doing.1));
    let doings = doings.into_iter().filter(|doing| *doing.1 > 0);
    let doings = doings.map(|(doing, nanos)| {
        let part = share(*nanos, host);
        let name = (texts.doing)(doing).unwrap_or(doing);
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
                <h2>{texts.idle}</h2>
                <span class="micro ink3 cut">{texts.idle_beside}</span>
                <span class="grow"></span>
                <b class="med small">{time(all)}</b>
            </div>
            <div class="body">
                <ul>{causes.collect::<Vec<_>>()}</ul>
                {has_doings.then(|| view! { <p class="micro ink3">{texts.meanwhile}</p> })}
                <ul>{doings}</ul>
            </div>
        </section>
    }
    .into_any()
}

fn path(own: &SessionSummary, texts: &ProfileTexts) -> AnyView {
    let model = use_model();
    let all: i64 = own.critical_path_nanos.values().sum();
    let steps = i64::try_from(own.step_count).unwrap_or(i64::MAX).max(1);
    let mut segments: Vec<_> = own.critical_path_nanos.iter().collect();
    segments.retain(|segment| *segment.1 > 0);
    segments.sort_by_key(|segment| std::cmp::Reverse(*segment.1));
    let parts = segments.iter().map(|(segment, nanos)| {
        let width = format!("{:.2}%", share(**nanos, all) * 100.0);
        let colour = css_of(Shade::Time(kind_of(segment)));
        let name = (texts.segment)(segment).unwrap_or(segment);
        let title = format!("{name}: {}", time(**nanos / steps));
        view! { <i style:width=width style:background=colour title=title></i> }
    });
    let rows = segments.iter().map(|(segment, nanos)| {
        let name = (texts.segment)(segment).unwrap_or(segment).to_owned();
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
        let changes = [("path", Some("1"))];
        model.profiles.tab_href(ProfileTab::Timeline, &changes)
    };
    view! {
        <section class="card" data-part="path">
            <div class="head">
                <h2>{texts.path}</h2>
                <span class="micro ink3 cut" title=texts.path_meaning>
                    {texts.path_meaning}
                </span>
                <span class="grow"></span>
                <a class="link small" href=drawn>
                    {texts.draw_path}
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
