//! The page of a report: HTML with inline style, without scripts and external files. Names are escaped.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use trainscope_api::Sentence;
use trainscope_api::findings::{Counts, Findings, Verdict};
use trainscope_format::Severity;

use super::texts::{self, Texts};
use super::{Contents, Language};
use crate::cli::words;

mod comparison;
mod diagnosis;
mod profile;
mod program;
mod sections;
mod style;

use comparison::comparison;
use diagnosis::diagnosis;
use profile::profile;
use program::{chain, probes, program};
use sections::{
    advice, curves, facts, files, first_cause, hits, images, landscapes, not_judged, plots,
    settings,
};
use style::style;

/// Maximum number of hits on the page.
pub(super) const MAX_HITS: usize = 2_000;

/// Language and helpers for writing a page.
#[derive(Clone, Copy)]
struct Pen {
    language: Language,
    texts: &'static Texts,
}

impl Pen {
    fn words(self, words: &Sentence) -> &str {
        match self.language {
            Language::En => &words.en,
            Language::Zh => &words.zh,
        }
    }

    fn severity(self, severity: Severity) -> &'static str {
        self.texts.severities[match severity {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Info => 2,
        }]
    }
}

/// The whole document.
pub(super) fn page(contents: &Contents, language: Language) -> String {
    let pen = Pen {
        language,
        texts: texts::of(language),
    };
    let style = style();
    // Only this style and embedded images are allowed.
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
                    (chain(pen, &contents.program.chain))
                    (comparison(pen, contents))
                    (diagnosis(pen, contents))
                    (probes(pen, &contents.program.probes))
                    (program(pen, &contents.program.description))
                    (hits(pen, &contents.findings))
                    (profile(pen, contents))
                    (curves(pen, contents))
                    (plots(pen.texts.distributions, &contents.heat_maps))
                    (landscapes(pen, contents))
                    (images(pen, contents))
                    @if let Some(left_out) = texts::left_out(language, &contents.left_out) {
                        section { p class="note" { (left_out) } }
                    }
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

fn logo() -> Markup {
    html! {
        svg width="18" height="18" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" {
            path d="M1.5 12.5 5 6l3 4 2.5-7 4 9.5" {}
            circle cx="10.5" cy="3" r="1.6" fill="currentColor" stroke="none" {}
        }
    }
}

/// Severity: a CSS class, and a symbol with a distinct shape.
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
                Sign::Error => { path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" {} path d="M8 4.5v4.3M8 11.3v.1" {} }
                Sign::Warning => { path d="M8 1.8 15 14H1z" {} path d="M8 6.5v3.5M8 12v.1" {} }
                Sign::Info => { circle cx="8" cy="8" r="6.5" {} path d="M8 7.5v4M8 4.6v.1" {} }
                Sign::Ok => { circle cx="8" cy="8" r="6.5" {} path d="m5 8.2 2.1 2.1L11 6" {} }
                Sign::Unknown => { circle cx="8" cy="8" r="6.5" stroke-dasharray="2 2.5" {} path d="M6 8h4" {} }
            }
        }
    }
}

/// The sentence about the run, and its severity.
fn sentence(pen: Pen, contents: &Contents) -> (Sign, String) {
    let Findings {
        first_cause,
        counts,
        damage,
        verdict,
        summary,
        ..
    } = &contents.findings;
    if let Some(cause) = first_cause {
        // A note may be the first cause of errors: the symbol shows the worst severity.
        let worst = match counts {
            Counts { error: 1.., .. } => Sign::Error,
            Counts { warning: 1.., .. } => Sign::Warning,
            Counts { .. } => Sign::of(cause.hit.severity),
        };
        return (worst, pen.words(&cause.sentence).to_owned());
    }
    let said = pen.words(summary);
    if damage.is_some() {
        return (Sign::Warning, said.to_owned());
    }
    let sign = match verdict {
        Verdict::Problem => Sign::Warning,
        Verdict::Nothing | Verdict::InPart => Sign::Unknown,
        Verdict::NoProblem if counts.info > 0 => Sign::Info,
        Verdict::NoProblem => Sign::Ok,
    };
    (sign, said.to_owned())
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
