//! `.trainscope/operators.toml`: operators of a user's program, whose FLOPs and bytes follow from their inputs.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use trainscope_analysis::trace::rules::{OperatorRule, OperatorWork};

use crate::files;

/// Path of the file below a folder.
const FILE: &str = ".trainscope/operators.toml";
/// Maximum number of folders above a profile that may have it.
const MAX_LEVELS: usize = 8;
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum number of rules.
const MAX_RULES: usize = 1_000;

/// The file of the nearest folder above a profile that has one.
pub(super) fn file_above(profile: &Path) -> Option<PathBuf> {
    let folders = profile.ancestors().skip(1).take(MAX_LEVELS);
    let mut paths = folders.map(|folder| folder.join(FILE));
    paths.find(|path| files::is_listed(path))
}

/// Rules of a file, or the reason why there are none.
pub(super) fn read(path: &Path) -> Result<Vec<OperatorRule>, String> {
    let refuse = |reason: String| format!("{FILE} is not used: {}", reason.trim_end());
    let bytes = files::read(path, MAX_FILE_BYTES).map_err(|error| refuse(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| refuse(error.to_string()))?;
    parse(&text).map_err(refuse)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    #[serde(default)]
    operator: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// Places of the left and the right factor.
    product: Option<[usize; 2]>,
    /// Places of queries and keys.
    attention: Option<[usize; 2]>,
    #[serde(default)]
    layout: Layout,
    #[serde(default)]
    backward: bool,
}

/// Axes of queries and keys: b: batch, h: heads, s: length, d: width.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Layout {
    #[default]
    Bhsd,
    Bshd,
}

fn parse(text: &str) -> Result<Vec<OperatorRule>, String> {
    let file: RulesFile = toml::from_str(text).map_err(|error| error.to_string())?;
    if file.operator.len() > MAX_RULES {
        return Err(format!("it has more than {MAX_RULES} operators"));
    }
    file.operator.into_iter().map(rule).collect()
}

fn rule(entry: Entry) -> Result<OperatorRule, String> {
    let Entry {
        name,
        product,
        attention,
        layout,
        backward,
    } = entry;
    let work = match (product, attention) {
        (Some([left, right]), None) if layout == Layout::default() && !backward => {
            OperatorWork::Product { left, right }
        }
        (None, Some([query, key])) => OperatorWork::Attention {
            query,
            key,
            length_first: layout == Layout::Bshd,
            backward,
        },
        (Some(_), None) => {
            return Err(format!(
                "`{name}`: `layout` and `backward` are of `attention`"
            ));
        }
        _ => {
            return Err(format!(
                "`{name}` needs one of `product = [left, right]` and `attention = [query, key]`"
            ));
        }
    };
    Ok(OperatorRule { name, work })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_mistakes_are_named() {
        let text = r#"
            [[operator]]
            name = "own::gemm*"
            product = [1, 2]
            [[operator]]
            name = "own::attend"
            attention = [0, 1]
            layout = "bshd"
            backward = true
        "#;
        let rules = parse(text).unwrap();
        let product = OperatorWork::Product { left: 1, right: 2 };
        let attention = OperatorWork::Attention {
            query: 0,
            key: 1,
            length_first: true,
            backward: true,
        };
        let works: Vec<OperatorWork> = rules.iter().map(|rule| rule.work).collect();
        assert_eq!(works, [product, attention]);
        assert_eq!(parse("").unwrap(), []);
        for (text, word) in [
            ("[[operator]]\nname = 'x'", "needs one of"),
            (
                "[[operator]]\nname = 'x'\nproduct = [0, 1]\nattention = [0, 1]",
                "needs one of",
            ),
            (
                "[[operator]]\nname = 'x'\nproduct = [0, 1]\nbackward = true",
                "are of `attention`",
            ),
            ("[[operator]]\nname = 'x'\nproduct = [-1, 1]", "invalid"),
            (
                "[[operator]]\nname = 'x'\nprodukt = [0, 1]",
                "unknown field",
            ),
            ("[[operators]]", "unknown field"),
            ("name = ", "parse error"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
