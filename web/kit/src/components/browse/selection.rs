//! Tag selection as rules that fit into a URL: `-train/` unchecks a whole group, `+train/loss` checks one tag again.
//! The longest matching prefix decides; without any, a tag is checked.

use std::collections::BTreeMap;

/// Final characters of groups.
const PARTINGS: [char; 2] = ['/', '.'];

/// Rules by prefix; a prefix that ends in `/` or `.` (or is empty) is a group, any other is one tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    rules: BTreeMap<String, bool>,
}

impl Selection {
    /// Parses the items of a URL; invalid rules are left out.
    pub fn from_items(items: &[String]) -> Self {
        let rules = items.iter().filter_map(|item| {
            let is_ticked = match item.as_bytes().first()? {
                b'+' => true,
                b'-' => false,
                _ => return None,
            };
            Some((item[1..].to_owned(), is_ticked))
        });
        Self {
            rules: rules.collect(),
        }
    }

    /// The items for an address.
    pub fn to_items(&self) -> Vec<String> {
        self.rules
            .iter()
            .map(|(prefix, ticked)| format!("{}{prefix}", if *ticked { '+' } else { '-' }))
            .collect()
    }

    /// True if the tag is checked.
    pub fn has(&self, tag: &str) -> bool {
        if self.rules.is_empty() {
            return true;
        }
        self.rules
            .get(tag)
            .copied()
            .unwrap_or_else(|| self.inherited(tag))
    }

    /// Rule of the groups above a tag or group.
    fn inherited(&self, path: &str) -> bool {
        let mut inner = path.strip_suffix(PARTINGS).unwrap_or(path);
        while let Some(slash) = inner.rfind(PARTINGS) {
            if let Some(&is_ticked) = self.rules.get(&inner[..=slash]) {
                return is_ticked;
            }
            inner = &inner[..slash];
        }
        self.rules.get("").copied().unwrap_or(true)
    }

    /// Checks or unchecks one tag.
    pub fn set_tag(&mut self, tag: &str, is_ticked: bool) {
        self.rules.remove(tag);
        if self.inherited(tag) != is_ticked {
            self.rules.insert(tag.to_owned(), is_ticked);
        }
    }

    /// Checks or unchecks a group: a path that ends in `/` or `.`, or the empty one for everything.
    pub fn set_group(&mut self, group: &str, is_ticked: bool) {
        self.rules.retain(|prefix, _| !prefix.starts_with(group));
        let inherited = if group.is_empty() {
            true
        } else {
            self.inherited(group)
        };
        if inherited != is_ticked {
            self.rules.insert(group.to_owned(), is_ticked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_ticked_until_somebody_says_otherwise() {
        let mut chosen = Selection::default();
        assert!(chosen.has("train/loss"));
        chosen.set_group("train/", false);
        assert!(!chosen.has("train/loss") && !chosen.has("train/a/b") && chosen.has("training"));
        chosen.set_tag("train/loss", true);
        assert!(chosen.has("train/loss") && !chosen.has("train/acc"));
        assert_eq!(chosen.to_items(), ["-train/", "+train/loss"]);
        chosen.set_group("train/", true);
        let mut modules = Selection::default();
        modules.set_group("fc1.", false);
        assert!(!modules.has("fc1.weight.grad") && modules.has("fc10.weight"));
        assert!(chosen.to_items().is_empty());
    }

    #[test]
    fn one_alone() {
        let mut chosen = Selection::default();
        chosen.set_group("", false);
        chosen.set_tag("loss", true);
        assert_eq!(chosen.to_items(), ["-", "+loss"]);
        assert!(chosen.has("loss") && !chosen.has("acc") && !chosen.has("a/b"));
        chosen.set_tag("loss", false);
        assert_eq!(chosen.to_items(), ["-"]);
    }

    #[test]
    fn addresses_are_read_back() {
        let items = [
            "-a/".to_owned(),
            "+a/b".to_owned(),
            "nonsense".to_owned(),
            String::new(),
        ];
        let chosen = Selection::from_items(&items);
        assert!(chosen.has("a/b") && !chosen.has("a/c"));
        assert_eq!(Selection::from_items(&chosen.to_items()), chosen);
    }
}
