//! Limits of the sources of the Python package: lines of a file, fields of a class.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::boundaries::MAX_LINES;
use super::words::files_below;
use crate::support::lab::workspace_root;

/// Maximum number of fields that a class of Python sets in `__init__`.
const MAX_FIELDS: usize = 20;

/// Fields that the method `__init__` of each class in a file of Python sets, by the name of the class.
///
/// Each different name after `self.` and left of a ` = ` counts once; continued lines, methods that `__init__` calls
/// and fields of dataclasses do not count. Classes and methods are recognized by their indentation.
fn fields_of_python(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut fields: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let (mut class, mut is_init) = ("", false);
    for line in text.lines() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if indent == 0
            && let Some(name) = code.strip_prefix("class ")
        {
            class = name.split(['(', ':']).next().unwrap();
        }
        // The closing bracket of a long signature belongs to its method.
        if indent <= 4 && !code.is_empty() && !code.starts_with(')') {
            is_init = indent == 4 && code.starts_with("def __init__(");
        }
        if is_init
            && !code.starts_with('#')
            && let Some((targets, _)) = code.rsplit_once(" = ")
        {
            let names = targets.split("self.").skip(1);
            let names = names.filter_map(|rest| {
                rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                    .next()
            });
            fields.entry(class).or_default().extend(names);
        }
    }
    fields
}

#[test]
fn no_python_file_is_too_long_and_no_python_class_has_too_many_fields() {
    let package = workspace_root().join("collector/python/python");
    let mut files = Vec::new();
    files_below(&package, "py", &mut files);
    assert!(!files.is_empty());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines", path.display());
        for (class, fields) in fields_of_python(&text) {
            assert!(
                fields.len() <= MAX_FIELDS,
                "{class} in {} sets {} fields: {fields:?}",
                path.display(),
                fields.len()
            );
        }
    }
}

#[test]
fn fields_of_python_are_counted() {
    let text = "\
class First(Base):
    def __init__(
        self, run: Any
    ) -> None:
        self._run: Any = run
        self._a, self._b = 0, self._run
        self.c = self._a = 1
        # self.comment = 2
        if self._run == run:
            local = self.not_set
        self._a = 3

    def other(self) -> None:
        self.later = 1


class Second:
    def __init__(self) -> None:
        self.only = 1
";
    let fields = fields_of_python(text);
    let expected = [
        ("First", BTreeSet::from(["_a", "_b", "_run", "c"])),
        ("Second", BTreeSet::from(["only"])),
    ];
    assert_eq!(fields, BTreeMap::from(expected));
}
