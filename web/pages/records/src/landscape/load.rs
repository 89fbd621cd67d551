//! Data of the page: the chosen landscape of each run with its figures.

use std::sync::Arc;

use trainscope_analysis::headline;
use trainscope_analysis::landscape::{
    Conclusion, Figures, Surface, UnfitSurface, conclusion, figures, span_of, steps_of,
};
use trainscope_api::landscape::LandscapeSettingsAnswer;
use trainscope_api::paths;
use trainscope_api::records::{Records, RecordsQuery};
use trainscope_api::scalars::ScalarsQuery;
use trainscope_api::tags::{Tag, TagList, TagsRequest};
use trainscope_format::{Kind, Landscape};

use trainscope_web_kit::client::{self, ClientError};

/// Maximum number of points of a curve in one request. Steps of longer curves are requested one by one.
const CURVE_POINTS: usize = 100_000;
/// Maximum number of steps that are requested one by one.
const MAX_STEPS: usize = 64;

/// Key of an answer: runs, chosen landscape, chosen step.
pub(super) type Request = (Vec<String>, Option<String>, Option<i64>);

/// A selectable landscape of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Name in the address: `1-4`, `end`, or the tag.
    pub(super) name: String,
    tag: String,
    rank: u32,
    writer: Option<String>,
}

/// A landscape with all data derived from it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LandscapeView {
    pub(super) landscape: Landscape,
    pub(super) surface: Surface,
    pub(super) figures: Figures,
    pub(super) conclusion: Conclusion,
}

/// Reason for a missing landscape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// None was recorded, or none of this name.
    Nothing,
    /// No surface (0), sizes that disagree (1), axes that do not ascend (2).
    Unfit(u8),
}

/// The answer for one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunLandscapes {
    pub(super) run: String,
    pub(super) choices: Vec<Choice>,
    /// Name of the chosen landscape.
    pub(super) chosen: String,
    /// Steps at which the chosen landscape was recorded.
    pub(super) steps: Vec<i64>,
    /// The step of the record.
    pub(super) step: Option<i64>,
    pub(super) shown: Result<Arc<LandscapeView>, Absence>,
    /// Settings that were written next to the records.
    pub(super) settings: LandscapeSettingsAnswer,
}

/// Loads one landscape per run: the chosen or first one of the first run, and those of the same name of the others.
pub(super) async fn load((runs, which, step): Request) -> Result<Vec<RunLandscapes>, ClientError> {
    let lists = client::tags(&TagsRequest { runs: runs.clone() })
        .await?
        .lists;
    let mut all: Vec<RunLandscapes> = Vec::with_capacity(runs.len());
    for (run, tags) in runs.into_iter().zip(lists) {
        let tags = tags.unwrap_or_default();
        let choices = choices(&tags);
        let name = match all.first() {
            Some(first) => Some(first.chosen.clone()),
            None => which.clone(),
        };
        let named = choices
            .iter()
            .find(|choice| Some(&choice.name) == name.as_ref());
        let choice = if all.is_empty() {
            named.or_else(|| choices.first()).cloned()
        } else {
            named.cloned()
        };
        let mut landscapes = RunLandscapes {
            run,
            choices,
            chosen: choice
                .as_ref()
                .map(|choice| choice.name.clone())
                .unwrap_or_default(),
            steps: Vec::new(),
            step: None,
            shown: Err(Absence::Nothing),
            settings: LandscapeSettingsAnswer::default(),
        };
        if all.is_empty() && choice.is_some() {
            landscapes.settings = client::landscape_settings(&landscapes.run).await?;
        }
        if let Some(choice) = choice {
            landscapes.fill(&choice, step, &tags).await?;
        }
        all.push(landscapes);
    }
    Ok(all)
}

impl RunLandscapes {
    /// Loads the record at a step, otherwise the last one.
    async fn fill(
        &mut self,
        choice: &Choice,
        step: Option<i64>,
        tags: &TagList,
    ) -> Result<(), ClientError> {
        let mut query = RecordsQuery {
            run: self.run.clone(),
            tag: choice.tag.clone(),
            rank: choice.rank,
            writer: choice.writer.clone(),
            points: Some(0),
            ..RecordsQuery::default()
        };
        let known: Records<Landscape> = client::records(paths::LANDSCAPES, &query).await?;
        self.steps = known.steps;
        self.steps.dedup();
        let chosen = step.filter(|step| self.steps.contains(step));
        self.step = chosen.or_else(|| self.steps.last().copied());
        (query.from, query.to, query.points) = (self.step, self.step, None);
        let mut found: Records<Landscape> = client::records(paths::LANDSCAPES, &query).await?;
        let Some(record) = found.records.pop() else {
            return Ok(());
        };
        let landscape = record.body;
        self.shown = match Surface::new(&landscape) {
            Err(UnfitSurface::Missing) => Err(Absence::Unfit(0)),
            Err(UnfitSurface::Sizes) => Err(Absence::Unfit(1)),
            Err(UnfitSurface::Axes) => Err(Absence::Unfit(2)),
            Ok(surface) => {
                let losses = training_losses(&self.run, tags, &landscape).await?;
                let at = |step: i64| {
                    losses
                        .iter()
                        .find(|(recorded, _)| *recorded == step)
                        .map(|(_, loss)| *loss)
                };
                let figures = figures(&landscape, &surface, at);
                Ok(Arc::new(LandscapeView {
                    conclusion: conclusion(&landscape, &figures),
                    landscape,
                    surface,
                    figures,
                }))
            }
        };
        Ok(())
    }
}

/// The landscapes of a run: those of a part of the training in its order, then the others.
fn choices(tags: &TagList) -> Vec<Choice> {
    let tags = tags.tags.iter().filter(|tag| tag.kind == Kind::Landscapes);
    let mut tags: Vec<&Tag> = tags.collect();
    tags.sort_by_key(|tag| (span_of(&tag.tag).is_none(), span_of(&tag.tag)));
    let is_end = |tag: &str| tag.starts_with("landscape_[") && span_of(tag).is_none();
    let ends = tags.iter().filter(|tag| is_end(&tag.tag)).count();
    let mut all: Vec<Choice> = Vec::with_capacity(tags.len());
    for tag in tags {
        let mut name = match span_of(&tag.tag) {
            Some((from, to)) => format!("{from}-{to}"),
            None if is_end(&tag.tag) && ends == 1 => "end".to_owned(),
            None => tag.tag.clone(),
        };
        // Several ranks or writers may have one name.
        if all.iter().any(|other| other.name == name) {
            name = format!("{name} · {}", all.len() + 1);
        }
        all.push(Choice {
            name,
            tag: tag.tag.clone(),
            rank: tag.rank,
            writer: tag.writer.clone(),
        });
    }
    all
}

/// The recorded losses of the training at the steps of the recorded states.
async fn training_losses(
    run: &str,
    tags: &TagList,
    landscape: &Landscape,
) -> Result<Vec<(i64, f64)>, ClientError> {
    let steps: Vec<i64> = steps_of(landscape).into_iter().flatten().collect();
    let scalars = tags.tags.iter().filter(|tag| tag.kind == Kind::Scalars);
    let loss = headline::loss(scalars.clone().map(|tag| &*tag.tag));
    let loss = loss.and_then(|name| scalars.clone().find(|tag| tag.tag == name));
    let (Some(loss), Some(from), Some(to)) = (loss, steps.iter().min(), steps.iter().max()) else {
        return Ok(Vec::new());
    };
    let query = |from: i64, to: i64| ScalarsQuery {
        run: run.to_owned(),
        tag: loss.tag.clone(),
        rank: loss.rank,
        writer: loss.writer.clone(),
        from: Some(from),
        to: Some(to),
        points: Some(CURVE_POINTS),
        ..ScalarsQuery::default()
    };
    let series = client::scalars(&query(*from, *to)).await?;
    if !series.cut {
        let points = series.steps.into_iter().zip(series.values);
        return Ok(points.filter(|(step, _)| steps.contains(step)).collect());
    }
    let mut points = Vec::new();
    for step in steps.iter().take(MAX_STEPS) {
        let series = client::scalars(&query(*step, *step)).await?;
        points.extend(series.steps.into_iter().zip(series.values));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tags: &[&str]) -> Vec<String> {
        let tags = tags.iter().map(|tag| Tag {
            tag: (*tag).to_owned(),
            rank: 0,
            kind: Kind::Landscapes,
            role: None,
            points: 1,
            superseded: 0,
            first_step: Some(0),
            last_step: Some(0),
            writer: None,
            file: None,
        });
        let list = TagList {
            tags: tags.collect(),
            cut: false,
        };
        choices(&list)
            .into_iter()
            .map(|choice| choice.name)
            .collect()
    }

    #[test]
    fn parts_of_the_training_come_in_its_order() {
        let tags = [
            "landscape_[12]",
            "landscape_[5, 12]",
            "landscape_[1, 4]",
            "mine",
        ];
        assert_eq!(names(&tags), ["1-4", "5-12", "end", "mine"]);
        assert_eq!(names(&["landscape_[4]", "landscape_[8]"]).len(), 2);
        assert_eq!(names(&["a", "a"]), ["a", "a · 2"]);
        assert!(names(&[]).is_empty());
    }
}
