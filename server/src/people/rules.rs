//! Rules of access, as written in TOML: the first one that matches a person and a run decides.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use trainscope_api::status::AccessRole;

/// Name of every person in `users`.
const EVERYBODY: &str = "*";

/// The rules of a file, in order.
#[derive(Debug, Default)]
pub(crate) struct Rules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    users: Vec<String>,
    groups: Vec<String>,
    /// `None`: all runs.
    runs: Option<GlobSet>,
    may: AccessRole,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(default)]
    rule: Vec<RuleEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    runs: Option<Vec<String>>,
    may: AccessRole,
}

impl Rules {
    /// Reads rules; a mistake is an error as a sentence.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let written: RuleFile = toml::from_str(text).map_err(|error| error.to_string())?;
        let rules = (1..).zip(written.rule).map(|(number, rule)| {
            if rule.users.is_empty() && rule.groups.is_empty() {
                return Err(format!("rule {number} names no users and no groups"));
            }
            let runs = rule.runs.as_deref().map(patterns).transpose();
            Ok(Rule {
                users: rule.users,
                groups: rule.groups,
                runs: runs.map_err(|error| format!("rule {number}: {error}"))?,
                may: rule.may,
            })
        });
        rules.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn role_in(&self, run: &str, user: &str, groups: &[String]) -> Option<AccessRole> {
        let mut rules = self.of(user, groups);
        let rule = rules.find(|rule| rule.runs.as_ref().is_none_or(|runs| runs.is_match(run)))?;
        Some(rule.may)
    }

    /// The role in every run: a rule for some runs before the one for all may only give more.
    pub(super) fn role_in_all(&self, user: &str, groups: &[String]) -> Option<AccessRole> {
        let mut lowest: Option<AccessRole> = None;
        for rule in self.of(user, groups) {
            lowest = Some(lowest.map_or(rule.may, |role| role.min(rule.may)));
            if rule.runs.is_none() {
                return lowest;
            }
        }
        None
    }

    pub(super) fn highest_role(&self, user: &str, groups: &[String]) -> Option<AccessRole> {
        self.of(user, groups).map(|rule| rule.may).max()
    }

    fn of<'a>(&'a self, user: &'a str, groups: &'a [String]) -> impl Iterator<Item = &'a Rule> {
        self.0.iter().filter(move |rule| {
            rule.users
                .iter()
                .any(|name| name == user || name == EVERYBODY)
                || rule.groups.iter().any(|group| groups.contains(group))
        })
    }
}

/// Patterns of names: `*` stays within a folder, `**` does not.
fn patterns(runs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for run in runs {
        set.add(GlobBuilder::new(run).literal_separator(true).build()?);
    }
    set.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
        [[rule]]
        groups = ["ml-platform"]
        may = "manage"
        [[rule]]
        groups = ["vision"]
        runs = ["vision/**", "shared/*"]
        may = "annotate"
        [[rule]]
        users = ["*"]
        runs = ["public/**"]
        may = "see"
        [[rule]]
        users = ["auditor"]
        may = "see"
    "#;

    #[test]
    fn the_first_rule_that_matches_person_and_run_decides() {
        let rules = Rules::parse(RULES).unwrap();
        let groups =
            |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
        for (user, of, run, role) in [
            (
                "ada",
                &["ml-platform", "vision"][..],
                "vision/a",
                Some(AccessRole::Manage),
            ),
            ("bob", &["vision"], "vision/a/b", Some(AccessRole::Annotate)),
            ("bob", &["vision"], "vision", None),
            ("bob", &["vision"], "shared/a", Some(AccessRole::Annotate)),
            ("bob", &["vision"], "shared/a/b", None),
            ("bob", &["vision"], "public/a", Some(AccessRole::See)),
            ("bob", &["Vision"], "vision/a", None),
            ("eve", &[], "public/a", Some(AccessRole::See)),
            ("eve", &[], "public", None),
            ("eve", &[], "secret", None),
            ("auditor", &[], "secret", Some(AccessRole::See)),
            ("*", &[], "secret", None),
        ] {
            assert_eq!(rules.role_in(run, user, &groups(of)), role, "{user} {run}");
        }
        assert_eq!(
            rules.role_in_all("ada", &groups(&["ml-platform"])),
            Some(AccessRole::Manage)
        );
        assert_eq!(rules.role_in_all("bob", &groups(&["vision"])), None);
        assert_eq!(
            rules.role_in_all("auditor", &groups(&["vision"])),
            Some(AccessRole::See)
        );
        assert_eq!(
            rules.highest_role("bob", &groups(&["vision"])),
            Some(AccessRole::Annotate)
        );
        assert_eq!(Rules::default().role_in("a", "ada", &[]), None);
    }

    #[test]
    fn the_example_for_kubernetes_is_valid() {
        let example = include_str!("../../../deploy/kustomize-login/access.toml");
        let rules = Rules::parse(example).unwrap();
        let groups = ["ml-platform".to_owned()];
        assert_eq!(rules.role_in_all("ada", &groups), Some(AccessRole::Manage));
        assert_eq!(rules.role_in("public/a", "eve", &[]), Some(AccessRole::See));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, named) in [
            ("[[rule]]\nmay = \"see\"", "rule 1 names no users"),
            ("[[rule]]\nusers = [\"a\"]\nmay = \"own\"", "own"),
            (
                "[[rule]]\nusers = [\"a\"]\nrun = [\"a\"]\nmay = \"see\"",
                "run",
            ),
            (
                "[[rule]]\nusers = [\"a\"]\nruns = [\"[a\"]\nmay = \"see\"",
                "rule 1",
            ),
            ("rules = 1", "rules"),
        ] {
            let error = Rules::parse(text).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
