//! Domains of parameters, as experiments of the hyper-parameters plugin of `TensorBoard` declare them
//! (`hp.HParam("lr", hp.RealInterval(1e-4, 1e-1))`).

use std::collections::{BTreeMap, BTreeSet};

use trainscope_format::hparams::{Experiment, HparamDomain, HparamValue};

use super::RunTable;

/// Minimum and maximum of parameters by name.
pub(super) type Domains = BTreeMap<String, (f64, f64)>;

/// Adds the domains of numbers that an experiment declares; those of the same name are widened.
pub(super) fn declare(domains: &mut Domains, experiment: &Experiment) {
    for hparam in &experiment.hparams {
        let (least, greatest) = match &hparam.domain {
            HparamDomain::Any => continue,
            HparamDomain::Interval { min, max } => (*min, *max),
            HparamDomain::Discrete(values) => {
                let numbers = values.iter().filter_map(|value| match value {
                    HparamValue::Number(number) => Some(*number),
                    HparamValue::Null | HparamValue::Text(_) | HparamValue::Bool(_) => None,
                });
                numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |found, number| {
                    (found.0.min(number), found.1.max(number))
                })
            }
        };
        widen(domains, &hparam.name, (least, greatest));
    }
}

/// Adds a domain; one without numbers does not count.
pub(super) fn widen(domains: &mut Domains, name: &str, (least, greatest): (f64, f64)) {
    if least > greatest || least.is_nan() || greatest.is_nan() {
        return;
    }
    let domain = domains.entry(name.to_owned()).or_insert((least, greatest));
    *domain = (domain.0.min(least), domain.1.max(greatest));
}

impl RunTable {
    /// Domains that hold for some rows: those of experiments in their folders and in the folders above.
    pub(super) fn domains(&self, rows: &[usize]) -> Domains {
        let mut all = Domains::new();
        let declaring = self.rows.iter().filter(|row| !row.domains.is_empty());
        let mut declaring = declaring.peekable();
        if declaring.peek().is_none() {
            return all;
        }
        let runs = rows.iter().filter_map(|row| self.rows.get(*row));
        let folders: BTreeSet<&str> = runs.flat_map(|row| folders(&row.run)).collect();
        for row in declaring.filter(|row| folders.contains(&*row.run)) {
            for (name, domain) in &row.domains {
                widen(&mut all, name, *domain);
            }
        }
        all
    }
}

/// Name of a run, and of the folders that it is in.
fn folders(run: &str) -> impl Iterator<Item = &str> {
    let above = run.match_indices('/').filter_map(|(at, _)| run.get(..at));
    above.chain([run, "."])
}

#[cfg(test)]
mod tests {
    use trainscope_format::hparams::HparamInfo;

    use super::*;

    #[test]
    fn domains_of_numbers_are_declared_and_widened() {
        let info = |name: &str, domain: HparamDomain| HparamInfo {
            name: name.to_owned(),
            domain,
            ..HparamInfo::default()
        };
        let number = HparamValue::Number;
        let text = HparamValue::Text("none".to_owned());
        let experiment = Experiment {
            hparams: vec![
                info("lr", HparamDomain::Interval { min: 0.1, max: 1.0 }),
                info(
                    "batch",
                    HparamDomain::Discrete(vec![number(64.0), text, number(8.0)]),
                ),
                info(
                    "optimizer",
                    HparamDomain::Discrete(vec![HparamValue::Text("adam".to_owned())]),
                ),
                info("free", HparamDomain::Any),
                info(
                    "broken",
                    HparamDomain::Interval {
                        min: f64::NAN,
                        max: 1.0,
                    },
                ),
            ],
            ..Experiment::default()
        };
        let mut domains = Domains::new();
        declare(&mut domains, &experiment);
        widen(&mut domains, "lr", (0.5, 2.0));
        let expected = [("batch", (8.0, 64.0)), ("lr", (0.1, 2.0))];
        assert_eq!(
            domains,
            expected
                .map(|(name, domain)| (name.to_owned(), domain))
                .into()
        );
    }

    #[test]
    fn experiments_hold_for_the_folders_below() {
        let all: Vec<&str> = folders("a/b/c").collect();
        assert_eq!(all, ["a", "a/b", "a/b/c", "."]);
    }
}
