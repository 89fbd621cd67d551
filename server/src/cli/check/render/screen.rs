//! Output screen: its width and character set, and text layout for it.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Width if unknown, as in a log.
const DEFAULT_WIDTH: usize = 80;
/// Maximum width: longer lines are hard to read on any screen.
const MAX_WIDTH: usize = 120;

/// A terminal, or a file in place of one.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Screen {
    /// Columns at which prose is wrapped.
    pub(in crate::cli) prose: usize,
    /// Width beyond which names lose their front; `None` to keep them whole for copying.
    pub(in crate::cli) columns: Option<usize>,
    /// True if it can show more than ASCII.
    pub(in crate::cli) is_unicode: bool,
}

impl Screen {
    /// The screen of standard output.
    pub(in crate::cli) fn of_stdout() -> Self {
        Self::of(&std::io::stdout())
    }

    /// The screen of standard error.
    pub(in crate::cli) fn of_stderr() -> Self {
        Self::of(&std::io::stderr())
    }

    fn of(stream: &(impl IsTerminal + AsFd)) -> Self {
        let columns = stream
            .is_terminal()
            .then(|| rustix::termios::tcgetwinsize(stream).ok())
            .flatten()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0);
        Self {
            prose: columns.unwrap_or(DEFAULT_WIDTH).min(MAX_WIDTH),
            columns,
            is_unicode: is_unicode(),
        }
    }

    /// The screen for a file.
    pub(in crate::cli) fn of_file() -> Self {
        Self {
            prose: DEFAULT_WIDTH,
            columns: None,
            is_unicode: true,
        }
    }

    /// Replaces symbols that this screen lacks.
    pub(in crate::cli) fn signs(&self, text: &str) -> String {
        if self.is_unicode {
            return text.to_owned();
        }
        let mut plain = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '∇' => plain.push_str("grad"),
                '×' => plain.push('x'),
                '≥' => plain.push_str(">="),
                '≤' => plain.push_str("<="),
                '…' => plain.push_str("..."),
                '│' => plain.push('|'),
                'Δ' => plain.push('d'),
                '·' => plain.push('*'),
                'ε' => plain.push_str("eps"),
                '−' => plain.push('-'),
                '∞' => plain.push_str("inf"),
                c if c.is_ascii() => plain.push(c),
                _ => plain.push('?'),
            }
        }
        plain
    }

    /// Wraps prose at spaces, with lines shorter than the screen by `indent`. A word longer than a line gets a separate
    /// line, so it can be copied.
    pub(in crate::cli) fn wrap(&self, text: &str, indent: usize) -> Vec<String> {
        wrap(&self.signs(text), self.prose.saturating_sub(indent).max(20))
    }
}

/// True if the locale's character set is UTF-8, by the environment variables in order of precedence.
fn is_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    // If all are unset, UTF-8 is assumed, as in current terminals.
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Wraps prose at spaces; a word longer than a line gets a separate line.
pub(in crate::cli) fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, options);
    lines.into_iter().map(Cow::into_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Screen, wrap};

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aaaaaaa b", 3), ["aaaaaaa", "b"]);
        assert_eq!(wrap("see lr-1.0", 6), ["see", "lr-1.0"]);
        assert_eq!(wrap("卷积层 梯度", 6), ["卷积层", "梯度"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("a\n\n  f(x) = 1\nb", 80), ["a", "", "  f(x) = 1", "b"]);
    }

    #[test]
    fn signs_have_plain_forms() {
        let screen = Screen {
            prose: 80,
            columns: None,
            is_unicode: false,
        };
        assert_eq!(screen.signs("∇ a ×4 ≥ …x ü"), "grad a x4 >= ...x ?");
    }
}
