//! Base directories, and the names of the runs below them.

use std::path::PathBuf;

use crate::files;

/// A base directory, with the prefix of run names below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// Canonical path.
    pub(crate) dir: PathBuf,
    /// Empty for a single base directory; otherwise the name of the directory, made unique.
    pub(crate) prefix: String,
}

impl Base {
    /// The name in the list of runs, from the name of a run below this directory.
    pub(crate) fn run_name(&self, name: &str) -> String {
        match (&*self.prefix, name) {
            ("", name) => name.to_owned(),
            (prefix, ".") => prefix.to_owned(),
            (prefix, name) => format!("{prefix}/{name}"),
        }
    }

    /// A path below this directory, for display.
    pub(crate) fn path_name(&self, path: &str) -> String {
        match &*self.prefix {
            "" => path.to_owned(),
            prefix => format!("{prefix}/{path}"),
        }
    }

    /// The name of a run below this directory, from its name in the list of runs; `None` for a run of another one.
    pub(crate) fn run_below<'a>(&self, run: &'a str) -> Option<&'a str> {
        match run.strip_prefix(&*self.prefix)? {
            name if self.prefix.is_empty() => Some(name),
            "" => Some("."),
            name => name.strip_prefix('/'),
        }
    }
}

/// Names for several base directories: the last part of each path, numbered if two are equal.
pub(crate) fn bases(dirs: &[PathBuf]) -> Vec<Base> {
    let mut bases: Vec<Base> = Vec::new();
    for dir in dirs {
        let name = dir.file_name().map_or_else(
            || "root".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        let taken = |name: &str| bases.iter().any(|base| base.prefix == name);
        let mut prefix = name.clone();
        let mut n = 1;
        while taken(&prefix) {
            n += 1;
            prefix = format!("{name} ({n})");
        }
        bases.push(Base {
            dir: dir.clone(),
            prefix,
        });
    }
    if let [only] = &mut bases[..] {
        only.prefix.clear();
    }
    bases
}

/// Folder of a run below one of the base directories; `None` for a run without a folder.
pub(crate) fn folder_of(bases: &[Base], run: &str) -> Option<PathBuf> {
    let mut folders = bases.iter().filter_map(|base| match base.run_below(run)? {
        "." => Some(base.dir.clone()),
        name => Some(base.dir.join(name)),
    });
    folders.find(|folder| files::is_folder(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_bases_have_names_of_their_own() {
        let names: Vec<_> = bases(&["/x/runs".into(), "/y/runs".into(), "/".into()])
            .into_iter()
            .map(|b| b.prefix)
            .collect();
        assert_eq!(names, ["runs", "runs (2)", "root"]);
    }

    #[test]
    fn runs_are_of_one_base_however_alike_the_names() {
        let dirs = ["/a/exp", "/b/exp", "/exp2"].map(PathBuf::from);
        let several = bases(&dirs);
        for (run, of, below) in [
            ("exp", 0, "."),
            ("exp/x", 0, "x"),
            ("exp (2)", 1, "."),
            ("exp (2)/x/y", 1, "x/y"),
            ("exp2/x", 2, "x"),
        ] {
            for (number, base) in several.iter().enumerate() {
                let wanted = (number == of).then_some(below);
                assert_eq!(base.run_below(run), wanted, "{run} in {}", base.prefix);
                assert!(wanted.is_none_or(|below| base.run_name(below) == run));
            }
        }
        let only = bases(&dirs[..1]);
        assert_eq!(only[0].run_below("exp/x"), Some("exp/x"));
    }
}
