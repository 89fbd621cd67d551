//! Display of severities by class and icon: never by colour alone.

use trainscope_api::findings::{Health, Verdict};
use trainscope_format::Severity;

use super::IconName;

/// Name of a severity in addresses, files and `data-severity`.
pub const fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// The class of the text and the icon of a severity.
pub const fn severity_icon(severity: Severity) -> (&'static str, IconName) {
    match severity {
        Severity::Error => ("err", IconName::Error),
        Severity::Warning => ("warn", IconName::Warning),
        Severity::Info => ("inf", IconName::Info),
    }
}

/// The class and the icon of a run's health: of its worst hit, else of the amount checked.
pub const fn health_icon(health: &Health) -> (&'static str, IconName) {
    let counts = health.counts;
    match health.verdict {
        _ if counts.error > 0 => severity_icon(Severity::Error),
        _ if counts.warning > 0 => severity_icon(Severity::Warning),
        Verdict::NoProblem => ("okc", IconName::Ok),
        Verdict::InPart | Verdict::Nothing | Verdict::Problem => ("ink3", IconName::Info),
    }
}
