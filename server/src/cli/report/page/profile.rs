//! The section about the profile of a run: sentence, parts of a step, advice, operators, memory and ranks.

use maud::{Markup, html};
use trainscope_api::profile::SessionSummary;
use trainscope_format::digits::{bytes, nanos, percent, trimmed};

use super::super::{Contents, ProfileContent};
use super::{Pen, Sign, icon};
use crate::cli::words;

/// Maximum number of ranks in the table; slow ones are among the advice.
const MAX_RANKS: usize = 64;
/// Number of operators in the table.
const MAX_OPERATORS: usize = 10;

fn time(of: i64) -> String {
    nanos(u64::try_from(of).unwrap_or(0))
}

pub(super) fn profile(pen: Pen, contents: &Contents) -> Markup {
    let Some(ProfileContent {
        summary,
        ranks,
        faults,
    }) = &contents.profile
    else {
        return html! {};
    };
    let steps = words::count(summary.step_count);
    html! {
        section id="profile" {
            h2 {
                (pen.texts.profile)
                small { (summary.session) " · rank " (summary.rank) " · " (steps) " " (pen.texts.facts[1]) }
            }
            div class="cause" {
                p { (pen.words(&summary.sentence)) " " (pen.words(&summary.detail)) }
                @for fault in faults { p class="w" { (fault) } }
            }
            (parts(pen, summary))
            (advice(pen, summary))
            (operators(pen, summary))
            (memory(pen, summary))
            @if ranks.len() > 1 {
                table {
                    thead { tr {
                        th { (pen.texts.rank) }
                        @for name in pen.texts.rank_columns { th class="n" { (name) } }
                    } }
                    tbody {
                        @for rank in ranks.iter().take(MAX_RANKS) {
                            tr {
                                td { (rank.rank) @if let Some(host) = &rank.host { " " (host) } }
                                td class="n" { (time(rank.median_step_nanos)) }
                                td class="n" { (time(rank.compute_nanos)) }
                                td class="n" { (time(rank.wait_nanos)) }
                                td class=(if rank.slow_steps > 0 { "n w" } else { "n" }) { (words::count(rank.slow_steps)) }
                            }
                        }
                    }
                }
                @if ranks.len() > MAX_RANKS {
                    p class="note" { ((pen.texts.left_out)(&words::count((ranks.len() - MAX_RANKS) as u64))) }
                }
            }
        }
    }
}

/// Mean parts of a step; those that are 0 are left out.
fn parts(pen: Pen, summary: &SessionSummary) -> Markup {
    let values = summary.mean_parts_nanos.values();
    let whole = summary.mean_parts_nanos.total();
    let rows = pen.texts.parts.iter().zip(values);
    html! {
        @if whole > 0 {
            table {
                thead { tr {
                    th { (pen.texts.part) }
                    th class="n" { (pen.texts.per_step) }
                    th class="n" { (pen.texts.share) }
                } }
                tbody {
                    @for (name, value) in rows.filter(|(_, value)| *value > 0) {
                        tr {
                            td { (name) }
                            td class="n" { (time(value)) }
                            td class="n" { (percent(value as f64 / whole as f64)) }
                        }
                    }
                }
            }
        }
    }
}

fn advice(pen: Pen, summary: &SessionSummary) -> Markup {
    html! {
        @if !summary.advice.is_empty() {
            table {
                thead { tr {
                    th { (pen.texts.severity) }
                    th { (pen.texts.advice) }
                    th class="n" { (pen.texts.at_best) }
                } }
                tbody {
                    @for advice in &summary.advice {
                        @let sign = Sign::of(advice.severity);
                        tr {
                            td class="nb" { span class=(format!("s {}", sign.class())) { (icon(sign, 14)) (pen.severity(advice.severity)) } }
                            td {
                                (pen.words(&advice.title))
                                p { (pen.words(&advice.evidence)) }
                                @if !advice.remedy.en.is_empty() { p class="rec" { (pen.words(&advice.remedy)) } }
                            }
                            td class="n" { @if advice.gain_nanos > 0 { "−" (time(advice.gain_nanos)) } }
                        }
                    }
                }
            }
        }
    }
}

fn operators(pen: Pen, summary: &SessionSummary) -> Markup {
    html! {
        @if !summary.operators.is_empty() {
            table {
                thead { tr {
                    th { (pen.texts.operator) }
                    @for name in pen.texts.operator_columns { th class="n" { (name) } }
                } }
                tbody {
                    @for operator in summary.operators.iter().take(MAX_OPERATORS) {
                        tr {
                            td { code { (operator.name) } }
                            td class="n" { (words::count(operator.calls)) }
                            td class="n" { (time(operator.self_step_nanos)) }
                            td class="n" { (percent(operator.share)) }
                            td class="n" { @if operator.flops > 0 { (trimmed(operator.flops as f64, 3)) } }
                        }
                    }
                }
            }
        }
    }
}

fn memory(pen: Pen, summary: &SessionSummary) -> Markup {
    html! {
        @if !summary.memory.is_empty() {
            table { tbody {
                @for memory in &summary.memory {
                    tr {
                        td { (pen.texts.peak_memory) " " code { (memory.device) } @if memory.since_recording { p { (pen.texts.since_recording) } } }
                        td class="n" {
                            (bytes(memory.peak_len_bytes))
                            @if memory.share().is_some() { " / " (bytes(memory.device_len_bytes)) }
                        }
                    }
                }
            } }
        }
    }
}
