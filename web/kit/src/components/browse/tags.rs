//! Tags of the displayed runs, with the series that belong on one card.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_api::order::natural;
use trainscope_api::tags::TagList;
use trainscope_format::{Kind, Role};

/// One line of a card.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeriesId {
    /// Name of the run.
    pub run: String,
    /// Short name of the run.
    pub name: String,
    /// Rank that recorded it.
    pub rank: u32,
    /// Kind of its records.
    pub kind: Kind,
    /// One of several concurrent writers.
    pub writer: Option<String>,
    /// The file of this writer, if there are several.
    pub file: Option<String>,
    /// True if rank and writer must be part of the label to distinguish the run's lines on the card.
    pub is_one_of_many: bool,
}

impl Default for SeriesId {
    fn default() -> Self {
        Self {
            run: String::new(),
            name: String::new(),
            rank: 0,
            kind: Kind::Scalars,
            writer: None,
            file: None,
            is_one_of_many: false,
        }
    }
}

impl SeriesId {
    /// Label next to its chip: the short name of the run, and distinguishing parts.
    pub fn label(&self) -> String {
        let mut label = self.name.clone();
        if self.is_one_of_many {
            if self.rank > 0 || self.file.is_none() {
                label.push_str(" · rank ");
                label.push_str(&self.rank.to_string());
            }
            if let Some(file) = &self.file {
                // The common prefix of such file names is not distinguishing.
                let name = file.rsplit('/').next().unwrap_or(file);
                let suffix = name
                    .rsplit_once("tfevents.")
                    .map_or(name, |(_, suffix)| suffix);
                label.push_str(" · ");
                label.push_str(suffix);
            }
        }
        label
    }
}

/// One tag over all displayed runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagEntry {
    /// Name.
    pub tag: String,
    /// Role of the tensor in the training, if it is one and the role is known.
    pub role: Option<Role>,
    /// Points of all its series.
    pub points: u64,
    /// Number of these that are statistics of tensors.
    pub statistics: u64,
    /// Points that a restart has overwritten.
    pub superseded: u64,
    /// Lowest step of all.
    pub first_step: Option<i64>,
    /// Highest step of all.
    pub last_step: Option<i64>,
    /// Its lines, in the order of the runs.
    pub series: Vec<SeriesId>,
}

/// All tags of these kinds, by name; `short` abbreviates the name of a run. Runs whose tags have not arrived are left
/// out.
pub fn merge(
    runs: &[String],
    tags: &BTreeMap<String, Arc<TagList>>,
    kinds: &[Kind],
    short: &dyn Fn(&str) -> String,
) -> Vec<TagEntry> {
    let mut merged: BTreeMap<&str, TagEntry> = BTreeMap::new();
    for run in runs {
        let Some(list) = tags.get(run) else { continue };
        for tag in list.tags.iter().filter(|tag| kinds.contains(&tag.kind)) {
            let entry = merged.entry(&tag.tag).or_insert_with(|| TagEntry {
                tag: tag.tag.clone(),
                role: tag.role.map(coarse),
                ..TagEntry::default()
            });
            entry.points += tag.points;
            if tag.kind == Kind::Statistics {
                entry.statistics += tag.points;
            }
            entry.superseded += tag.superseded;
            entry.first_step = least(entry.first_step, tag.first_step);
            entry.last_step = entry.last_step.max(tag.last_step);
            let before = entry.series.last_mut().filter(|last| last.run == *run);
            let is_one_of_many = before.is_some() || tag.rank > 0;
            if let Some(before) = before {
                before.is_one_of_many = true;
            }
            entry.series.push(SeriesId {
                run: run.clone(),
                name: short(run),
                rank: tag.rank,
                kind: tag.kind,
                writer: tag.writer.clone(),
                file: tag.file.clone(),
                is_one_of_many,
            });
        }
    }
    let mut entries: Vec<TagEntry> = merged.into_values().collect();
    entries.sort_by(|a, b| natural(&a.tag, &b.tag));
    entries
}

/// Frozen weights count as weights.
fn coarse(role: Role) -> Role {
    match role {
        Role::FrozenWeight => Role::Weight,
        role => role,
    }
}

fn least(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use trainscope_api::tags::Tag;

    use super::*;

    fn tag(name: &str, rank: u32, kind: Kind) -> Tag {
        Tag {
            tag: name.to_owned(),
            rank,
            kind,
            role: None,
            points: 10,
            superseded: 1,
            first_step: Some(i64::from(rank)),
            last_step: Some(9),
            writer: None,
            file: None,
        }
    }

    #[test]
    fn a_card_has_every_line_of_its_tag() {
        let lists = BTreeMap::from([
            (
                "a".to_owned(),
                Arc::new(TagList {
                    tags: vec![
                        tag("loss", 0, Kind::Scalars),
                        tag("loss", 1, Kind::Scalars),
                        tag("weights", 0, Kind::Histograms),
                    ],
                    cut: false,
                }),
            ),
            (
                "x/b".to_owned(),
                Arc::new(TagList {
                    tags: vec![tag("acc", 0, Kind::Scalars), tag("loss", 0, Kind::Scalars)],
                    cut: false,
                }),
            ),
        ]);
        let runs = ["a".to_owned(), "missing".to_owned(), "x/b".to_owned()];
        let merged = merge(&runs, &lists, &[Kind::Scalars], &|run| format!("the {run}"));
        let names: Vec<_> = merged.iter().map(|entry| entry.tag.as_str()).collect();
        assert_eq!(names, ["acc", "loss"]);
        let labels: Vec<_> = merged[1].series.iter().map(SeriesId::label).collect();
        assert_eq!(labels, ["the a · rank 0", "the a · rank 1", "the x/b"]);
        let of_file = |rank: u32, number: u32| SeriesId {
            run: "x/b".to_owned(),
            name: "b".to_owned(),
            rank,
            file: Some(format!(
                "x/b/events.out.tfevents.176000000{number}.host.1.0"
            )),
            is_one_of_many: true,
            ..SeriesId::default()
        };
        assert_eq!(of_file(0, 1).label(), "b · 1760000001.host.1.0");
        assert_eq!(of_file(2, 1).label(), "b · rank 2 · 1760000001.host.1.0");
        assert_eq!((merged[1].points, merged[1].superseded), (30, 3));
        assert_eq!(
            (merged[1].first_step, merged[1].last_step),
            (Some(0), Some(9))
        );
    }
}
