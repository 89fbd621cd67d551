//! `/api/compare` and `/api/compare/map`: runs against a base run.

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use tokio_util::sync::CancellationToken;
use trainscope_api::compare::{
    CompareQuery, Comparison, DEFAULT_TOLERANCE, MAP_MEDIA_TYPE, MAX_COLUMNS, MAX_MAP_ROWS,
    MAX_ROWS, MAX_RUNS, MAX_SETTINGS, MIN_RUNS, MapQuery, encode_map, split_runs,
};

use super::error::Failure;
use super::headers::NO_STORE;
use super::request::{Params, wants};
use super::{Site, blocking, json};
use crate::comparison::{self, Effort, Options, Side};
use crate::table::{Row, run_folder, settings_of};

/// Time for reading elements of tensors per request.
const BUDGET: Duration = Duration::from_millis(400);

/// Compares runs
///
/// The answer comes within a second: while `reading` is `going`, the same query again reads on.
#[cfg_attr(test, utoipa::path(
    get, path = "/api/compare", operation_id = "compare", params(CompareQuery),
    responses((status = 200, description = "Where runs part, and how their settings differ", body = Comparison))
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<CompareQuery>,
) -> Result<Response, Failure> {
    let runs = runs(&query)?;
    let options = Options {
        tolerance: tolerance(query.tolerance)?,
        since: query.since,
        align: query.align,
        all: query.all != 0,
    };
    let gone = CancellationToken::new();
    // Dropped with this request, which ends when the client disconnects.
    let _is_asking = gone.clone().drop_guard();
    blocking(move || json(&answer(&site, &runs, options, &gone)?)).await
}

/// The names of a query, the base first.
fn runs(query: &CompareQuery) -> Result<Vec<String>, Failure> {
    let mut runs = split_runs(&query.runs);
    if !(MIN_RUNS..=MAX_RUNS).contains(&runs.len()) {
        return Err(Failure::bad_request(format!(
            "`runs` wants {MIN_RUNS} to {MAX_RUNS} different runs, not {}",
            runs.len()
        )));
    }
    if let Some(base) = &query.base {
        let Some(at) = runs.iter().position(|run| run == base) else {
            return Err(Failure::bad_request(format!(
                "`base` wants one of `runs`, not `{base}`"
            )));
        };
        let base = runs.remove(at);
        runs.insert(0, base);
    }
    Ok(runs)
}

fn tolerance(wanted: Option<f64>) -> Result<f64, Failure> {
    let tolerance = wanted.unwrap_or(DEFAULT_TOLERANCE);
    if tolerance.is_finite() && tolerance >= 0.0 {
        return Ok(tolerance);
    }
    Err(Failure::bad_request(format!(
        "`tolerance` wants a number of at least 0, not {tolerance}"
    )))
}

fn row(site: &Site, run: &str) -> Result<Row, Failure> {
    // Fails for an unknown run.
    site.index.tags_of(run, trainscope_format::Kind::Hparams)?;
    Ok(settings_of(&site.index, &site.about.base_dirs, run)?)
}

fn answer(
    site: &Site,
    runs: &[String],
    options: Options,
    gone: &CancellationToken,
) -> Result<Comparison, Failure> {
    let rows: Result<Vec<Row>, Failure> = runs.iter().map(|run| row(site, run)).collect();
    let rows = rows?;
    let sides: Vec<Side<'_>> = runs
        .iter()
        .zip(&rows)
        .map(|(run, row)| Side {
            index: &site.index,
            run,
            title: run,
            row,
        })
        .collect();
    let effort = Effort {
        until: Some(Instant::now() + BUDGET),
        gone: gone.clone(),
    };
    let base_dirs = &site.about.base_dirs;
    let mut answer = Comparison {
        tolerance: options.tolerance,
        settings: comparison::settings(&rows.iter().collect::<Vec<_>>()),
        ..Comparison::default()
    };
    answer.settings_cut = answer.settings.len() > MAX_SETTINGS;
    answer.settings.truncate(MAX_SETTINGS);
    let Some((&base, others)) = sides.split_first() else {
        return Ok(answer);
    };
    let folder = run_folder(base_dirs, base.run);
    let judged = site.judgements.of(base.run);
    for &other in others {
        let mut against = comparison::compare(
            &site.comparisons,
            base,
            other,
            options,
            &effort,
            &str::to_owned,
        )?;
        let theirs = site.judgements.of(other.run);
        against.findings = comparison::findings(judged.as_deref(), theirs.as_deref());
        against.graph = site.comparisons.graphs(base, other)?;
        against.partings.truncate(MAX_ROWS);
        against.scalars.truncate(MAX_ROWS);
        against.findings.rows.truncate(MAX_ROWS);
        against.faults.truncate(MAX_ROWS);
        for names in [&mut against.only_base, &mut against.only_other] {
            names.tensors.truncate(MAX_ROWS);
            names.scalars.truncate(MAX_ROWS);
        }
        if let Some(pipeline) = &mut against.pipeline {
            pipeline.differences.truncate(MAX_ROWS);
        }
        let theirs = run_folder(base_dirs, other.run);
        answer.files.extend(comparison::files(
            folder.as_ref(),
            theirs.as_ref(),
            other.run,
        ));
        answer
            .files
            .extend(comparison::long_settings(base.row, other.row));
        answer.others.push(against);
    }
    answer.runs = runs.to_vec();
    Ok(answer)
}

/// Differences over steps
///
/// With `Accept: application/octet-stream` the cells are `f32`. While `progress` is there, the same query again reads
/// on.
#[cfg_attr(test, utoipa::path(
    get, path = "/api/compare/map", operation_id = "compare_map", params(MapQuery),
    responses((status = 200, description = "Rows in the flow of data, columns of steps", body = trainscope_api::compare::DifferenceMap))
))]
pub(super) async fn map(
    State(site): State<Site>,
    headers: HeaderMap,
    Params(query): Params<MapQuery>,
) -> Result<Response, Failure> {
    for (name, wanted, most) in [
        ("limit", query.limit, MAX_MAP_ROWS),
        ("columns", query.columns, MAX_COLUMNS),
    ] {
        if let Some(wanted) = wanted.filter(|number| !(1..=most).contains(number)) {
            let message = format!("`{name}` wants 1 to {most}, not {wanted}");
            return Err(Failure::bad_request(message));
        }
    }
    let options = Options {
        tolerance: tolerance(query.tolerance)?,
        since: query.since,
        align: query.align,
        all: false,
    };
    let gone = CancellationToken::new();
    let _is_asking = gone.clone().drop_guard();
    let wants_bytes = wants(&headers, MAP_MEDIA_TYPE);
    blocking(move || {
        let effort = Effort {
            until: Some(Instant::now() + BUDGET),
            gone,
        };
        let rows = [row(&site, &query.base)?, row(&site, &query.other)?];
        let [base, other] = [(&query.base, &rows[0]), (&query.other, &rows[1])].map(|side| Side {
            index: &site.index,
            run: side.0,
            title: side.0,
            row: side.1,
        });
        let known = &site.comparisons;
        let mut map = comparison::map(known, base, other, &query, options, &effort)?;
        if !wants_bytes {
            return json(&map);
        }
        let cells = std::mem::take(&mut map.cells);
        let head = serde_json::to_vec(&map)
            .map_err(|error| Failure::internal("an answer cannot be written", &error))?;
        let body = encode_map(&head, &cells);
        Ok(([(CONTENT_TYPE, MAP_MEDIA_TYPE), NO_STORE], body).into_response())
    })
    .await
}
