//! What text is printed on: how wide it is and which signs it has, and text brought into that form.

use std::io::IsTerminal as _;

/// Where nothing else is known, as in a log.
const DEFAULT_WIDTH: usize = 80;
/// Lines longer than this are hard to read, however wide the window is.
const MAX_WIDTH: usize = 120;

/// A terminal, or what stands in for one.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Screen {
    /// Prose is wrapped here.
    pub(in crate::cli) prose: usize,
    /// Names lose their front beyond this; `None`: they are copied from here, and stay whole.
    pub(in crate::cli) columns: Option<usize>,
    /// Whether it shows more than ASCII.
    pub(in crate::cli) is_unicode: bool,
}

impl Screen {
    /// Of the stream that results go to.
    pub(in crate::cli) fn of_stdout() -> Self {
        let stdout = std::io::stdout();
        let columns = stdout
            .is_terminal()
            .then(|| rustix::termios::tcgetwinsize(&stdout).ok())
            .flatten()
            .map(|size| usize::from(size.ws_col))
            .filter(|columns| *columns > 0);
        Self {
            prose: columns.unwrap_or(DEFAULT_WIDTH).min(MAX_WIDTH),
            columns,
            is_unicode: is_unicode(),
        }
    }

    /// Of a file.
    pub(in crate::cli) fn of_file() -> Self {
        Self {
            prose: DEFAULT_WIDTH,
            columns: None,
            is_unicode: true,
        }
    }

    /// With signs that this screen has.
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

    /// Prose in lines, each `indent` shorter than the screen is wide. Text that has lines of its own keeps them where
    /// they begin with a space.
    pub(in crate::cli) fn wrap(&self, text: &str, indent: usize) -> Vec<String> {
        wrap(&self.signs(text), self.prose.saturating_sub(indent).max(20))
    }
}

/// Whether the locale's characters are UTF-8, by the variables that say so, the strongest first.
fn is_unicode() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    // Without any, terminals of today are.
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Breaks at spaces; a word that is longer than a line has one of its own.
pub(in crate::cli) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        if paragraph.starts_with(' ') || paragraph.is_empty() {
            lines.push(paragraph.trim_end().to_owned());
            continue;
        }
        let mut line = String::new();
        let mut len = 0;
        for word in paragraph.split_whitespace() {
            let word_len = word.chars().count();
            if len > 0 && len + 1 + word_len > width {
                lines.push(std::mem::take(&mut line));
                len = 0;
            }
            if len > 0 {
                line.push(' ');
                len += 1;
            }
            line.push_str(word);
            len += word_len;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Screen, wrap};

    #[test]
    fn words_are_kept_whole() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aaaaaaa b", 3), ["aaaaaaa", "b"]);
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
