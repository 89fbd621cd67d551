//! One numbering of the attempts of a program for all of its tags, by file.

use std::collections::BTreeMap;

/// One file of the attempts of a tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Key of the file.
    pub file: u64,
    /// Number of its attempt by this tag alone, see [`super::numbers`].
    pub number: u64,
    /// Wall time of its first point of the tag, seconds since 1970.
    pub first_wall_time_secs: f64,
}

/// Numbers of the attempts of a program by file, from the files of each tag, oldest first. A tag that is recorded
/// seldom misses attempts that other tags have. A file begins another attempt if any tag goes back in it, behind a file
/// of the newest attempt.
pub fn numbers_of_files(tags: &[Vec<Link>]) -> BTreeMap<u64, u64> {
    let mut begins = BTreeMap::<u64, f64>::new();
    // The file before in each tag, and true if a tag goes back behind it.
    let mut before = BTreeMap::<u64, BTreeMap<u64, bool>>::new();
    for links in tags {
        for link in links {
            let begin = begins.entry(link.file).or_insert(f64::INFINITY);
            *begin = begin.min(link.first_wall_time_secs);
        }
        for pair in links.windows(2) {
            let known = before.entry(pair[1].file).or_default();
            *known.entry(pair[0].file).or_default() |= pair[1].number > pair[0].number;
        }
    }
    let mut left: Vec<u64> = begins.keys().copied().collect();
    left.sort_by(|one, other| begins[one].total_cmp(&begins[other]));
    let mut numbers = BTreeMap::new();
    let mut newest = 1;
    while !left.is_empty() {
        let is_next = |file: &u64| {
            let mut all = before.get(file).into_iter().flatten();
            all.all(|(earlier, _)| numbers.contains_key(earlier))
        };
        // If tags contradict each other, the time decides.
        let file = left.remove(left.iter().position(is_next).unwrap_or(0));
        let mut all = before.get(&file).into_iter().flatten();
        let begins_another =
            all.any(|(earlier, goes_back)| *goes_back && numbers.get(earlier) == Some(&newest));
        newest += u64::from(begins_another);
        numbers.insert(file, newest);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files with the numbers by their tag; each file begins at its own number.
    fn tag(files: &[(u64, u64)]) -> Vec<Link> {
        let link = |&(file, number): &(u64, u64)| Link {
            file,
            number,
            first_wall_time_secs: file as f64,
        };
        files.iter().map(link).collect()
    }

    fn numbers(tags: &[Vec<Link>]) -> Vec<(u64, u64)> {
        numbers_of_files(tags).into_iter().collect()
    }

    #[test]
    fn a_tag_that_misses_an_attempt_has_the_numbers_of_the_others() {
        let loss = tag(&[(1, 1), (2, 2), (3, 3)]);
        let accuracy = tag(&[(1, 1), (3, 2)]);
        assert_eq!(numbers(&[accuracy, loss]), [(1, 1), (2, 2), (3, 3)]);
    }

    #[test]
    fn several_files_of_one_attempt_begin_it_once() {
        let train = tag(&[(1, 1), (3, 2), (5, 3)]);
        let validation = tag(&[(2, 1), (4, 2), (6, 3)]);
        let expected = [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3)];
        assert_eq!(numbers(&[train, validation]), expected);
        // A file that continues is of the same attempt.
        assert_eq!(numbers(&[tag(&[(1, 1), (2, 1)])]), [(1, 1), (2, 1)]);
        assert!(numbers(&[]).is_empty());
    }

    #[test]
    fn the_order_of_a_tag_counts_more_than_clocks_and_contradictions_end() {
        assert_eq!(numbers(&[tag(&[(2, 1), (1, 2)])]), [(1, 2), (2, 1)]);
        let contrary = [tag(&[(1, 1), (2, 2)]), tag(&[(2, 1), (1, 2)])];
        assert_eq!(numbers(&contrary), [(1, 1), (2, 2)]);
        let mut unknown = tag(&[(1, 1), (2, 2)]);
        unknown[0].first_wall_time_secs = f64::NAN;
        assert_eq!(numbers(&[unknown]), [(1, 1), (2, 2)]);
    }
}
