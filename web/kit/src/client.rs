//! HTTP client: the only module that fetches, with one typed function per API path.
//!
//! URLs are relative to the page's base (`<base href>`), so a server below a path prefix works. Errors distinguish an
//! unreachable server from a refused request.

use std::pin::Pin;

use gloo_net::http::{Request, RequestBuilder, Response};
use js_sys::{ArrayBuffer, Promise, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use trainscope_api::distributions::{DistributionsAnswer, DistributionsRequest};
use trainscope_api::error::ApiError;
use trainscope_api::findings::{Findings, FindingsQuery, Neighbours, NeighboursQuery, Progress};
use trainscope_api::graphs::{GraphScene, SceneQuery};
use trainscope_api::landscape::LandscapeSettingsAnswer;
use trainscope_api::notebook::{Notebook, NotebookChange};
use trainscope_api::paths;
use trainscope_api::pipeline::PipelineAnswer;
use trainscope_api::program::ProgramFacts;
use trainscope_api::records::{At, Records, RecordsQuery};
use trainscope_api::runs::RunList;
use trainscope_api::scalars::{
    self, COLUMNS_MEDIA_TYPE, ScalarsAnswer, ScalarsQuery, ScalarsRequest, Series,
};
use trainscope_api::status::Status;
use trainscope_api::tags::{TagLists, TagsRequest};
use trainscope_api::tensors::{
    TensorHistory, TensorIndex, TensorQuery, TensorSlice, TensorSource, TensorValues,
};
use trainscope_api::watchpoints::{Catalogue, Recheck, WatchpointList, WatchpointsChange};
use trainscope_format::{Severity, TensorSummary};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

use crate::url_state;

mod compare;
mod profiles;
mod sessions;
mod table;

pub use compare::{compare, compare_map};
pub use profiles::{
    profile, profile_diff, profile_flame, profile_memory, profile_operator, profile_operators,
    profile_overview, profile_ranks, profile_sql, timeline, timeline_area, timeline_lanes,
    timeline_path, timeline_search, timeline_slice, timeline_step,
};

pub use sessions::{session_attach, session_command, session_nodes, session_tensors, sessions};
pub use table::{importance, importance_pair, pipeline_kinds, table, table_columns, table_row};

/// Reason for a missing answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientError {
    /// The server could not be reached: retry later.
    Unreachable,
    /// The server refused the request; the error is for programs and people.
    Refused(ApiError),
    /// The answer could not be parsed, most likely because server and page have different versions: reload the page.
    Misunderstood,
}

impl ClientError {
    /// The sentence of the server, else the given one.
    pub fn message_or(self, otherwise: &str) -> String {
        match self {
            Self::Refused(error) => error.message,
            Self::Unreachable | Self::Misunderstood => otherwise.to_owned(),
        }
    }
}

/// Identity and reading progress of the server.
pub async fn status() -> Result<Status, ClientError> {
    get(paths::STATUS, &[]).await
}

pub async fn runs() -> Result<RunList, ClientError> {
    get(paths::RUNS, &[]).await
}

/// The tags of several runs, all kinds.
pub async fn tags(request: &TagsRequest) -> Result<TagLists, ClientError> {
    send(Request::post(&url(paths::TAGS)), request).await
}

/// Findings of watchpoints in a run.
pub async fn findings(query: &FindingsQuery) -> Result<Findings, ClientError> {
    let text = |number: Option<i64>| number.map(|number| number.to_string());
    let severity = query.severity.map(|severity| match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    });
    let optional = [
        ("severity", severity.map(str::to_owned)),
        ("watchpoint", query.watchpoint.clone()),
        ("rank", text(query.rank.map(i64::from))),
        ("from_step", text(query.from_step)),
        ("to_step", text(query.to_step)),
        ("search", query.search.clone()),
        ("line", query.line.map(|line| line.to_string())),
        ("open", query.open.clone()),
        ("hit", query.hit.clone()),
        ("limit", query.limit.map(|limit| limit.to_string())),
    ];
    let mut pairs = vec![("run", &*query.run)];
    let optional = optional.iter();
    pairs.extend(optional.filter_map(|(key, value)| Some((*key, value.as_deref()?))));
    get(paths::FINDINGS, &pairs).await
}

/// Layers before and after a tensor.
pub async fn neighbours(query: &NeighboursQuery) -> Result<Neighbours, ClientError> {
    let (rank, step) = (query.rank.to_string(), query.step.to_string());
    let mut pairs = vec![("run", &*query.run), ("tensor", &*query.tensor)];
    pairs.extend([("rank", &*rank), ("step", &*step)]);
    get(paths::NEIGHBOURS, &pairs).await
}

pub async fn conditions() -> Result<Catalogue, ClientError> {
    get(paths::CONDITIONS, &[]).await
}

pub async fn watchpoints(run: &str) -> Result<WatchpointList, ClientError> {
    get(paths::WATCHPOINTS, &[("run", run)]).await
}

/// Changes watchpoints and returns the new list.
pub async fn change_watchpoints(change: &WatchpointsChange) -> Result<WatchpointList, ClientError> {
    send(Request::put(&url(paths::WATCHPOINTS)), change).await
}

/// Requests a new judgement of a run from its first record.
pub async fn recheck(run: &str) -> Result<Progress, ClientError> {
    let wish = Recheck {
        run: run.to_owned(),
    };
    send(Request::post(&url(paths::RECHECK)), &wish).await
}

/// Statistics of a tensor at the recorded step nearest to `step`, with up to `before` steps before and `after` steps
/// after it.
pub async fn statistics_around(
    run: &str,
    tag: &str,
    rank: u32,
    step: i64,
    (before, after): (usize, usize),
) -> Result<Vec<At<TensorSummary>>, ClientError> {
    let rank = rank.to_string();
    let mut pairs = vec![
        ("run", run),
        ("tag", tag),
        ("rank", &*rank),
        ("points", "0"),
    ];
    let known: Records<TensorSummary> = get(paths::STATISTICS, &pairs).await?;
    let steps = &known.steps;
    let at = steps
        .partition_point(|&recorded| recorded <= step)
        .saturating_sub(1);
    let (first, last) = (
        at.saturating_sub(before),
        (at + after).min(steps.len().saturating_sub(1)),
    );
    let (Some(from), Some(to)) = (steps.get(first), steps.get(last)) else {
        return Ok(Vec::new());
    };
    let (from, to) = (from.to_string(), to.to_string());
    pairs.pop();
    pairs.extend([("from", &*from), ("to", &*to)]);
    let found: Records<TensorSummary> = get(paths::STATISTICS, &pairs).await?;
    Ok(found.records)
}

/// Records of one tag from one of the list paths (`HISTOGRAMS`, `IMAGES`, …): a [`Records`], or a subset of its fields
/// in `T`.
pub async fn records<T: DeserializeOwned>(
    path: &str,
    query: &RecordsQuery,
) -> Result<T, ClientError> {
    let rank = query.rank.to_string();
    let numbers = [
        ("from", query.from.map(|step| step.to_string())),
        ("to", query.to.map(|step| step.to_string())),
        ("points", query.points.map(|points| points.to_string())),
    ];
    let mut pairs = vec![("run", &*query.run), ("tag", &*query.tag), ("rank", &*rank)];
    let numbers = numbers.iter();
    pairs.extend(numbers.filter_map(|(key, value)| Some((*key, value.as_deref()?))));
    get(path, &pairs).await
}

/// Summary of the graph of a run, or a subset of its fields in `T`.
pub async fn graph_summary<T: DeserializeOwned>(run: &str) -> Result<T, ClientError> {
    get(paths::GRAPH_SUMMARY, &[("run", run)]).await
}

/// Facts of the program of a run.
pub async fn program(run: &str) -> Result<ProgramFacts, ClientError> {
    get(paths::PROGRAM, &[("run", run)]).await
}

/// Settings of the landscapes of a run.
pub async fn landscape_settings(run: &str) -> Result<LandscapeSettingsAnswer, ClientError> {
    get(paths::LANDSCAPE_SETTINGS, &[("run", run)]).await
}

/// Data pipelines of a run, and the time that the training waits for them.
pub async fn pipeline(run: &str) -> Result<PipelineAnswer, ClientError> {
    get(paths::PIPELINE, &[("run", run)]).await
}

/// Tag and rank of a graph; the first one if left out.
pub type GraphChoice<'a> = (Option<&'a str>, Option<u32>);

/// Layout of a graph.
pub async fn graph_scene(query: &SceneQuery) -> Result<GraphScene, ClientError> {
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let steps = query.steps.map(|steps| steps.to_string());
    let (fit_width, fit_height) = (number(query.fit_width), number(query.fit_height));
    let more = [
        ("fit_width", fit_width.as_deref()),
        ("fit_height", fit_height.as_deref()),
        ("open", query.open.as_deref()),
        ("show", query.show.as_deref()),
        ("from", query.from.as_deref()),
        ("to", query.to.as_deref()),
        ("around", query.around.as_deref()),
        ("tensor", query.tensor.as_deref()),
        ("steps", steps.as_deref()),
    ];
    let choice = (query.tag.as_deref(), query.rank);
    of_graph(paths::GRAPH_SCENE, &query.run, choice, &more).await
}

/// Other answers about a graph: a node, search results, a summary, differences.
pub async fn of_graph<T: DeserializeOwned>(
    path: &str,
    run: &str,
    (tag, rank): GraphChoice<'_>,
    more: &[(&str, Option<&str>)],
) -> Result<T, ClientError> {
    let rank = rank.map(|rank| rank.to_string());
    let mut pairs = vec![("run", run)];
    let optional = [("tag", tag), ("rank", rank.as_deref())];
    let optional = optional.iter().chain(more);
    pairs.extend(optional.filter_map(|(key, value)| Some((*key, (*value)?))));
    get(path, &pairs).await
}

pub fn blob_url(id: &str) -> String {
    format!("{}?id={}", url(paths::BLOB), url_state::encode(id))
}

/// The bytes of a blob.
pub async fn blob(id: &str) -> Result<Vec<u8>, ClientError> {
    answer(Request::get(&blob_url(id)), None).await
}

/// Tensors of a run; `role` by its name in the API.
pub async fn tensor_index(
    run: &str,
    search: &str,
    role: Option<&str>,
) -> Result<TensorIndex, ClientError> {
    let mut pairs = vec![("run", run), ("limit", "5000")];
    if !search.is_empty() {
        pairs.push(("search", search));
    }
    pairs.extend(role.map(|role| ("role", role)));
    get(paths::TENSOR_INDEX, &pairs).await
}

/// The first few tensors of a run, or of one of its ranks.
pub async fn first_tensors(
    run: &str,
    rank: Option<u32>,
    limit: usize,
) -> Result<TensorIndex, ClientError> {
    let (limit, rank) = (limit.to_string(), rank.map(|rank| rank.to_string()));
    let mut pairs = vec![("run", run), ("limit", &*limit)];
    pairs.extend(rank.as_deref().map(|rank| ("rank", rank)));
    get(paths::TENSOR_INDEX, &pairs).await
}

/// Elements of a slice.
pub async fn tensor_values(query: &TensorQuery) -> Result<TensorValues, ClientError> {
    let address = tensor_url(paths::TENSOR, query);
    parse(&answer(Request::get(&address), None).await?)
}

/// Statistics of a slice.
pub async fn tensor_summary(query: &TensorQuery) -> Result<TensorSlice, ClientError> {
    let address = tensor_url(paths::TENSOR_SUMMARY, query);
    parse(&answer(Request::get(&address), None).await?)
}

/// The known history of a tensor over steps.
pub async fn tensor_history(
    run: &str,
    tensor: &str,
    rank: u32,
) -> Result<TensorHistory, ClientError> {
    tensor_between(run, tensor, rank, None).await
}

/// The known history of a tensor between two steps.
pub async fn tensor_between(
    run: &str,
    tensor: &str,
    rank: u32,
    steps: Option<(i64, i64)>,
) -> Result<TensorHistory, ClientError> {
    let rank = rank.to_string();
    let (from, to) = steps
        .map(|(from, to)| (from.to_string(), to.to_string()))
        .unzip();
    let mut pairs = vec![("run", run), ("tensor", tensor), ("rank", &*rank)];
    pairs.extend(from.as_deref().map(|from| ("from", from)));
    pairs.extend(to.as_deref().map(|to| ("to", to)));
    get(paths::TENSOR_HISTORY, &pairs).await
}

/// The steps at which the elements of a tensor were recorded.
pub async fn steps_with_elements(run: &str, tensor: &str, rank: u32) -> Vec<i64> {
    let rank = rank.to_string();
    let pairs = [
        ("run", run),
        ("tensor", tensor),
        ("rank", &*rank),
        ("elements", "true"),
    ];
    let found: Result<TensorHistory, _> = get(paths::TENSOR_HISTORY, &pairs).await;
    let points = found.map(|found| found.points).unwrap_or_default();
    points.into_iter().map(|point| point.step).collect()
}

/// URL of a query about a tensor: values, a summary, a file.
pub fn tensor_url(path: &str, query: &TensorQuery) -> String {
    let source = query.source.map(|source| match source {
        TensorSource::Dump => "dump",
        TensorSource::Summary => "summary",
        TensorSource::Tfevents => "tfevents",
        TensorSource::Statistics => "statistics",
        TensorSource::Session => "session",
    });
    let number = |number: Option<f64>| number.map(|number| number.to_string());
    let pairs = [
        ("run", Some(query.run.clone())),
        ("tensor", Some(query.tensor.clone())),
        ("rank", Some(query.rank.to_string())),
        ("step", query.step.map(|step| step.to_string())),
        ("source", source.map(str::to_owned)),
        ("slice", query.slice.clone()),
        ("compare", query.compare.clone()),
        ("absolute", number(query.absolute)),
        ("relative", number(query.relative)),
        ("bins", query.bins.map(|bins| bins.to_string())),
        ("low", number(query.low)),
        ("high", number(query.high)),
        ("session", query.session.clone()),
        ("format", query.format.clone()),
    ];
    let mut address = url(path);
    let mut separator = '?';
    for (key, value) in pairs {
        let Some(value) = value else { continue };
        address.push(separator);
        address.push_str(key);
        address.push('=');
        address.push_str(&url_state::encode(&value));
        separator = '&';
    }
    address
}

/// Notes of users.
pub async fn notebook() -> Result<Notebook, ClientError> {
    get(paths::NOTEBOOK, &[]).await
}

/// Changes notes and returns the new notebook.
pub async fn change_notebook(change: &NotebookChange) -> Result<Notebook, ClientError> {
    send(Request::patch(&url(paths::NOTEBOOK)), change).await
}

/// Points of one series, as JSON. For more than one, [`scalars_many`] is cheaper.
pub async fn scalars(query: &ScalarsQuery) -> Result<Series, ClientError> {
    let from = query.from.map(|step| step.to_string());
    let to = query.to.map(|step| step.to_string());
    let points = query.points.map(|points| points.to_string());
    let rank = query.rank.to_string();
    let mut pairs = vec![("run", &*query.run), ("tag", &*query.tag), ("rank", &*rank)];
    let optional = [
        ("from", from.as_deref()),
        ("to", to.as_deref()),
        ("points", points.as_deref()),
        ("superseded", (query.superseded == 1).then_some("1")),
        ("writer", query.writer.as_deref()),
    ];
    pairs.extend(
        optional
            .iter()
            .filter_map(|(key, value)| Some((*key, (*value)?))),
    );
    get(paths::SCALARS, &pairs).await
}

/// Points of many series in one request, as binary columns. The answer has one entry for each series requested, in the
/// same order; `None` if it does not exist (any more).
pub async fn scalars_many(request: &ScalarsRequest) -> Result<ScalarsAnswer, ClientError> {
    let post = Request::post(&url(paths::SCALARS)).header("Accept", COLUMNS_MEDIA_TYPE);
    let bytes = answer(post, Some(json(request)?)).await?;
    scalars::decode(&bytes).map_err(|_| ClientError::Misunderstood)
}

/// Histograms of many series in shared bins.
pub async fn distributions(
    request: &DistributionsRequest,
) -> Result<DistributionsAnswer, ClientError> {
    send(Request::post(&url(paths::DISTRIBUTIONS)), request).await
}

/// The absolute address of an API path, below the page's base.
pub fn url(path: &str) -> String {
    let relative = path.trim_start_matches('/');
    let base = leptos::prelude::document().base_uri().ok().flatten();
    base.and_then(|base| web_sys::Url::new_with_base(relative, &base).ok())
        .map_or_else(|| path.to_owned(), |url| url.href())
}

async fn get<T: DeserializeOwned>(path: &str, query: &[(&str, &str)]) -> Result<T, ClientError> {
    if query.is_empty()
        && let Some(body) = early(path).await
    {
        return parse(&body);
    }
    parse(&answer(Request::get(&address(path, query)), None).await?)
}

/// The address of a path with parameters.
fn address(path: &str, query: &[(&str, &str)]) -> String {
    let mut address = url(path);
    for (position, (key, value)) in query.iter().enumerate() {
        address.push(if position == 0 { '?' } else { '&' });
        address.push_str(key);
        address.push('=');
        address.push_str(&url_state::encode(value));
    }
    address
}

/// Takes the body that was requested before the program started; `None` if missing.
async fn early(path: &str) -> Option<Vec<u8>> {
    let body = take_early(path).ok()?.dyn_into::<Promise>().ok()?;
    let body = JsFuture::from(body).await.ok()?;
    let body = body.dyn_into::<ArrayBuffer>().ok()?;
    Some(Uint8Array::new(&body).to_vec())
}

#[wasm_bindgen]
extern "C" {
    /// From `boot.js`: a promise of a body or of nothing, or nothing.
    #[wasm_bindgen(js_namespace = window, js_name = takeEarly, catch)]
    fn take_early(path: &str) -> Result<JsValue, JsValue>;
}

/// Sends a JSON body and parses the answer.
async fn send<T: DeserializeOwned>(
    request: RequestBuilder,
    body: &impl Serialize,
) -> Result<T, ClientError> {
    parse(&answer(request, Some(json(body)?)).await?)
}

fn json(body: &impl Serialize) -> Result<String, ClientError> {
    serde_json::to_string(body).map_err(|_| ClientError::Misunderstood)
}

/// Parses a JSON answer.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(bytes).map_err(|_| ClientError::Misunderstood)
}

/// Aborts its request when dropped, together with the future of a request that is replaced or whose page is left. An
/// answered request is not affected.
struct AbortOnDrop(AbortController);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of the answer to a request, which may have a JSON body. Boxed, since generic code is compiled again for
/// each type of answer.
fn answer(
    request: RequestBuilder,
    body: Option<String>,
) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, ClientError>>>> {
    Box::pin(async move {
        let controller = AbortController::new().map_err(|_| ClientError::Misunderstood)?;
        let abort = AbortOnDrop(controller);
        let request = request.abort_signal(Some(&abort.0.signal()));
        let request = match body {
            Some(body) => request
                .header("Content-Type", "application/json")
                .body(body),
            None => request.build(),
        };
        let request = request.map_err(|_| ClientError::Misunderstood)?;
        let response = request.send().await;
        let response = response.map_err(|_| ClientError::Unreachable)?;
        let body = accepted(response).await?.binary().await;
        body.map_err(|_| ClientError::Unreachable)
    })
}

/// Converts a status of 400 or above to the error in the body.
async fn accepted(response: Response) -> Result<Response, ClientError> {
    if response.ok() {
        return Ok(response);
    }
    let body = response
        .binary()
        .await
        .map_err(|_| ClientError::Unreachable)?;
    Err(serde_json::from_slice(&body).map_or(ClientError::Misunderstood, ClientError::Refused))
}
