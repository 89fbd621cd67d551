//! Source line of a hit, as a path for annotations.

use std::path::Path;

use trainscope_analysis::watchpoint::Hit;

use crate::judging::judge::Judgement;

/// Source line of a hit, if the file is below the current folder, which is the repository under test. The
/// training may have run elsewhere: the longest suffix of the path that exists is used.
pub(super) fn source(run: &Judgement, hit: &Hit) -> Option<(String, u64)> {
    let source = run.source(hit)?;
    let parts: Vec<&str> = source
        .file
        .split(['/', '\\'])
        .filter(|part| !part.is_empty())
        .collect();
    let ends = (0..parts.len()).map(|from| parts[from..].join("/"));
    let file = ends
        .filter(|end| !end.split('/').any(|part| part == ".."))
        .find(|end| Path::new(end).is_file())?;
    Some((file, source.line))
}
