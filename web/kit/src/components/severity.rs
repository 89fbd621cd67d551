//! Display of severities by class and icon: never by colour alone.

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
