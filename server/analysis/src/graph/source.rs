//! Parser of the source locations that frameworks write into a graph.

/// A source location, or unparsed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file; empty if the text names none.
    pub file: &'a str,
    /// Line number, from 1; 0 if unknown.
    pub line: u32,
    /// Text of the line.
    pub text: &'a str,
    /// True if it belongs to an installed package.
    pub is_library: bool,
}

/// Parses a text: `In file <file>:<line>/ <code>/` of `MindSpore`, Python's `File "<file>", line <n>, in <name>` with
/// the code below, `<file>:<line> <text>`. Other text is returned unparsed; `limit` locations at most.
pub fn places(source: &str, limit: usize) -> Vec<Place<'_>> {
    let mut found: Vec<Place<'_>> = Vec::new();
    for line in source.lines() {
        let line = line.trim_start_matches(['#', '-', ' ', '\t']).trim_end();
        if line.is_empty() {
            continue;
        }
        if let Some(place) = mindspore(line)
            .or_else(|| python(line))
            .or_else(|| plain(line))
        {
            found.push(place);
        } else if let Some(last) = found
            .last_mut()
            .filter(|last| last.line > 0 && last.text.is_empty())
        {
            // Python writes the code below the location.
            last.text = line;
        } else if !line.ends_with("candidate:") {
            found.push(Place {
                text: line,
                ..Place::default()
            });
        }
        if found.len() >= limit {
            break;
        }
    }
    found
}

fn place<'a>(file: &'a str, line: &str, text: &'a str) -> Option<Place<'a>> {
    Some(Place {
        file,
        line: line.parse().ok()?,
        text,
        is_library: file.contains("/site-packages/") || file.contains("/dist-packages/"),
    })
}

fn mindspore(line: &str) -> Option<Place<'_>> {
    let (_, rest) = line.split_once("In file ")?;
    // The code may contain anything; the file name contains no colon followed by a number and a slash or the end.
    rest.match_indices(':').find_map(|(at, _)| {
        let after = &rest[at + 1..];
        let digits = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        place(&rest[..at], &after[..digits], code(&after[digits..]))
    })
}

/// The code after a line number, without the columns that MindSpore 2.1 and later writes before it: `, 12~39/`.
fn code(rest: &str) -> &str {
    let is_columns = |text: &str| {
        text.contains('~')
            && text
                .chars()
                .all(|c| c.is_ascii_digit() || " ,~".contains(c))
    };
    let (columns, code) = rest.split_once('/').unwrap_or((rest, ""));
    let code = if is_columns(columns) { code } else { rest };
    code.trim_matches(['/', ' '])
}

fn python(line: &str) -> Option<Place<'_>> {
    let (file, rest) = line.strip_prefix("File \"")?.split_once("\", line ")?;
    let (number, _) = rest.split_once(',').unwrap_or((rest, ""));
    place(file, number.trim(), "")
}

fn plain(line: &str) -> Option<Place<'_>> {
    let (first, text) = line.split_once(' ').unwrap_or((line, ""));
    let (file, number) = first.rsplit_once(':')?;
    let is_file = file.contains('.') && !file.contains("://");
    is_file.then(|| place(file, number, text.trim()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_frameworks_are_taken_apart() {
        let mindspore = "# In file /env/lib/python3/site-packages/mindspore/nn/conv.py:363/        output = self.conv2d(x, w)/\n      # In file /home/me/net.py:12/  x = self.conv1(x)/";
        let found = places(mindspore, 9);
        assert_eq!(
            (found[0].line, found[0].is_library, found[0].text),
            (363, true, "output = self.conv2d(x, w)")
        );
        assert_eq!(
            (found[1].file, found[1].line, found[1].is_library),
            ("/home/me/net.py", 12, false)
        );
        let columns = places(
            "# In file /ms/nn/basic.py:807, 12~39/\n# In file net.py:3, 4~9/ a / b/",
            9,
        );
        assert_eq!((columns[0].line, columns[0].text), (807, ""));
        assert_eq!((columns[1].line, columns[1].text), (3, "a / b"));
        let python = "File \"/tmp/a b.py\", line 18, in forward\n    x = torch.relu(x)\nFile \"x.py\", line 2, in main";
        let found = places(python, 9);
        assert_eq!(
            (found[0].file, found[0].line, found[0].text),
            ("/tmp/a b.py", 18, "x = torch.relu(x)")
        );
        assert_eq!((found.len(), found[1].line), (2, 2));
        assert_eq!(places("src/model.rs:7 fc1", 9)[0].file, "src/model.rs");
        assert_eq!(places("<b>anything</b>\n\n", 9)[0].text, "<b>anything</b>");
        assert_eq!(places("a\nb\nc", 2).len(), 2);
        assert!(places("# Corresponding code candidate:", 9).is_empty());
    }
}
