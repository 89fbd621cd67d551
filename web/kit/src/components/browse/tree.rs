//! The tags as a tree by `/` (names without one by `.`), flattened to the rows that are open.

use super::selection::Selection;

/// A row of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A group of tags.
    Group {
        /// Its path with the last `/`.
        path: String,
        /// Its last segment.
        name: String,
        /// Nesting depth.
        depth: usize,
        /// Tags below it.
        tags: usize,
        /// Checked tags below it.
        ticked: usize,
        /// True if it is expanded.
        is_open: bool,
    },
    /// A tag.
    Leaf {
        /// Index in the list of the tree.
        index: usize,
        /// The part of its name below the groups.
        name: String,
        /// Nesting depth.
        depth: usize,
        /// True if it is checked.
        is_ticked: bool,
    },
}

/// The rows of `tags`, which are ordered by name. A group with a single tag is replaced by that tag. `is_open` gets
/// the path of each group and the number of tags below it.
pub fn rows(
    tags: &[&str],
    selection: &Selection,
    is_open: &dyn Fn(&str, usize) -> bool,
) -> Vec<Row> {
    let ticked: Vec<bool> = tags.iter().map(|tag| selection.has(tag)).collect();
    let mut out = Vec::new();
    Walk {
        tags,
        ticked: &ticked,
        is_open,
        out: &mut out,
    }
    .level(0, tags.len(), 0, 0);
    out
}

struct Walk<'a> {
    tags: &'a [&'a str],
    ticked: &'a [bool],
    is_open: &'a dyn Fn(&str, usize) -> bool,
    out: &'a mut Vec<Row>,
}

impl Walk<'_> {
    /// Adds the rows of the tags `from..to`, whose first `prefix` bytes are their group.
    fn level(&mut self, from: usize, to: usize, prefix: usize, depth: usize) {
        let mut at = from;
        while at < to {
            let tag = self.tags[at];
            let rest = &tag[prefix..];
            // Names of modules are separated by dots, names of summaries by slashes.
            let parting = if tag.contains('/') { '/' } else { '.' };
            // An empty segment at either end is part of the adjacent segment.
            let slash = rest
                .char_indices()
                .skip(1)
                .find(|&(index, c)| c == parting && index + 1 < rest.len());
            let Some((slash, _)) = slash else {
                self.leaf(at, prefix, depth);
                at += 1;
                continue;
            };
            let inner = prefix + slash + 1;
            let path = &tag[..inner];
            let mut end = at + 1;
            while end < to && self.tags[end].starts_with(path) {
                end += 1;
            }
            if end - at == 1 {
                self.leaf(at, prefix, depth);
            } else {
                let is_open = (self.is_open)(path, end - at);
                self.out.push(Row::Group {
                    path: path.to_owned(),
                    name: tag[prefix..inner - 1].to_owned(),
                    depth,
                    tags: end - at,
                    ticked: self.ticked[at..end]
                        .iter()
                        .filter(|ticked| **ticked)
                        .count(),
                    is_open,
                });
                if is_open {
                    self.level(at, end, inner, depth + 1);
                }
            }
            at = end;
        }
    }

    fn leaf(&mut self, index: usize, prefix: usize, depth: usize) {
        self.out.push(Row::Leaf {
            index,
            name: self.tags[index][prefix..].to_owned(),
            depth,
            is_ticked: self.ticked[index],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(rows: &[Row]) -> Vec<String> {
        rows.iter()
            .map(|row| match row {
                Row::Group {
                    name,
                    depth,
                    tags,
                    ticked,
                    ..
                } => {
                    format!("{}{name} {ticked}/{tags}", ">".repeat(*depth))
                }
                Row::Leaf { name, depth, .. } => format!("{}{name}", ">".repeat(*depth)),
            })
            .collect()
    }

    #[test]
    fn groups_fold_and_single_tags_are_not_groups() {
        let tags = ["eval/loss", "lr", "train/a/x", "train/a/y", "train/loss"];
        let mut selection = Selection::default();
        selection.set_tag("train/loss", false);
        let all = rows(&tags, &selection, &|_, _| true);
        assert_eq!(
            names(&all),
            [
                "eval/loss",
                "lr",
                "train 2/3",
                ">a 2/2",
                ">>x",
                ">>y",
                ">loss"
            ]
        );
        let folded = rows(&tags, &selection, &|path, _| path != "train/");
        assert_eq!(names(&folded), ["eval/loss", "lr", "train 2/3"]);
    }

    #[test]
    fn names_of_modules_are_grouped_by_their_dots() {
        let tags = [
            "fc1.bias",
            "fc1.weight",
            "fc10.weight",
            "v1.0/loss",
            "v1.0/lr",
        ];
        let all = rows(&tags, &Selection::default(), &|_, _| true);
        assert_eq!(
            names(&all),
            [
                "fc1 2/2",
                ">bias",
                ">weight",
                "fc10.weight",
                "v1.0 2/2",
                ">loss",
                ">lr"
            ]
        );
    }

    #[test]
    fn odd_slashes_lose_nothing() {
        let tags = ["/", "//a", "/b", "a/", "a//b", "a//c", "é/ü"];
        let all = rows(&tags, &Selection::default(), &|_, _| true);
        let leaves = all.iter().filter(|row| matches!(row, Row::Leaf { .. }));
        assert_eq!(leaves.count(), tags.len());
    }

    #[test]
    fn ten_thousand_tags_fold_into_one_row() {
        let tags: Vec<String> = (0..10_000).map(|n| format!("layer/{n:05}")).collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        let folded = rows(&tags, &Selection::default(), &|_, count| count < 100);
        assert_eq!(names(&folded), ["layer 10000/10000"]);
    }
}
