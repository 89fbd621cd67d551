//! Keys of columns: a bare name is a parameter; a prefix names the source of the others.

pub(crate) use trainscope_api::table::ColumnGroup as Group;
use trainscope_api::table::SUMMARIES;

/// Group by the key of a column.
pub(crate) fn group(key: &str) -> Group {
    match key.split_once(':').map(|(group, _)| group) {
        Some("eval" | "metric") => Group::Result,
        Some("lineage") if key == "lineage:loss" => Group::Result,
        Some("data" | "lineage") => Group::Data,
        Some("run") => Group::Run,
        None if matches!(key, "note" | "tags") => Group::Note,
        _ => Group::Parameter,
    }
}

/// Name of a column without the prefix of its group and without the summary of a scalar.
pub(crate) fn head(key: &str) -> &str {
    match key.split_once(':') {
        Some(("metric", tag)) => split_summary(tag).0,
        Some(("data" | "eval" | "lineage" | "run" | "user", name)) => name,
        _ => key,
    }
}

/// The key without the prefix of its group, with the summary of a scalar.
pub(crate) fn label(key: &str) -> &str {
    match (group(key), key.split_once(':')) {
        (Group::Parameter, _) | (_, None) => head(key),
        (_, Some((_, label))) => label,
    }
}

/// Tag and summary of a scalar's key without its prefix: `loss@min` → `loss`, `min`.
fn split_summary(tag: &str) -> (&str, Option<&str>) {
    match tag.rsplit_once('@') {
        Some((tag, summary)) if SUMMARIES.contains(&summary) => (tag, Some(summary)),
        _ => (tag, None),
    }
}

/// Tag and summary of the key of a summary: `metric:loss@min` → `loss`, `min`.
pub(super) fn summary(key: &str) -> Option<(&str, &str)> {
    match split_summary(key.strip_prefix("metric:")?) {
        (tag, Some(summary)) => Some((tag, summary)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_say_their_group() {
        for (key, expected, name) in [
            ("lr", Group::Parameter, "lr"),
            ("user:lr", Group::Parameter, "lr"),
            ("model:size", Group::Parameter, "model:size"),
            ("data:pipeline", Group::Data, "pipeline"),
            ("eval:Accuracy", Group::Result, "Accuracy"),
            ("metric:train/loss@min", Group::Result, "train/loss"),
            ("metric:a@b", Group::Result, "a@b"),
            ("lineage:loss", Group::Result, "loss"),
            ("lineage:model_path", Group::Data, "model_path"),
            ("run:steps", Group::Run, "steps"),
            ("note", Group::Note, "note"),
        ] {
            assert_eq!((group(key), head(key)), (expected, name), "{key}");
        }
    }
}
