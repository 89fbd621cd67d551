//! Tensors of a run over its steps: the matrix, and the representative tensor. Recorded statistics are preferred;
//! otherwise they are computed from elements, for the displayed part only. Tensors that have only histograms get their
//! cells from these.

use std::collections::BTreeMap;
use std::sync::Arc;

use trainscope_api::distributions::{
    DistributionKey, DistributionsRequest, MAX_ROWS, MAX_SERIES, MIN_BINS,
};
use trainscope_api::findings::{Findings, Hit};
use trainscope_api::paths;
use trainscope_api::records::{Records, RecordsQuery};
use trainscope_api::runs::Run;
use trainscope_api::tags::{Tag, TagList};
use trainscope_api::tensors::TensorIndexQuery;
use trainscope_format::tensor::TensorStats;
use trainscope_format::{Kind, TensorSummary};

use super::super::cell::CellStats;
use super::super::measured::Quantity;
use super::super::onset::{self, Onset, ROWS, Row};
use super::{Curves, Model, TensorAt, newest, of_kind, put};
use trainscope_web_kit::client::{self, ClientError};

/// Source of the cells of tensors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Statistics,
    Files,
    /// Neither statistics nor elements were recorded.
    Histograms,
}

/// Tensors of one rank.
struct Tensors<'a> {
    run: &'a str,
    rank: u32,
    /// In recorded order; of tensors in files only the first [`ROWS`] and those with hits.
    names: Vec<String>,
    source: Source,
    /// `true` if all requested data were available.
    is_whole: bool,
}

impl<'a> Tensors<'a> {
    /// Finds tensors with recorded statistics, else tensors in files, else histograms with hits.
    async fn find(
        run: &'a Run,
        tags: &TagList,
        rank: Option<u32>,
        hits: &[&Hit],
    ) -> Result<Option<Self>, ClientError> {
        let all = || of_kind(tags, Kind::Statistics);
        let found = |rank, names, source| {
            Ok(Some(Self {
                run: &run.id,
                rank,
                names,
                source,
                is_whole: true,
            }))
        };
        if let Some(rank) = rank.or_else(|| Some(all().next()?.rank)) {
            let is_listed = |tag: &&Tag| tag.rank == rank && tag.writer.is_none();
            let names = all().filter(is_listed).map(|tag| tag.tag.clone());
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                return found(rank, names, Source::Statistics);
            }
        }
        if !run.kinds.contains_key("tensors") {
            let Some(rank) = rank else {
                return Ok(None);
            };
            let names = histograms_of(hits, rank, tags);
            return if names.is_empty() {
                Ok(None)
            } else {
                found(rank, names, Source::Histograms)
            };
        }
        let query = TensorIndexQuery {
            run: run.id.clone(),
            rank,
            limit: Some(ROWS),
            ..TensorIndexQuery::default()
        };
        let listed = client::tensor_index(&query).await?.tensors;
        let Some(rank) = listed
            .first()
            .and_then(|entry| entry.ranks.first().copied())
        else {
            return Ok(None);
        };
        let names = listed.into_iter().map(|entry| entry.tensor).collect();
        found(rank, names, Source::Files)
    }

    /// Recorded steps of the first tensor.
    async fn steps(&self) -> Result<Vec<i64>, ClientError> {
        let first = self.names.first().map_or("", String::as_str);
        let path = match self.source {
            Source::Files => {
                let all = client::tensor_history(self.run, first, self.rank, None).await?;
                return Ok(all.points.iter().map(|point| point.step).collect());
            }
            Source::Statistics => paths::STATISTICS,
            Source::Histograms => paths::HISTOGRAMS,
        };
        let query = newest(self.run, first, self.rank, 0);
        let known: Records<TensorSummary> = client::records(path, &query).await?;
        Ok(known.steps)
    }

    /// Data of one tensor between two steps.
    async fn between(
        &mut self,
        name: &str,
        (from, to): (i64, i64),
    ) -> Result<Vec<(i64, TensorStats)>, ClientError> {
        if self.source == Source::Files {
            let steps = Some((from, to));
            let found = client::tensor_history(self.run, name, self.rank, steps).await?;
            self.is_whole &= found.pending_bytes == 0;
            let points = found.points.into_iter();
            return Ok(points
                .filter_map(|point| Some((point.step, point.stats?)))
                .collect());
        }
        let query = RecordsQuery {
            from: Some(from),
            to: Some(to),
            ..newest(self.run, name, self.rank, 2_000)
        };
        let found: Records<TensorSummary> = client::records(paths::STATISTICS, &query).await?;
        let records = found.records.into_iter();
        Ok(records.map(|at| (at.step, at.body.stats)).collect())
    }
}

/// Tensors of a rank with hits and histograms, in the order of the hits.
fn histograms_of(hits: &[&Hit], rank: u32, tags: &TagList) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.rank == rank) {
        let mut all = of_kind(tags, Kind::Histograms);
        let is_own = |tag: &Tag| tag.tag == hit.tensor && tag.rank == rank && tag.writer.is_none();
        if !names.contains(&hit.tensor) && all.any(is_own) {
            names.push(hit.tensor.clone());
        }
    }
    names.truncate(ROWS.min(MAX_SERIES));
    names
}

/// Cells of tensors from their histograms at the columns, in one request.
async fn seen_in_histograms(
    run: &str,
    rank: u32,
    names: &[String],
    steps: &[i64],
) -> Result<BTreeMap<String, Vec<Option<CellStats>>>, ClientError> {
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let key = |name: &String| DistributionKey {
        run: run.to_owned(),
        tag: name.clone(),
        rank,
        ..DistributionKey::default()
    };
    let answer = client::distributions(&DistributionsRequest {
        series: names.iter().map(key).collect(),
        from: steps.first().copied(),
        to: steps.last().copied(),
        rows: Some(MAX_ROWS),
        bins: Some(MIN_BINS),
        ..DistributionsRequest::default()
    })
    .await?;
    let found = names.iter().zip(answer.series);
    let found = found.filter_map(|(name, of)| {
        let seen = onset::of_histograms(&of?.rows, steps);
        Some((name.clone(), seen))
    });
    Ok(found.collect())
}

/// Requests the matrix and its representative tensor. Returns `true` if all data were available.
pub(super) async fn ask(
    model: Model,
    info: &Run,
    findings: &Findings,
    tags: &TagList,
    curves: &Curves,
) -> Result<bool, ClientError> {
    let cause = findings.first_cause.as_ref().map(|cause| &cause.hit);
    let all_hits: Vec<&Hit> = cause.into_iter().chain(&findings.hits).collect();
    let cause_rank = cause.map(|hit| hit.rank);
    let Some(mut tensors) = Tensors::find(info, tags, cause_rank, &all_hits).await? else {
        return Ok(true);
    };
    let rank = tensors.rank;
    let hits = || findings.hits.iter().filter(move |hit| hit.rank == rank);
    let all_steps = onset::with_cause(tensors.steps().await?, cause.map(|hit| hit.step));
    let measured = Quantity::of(findings);
    let steps = onset::columns(&all_steps, cause.map(|hit| hit.step)).to_vec();
    let (Some(&from), Some(&to)) = (steps.first(), steps.last()) else {
        return Ok(true);
    };
    let of_hits = || cause.into_iter().chain(hits());
    if tensors.source == Source::Files {
        // Only some names of tensors in files were requested: those with hits are added. Hits of rules about the
        // program name a node or a setting, and have no values.
        let is_scalar = |name: &str| of_kind(tags, Kind::Scalars).any(|tag| tag.tag == name);
        let is_of_program = |hit: &Hit| {
            let watchpoint = findings.watchpoints.get(hit.watchpoint as usize);
            hit.values.is_empty() && watchpoint.is_some_and(|watchpoint| watchpoint.target == "run")
        };
        // No file holds the elements of a histogram.
        let is_histogram = |name: &str| of_kind(tags, Kind::Histograms).any(|tag| tag.tag == name);
        let has_values = |name: &str| {
            !is_scalar(name)
                && (!is_histogram(name) || tensors.names.iter().any(|known| known == name))
        };
        let hit = of_hits().filter(|hit| has_values(&hit.tensor) && !is_of_program(hit));
        let hit: Vec<String> = hit.map(|hit| hit.tensor.clone()).collect();
        tensors.names.extend(hit);
    }
    // Only the loss and scalars with hits are rows.
    let is_row = |name: &str| {
        info.loss.as_ref().is_some_and(|loss| loss.tag == name)
            || hits().any(|hit| hit.tensor == name)
    };
    let scalars = curves.iter().map(|curve| curve.0.as_str());
    let scalars = scalars.filter(|name| is_row(name));
    let names = tensors.names.clone();
    let mut in_histograms = histograms_of(&all_hits, rank, tags);
    in_histograms.retain(|name| tensors.source == Source::Histograms || !names.contains(name));
    let mut of_histograms = seen_in_histograms(&info.id, rank, &in_histograms, &steps).await?;
    let wanted = scalars.chain(names.iter().chain(&in_histograms).map(String::as_str));
    let wanted = onset::rows(of_hits().map(|hit| hit.tensor.as_str()), wanted);
    let mut rows = Vec::with_capacity(wanted.len());
    for name in wanted {
        let curve = curves.iter().find(|curve| curve.0 == name);
        let (seen, stats) = if let Some((_, series)) = curve {
            (onset::of_series(series, &steps), Vec::new())
        } else if let Some(seen) = of_histograms.remove(name) {
            (seen, Vec::new())
        } else if tensors.source == Source::Histograms {
            continue;
        } else {
            let mut found = tensors.between(name, (from, to)).await?;
            let at = |step: &i64| {
                let at = found.iter().position(|(at, _)| at == step)?;
                Some(found.swap_remove(at).1)
            };
            let stats: Vec<Option<TensorStats>> = steps.iter().map(at).collect();
            let seen = stats.iter().map(|stats| stats.as_ref().map(CellStats::of));
            (seen.collect(), stats)
        };
        let mut cells = onset::cells(&seen);
        if let Some(measured) = &measured {
            let of_row = of_hits().filter(|hit| hit.tensor == name);
            measured.put_in(&mut cells, &steps, &stats, &of_row.collect::<Vec<_>>());
        }
        rows.push(Row {
            name: name.to_owned(),
            cells,
        });
    }
    let column = cause.and_then(|hit| steps.iter().position(|step| *step == hit.step));
    // Files of a single step show no onset.
    if tensors.source != Source::Files || steps.len() > 1 {
        let mut onset = Onset {
            steps,
            column,
            tensor: cause.map(|hit| hit.tensor.clone()),
            rows,
            measured,
        };
        onset.leave_out_plain(|name| of_hits().any(|hit| hit.tensor == name));
        put(model.onset, Some(Arc::new(onset)));
    }
    if tensors.source == Source::Histograms {
        return Ok(true);
    }
    // The first tensor with a hit at that step, else the first weight at its newest steps.
    let hit = of_hits().find(|hit| names.contains(&hit.tensor));
    let (name, steps) = if let Some(hit) = hit {
        (hit.tensor.as_str(), (hit.step, hit.step))
    } else {
        let is_weight = |name: &&String| name.contains("weight") && !name.contains("grad");
        let found = names.iter().find(is_weight).or_else(|| names.first());
        let last = onset::columns(&all_steps, None);
        let steps = last.first().copied().zip(last.last().copied());
        (
            found.map_or("", String::as_str),
            steps.unwrap_or((from, to)),
        )
    };
    let found = tensors.between(name, steps).await?.pop();
    let tensor = found.map(|(step, stats)| {
        Arc::new(TensorAt {
            name: name.to_owned(),
            step,
            stats,
        })
    });
    put(model.tensor, tensor);
    put(model.tensors, names);
    Ok(tensors.is_whole)
}
