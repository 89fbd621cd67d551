//! Where in the code of the training a tensor is computed, as a path that annotations may name.

use std::path::Path;

use trainscope_analysis::watchpoint::Hit;

use crate::judging::judge::Judgement;

/// Where the tensor is computed, if that file is below the current folder, as the repository is that is tested. The
/// training may have run elsewhere: the longest end of its path that leads to a file is the file.
pub(super) fn source(run: &Judgement, hit: &Hit) -> Option<(String, u32)> {
    let (file, line) = run.sources.get(&hit.tensor)?;
    let parts: Vec<&str> = file
        .split(['/', '\\'])
        .filter(|part| !part.is_empty())
        .collect();
    let ends = (0..parts.len()).map(|from| parts[from..].join("/"));
    let file = ends
        .filter(|end| !end.split('/').any(|part| part == ".."))
        .find(|end| Path::new(end).is_file())?;
    Some((file, *line))
}
