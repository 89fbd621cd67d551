//! Edits a list of watchpoints in the text of its file. Unchanged parts stay as the user wrote them, with their
//! comments; a removed watchpoint takes the comments above it along.

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};
use trainscope_analysis::watchpoint::WatchpointConfig;
use trainscope_analysis::watchpoint::config;

/// First lines of a new file.
const HEAD: &str = "# What trainscope watches for in the runs below this folder. Safe to edit; the same file is for\n\
    # `trainscope check --watchpoints`.\n\n";

/// Replaces the list of all runs, or of the run of that name; `None` removes the list. The text must be valid for
/// [`super::parse()`].
pub(super) fn edit(
    text: &str,
    run: Option<&str>,
    list: Option<&[WatchpointConfig]>,
) -> Result<String, String> {
    let text = if text.trim().is_empty() { HEAD } else { text };
    let mut document: DocumentMut = text.parse().map_err(|e| format!("{e}"))?;
    // Text at the end, including comments of an empty file, moves to the front.
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    let had_tables = document.iter().any(|(_, item)| item.is_array_of_tables());
    let root = document.as_table_mut();
    match run {
        None => put(root, list),
        Some(name) => {
            let item = root
                .entry("run")
                .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
            make_tables(item);
            let Item::ArrayOfTables(runs) = item else {
                return Err("`run` is no list of tables".to_owned());
            };
            let is_it = |table: &Table| table.get("name").and_then(Item::as_str) == Some(name);
            let at = runs.iter().position(is_it);
            match (at, list) {
                (Some(at), None) => drop(runs.remove(at)),
                (None, None) => {}
                (Some(at), list) => {
                    if let Some(table) = runs.get_mut(at) {
                        put(table, list);
                    }
                }
                (None, list) => {
                    let mut table = Table::new();
                    table.decor_mut().set_prefix("\n");
                    table.insert("name", toml_edit::value(name));
                    put(&mut table, list);
                    runs.push(table);
                }
            }
            if runs.is_empty() {
                root.remove("run");
            }
        }
    }
    number(root);
    if !had_tables {
        document.set_trailing("");
        return Ok(format!("{trailing}{}", document.to_string().trim_start()));
    }
    Ok(document.to_string())
}

/// Replaces a list.
fn put(holder: &mut Table, list: Option<&[WatchpointConfig]>) {
    let Some(list) = list else {
        holder.remove("watchpoint");
        return;
    };
    let mut item = holder.remove("watchpoint").unwrap_or_default();
    make_tables(&mut item);
    let mut known: Vec<(WatchpointConfig, Table)> = match item {
        Item::ArrayOfTables(tables) => tables.into_iter().map(|t| (config_of(&t), t)).collect(),
        _ => Vec::new(),
    };
    if list.is_empty() {
        holder.insert("watchpoint", toml_edit::value(Array::new()));
        return;
    }
    let head = known
        .first()
        .map(|(_, table)| head_of(table))
        .unwrap_or_default();
    let mut tables = ArrayOfTables::new();
    // Unchanged watchpoints keep their table, even if others of the same condition change.
    let same: Vec<Option<usize>> = {
        let mut taken = vec![false; known.len()];
        let mut find = |config: &WatchpointConfig| {
            let at = (0..known.len()).find(|&at| !taken[at] && known[at].0 == *config)?;
            taken[at] = true;
            Some(at)
        };
        list.iter().map(&mut find).collect()
    };
    let mut free: Vec<bool> = vec![true; known.len()];
    same.iter().flatten().for_each(|&at| free[at] = false);
    let what =
        |config: &WatchpointConfig| ["condition", "name"].map(|key| config.0.get(key).cloned());
    for (config, same) in list.iter().zip(same) {
        let like = || {
            let alike = |at: &usize| free[*at] && what(&known[*at].0) == what(config);
            let nearly = |at: &usize| {
                free[*at] && known[*at].0.0.get("condition") == config.0.get("condition")
            };
            (0..known.len())
                .find(alike)
                .or_else(|| (0..known.len()).find(nearly))
        };
        let mut table = if let Some(at) = same.or_else(like) {
            free[at] = false;
            std::mem::take(&mut known[at].1)
        } else {
            let mut table = Table::new();
            table.decor_mut().set_prefix("\n");
            table
        };
        write(&mut table, config);
        tables.push(table);
    }
    if let Some(first) = tables.get_mut(0)
        && head_of(first) != head
    {
        let prefix = prefix_of(first).trim_start().to_owned();
        first.decor_mut().set_prefix(format!("{head}{prefix}"));
    }
    holder.insert("watchpoint", Item::ArrayOfTables(tables));
}

/// Comments above a table that are separated from it by an empty line: they are about more than that table.
fn head_of(table: &Table) -> String {
    let prefix = prefix_of(table);
    let end = prefix.rfind("\n\n").map_or(0, |at| at + 2);
    prefix[..end].to_owned()
}

fn prefix_of(table: &Table) -> &str {
    let prefix = table.decor().prefix();
    prefix
        .and_then(|prefix| prefix.as_str())
        .unwrap_or_default()
}

/// Updates a table from a watchpoint.
fn write(table: &mut Table, config: &WatchpointConfig) {
    let known = config_of(table);
    for key in known.0.keys().filter(|key| !config.0.contains_key(*key)) {
        table.remove(key);
    }
    let mut put = |key: &str, value: &config::Value| {
        if known.0.get(key) == Some(value) {
            return;
        }
        let mut value = value_of(value);
        match table.get_mut(key).and_then(Item::as_value_mut) {
            Some(before) => {
                // The comment at the end of the line stays.
                *value.decor_mut() = before.decor().clone();
                *before = value;
            }
            None => drop(table.insert(key, Item::Value(value))),
        }
    };
    // The identifying keys come first.
    for key in ["condition", "name"] {
        if let Some(value) = config.0.get(key) {
            put(key, value);
        }
    }
    for (key, value) in &config.0 {
        put(key, value);
    }
}

fn value_of(value: &config::Value) -> Value {
    match value {
        config::Value::Bool(value) => (*value).into(),
        config::Value::Int(value) => (*value).into(),
        config::Value::Float(value) => (*value).into(),
        config::Value::Text(value) => value.into(),
        config::Value::List(values) => values.iter().collect::<Array>().into(),
    }
}

/// Parses a table, which was valid before.
fn config_of(table: &Table) -> WatchpointConfig {
    let keys = table.iter().filter_map(|(key, item)| {
        let value = match item.as_value()? {
            Value::Boolean(value) => config::Value::Bool(*value.value()),
            Value::Integer(value) => config::Value::Int(*value.value()),
            Value::Float(value) => config::Value::Float(*value.value()),
            Value::String(value) => config::Value::Text(value.value().clone()),
            Value::Array(values) => {
                let texts = values
                    .iter()
                    .filter_map(|value| Some(value.as_str()?.to_owned()));
                config::Value::List(texts.collect())
            }
            Value::Datetime(_) | Value::InlineTable(_) => return None,
        };
        Some((key.to_owned(), value))
    });
    WatchpointConfig(keys.collect())
}

/// `watchpoint = [{ condition = "…" }]` is the same as tables.
fn make_tables(item: &mut Item) {
    if let Item::Value(Value::Array(_)) = item {
        *item = match std::mem::take(item).into_array_of_tables() {
            Ok(tables) => Item::ArrayOfTables(tables),
            Err(item) => item,
        };
    }
}

/// Tables are written in the order of their numbers from parsing: assign new ones.
fn number(root: &mut Table) {
    let mut next = 0;
    let mut give = |table: &mut Table| {
        table.set_position(Some(next));
        next += 1;
    };
    let list = |holder: &mut Table, give: &mut dyn FnMut(&mut Table)| {
        if let Some(Item::ArrayOfTables(tables)) = holder.get_mut("watchpoint") {
            tables.iter_mut().for_each(give);
        }
    };
    list(root, &mut give);
    if let Some(Item::ArrayOfTables(runs)) = root.get_mut("run") {
        for run in runs.iter_mut() {
            give(run);
            list(run, &mut give);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watchpoints::parse;

    fn config(keys: &[(&str, config::Value)]) -> WatchpointConfig {
        let keys = keys
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        WatchpointConfig(keys.collect())
    }

    fn named(condition: &str) -> WatchpointConfig {
        config(&[("condition", config::Value::Text(condition.to_owned()))])
    }

    const WRITTEN: &str = "# about everything\n\n# about the first\n[[watchpoint]]\ncondition = \"loss_nan\"\n\n\
        # about the second\n[[watchpoint]]\ncondition = \"weight_not_changed\" # why\nrtol = 1e-3 # measured\n\n\
        [[run]]\nname = \"a\"\n[[run.watchpoint]]\ncondition = \"loss_spike\"\n";

    #[test]
    fn what_is_not_changed_stays_as_it_was_written() {
        let first = named("loss_nan");
        let second = |rtol: f64| {
            config(&[
                (
                    "condition",
                    config::Value::Text("weight_not_changed".to_owned()),
                ),
                ("rtol", config::Value::Float(rtol)),
            ])
        };
        let same = [first.clone(), second(1e-3)];
        assert_eq!(edit(WRITTEN, None, Some(&same)).unwrap(), WRITTEN);

        let changed = [first.clone(), second(0.5)];
        let text = edit(WRITTEN, None, Some(&changed)).unwrap();
        assert_eq!(text, WRITTEN.replace("1e-3", "0.5"));

        // One removed, one moved up, one new.
        let text = edit(
            WRITTEN,
            None,
            Some(&[second(1e-3), named("tensor_overflow")]),
        )
        .unwrap();
        assert!(
            text.starts_with("# about everything\n\n# about the second\n[[watchpoint]]\n"),
            "{text}"
        );
        assert!(
            text.contains("# measured") && !text.contains("first"),
            "{text}"
        );
        let sets = parse(&text).unwrap();
        let ids: Vec<&str> = sets
            .of("b")
            .0
            .all()
            .iter()
            .map(|watchpoint| watchpoint.condition.id)
            .collect();
        assert_eq!(ids, ["weight_not_changed", "tensor_overflow"]);
        assert_eq!(sets.of("a").0.all()[0].condition.id, "loss_spike");
    }

    #[test]
    fn lists_of_runs_come_and_go() {
        let text = edit("", Some("x/é \"y\""), Some(&[named("loss_nan")])).unwrap();
        assert!(text.starts_with(HEAD.trim_end()), "{text}");
        let sets = parse(&text).unwrap();
        assert_eq!(sets.of("x/é \"y\"").0.all().len(), 1);
        assert!(sets.of("x").0.are_recommended());
        let text = edit(&text, None, Some(&[named("loss_spike"), named("loss_nan")])).unwrap();
        let text = edit(&text, Some("z"), Some(&[])).unwrap();
        let sets = parse(&text).unwrap();
        let counts = ["x/é \"y\"", "z", "other"].map(|run| sets.of(run).0.all().len());
        assert_eq!(counts, [1, 0, 2], "{text}");
        let text = edit(&text, Some("x/é \"y\""), None).unwrap();
        let text = edit(&text, Some("z"), None).unwrap();
        let text = edit(&text, None, None).unwrap();
        assert!(parse(&text).unwrap().of("z").0.all().is_empty());
        assert!(!text.contains("run") || text.contains("# What"), "{text}");
        let inline = "watchpoint = [{ condition = \"loss_nan\" }]\n";
        let text = edit(
            inline,
            None,
            Some(&[named("loss_nan"), named("loss_spike")]),
        )
        .unwrap();
        assert_eq!(parse(&text).unwrap().of("").0.all().len(), 2, "{text}");
    }
}
