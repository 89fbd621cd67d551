//! The sections of a report in reading order; sections without data are empty.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, PreEscaped, html};
use trainscope_api::findings::{Findings, Hit, WatchpointResult};
use trainscope_format::digits::trimmed;
use trainscope_format::hparams::HparamValue;

use super::super::{Contents, texts};
use super::{Pen, Sign, icon};
use crate::cli::words;

/// Number of hits shown before the rest is folded.
const OPEN_HITS: usize = 40;
/// Maximum number of entries of a list.
const MAX_ENTRIES: usize = 200;

/// The advice of the first cause, else that of its watchpoint.
pub(super) fn advice(pen: Pen, findings: &Findings) -> Option<&str> {
    let cause = findings.first_cause.as_ref()?;
    let watchpoint = findings.watchpoints.get(cause.hit.watchpoint as usize);
    let all = [
        Some(&cause.advice),
        watchpoint.map(|watchpoint| &watchpoint.advice),
    ];
    let told = all.into_iter().flatten().map(|words| pen.words(words));
    told.into_iter().find(|words| !words.is_empty())
}

pub(super) fn facts(pen: Pen, contents: &Contents) -> Markup {
    let Findings {
        judged,
        watchpoints,
        ..
    } = &contents.findings;
    let watching = watchpoints
        .iter()
        .filter(|watchpoint| watchpoint.is_on)
        .count() as u64;
    let ranks = contents
        .info
        .as_ref()
        .map_or(1, |run| run.ranks.len().max(1)) as u64;
    let len_bytes = contents.info.as_ref().map_or(0, |run| run.len_bytes);
    let files = contents.files.len() as u64;
    let loss = contents.info.as_ref().and_then(|run| run.loss.as_ref());
    let values = [
        words::count(watching),
        words::count(judged.steps),
        words::count(judged.tensors),
        words::count(ranks),
        if files > 0 {
            format!("{}, {}", words::count(files), words::size(len_bytes))
        } else {
            String::new()
        },
        loss.map_or_else(String::new, |last| trimmed(last.value, 4)),
    ];
    html! {
        dl class="facts" {
            @for (name, value) in pen.texts.facts.iter().zip(values).filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// Measured value and the limit exceeded; empty without one.
fn found(pen: Pen, hit: &Hit) -> (String, String) {
    let first = hit.measures.first();
    first.map_or_else(Default::default, |measure| {
        (
            pen.words(&measure.found).to_owned(),
            measure.threshold.clone(),
        )
    })
}

pub(super) fn first_cause(pen: Pen, findings: &Findings) -> Markup {
    let Some(cause) = &findings.first_cause else {
        return html! {};
    };
    let hit = &cause.hit;
    let said = pen.words(&hit.sentence);
    let (found, limit) = found(pen, hit);
    html! {
        section {
            h2 { (pen.texts.first_cause) small { (pen.texts.step) " " (words::step(hit.step)) } }
            div class="cause" {
                p { (said) }
                div {
                    div class="k" { (pen.texts.place) }
                    div class="v" { code { (hit.tensor) } ", " (pen.texts.step) " " (words::step(hit.step)) ", rank " (hit.rank) }
                    @if let Some(source) = &hit.source {
                        div class="k" { (pen.texts.source) }
                        div class="v" {
                            code { (source.file) ":" (source.line) }
                            @for (number, line) in source.lines() {
                                code class=(if number == source.line { "line on" } else { "line" }) { (number) "  " (line) }
                            }
                        }
                    }
                    @if let Some(advice) = advice(pen, findings) {
                        div class="k" { (pen.texts.advice) }
                        div class="v" { (advice) }
                    }
                }
                div {
                    @for (name, value) in [(pen.texts.found, found), (pen.texts.limit, limit)] {
                        @if !value.is_empty() {
                            div class="k" { (name) }
                            div class="v" { (value) }
                        }
                    }
                    div class="k" { (pen.texts.explains) }
                    div class="v" { (words::count(cause.explains)) }
                }
            }
        }
    }
}

pub(super) fn hits(pen: Pen, findings: &Findings) -> Markup {
    if findings.hits.is_empty() {
        return html! {};
    }
    let shown = findings.hits.len().min(OPEN_HITS);
    let (open, folded) = findings.hits.split_at(shown);
    let left_out = findings.total.saturating_sub(findings.hits.len() as u64);
    let last = open.last().map(|hit| hit.step);
    html! {
        section {
            h2 { (pen.texts.hits) small { (pen.texts.hits_order) } }
            (hit_table(pen, findings, open, None))
            @if !folded.is_empty() {
                details {
                    summary { (words::count(folded.len() as u64)) " " (pen.texts.more_hits) }
                    (hit_table(pen, findings, folded, last))
                }
            }
            @if left_out > 0 { p class="note" { ((pen.texts.left_out)(&words::count(left_out))) } }
        }
    }
}

fn hit_table(pen: Pen, findings: &Findings, hits: &[Hit], before: Option<i64>) -> Markup {
    let cause = findings.first_cause.as_ref().map(|cause| cause.hit.key());
    let mut step = before;
    let mut rows = Vec::with_capacity(hits.len());
    for hit in hits {
        let title = findings.watchpoints.get(hit.watchpoint as usize);
        let title = title.map_or(&*hit.condition, |watchpoint| pen.words(&watchpoint.title));
        let name = pen.severity(hit.severity);
        let sign = Sign::of(hit.severity);
        let (found, limit) = found(pen, hit);
        let is_first = cause.as_ref().is_some_and(|key| *key == hit.key());
        let is_new = step.replace(hit.step) != Some(hit.step);
        rows.push(html! {
            @if is_new { tr class="sg" { td colspan="6" { (pen.texts.step) " " (words::step(hit.step)) } } }
            tr class=[is_first.then_some("first")] {
                td class="nb" { span class=(format!("s {}", sign.class())) { (icon(sign, 14)) (name) } }
                td { (hit.tensor) p { (pen.words(&hit.sentence)) } }
                td class="n" { (hit.rank) }
                td { (title) }
                td class=(format!("n {}", sign.class())) { (found) }
                td class="n" { (limit) }
            }
        });
    }
    html! {
        table class="hits" {
            thead { tr {
                th { (pen.texts.severity) }
                th { (pen.texts.tensor) }
                th class="n" { (pen.texts.rank) }
                th { (pen.texts.watchpoint) }
                th class="n" { (pen.texts.found) }
                th class="n" { (pen.texts.limit) }
            } }
            tbody { @for row in rows { (row) } }
        }
    }
}

pub(super) fn curves(pen: Pen, contents: &Contents) -> Markup {
    html! {
        @if !contents.curves.is_empty() {
            section {
                h2 {
                    (pen.texts.curves)
                    @if contents.other_curves > 0 {
                        small { ((pen.texts.left_out)(&words::count(contents.other_curves as u64))) }
                    }
                }
                div class="grid" {
                    @for curve in &contents.curves {
                        div {
                            h3 {
                                b { (curve.tag) @if curve.rank > 0 { " (rank " (curve.rank) ")" } }
                                span { (pen.texts.last) " " (trimmed(curve.last, 4)) }
                            }
                            div class="plot" role="img" aria-label=(curve.tag) { (PreEscaped(&curve.svg)) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn plots(title: &str, plots: &[(String, String)]) -> Markup {
    html! {
        @if !plots.is_empty() {
            section {
                h2 { (title) }
                div class="grid" {
                    @for (name, svg) in plots {
                        div {
                            h3 { b { (name) } }
                            div class="plot" role="img" aria-label=(name) { (PreEscaped(svg)) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn landscapes(pen: Pen, contents: &Contents) -> Markup {
    html! {
        @if !contents.landscapes.is_empty() {
            section {
                h2 { (pen.texts.landscapes) }
                div class="grid wide" {
                    @for (name, sentence, svg) in &contents.landscapes {
                        div {
                            h3 { b { (name) } }
                            p { (sentence[pen.language as usize]) }
                            div class="plot" role="img" aria-label=(name) { (PreEscaped(svg)) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn images(pen: Pen, contents: &Contents) -> Markup {
    html! {
        @if !contents.pictures.is_empty() {
            section {
                h2 { (pen.texts.images) }
                div class="grid" {
                    @for picture in &contents.pictures {
                        div {
                            h3 { b { (picture.tag) } span { (pen.texts.step) " " (words::step(picture.step)) } }
                            img src=(picture.address) alt=(picture.tag);
                        }
                    }
                }
            }
        }
    }
}

fn entries(pen: Pen, title: &str, all: &[(String, String)]) -> Markup {
    let left_out = all.len().saturating_sub(MAX_ENTRIES) as u64;
    html! {
        @if !all.is_empty() {
            section {
                h2 { (title) }
                table { tbody {
                    @for (name, value) in all.iter().take(MAX_ENTRIES) { tr { td { (name) } td class="v" { (value) } } }
                } }
                @if left_out > 0 { p class="note" { ((pen.texts.left_out)(&words::count(left_out))) } }
            }
        }
    }
}

pub(super) fn settings(pen: Pen, contents: &Contents) -> Markup {
    let hparams = contents.info.iter().flat_map(|run| &run.hparams);
    let hparams = hparams.map(|(name, value)| {
        let value = match value {
            HparamValue::Null => "null".to_owned(),
            HparamValue::Number(value) => trimmed(*value, 4),
            HparamValue::Text(text) => text.clone(),
            HparamValue::Bool(yes) => yes.to_string(),
        };
        (name.clone(), value)
    });
    let hparams: Vec<(String, String)> = hparams.collect();
    if hparams.is_empty() && contents.lineage.is_empty() {
        return watchpoints(pen, &contents.findings);
    }
    html! {
        div class="two" {
            div {
                (entries(pen, pen.texts.configuration, &hparams))
                (entries(pen, pen.texts.lineage, &contents.lineage))
            }
            (watchpoints(pen, &contents.findings))
        }
    }
}

fn watchpoints(pen: Pen, findings: &Findings) -> Markup {
    let which = findings
        .watchpoints_file
        .as_deref()
        .unwrap_or(pen.texts.recommended);
    let all = findings
        .watchpoints
        .iter()
        .filter(|watchpoint| watchpoint.is_on);
    let (mut hit, quiet): (Vec<&WatchpointResult>, Vec<&WatchpointResult>) =
        all.partition(|watchpoint| watchpoint.hits > 0);
    hit.sort_by_key(|watchpoint| std::cmp::Reverse(watchpoint.severity));
    let rows = |all: &[&WatchpointResult]| {
        html! {
            table { tbody {
                @for watchpoint in all {
                    tr {
                        td { (pen.words(&watchpoint.title)) }
                        @if watchpoint.hits > 0 {
                            td class=(format!("n {}", Sign::of(watchpoint.severity).class())) { (words::count(watchpoint.hits)) }
                        } @else {
                            td class="n u" { (if watchpoint.has_data { pen.texts.no_hit } else { pen.texts.not_judged }) }
                        }
                    }
                }
            } }
        }
    };
    html! {
        section {
            h2 { (pen.texts.watchpoints) small { (which) } }
            @if !hit.is_empty() { (rows(&hit)) }
            details {
                summary { (words::count(quiet.len() as u64)) " " (pen.texts.without_hit) }
                (rows(&quiet))
            }
        }
    }
}

pub(super) fn not_judged(pen: Pen, findings: &Findings) -> Markup {
    let mut reasons: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for one in &findings.inconclusive {
        reasons
            .entry((&one.condition, pen.words(&one.words)))
            .or_default()
            .insert(&one.tensor);
    }
    let title = |condition: &str| {
        let watchpoint = findings
            .watchpoints
            .iter()
            .find(|watchpoint| watchpoint.condition == condition);
        watchpoint.map_or_else(
            || condition.to_owned(),
            |watchpoint| pen.words(&watchpoint.title).to_owned(),
        )
    };
    let whose = |tensors: &BTreeSet<&str>| {
        let first = tensors.iter().next().copied().unwrap_or_default();
        match tensors.len() {
            0 | 1 => first.to_owned(),
            more => format!("{first} +{}", more - 1),
        }
    };
    html! {
        @if !reasons.is_empty() || !findings.unread.is_empty() {
            section {
                h2 { (pen.texts.not_judged) }
                table { tbody {
                    @for tensor in findings.unread.iter().take(MAX_ENTRIES) {
                        tr { td { (pen.texts.unread_type) } td { (tensor.tensor) } td { (tensor.dtype) } }
                    }
                    @for ((condition, reason), tensors) in reasons.iter().take(MAX_ENTRIES) {
                        tr {
                            td { (title(condition)) }
                            td { (whose(tensors)) }
                            td { (reason) }
                        }
                    }
                } }
            }
        }
    }
}

pub(super) fn files(pen: Pen, contents: &Contents) -> Markup {
    let damaged = &contents.findings.damaged;
    html! {
        @if !contents.files.is_empty() || !damaged.is_empty() {
            section {
                h2 { (pen.texts.files) }
                table { tbody {
                    @for place in damaged.iter().take(MAX_ENTRIES) {
                        tr {
                            td class="nb" { span class="s w" { (icon(Sign::Warning, 14)) (pen.texts.damaged) } }
                            td { (place.file) p { (pen.texts.offset) " " (words::count(place.offset)) ": " (place.reason) } }
                            td {}
                        }
                    }
                    @for (path, state, len_bytes) in contents.files.iter().take(MAX_ENTRIES) {
                        tr { td class="nb u" { (texts::status(pen.language, *state)) } td { (path) } td class="n" { (words::size(*len_bytes)) } }
                    }
                } }
            }
        }
    }
}
