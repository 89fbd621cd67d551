//! The roles that text is coloured by: the sixteen colours of the terminal only, so that its theme decides.

use anstyle::{AnsiColor, Style};

/// What is wrong.
pub(super) const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What may be wrong, or waits.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();
/// Names, and what the eye should find first.
pub(super) const STRONG: Style = Style::new().bold();
/// Heads of tables, hints, progress.
pub(super) const QUIET: Style = Style::new().dimmed();
/// Addresses.
pub(super) const LINK: Style = Style::new().underline();
/// What is well.
pub(super) const OK: Style = AnsiColor::Green.on_default();
/// Worth knowing.
pub(super) const NOTE: Style = AnsiColor::Blue.on_default();
