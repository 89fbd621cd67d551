//! Terminal styles by role: only the sixteen standard colours, so that the terminal's theme decides.

use anstyle::{AnsiColor, Style};

/// Errors.
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Warnings, and waiting.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();
/// Names, and the most important parts.
pub(super) const STRONG: Style = Style::new().bold();
/// Table heads, hints, progress.
pub(super) const QUIET: Style = Style::new().dimmed();
/// Addresses.
pub(super) const LINK: Style = Style::new().underline();
/// Success.
pub(super) const OK: Style = AnsiColor::Green.on_default();
/// Notes.
pub(super) const NOTE: Style = AnsiColor::Blue.on_default();
