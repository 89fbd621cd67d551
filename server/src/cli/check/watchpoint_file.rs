//! Reads the watchpoints file given on the command line; errors quote its lines.

use std::fs;
use std::io;
use std::path::Path;

use crate::cli::mistake::Mistake;
use crate::cli::style::ERROR;
use crate::cli::words;
use crate::watchpoints::{Sets, Wrong, parse};

/// Number of lines quoted before the faulty one.
const LINES_BEFORE: usize = 2;

pub(super) fn read(path: &Path) -> Result<Sets, Mistake> {
    let text = fs::read_to_string(path).map_err(|error| {
        let mistake = Mistake::new(2, format!("the watchpoints cannot be read: {error}"));
        let mistake = mistake.at(words::path(path));
        match error.kind() {
            io::ErrorKind::NotFound => mistake.attempt(
                "a file that is there, or no --watchpoints: then the recommended ones are used",
            ),
            _ => mistake.attempt("a text file that you may read"),
        }
    })?;
    parse(&text).map_err(|wrong| mistake(wrong, path, &text))
}

fn mistake(wrong: Wrong, path: &Path, text: &str) -> Mistake {
    let before = text.get(..wrong.span.start).unwrap_or(text);
    let line = before.matches('\n').count();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[line_start..].chars().count();
    let marked = text.get(wrong.span.clone()).unwrap_or_default();
    let marked = marked
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        .max(1);
    let lines: Vec<&str> = text.lines().collect();
    let width = (line + 1).to_string().len().max(2);

    let mut mistake = Mistake::new(2, wrong.what)
        .at(format!(
            "{}, line {}, column {}",
            words::path(path),
            line + 1,
            column + 1
        ))
        .at("");
    for number in line.saturating_sub(LINES_BEFORE)..=line {
        let shown = words::name(lines.get(number).copied().unwrap_or_default(), None);
        mistake = mistake.at(format!("{:>width$} │ {shown}", number + 1));
    }
    let marks = "^".repeat(marked);
    let hint = wrong.hint;
    mistake
        .at(format!(
            "{:width$} │ {}{ERROR}{marks}{ERROR:#}{}{hint}",
            "",
            " ".repeat(column),
            if hint.is_empty() { "" } else { " " }
        ))
        .at("")
        .attempt(wrong.attempt)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_mistake_is_shown_with_its_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("watchpoints.toml");
        let text = "# mine\n[[watchpoint]]\ncondition = \"weight_not_changed\"\nrtl = 1e-3\n";
        std::fs::write(&path, text).unwrap();
        let mut out = Vec::new();
        read(&path).unwrap_err().write(&mut out).unwrap();
        let text = anstream::adapter::strip_bytes(&out).into_vec();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("line 4, column 1"), "{text}");
        assert!(
            text.contains("          4 │ rtl = 1e-3\n            │ ^^^ did you mean rtol?\n"),
            "{text}"
        );
    }
}
