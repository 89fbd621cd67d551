//! Parser of watchpoints files, with the position of errors.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use trainscope_analysis::watchpoint::config::{self, Value, WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{CONDITIONS, ConfigError, Watchpoints};

use super::Sets;
use crate::suggest::similar;

/// A parse error with its position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The error as a sentence.
    pub(crate) what: String,
    /// Byte range in the text.
    pub(crate) span: Range<usize>,
    /// Text behind the marker.
    pub(crate) hint: String,
    /// Suggested correction.
    pub(crate) attempt: String,
}

impl Wrong {
    /// The error in one sentence, for a page.
    pub(crate) fn in_line(&self, text: &str) -> String {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let hint = match &*self.hint {
            "" => String::new(),
            hint => format!("; {hint}"),
        };
        format!("line {line}: {}{hint}", self.what)
    }
}

/// Parses a file.
pub(crate) fn parse(text: &str) -> Result<Sets, Wrong> {
    let table = DeTable::parse(text).map_err(|error| Wrong {
        what: format!("this is not TOML: {}", error.message()),
        span: error.span().unwrap_or(0..0),
        hint: String::new(),
        attempt: "key = value, one a line, below [[watchpoint]]".to_owned(),
    })?;
    let mut sets = Sets::default();
    for (key, value) in table.get_ref() {
        match &**key.get_ref() {
            "watchpoint" => sets.base = Some(list(key, value)?),
            "run" => {
                for (span, keys) in tables("run", key, value)? {
                    let (name, watchpoints) = run(span, keys)?;
                    sets.runs.insert(name, watchpoints);
                }
            }
            other => {
                return Err(Wrong {
                    what: format!("unknown key `{other}` outside of a watchpoint"),
                    span: key.span(),
                    hint: String::new(),
                    attempt: "each watchpoint begins with [[watchpoint]]".to_owned(),
                });
            }
        }
    }
    // A list for a single run leaves all others unchanged; an empty file disables all watchpoints.
    if sets.base.is_none() && sets.runs.is_empty() {
        sets.base = Some(Watchpoints::none());
    }
    Ok(sets)
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

/// The tables of an array, with their byte ranges.
fn tables<'a, 'b>(
    name: &str,
    key: &Key<'_>,
    value: &'b Spanned<DeValue<'a>>,
) -> Result<Vec<(Range<usize>, &'b DeTable<'a>)>, Wrong> {
    let wrong = |what: String, span| Wrong {
        what,
        span,
        hint: String::new(),
        attempt: format!("each {name} begins with [[{name}]]"),
    };
    let DeValue::Array(items) = value.get_ref() else {
        return Err(wrong(
            format!("`{}` must be written [[{name}]]", key.get_ref()),
            key.span(),
        ));
    };
    let items = items.iter().map(|item| match item.get_ref() {
        DeValue::Table(keys) => Ok((item.span(), keys)),
        _ => Err(wrong(format!("a {name} must be a table"), item.span())),
    });
    items.collect()
}

/// Parses the list of one run.
fn run(span: Range<usize>, keys: &DeTable<'_>) -> Result<(String, Watchpoints), Wrong> {
    let wrong = |what: &str, span| Wrong {
        what: what.to_owned(),
        span,
        hint: String::new(),
        attempt: "name = \"the name of the run\", then [[run.watchpoint]]".to_owned(),
    };
    let mut name = None;
    let mut watchpoints = Watchpoints::none();
    for (key, value) in keys {
        match (&**key.get_ref(), value.get_ref()) {
            ("name", DeValue::String(text)) => name = Some(text.to_string()),
            ("watchpoint", _) => watchpoints = list(key, value)?,
            _ => return Err(wrong("a run has a `name` and watchpoints only", key.span())),
        }
    }
    let name = name.ok_or_else(|| wrong("there is no `name` of the run", span))?;
    Ok((name, watchpoints))
}

fn list(key: &Key<'_>, value: &Spanned<DeValue<'_>>) -> Result<Watchpoints, Wrong> {
    let entries = tables("watchpoint", key, value)?;
    let mut file = WatchpointsFile::default();
    for (_, keys) in &entries {
        let mut config = WatchpointConfig::default();
        for (key, value) in *keys {
            config.0.insert(key.get_ref().to_string(), value_of(value)?);
        }
        file.watchpoint.push(config);
    }
    Watchpoints::from_file(&file).map_err(|error| match entries.get(error.entry) {
        Some((span, keys)) => locate(&error, span.clone(), keys),
        None => locate(&error, key.span(), &DeTable::new()),
    })
}

/// Converts the value of a key, if its type is valid for any key.
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

/// Position of an error, and the suggested correction.
fn locate(error: &ConfigError, entry: Range<usize>, keys: &DeTable<'_>) -> Wrong {
    let find = |wanted: &str| keys.iter().find(|(key, _)| key.get_ref() == wanted);
    let key = error.key.as_deref().and_then(find);
    let key_span = key.map_or_else(|| entry.clone(), |(key, _)| key.span());
    let value_span = key.map_or(entry, |(_, value)| value.span());
    let did_you_mean = |wanted: &str, names: &mut dyn Iterator<Item = &'static str>| {
        similar(wanted, names).map_or_else(String::new, |name| format!("did you mean {name}?"))
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

#[cfg(test)]
mod tests {
    use trainscope_api::watchpoints::Origin;

    use super::parse;

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
    fn a_file_of_watchpoints() {
        let file = "[[watchpoint]]\ncondition = \"weight_not_changed\"\nrtol = 0x1\nexclude = [\"a/*\"]\n\
            [[watchpoint]]\ncondition = \"tensor_overflow\"\n";
        assert_eq!(parse(file).unwrap().of("any").0.all().len(), 2);
        assert_eq!(parse("").unwrap().of("any").0.all().len(), 0);
    }

    #[test]
    fn a_run_may_have_its_own() {
        let text = "[[run]]\nname = \"a/b\"\n[[run.watchpoint]]\ncondition = \"loss_nan\"\n\
            [[run]]\nname = \"quiet\"\nwatchpoint = []\n";
        let sets = parse(text).unwrap();
        assert_eq!(
            (sets.of("a/b").0.all().len(), sets.of("a/b").1),
            (1, Origin::Run)
        );
        assert_eq!(sets.of("quiet").0.all().len(), 0);
        assert!(sets.of("a").0.are_recommended());
        let (what, place) =
            wrong("[[run]]\nname = \"x\"\n[[run.watchpoint]]\ncondition = \"loss\"\n");
        assert!(what.contains("no condition `loss`"), "{what}");
        assert_eq!(place, "\"loss\"");
        assert!(wrong("[[run]]\nnane = \"x\"\n").0.contains("`name`"));
        assert!(wrong("[[run]]\n").0.contains("no `name`"));
    }
}
