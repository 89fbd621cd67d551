//! Reads a file of watchpoints and says of a mistake in it where it stands.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use trainscope_analysis::watchpoint::config::{self, Value, WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{CONDITIONS, ConfigError, Watchpoints};

use crate::cli::mistake::Mistake;
use crate::cli::style::ERROR;
use crate::cli::words;

/// Lines shown before the one that is wrong.
const LINES_BEFORE: usize = 2;

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Watchpoints, Mistake> {
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
    parse(&text).map_err(|wrong| wrong.into_mistake(path, &text))
}

/// A mistake and where it stands.
#[derive(Debug, PartialEq, Eq)]
struct Wrong {
    what: String,
    /// Bytes of the text.
    span: Range<usize>,
    /// Behind the marks.
    hint: String,
    attempt: String,
}

fn parse(text: &str) -> Result<Watchpoints, Wrong> {
    let table = DeTable::parse(text).map_err(|error| Wrong {
        what: format!("this is not TOML: {}", error.message()),
        span: error.span().unwrap_or(0..0),
        hint: String::new(),
        attempt: "key = value, one a line, below [[watchpoint]]".to_owned(),
    })?;
    let mut entries = Vec::new();
    for (key, value) in table.get_ref() {
        let wrong = |what: String, span| Wrong {
            what,
            span,
            hint: String::new(),
            attempt: "each watchpoint begins with [[watchpoint]]".to_owned(),
        };
        if key.get_ref() != "watchpoint" {
            let what = format!("unknown key `{}` outside of a watchpoint", key.get_ref());
            return Err(wrong(what, key.span()));
        }
        let DeValue::Array(tables) = value.get_ref() else {
            return Err(wrong(
                "`watchpoint` must be written [[watchpoint]]".to_owned(),
                key.span(),
            ));
        };
        for entry in tables {
            let DeValue::Table(keys) = entry.get_ref() else {
                return Err(wrong(
                    "a watchpoint must be a table".to_owned(),
                    entry.span(),
                ));
            };
            entries.push((entry.span(), keys));
        }
    }
    let mut file = WatchpointsFile::default();
    for (_, keys) in &entries {
        let mut config = WatchpointConfig::default();
        for (key, value) in *keys {
            config.0.insert(key.get_ref().to_string(), value_of(value)?);
        }
        file.watchpoint.push(config);
    }
    Watchpoints::from_file(&file).map_err(|error| {
        let (span, keys) = &entries[error.entry];
        locate(&error, span.clone(), keys)
    })
}

/// What a key is given, as far as any key may be given such.
fn value_of(value: &Spanned<DeValue<'_>>) -> Result<Value, Wrong> {
    let wrong = |what: &str| Wrong {
        what: what.to_owned(),
        span: value.span(),
        hint: String::new(),
        attempt: "a number, a text, true or false, or a list of texts".to_owned(),
    };
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(yes) => Value::Bool(*yes),
        DeValue::Integer(number) => Value::Int(
            i64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| wrong("the number has too many digits"))?,
        ),
        DeValue::Float(number) => Value::Float(
            number
                .as_str()
                .parse()
                .map_err(|_| wrong("this is not a number"))?,
        ),
        DeValue::Array(list) => {
            let texts = list.iter().map(|item| match item.get_ref() {
                DeValue::String(text) => Ok(text.to_string()),
                _ => Err(wrong("a list may hold texts only")),
            });
            Value::List(texts.collect::<Result<_, _>>()?)
        }
        DeValue::Datetime(_) | DeValue::Table(_) => {
            return Err(wrong("no key of a watchpoint takes such a value"));
        }
    })
}

/// Where the mistake stands, and what would be right.
fn locate(error: &ConfigError, entry: Range<usize>, keys: &DeTable<'_>) -> Wrong {
    let find = |wanted: &str| keys.iter().find(|(key, _)| key.get_ref() == wanted);
    let key = error.key.as_deref().and_then(find);
    let key_span = key.map_or_else(|| entry.clone(), |(key, _)| key.span());
    let value_span = key.map_or(entry, |(_, value)| value.span());
    let did_you_mean = |wanted: &str, names: &mut dyn Iterator<Item = &'static str>| {
        words::similar(wanted, names)
            .map_or_else(String::new, |name| format!("did you mean {name}?"))
    };
    let what = error.mistake.to_string();
    match &error.mistake {
        config::Mistake::UnknownKey { key, condition, known } => Wrong {
            what,
            span: key_span,
            hint: did_you_mean(key, &mut known.iter().copied()),
            attempt: format!("keys of {condition}: {}", known.join(", ")),
        },
        config::Mistake::UnknownCondition(id) => Wrong {
            what,
            span: value_span,
            hint: did_you_mean(id, &mut CONDITIONS.iter().map(|condition| condition.id)),
            attempt: "trainscope check --list-conditions".to_owned(),
        },
        config::Mistake::BadValue { key, wanted, .. } => Wrong {
            what,
            span: value_span,
            hint: String::new(),
            attempt: format!("{key} = {wanted}"),
        },
        config::Mistake::Needs { needs, .. } => Wrong {
            what,
            span: key_span,
            hint: String::new(),
            attempt: format!("give {needs} too"),
        },
        config::Mistake::NoCondition => Wrong {
            what,
            span: key_span,
            hint: String::new(),
            attempt: "condition = \"weight_not_changed\", or another of trainscope check --list-conditions"
                .to_owned(),
        },
        config::Mistake::NoLimit(condition) => Wrong {
            what,
            span: key_span,
            hint: String::new(),
            attempt: format!("trainscope check --explain {condition} tells the keys"),
        },
    }
}

impl Wrong {
    fn into_mistake(self, path: &Path, text: &str) -> Mistake {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.matches('\n').count();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[line_start..].chars().count();
        let marked = text.get(self.span.clone()).unwrap_or_default();
        let marked = marked
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            .max(1);
        let lines: Vec<&str> = text.lines().collect();
        let width = (line + 1).to_string().len().max(2);

        let mut mistake = Mistake::new(2, self.what)
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
        let hint = self.hint;
        mistake
            .at(format!(
                "{:width$} │ {:column$}{ERROR}{marks}{ERROR:#}{}{hint}",
                "",
                "",
                if hint.is_empty() { "" } else { " " }
            ))
            .at("")
            .attempt(self.attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, read};

    fn wrong(text: &str) -> (String, String) {
        let wrong = parse(text).unwrap_err();
        (wrong.what, text[wrong.span].to_owned())
    }

    #[test]
    fn each_mistake_is_found_where_it_stands() {
        for (text, what, marked) in [
            ("[[watchpoint]\n", "not TOML", ""),
            ("version = 1\n", "unknown key `version` outside", "version"),
            (
                "watchpoint = 3\n",
                "must be written [[watchpoint]]",
                "watchpoint",
            ),
            ("[[watchpoint]]\nname = \"x\"\n", "no `condition`", ""),
            (
                "[[watchpoint]]\ncondition = \"weight_unchanged\"\n",
                "no condition `weight_unchanged`",
                "\"weight_unchanged\"",
            ),
            (
                "[[watchpoint]]\ncondition = \"weight_not_changed\"\nrtoll = 1\n",
                "unknown key `rtoll`",
                "rtoll",
            ),
            (
                "[[watchpoint]]\ncondition = \"weight_not_changed\"\nrtol = -1\n",
                "`rtol` must be",
                "-1",
            ),
            (
                "[[watchpoint]]\ncondition = \"weight_not_changed\"\nseverity = \"fatal\"\n",
                "`severity` must be",
                "\"fatal\"",
            ),
            (
                "[[watchpoint]]\ncondition = \"weight_not_changed\"\nfrom_step = 1979-05-27\n",
                "takes such a value",
                "1979-05-27",
            ),
        ] {
            let (found, place) = wrong(text);
            assert!(found.contains(what), "{found}");
            if !marked.is_empty() {
                assert_eq!(place, marked);
            }
        }
    }

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

    #[test]
    fn a_file_of_watchpoints() {
        let file = "[[watchpoint]]\ncondition = \"weight_not_changed\"\nrtol = 0x1\nexclude = [\"a/*\"]\n\
            [[watchpoint]]\ncondition = \"tensor_overflow\"\n";
        assert_eq!(parse(file).unwrap().all().len(), 2);
        assert_eq!(parse("").unwrap().all().len(), 0);
    }
}
