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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use trainscope_analysis::watchpoint::{CONDITIONS, Figures};
    use trainscope_format::Severity;
    use trainscope_format::program::SourceLine;

    use super::*;

    fn hit(source: Option<SourceLine>) -> Hit {
        Hit {
            condition: CONDITIONS[0],
            watchpoint: 0,
            severity: Severity::Warning,
            rank: 0,
            step: 3,
            last_step: 3,
            tensor: "program".into(),
            node: None,
            values: Figures::default(),
            thresholds: Figures::default(),
            measure: None,
            sentence: trainscope_api::Sentence::default(),
            source: source.map(Arc::new),
        }
    }

    /// The line named by a fact is that of the hit. Its path is shortened to the part below the current folder, and the
    /// file is never opened.
    #[test]
    fn a_hit_is_annotated_at_the_line_of_its_fact() {
        let run = Judgement::default();
        let of = |file: &str| {
            let source = SourceLine {
                file: file.to_owned(),
                line: 12,
                ..SourceLine::default()
            };
            source_of(&run, Some(source))
        };
        let source_line = Some(("src/cli.rs".to_owned(), 12));
        assert_eq!(of("src/cli.rs"), source_line);
        assert_eq!(of("/home/someone/project/src/cli.rs"), source_line);
        assert_eq!(of("/home/someone/train.py"), None);
        assert_eq!(of("../server/../../etc/passwd"), None);
        assert_eq!(source_of(&run, None), None);
    }

    fn source_of(run: &Judgement, line: Option<SourceLine>) -> Option<(String, u64)> {
        source(run, &hit(line))
    }
}
