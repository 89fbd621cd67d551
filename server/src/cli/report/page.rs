//! The page of a report: HTML with its style inside, and nothing that is loaded or run. Names are text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use trainscope_api::findings::{Findings, Hit, Remark, RemarkState, RemarkTopic, Words};
use trainscope_charts::label;
use trainscope_charts::theme::{Rgb, Theme};
use trainscope_format::Severity;
use trainscope_format::float::Float;
use trainscope_format::hparams::HparamValue;

use super::texts::{self, Texts};
use super::{Contents, Language};
use crate::cli::words;

/// Hits on the page, and those that are seen before one asks for more.
pub(super) const MAX_HITS: usize = 2_000;
const OPEN_HITS: usize = 40;
/// Entries of a list.
const MAX_ENTRIES: usize = 200;

const TOKENS: &str = include_str!("../../../../web/style/tokens.css");
const STYLE: &str = include_str!("report.css");

/// What a page is written with.
#[derive(Clone, Copy)]
struct Pen {
    language: Language,
    texts: &'static Texts,
}

impl Pen {
    fn words<'a>(self, words: &'a Words) -> &'a str {
        match self.language {
            Language::En => &words.en,
            Language::Zh => &words.zh,
        }
    }
}

/// The whole document.
pub(super) fn page(contents: &Contents, language: Language) -> String {
    let pen = Pen {
        language,
        texts: texts::of(language),
    };
    let style = style();
    // Exactly this style may apply, and pictures that are in the page may be shown.
    let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    );
    let sentence = sentence(pen, contents);
    let markup = html! {
        (DOCTYPE)
        html lang=(pen.texts.code) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (contents.title) " · " (pen.texts.report) }
                style { (PreEscaped(&style)) }
            }
            body {
                main {
                    header {
                        (logo())
                        b { "trainscope" }
                        span { (pen.texts.report) }
                        span class="r" { (contents.made) }
                    }
                    (verdict(pen, contents, &sentence))
                    (facts(pen, contents))
                    (first_cause(pen, &contents.findings))
                    (diagnosis(pen, &contents.findings))
                    (hits(pen, &contents.findings))
                    (curves(pen, contents))
                    (plots(pen.texts.distributions, &contents.heat_maps))
                    (images(pen, contents))
                    (settings(pen, contents))
                    (not_judged(pen, &contents.findings))
                    (files(pen, contents))
                    footer {
                        div { code { "trainscope report " (contents.title) } }
                        div { (pen.texts.no_script) }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// Tokens, the page, and what plots become in the dark.
fn style() -> String {
    // Paper is light.
    let tokens = TOKENS.replace(
        "@media (prefers-color-scheme: dark)",
        "@media screen and (prefers-color-scheme: dark)",
    );
    let mut style =
        format!("{tokens}\n{STYLE}\n@media screen and (prefers-color-scheme: dark) {{\n");
    for (light, dark) in colours() {
        let (light, dark) = (hex(light), hex(dark));
        for property in ["fill", "stroke"] {
            // Writing to a String does not fail.
            writeln!(
                style,
                ".plot [{property}=\"{light}\" i] {{ {property}: {dark}; }}"
            )
            .unwrap_or_default();
        }
    }
    style.push_str("}\n");
    style
}

/// Colours of plots in the light and in the dark.
fn colours() -> Vec<(Rgb, Rgb)> {
    let (light, dark) = (Theme::light(), Theme::dark());
    let of = |theme: &Theme| {
        let own = [
            theme.surface,
            theme.grid,
            theme.base,
            theme.ink,
            theme.ink_2,
            theme.ink_3,
            theme.nan,
            theme.inf,
            theme.error,
        ];
        let steps = 0..=SHADES;
        let shades = steps.map(|shade| theme.sequence(f64::from(shade) / f64::from(SHADES)));
        own.into_iter().chain(shades).collect::<Vec<Rgb>>()
    };
    let pairs = of(&light).into_iter().zip(of(&dark));
    let mut seen = BTreeSet::new();
    let runs = crate::cli::export::pictures::COLOURS;
    let all = pairs
        .chain(runs)
        .filter(|(light, _)| seen.insert((light.0, light.1, light.2)));
    all.collect()
}

/// Shades of a heat map, as it is drawn.
const SHADES: u8 = 48;

fn hex(Rgb(r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn logo() -> Markup {
    html! {
        svg width="18" height="18" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
            path d="M1.5 12.5 5 6l3 4 2.5-7 4 9.5";
            circle cx="10.5" cy="3" r="1.6" fill="currentColor" stroke="none";
        }
    }
}

/// How bad something is: a class, and a sign of its own shape.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Error,
    Warning,
    Info,
    Ok,
    Unknown,
}

impl Sign {
    const fn of(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Info,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Error => "e",
            Self::Warning => "w",
            Self::Info => "i",
            Self::Ok => "o",
            Self::Unknown => "u",
        }
    }
}

fn icon(sign: Sign, size: u8) -> Markup {
    html! {
        svg class=(sign.class()) width=(size) height=(size) viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
            @match sign {
                Sign::Error => { path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z"; path d="M8 4.5v4.3M8 11.3v.1"; }
                Sign::Warning => { path d="M8 1.8 15 14H1z"; path d="M8 6.5v3.5M8 12v.1"; }
                Sign::Info => { circle cx="8" cy="8" r="6.5"; path d="M8 7.5v4M8 4.6v.1"; }
                Sign::Ok => { circle cx="8" cy="8" r="6.5"; path d="m5 8.2 2.1 2.1L11 6"; }
                Sign::Unknown => { circle cx="8" cy="8" r="6.5" stroke-dasharray="2 2.5"; path d="M6 8h4"; }
            }
        }
    }
}

/// The one sentence about the run, and how bad it is.
fn sentence(pen: Pen, contents: &Contents) -> (Sign, String) {
    let Findings {
        first_cause,
        counts,
        judged,
        damaged,
        watchpoints,
        ..
    } = &contents.findings;
    if let Some(cause) = first_cause {
        return (
            Sign::of(cause.hit.severity),
            pen.words(&cause.sentence).to_owned(),
        );
    }
    if !damaged.is_empty() {
        return (Sign::Warning, pen.texts.only_damaged.to_owned());
    }
    if counts.info > 0 {
        return (Sign::Info, (pen.texts.only_notes)(counts.info));
    }
    if judged.tensors == 0 && judged.steps == 0 {
        return (Sign::Unknown, pen.texts.nothing_judged.to_owned());
    }
    let watching = watchpoints.iter().filter(|own| own.is_on).count() as u64;
    let [watching, tensors, steps] = [watching, judged.tensors, judged.steps].map(words::count);
    (Sign::Ok, (pen.texts.healthy)(&watching, &tensors, &steps))
}

fn verdict(pen: Pen, contents: &Contents, (sign, sentence): &(Sign, String)) -> Markup {
    let counts = contents.findings.counts;
    let advice = advice(pen, &contents.findings);
    let badge = |sign: Sign, count: u64, name: usize| {
        let name = pen.texts.severities[name];
        let many = if count > 1 && pen.language == Language::En {
            "s"
        } else {
            ""
        };
        html! {
            @if count > 0 {
                span class=(format!("badge {}", sign.class())) { (icon(sign, 14)) (words::count(count)) " " (name) (many) }
            }
        }
    };
    html! {
        div class="verdict" {
            (icon(*sign, 20))
            div {
                h1 { (sentence) }
                p { b { (contents.title) } @if let Some(advice) = advice { " · " (advice) } }
            }
            div class="count" {
                (badge(Sign::Error, counts.error, 0))
                (badge(Sign::Warning, counts.warning, 1))
                (badge(Sign::Info, counts.info, 2))
            }
        }
    }
}

/// The advice on the first cause, else that on its watchpoint.
fn advice(pen: Pen, findings: &Findings) -> Option<&str> {
    let cause = findings.first_cause.as_ref()?;
    let own = findings.watchpoints.get(cause.hit.watchpoint as usize);
    let all = [Some(&cause.advice), own.map(|own| &own.advice)];
    let told = all.into_iter().flatten().map(|words| pen.words(words));
    told.into_iter().find(|words| !words.is_empty())
}

fn facts(pen: Pen, contents: &Contents) -> Markup {
    let Findings {
        judged,
        watchpoints,
        hits,
        ..
    } = &contents.findings;
    let watching = watchpoints.iter().filter(|own| own.is_on).count() as u64;
    let ranks = contents
        .info
        .as_ref()
        .map_or(1, |run| run.ranks.len().max(1)) as u64;
    let hit: BTreeSet<&str> = hits.iter().map(|hit| &*hit.tensor).collect();
    let len_bytes = contents.info.as_ref().map_or(0, |run| run.len_bytes);
    let files = contents.files.len() as u64;
    let loss = contents.info.as_ref().and_then(|run| run.loss.as_ref());
    let mut tensors = words::count(judged.tensors);
    if !hit.is_empty() {
        tensors = format!(
            "{tensors} ({}: {})",
            pen.texts.hits,
            words::count(hit.len() as u64)
        );
    }
    let values = [
        words::count(watching),
        words::count(judged.steps),
        tensors,
        words::count(ranks),
        if files > 0 {
            format!("{}, {}", words::count(files), words::size(len_bytes))
        } else {
            String::new()
        },
        loss.map_or_else(String::new, |last| label::value(last.value)),
    ];
    html! {
        dl class="facts" {
            @for (name, value) in pen.texts.facts.iter().zip(values).filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

/// A number as the pages write it.
fn number(value: Float) -> String {
    label::non_finite(value.0).map_or_else(|| label::value(value.0), str::to_owned)
}

fn numbers(all: &BTreeMap<String, Float>) -> String {
    let named = all
        .iter()
        .map(|(name, value)| format!("{name} {}", number(*value)));
    named.collect::<Vec<String>>().join(", ")
}

fn first_cause(pen: Pen, findings: &Findings) -> Markup {
    let Some(cause) = &findings.first_cause else {
        return html! {};
    };
    let hit = &cause.hit;
    let said = pen.words(&hit.sentence);
    html! {
        section {
            h2 { (pen.texts.first_cause) small { (pen.texts.step) " " (words::step(hit.step)) } }
            div class="cause" {
                p { (said) }
                div {
                    div class="k" { (pen.texts.place) }
                    div class="v" { code { (hit.tensor) } ", " (pen.texts.step) " " (words::step(hit.step)) ", rank " (hit.rank) }
                    @if let Some((file, line)) = &hit.source {
                        div class="k" { (pen.texts.source) }
                        div class="v" { code { (file) ":" (line) } }
                    }
                    @if let Some(advice) = advice(pen, findings) {
                        div class="k" { (pen.texts.advice) }
                        div class="v" { (advice) }
                    }
                }
                div {
                    @if !hit.values.is_empty() {
                        div class="k" { (pen.texts.found) }
                        div class="v" { (numbers(&hit.values)) }
                    }
                    @if !hit.thresholds.is_empty() {
                        div class="k" { (pen.texts.limit) }
                        div class="v" { (numbers(&hit.thresholds)) }
                    }
                    div class="k" { (pen.texts.explains) }
                    div class="v" { (words::count(cause.explains)) }
                }
            }
        }
    }
}

fn diagnosis(pen: Pen, findings: &Findings) -> Markup {
    let row = |remark: &Remark| {
        let (sign, state) = match remark.state {
            RemarkState::Unknown => (Sign::Unknown, 0),
            RemarkState::Fine => (Sign::Ok, 1),
            RemarkState::Note => (Sign::Info, 2),
            RemarkState::Fault => (Sign::Warning, 3),
        };
        let topic = match remark.topic {
            RemarkTopic::Hyperparameters => 0,
            RemarkTopic::Model => 1,
            RemarkTopic::Input => 2,
        };
        html! {
            tr {
                td class="nb" { span class="s" { (icon(sign, 14)) (pen.texts.states[state]) } }
                td class="nb" { (pen.texts.topics[topic]) }
                td class="nb" { (texts::rule(pen.language, &remark.rule)) }
                td {
                    (pen.words(&remark.sentence))
                    @if !remark.record.is_empty() { p class="rec" { (pen.texts.record) " " code { (remark.record) } } }
                }
            }
        }
    };
    html! {
        @if !findings.remarks.is_empty() {
            section {
                h2 { (pen.texts.diagnosis) small { (pen.texts.diagnosis_order) } }
                table { tbody { @for remark in &findings.remarks { (row(remark)) } } }
            }
        }
    }
}

fn hits(pen: Pen, findings: &Findings) -> Markup {
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
        let title = title.map_or(&*hit.condition, |own| pen.words(&own.title));
        let name = pen.texts.severities[match hit.severity {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Info => 2,
        }];
        let sign = Sign::of(hit.severity);
        let is_first = cause.as_ref().is_some_and(|key| *key == hit.key());
        let is_new = step.replace(hit.step) != Some(hit.step);
        rows.push(html! {
            @if is_new { tr class="sg" { td colspan="5" { (pen.texts.step) " " (words::step(hit.step)) } } }
            tr class=[is_first.then_some("first")] {
                td class="nb" { span class=(format!("s {}", sign.class())) { (icon(sign, 14)) (name) } }
                td { (hit.tensor) p { (pen.words(&hit.sentence)) } }
                td class="n" { (hit.rank) }
                td { (title) }
                td class="n" { (numbers(&hit.thresholds)) }
            }
        });
    }
    html! {
        table {
            thead { tr {
                th { (pen.texts.severity) }
                th { (pen.texts.tensor) }
                th class="n" { (pen.texts.rank) }
                th { (pen.texts.watchpoint) }
                th class="n" { (pen.texts.limit) }
            } }
            tbody { @for row in rows { (row) } }
        }
    }
}

fn curves(pen: Pen, contents: &Contents) -> Markup {
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
                                span { (pen.texts.last) " " (number(Float(curve.last))) }
                            }
                            div class="plot" role="img" aria-label=(curve.tag) { (PreEscaped(&curve.svg)) }
                        }
                    }
                }
            }
        }
    }
}

fn plots(title: &str, plots: &[(String, String)]) -> Markup {
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

fn images(pen: Pen, contents: &Contents) -> Markup {
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

fn settings(pen: Pen, contents: &Contents) -> Markup {
    let hparams = contents.info.iter().flat_map(|run| &run.hparams);
    let hparams = hparams.map(|(name, value)| {
        let value = match value {
            HparamValue::Null => "null".to_owned(),
            HparamValue::Number(value) => number(Float(*value)),
            HparamValue::Text(text) => text.clone(),
            HparamValue::Bool(yes) => yes.to_string(),
        };
        (name.clone(), value)
    });
    let hparams: Vec<(String, String)> = hparams.collect();
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
    let mut all: Vec<_> = findings
        .watchpoints
        .iter()
        .filter(|own| own.is_on)
        .collect();
    all.sort_by_key(|own| (own.hits == 0, std::cmp::Reverse(own.severity)));
    html! {
        section {
            h2 { (pen.texts.watchpoints) small { (which) } }
            table { tbody {
                @for own in all {
                    tr {
                        td { (pen.words(&own.title)) }
                        @if own.hits > 0 {
                            td class=(format!("n {}", Sign::of(own.severity).class())) { (words::count(own.hits)) }
                        } @else {
                            td class="n u" { (pen.texts.no_hit) }
                        }
                    }
                }
            } }
        }
    }
}

fn not_judged(pen: Pen, findings: &Findings) -> Markup {
    let mut reasons: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for one in &findings.inconclusive {
        reasons
            .entry((&one.condition, &one.reason))
            .or_default()
            .insert(&one.tensor);
    }
    let title = |condition: &str| {
        let own = findings
            .watchpoints
            .iter()
            .find(|own| own.condition == condition);
        own.map_or_else(
            || condition.to_owned(),
            |own| pen.words(&own.title).to_owned(),
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
        @if !reasons.is_empty() {
            section {
                h2 { (pen.texts.not_judged) }
                table { tbody {
                    @for ((condition, reason), tensors) in reasons.iter().take(MAX_ENTRIES) {
                        tr {
                            td { (title(condition)) }
                            td { (whose(tensors)) }
                            td { (texts::missing(pen.language, reason)) }
                        }
                    }
                } }
            }
        }
    }
}

fn files(pen: Pen, contents: &Contents) -> Markup {
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
                        tr { td class="nb u" { (state) } td { (path) } td class="n" { (words::size(*len_bytes)) } }
                    }
                } }
            }
        }
    }
}
