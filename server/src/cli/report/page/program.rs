//! The program in a report: the chain to the loss, checks of the first batch, and the description of its parts.

use maud::{Markup, html};
use trainscope_api::program::{ChainLink, Probe, ProbeResult, ProgramPart, ProgramRow};
use trainscope_format::SourceLine;

use super::{Pen, Sign, icon};

/// The operations from the first one whose result is not finite to the loss.
pub(super) fn chain(pen: Pen, chain: &[ChainLink]) -> Markup {
    if chain.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { (pen.texts.chain) }
            table {
                thead { tr { @for column in pen.texts.chain_columns { th { (column) } } } }
                tbody {
                    @for link in chain {
                        @if link.left_out > 0 { tr { td colspan="4" { ((pen.texts.left_out)(&link.left_out.to_string())) } } }
                        tr class=[link.is_first.then_some("first")] {
                            td { code { (link.operation) } }
                            td { code { (link.module) } }
                            td { (pen.words(&link.result)) }
                            td { (place(link.source.as_ref())) }
                        }
                    }
                }
            }
        }
    }
}

/// The checks of the first batch.
pub(super) fn probes(pen: Pen, probes: &[Probe]) -> Markup {
    if probes.is_empty() {
        return html! {};
    }
    let result = |result: ProbeResult| {
        let (sign, at) = match result {
            ProbeResult::Failed => (Sign::Error, 0),
            ProbeResult::NotTried => (Sign::Unknown, 1),
            ProbeResult::Passed => (Sign::Ok, 2),
        };
        html! { span class="s" { (icon(sign, 12)) (pen.texts.probe_results[at]) } }
    };
    html! {
        section {
            h2 { (pen.texts.probes) }
            table {
                tbody {
                    @for probe in probes {
                        tr {
                            td { (pen.words(&probe.name)) }
                            td { (result(probe.result)) }
                            td { (probe.says) " " (place(probe.source.as_ref())) }
                        }
                    }
                }
            }
        }
    }
}

/// Names and values of the parts of the program.
pub(super) fn program(pen: Pen, rows: &[ProgramRow]) -> Markup {
    if rows.is_empty() {
        return html! {};
    }
    let title = |part: ProgramPart| {
        pen.texts.program_parts[match part {
            ProgramPart::Model => 0,
            ProgramPart::Optimizer => 1,
            ProgramPart::Loss => 2,
            ProgramPart::Data => 3,
            ProgramPart::Loop => 4,
        }]
    };
    html! {
        section {
            h2 { (pen.texts.program) }
            table {
                tbody {
                    @for rows in rows.chunk_by(|a, b| a.part == b.part) {
                        tr class="sg" { td colspan="2" { (title(rows[0].part)) } }
                        @for row in rows {
                            tr {
                                @match &row.value {
                                    Some(value) => { td { (pen.words(&row.name)) } td { (pen.words(value)) } },
                                    None => { td { b { (pen.words(&row.name)) } } td { (place(row.source.as_ref())) } },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn place(source: Option<&SourceLine>) -> Markup {
    html! { @if let Some(source) = source { code { (source.file) ":" (source.line) } } }
}
