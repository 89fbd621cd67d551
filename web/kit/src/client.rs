//! HTTP client: the only module that fetches, with one typed function per API path.
//!
//! URLs are relative to the page's base (`<base href>`), so a server below a path prefix works. Errors distinguish an
//! unreachable server from a refused request.

use std::pin::Pin;

use gloo_net::http::{Request, RequestBuilder, Response};
use js_sys::{ArrayBuffer, Promise, Uint8Array};
use serde::Serialize;
use serde::de::DeserializeOwned;
use trainscope_api::compare::{
    CompareQuery, Comparison, DifferenceMap, MAP_MEDIA_TYPE, MapQuery, decode_map,
};
use trainscope_api::distributions::{DistributionsAnswer, DistributionsRequest};
use trainscope_api::error::ApiError;
use trainscope_api::findings::{Findings, FindingsQuery, Neighbours, NeighboursQuery, Progress};
use trainscope_api::graphs::{
    DiffQuery, GraphDiff, GraphNode, GraphScene, GraphSearch, NodeQuery, SceneQuery, SearchQuery,
};
use trainscope_api::importance::{ImportanceAnswer, ImportanceRequest, PairAnswer, PairRequest};
use trainscope_api::landscape::LandscapeSettingsAnswer;
use trainscope_api::notebook::{Notebook, NotebookChange};
use trainscope_api::paths;
use trainscope_api::pipeline::PipelineAnswer;
use trainscope_api::profile::{
    FlameAnswer, FlameQuery, MemoryAnswer, MemoryQuery, OperatorAnswer, OperatorQuery,
    OperatorsAnswer, OperatorsQuery, ProfileDiff, ProfileDiffQuery, ProfileList, ProfileOverview,
    ProfileQuery, RanksAnswer, SqlAnswer, SqlRequest,
};
use trainscope_api::program::ProgramFacts;
use trainscope_api::records::{At, Records, RecordsQuery};
use trainscope_api::runs::RunList;
use trainscope_api::scalars::{
    self, COLUMNS_MEDIA_TYPE, ScalarsAnswer, ScalarsQuery, ScalarsRequest, Series,
};
use trainscope_api::sessions::{
    AttachAnswer, AttachRequest, CommandRequest, Session, SessionItems, SessionItemsQuery,
    SessionList,
};
use trainscope_api::status::Status;
use trainscope_api::table::{
    self, PipelineKinds, RunRow, TABLE_MEDIA_TYPE, TableAnswer, TableColumns, TableRequest,
};
use trainscope_api::tags::{TagLists, TagsRequest};
use trainscope_api::tensors::{
    TensorHistory, TensorHistoryQuery, TensorIndex, TensorIndexQuery, TensorQuery, TensorSlice,
    TensorValues,
};
use trainscope_api::timeline::{
    self, AreaAnswer, AreaQuery, CELLS_MEDIA_TYPE, PathAnswer, PathQuery, SliceAnswer, SliceQuery,
    StepAnswer, StepQuery, TimelineAnswer, TimelineLanes, TimelineQuery, TimelineSearchAnswer,
    TimelineSearchQuery,
};
use trainscope_api::watchpoints::{Catalogue, Recheck, WatchpointList, WatchpointsChange};
use trainscope_format::TensorSummary;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

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

/// Defines requests without a body, each with its answer, its path and its query.
macro_rules! gets {
    ($($(#[$doc:meta])*
    $name:ident($($argument:ident: $of:ty),*) -> $answer:ty = $path:ident, $query:expr;)+) => { $(
        $(#[$doc])*
        pub async fn $name($($argument: $of),*) -> Result<$answer, ClientError> {
            get(paths::$path, parameters($query)).await
        }
    )+ };
}

gets! {
    /// Identity and reading progress of the server.
    status() -> Status = STATUS, &();
    runs() -> RunList = RUNS, &();
    findings(query: &FindingsQuery) -> Findings = FINDINGS, query;
    /// Layers before and after a tensor.
    neighbours(query: &NeighboursQuery) -> Neighbours = NEIGHBOURS, query;
    conditions() -> Catalogue = CONDITIONS, &();
    watchpoints(run: &str) -> WatchpointList = WATCHPOINTS, &[("run", run)];
    program(run: &str) -> ProgramFacts = PROGRAM, &[("run", run)];
    landscape_settings(run: &str) -> LandscapeSettingsAnswer = LANDSCAPE_SETTINGS, &[("run", run)];
    /// Data pipelines of a run, and the time that the training waits for them.
    pipeline(run: &str) -> PipelineAnswer = PIPELINE, &[("run", run)];
    compare(query: &CompareQuery) -> Comparison = COMPARE, query;
    notebook() -> Notebook = NOTEBOOK, &();
    /// Points of one series, as JSON. For more than one, [`scalars_many`] is cheaper.
    scalars(query: &ScalarsQuery) -> Series = SCALARS, query;

    graph_scene(query: &SceneQuery) -> GraphScene = GRAPH_SCENE, query;
    graph_node(query: &NodeQuery) -> GraphNode = GRAPH_NODE, query;
    graph_search(query: &SearchQuery) -> GraphSearch = GRAPH_SEARCH, query;
    graph_diff(query: &DiffQuery) -> GraphDiff = GRAPH_DIFF, query;

    tensor_index(query: &TensorIndexQuery) -> TensorIndex = TENSOR_INDEX, query;
    /// Tensors whose names contain a text; `role` by its name in the API, which the server checks.
    tensors_named(run: &str, search: &str, role: Option<&str>) -> TensorIndex = TENSOR_INDEX, &[
        ("run", Some(run)),
        ("search", Some(search).filter(|text| !text.is_empty())),
        ("role", role),
        ("limit", Some("5000")),
    ];
    tensor_values(query: &TensorQuery) -> TensorValues = TENSOR, query;
    tensor_summary(query: &TensorQuery) -> TensorSlice = TENSOR_SUMMARY, query;

    /// Sessions and ranks of a run.
    profile(run: &str) -> ProfileList = PROFILE, &[("run", run)];
    profile_overview(query: &ProfileQuery) -> ProfileOverview = PROFILE_OVERVIEW, query;
    profile_operators(query: &OperatorsQuery) -> OperatorsAnswer = PROFILE_OPERATORS, query;
    profile_operator(query: &OperatorQuery) -> OperatorAnswer = PROFILE_OPERATOR, query;
    profile_memory(query: &MemoryQuery) -> MemoryAnswer = PROFILE_MEMORY, query;
    profile_ranks(query: &ProfileQuery) -> RanksAnswer = PROFILE_RANKS, query;
    profile_flame(query: &FlameQuery) -> FlameAnswer = PROFILE_FLAME, query;
    profile_diff(query: &ProfileDiffQuery) -> ProfileDiff = PROFILE_DIFF, query;

    timeline_lanes(query: &ProfileQuery) -> TimelineLanes = TIMELINE_LANES, query;
    timeline_slice(query: &SliceQuery) -> SliceAnswer = TIMELINE_SLICE, query;
    /// The newest session that has a step of the training.
    timeline_step(query: &StepQuery) -> StepAnswer = TIMELINE_STEP, query;
    timeline_area(query: &AreaQuery) -> AreaAnswer = TIMELINE_AREA, query;
    timeline_path(query: &PathQuery) -> PathAnswer = TIMELINE_PATH, query;
    timeline_search(query: &TimelineSearchQuery) -> TimelineSearchAnswer = TIMELINE_SEARCH, query;

    /// Trainings that are or were connected.
    sessions() -> SessionList = SESSIONS, &();
    /// Tensors that a training shows while it waits.
    session_tensors(query: &SessionItemsQuery) -> SessionItems = SESSION_TENSORS, query;
    /// Layers at which a training can wait.
    session_nodes(query: &SessionItemsQuery) -> SessionItems = SESSION_NODES, query;

    /// All columns, without their values.
    table_columns() -> TableColumns = TABLE_COLUMNS, &();
    /// All values of a run, of every source.
    table_row(run: &str) -> RunRow = TABLE_ROW, &[("run", run)];
    /// Kinds of data pipelines.
    pipeline_kinds() -> PipelineKinds = TABLE_PIPELINES, &();
}

/// Defines requests with a body, each with its answer, its method and its path.
macro_rules! sends {
    ($($(#[$doc:meta])*
    $name:ident($body:ty) -> $answer:ty = $method:ident $path:ident;)+) => { $(
        $(#[$doc])*
        pub async fn $name(body: &$body) -> Result<$answer, ClientError> {
            send(Request::$method(&url(paths::$path)), body).await
        }
    )+ };
}

sends! {
    /// The tags of several runs, all kinds.
    tags(TagsRequest) -> TagLists = post TAGS;
    /// Changes watchpoints and returns the new list.
    change_watchpoints(WatchpointsChange) -> WatchpointList = put WATCHPOINTS;
    /// Requests a new judgement of a run from its first record.
    recheck(Recheck) -> Progress = post RECHECK;
    /// Changes notes and returns the new notebook.
    change_notebook(NotebookChange) -> Notebook = patch NOTEBOOK;
    /// Histograms of many series in shared bins.
    distributions(DistributionsRequest) -> DistributionsAnswer = post DISTRIBUTIONS;
    profile_sql(SqlRequest) -> SqlAnswer = post PROFILE_SQL;
    /// Gives a command to a training, and returns the session after it.
    session_command(CommandRequest) -> Session = post SESSION_COMMAND;
    /// Asks a running training to connect.
    session_attach(AttachRequest) -> AttachAnswer = post SESSION_ATTACH;
    /// Influence of parameters on a result.
    importance(ImportanceRequest) -> ImportanceAnswer = post IMPORTANCE;
    /// A result by two parameters.
    importance_pair(PairRequest) -> PairAnswer = post IMPORTANCE_PAIR;
}

/// Records of one tag from one of the list paths (`HISTOGRAMS`, `IMAGES`, …): a [`Records`], or a subset of its fields
/// in `T`.
pub async fn records<T: DeserializeOwned>(
    path: &str,
    query: &RecordsQuery,
) -> Result<T, ClientError> {
    get(path, parameters(query)).await
}

/// Summary of the graph of a run, or a subset of its fields in `T`.
pub async fn graph_summary<T: DeserializeOwned>(run: &str) -> Result<T, ClientError> {
    get(paths::GRAPH_SUMMARY, parameters(&[("run", run)])).await
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
    let mut query = RecordsQuery {
        run: run.to_owned(),
        tag: tag.to_owned(),
        rank,
        points: Some(0),
        ..RecordsQuery::default()
    };
    let known: Records<TensorSummary> = records(paths::STATISTICS, &query).await?;
    let steps = &known.steps;
    let at = steps
        .partition_point(|&recorded| recorded <= step)
        .saturating_sub(1);
    let (first, last) = (
        at.saturating_sub(before),
        (at + after).min(steps.len().saturating_sub(1)),
    );
    (query.from, query.to) = (steps.get(first).copied(), steps.get(last).copied());
    if query.from.is_none() {
        return Ok(Vec::new());
    }
    query.points = None;
    let found: Records<TensorSummary> = records(paths::STATISTICS, &query).await?;
    Ok(found.records)
}

/// The known history of a tensor, of all steps or between two.
pub async fn tensor_history(
    run: &str,
    tensor: &str,
    rank: u32,
    between: Option<(i64, i64)>,
) -> Result<TensorHistory, ClientError> {
    let mut query = history_query(run, tensor, rank);
    (query.from, query.to) = between.unzip();
    get(paths::TENSOR_HISTORY, parameters(&query)).await
}

/// The steps at which the elements of a tensor were recorded.
pub async fn steps_with_elements(run: &str, tensor: &str, rank: u32) -> Vec<i64> {
    let mut query = history_query(run, tensor, rank);
    query.elements = true;
    let found = get::<TensorHistory>(paths::TENSOR_HISTORY, parameters(&query)).await;
    let points = found.map(|found| found.points).unwrap_or_default();
    points.into_iter().map(|point| point.step).collect()
}

fn history_query(run: &str, tensor: &str, rank: u32) -> TensorHistoryQuery {
    TensorHistoryQuery {
        run: run.to_owned(),
        tensor: tensor.to_owned(),
        rank,
        ..TensorHistoryQuery::default()
    }
}

pub fn blob_url(id: &str) -> String {
    address(paths::BLOB, &[("id", id)])
}

/// The bytes of a blob.
pub async fn blob(id: &str) -> Result<Vec<u8>, ClientError> {
    answer(Request::get(&blob_url(id)), None).await
}

/// Points of many series in one request, as binary columns. The answer has one entry for each series requested, in the
/// same order; `None` if it does not exist (any more).
pub async fn scalars_many(request: &ScalarsRequest) -> Result<ScalarsAnswer, ClientError> {
    let post = Request::post(&url(paths::SCALARS)).header("Accept", COLUMNS_MEDIA_TYPE);
    let bytes = answer(post, Some(json(request)?)).await?;
    scalars::decode(&bytes).map_err(|_| ClientError::Misunderstood)
}

/// Values of columns, as bytes.
pub async fn table(request: &TableRequest) -> Result<TableAnswer, ClientError> {
    let post = Request::post(&url(paths::TABLE)).header("Accept", TABLE_MEDIA_TYPE);
    let bytes = answer(post, Some(json(request)?)).await?;
    table::decode(&bytes).map_err(|_| ClientError::Misunderstood)
}

/// Cells of rows between two moments, as bytes.
pub async fn timeline(query: &TimelineQuery) -> Result<TimelineAnswer, ClientError> {
    let get = Request::get(&address(paths::TIMELINE, query)).header("Accept", CELLS_MEDIA_TYPE);
    timeline::decode(&answer(get, None).await?).map_err(|_| ClientError::Misunderstood)
}

/// Differences over steps, as bytes.
pub async fn compare_map(query: &MapQuery) -> Result<DifferenceMap, ClientError> {
    let get = Request::get(&address(paths::COMPARE_MAP, query)).header("Accept", MAP_MEDIA_TYPE);
    let bytes = answer(get, None).await?;
    let (head, cells) = decode_map(&bytes).map_err(|_| ClientError::Misunderstood)?;
    let mut map: DifferenceMap = parse(head)?;
    map.fill(&cells).map_err(|_| ClientError::Misunderstood)?;
    Ok(map)
}

/// The absolute address of an API path, below the page's base.
pub fn url(path: &str) -> String {
    let relative = path.trim_start_matches('/');
    let base = leptos::prelude::document().base_uri().ok().flatten();
    base.and_then(|base| web_sys::Url::new_with_base(relative, &base).ok())
        .map_or_else(|| path.to_owned(), |url| url.href())
}

/// The absolute address of an API path with a query.
pub fn address(path: &str, query: &impl Serialize) -> String {
    url(path) + &parameters(query)
}

/// The fields of a query that have a value, with the `?` before them; empty without any.
fn parameters(query: &impl Serialize) -> String {
    // Only an object in a field would fail, and no query has one.
    let fields = serde_html_form::to_string(query).unwrap_or_default();
    if fields.is_empty() {
        return fields;
    }
    format!("?{fields}")
}

async fn get<T: DeserializeOwned>(path: &str, parameters: String) -> Result<T, ClientError> {
    if parameters.is_empty()
        && let Some(body) = early(path).await
    {
        return parse(&body);
    }
    parse(&answer(Request::get(&(url(path) + &parameters)), None).await?)
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

#[cfg(test)]
mod tests {
    use trainscope_api::records::RunQuery;

    use super::*;

    /// Checks that the server reads each query, and that it is written as it was: one with all fields, one with those
    /// that it must have.
    macro_rules! are_written_as_read {
        ($($of:ty, $all:literal, $least:literal;)+) => { $(
            for text in [$all, $least] {
                let query: $of = serde_urlencoded::from_str(text).unwrap();
                assert_eq!(parameters(&query), format!("?{text}"));
            }
        )+ };
    }

    #[test]
    fn queries_are_written_as_the_server_reads_them() {
        are_written_as_read! {
            FindingsQuery,
            "run=a%2Fb&severity=warning&watchpoint=overflow%7E2&rank=1&from_step=-2&to_step=3&search=a+b&from=4&line=5\
             &open=0%3A1&hit=x&limit=6", "run=a";
            NeighboursQuery, "run=a&tensor=w&rank=1&step=-2", "run=a&tensor=w&rank=0&step=0";
            SceneQuery,
            "run=a&tag=t&rank=1&step=2&open=x%0Ay&fit_width=3&fit_height=4&show=s&from=f&to=g&around=h&steps=5\
             &tensor=w", "run=a";
            NodeQuery, "run=a&tag=t&rank=1&step=2&node=n", "run=a&node=n";
            SearchQuery, "run=a&tag=t&rank=1&step=2&q=n", "run=a&q=n";
            DiffQuery, "run=a&tag=t&rank=1&base=b&base_tag=u&base_rank=2", "run=a&base=b";
            RecordsQuery, "run=a&tag=t&rank=1&from=-2&to=3&points=4&superseded=1&writer=w", "run=a&tag=t&rank=0";
            ScalarsQuery, "run=a&tag=t&rank=1&from=-2&to=3&points=4&superseded=1&writer=w", "run=a&tag=t&rank=0";
            TensorIndexQuery, "run=a&search=w&role=frozen_weight&rank=1&from=2&limit=3", "run=a";
            TensorQuery,
            "run=a&tensor=w&rank=1&step=2&source=tfevents&slice=17%2C+48%3A70&compare=step%3A12&absolute=1e-8\
             &relative=2.5&bins=3&low=-1.0&high=1e%2B20&session=s&format=npy", "run=a&tensor=w&rank=0";
            TensorHistoryQuery, "run=a&tensor=w&rank=1&elements=true&from=-2&to=3", "run=a&tensor=w&rank=0";
            SessionItemsQuery, "session=s&rank=1&pattern=*&offset=2", "session=s&rank=0&pattern=&offset=0";
            ProfileQuery, "run=a&session=s&rank=1&since_step=-2&until_step=3", "run=a";
            OperatorsQuery,
            "run=a&session=s&rank=1&since_step=-2&until_step=3&by=shape&filter=type%3Aconv&from=4&limit=5",
            "run=a&by=name&from=0";
            OperatorQuery,
            "run=a&session=s&rank=1&since_step=-2&until_step=3&by=shape&name=n&shapes=t", "run=a&by=name&name=n";
            MemoryQuery,
            "run=a&session=s&rank=1&device=0%3A-1&at_nanos=2&from_nanos=3&to_nanos=4&single=true", "run=a";
            FlameQuery,
            "run=a&session=s&rank=1&from_nanos=2&to_nanos=3&lanes=4%2C5&up=true",
            "run=a&from_nanos=0&to_nanos=0&up=false";
            ProfileDiffQuery, "run=a&session=s&rank=1&other=b&other_session=t&other_rank=2", "run=a";
            TimelineQuery, "run=a&session=s&rank=1&from=2&to=3&width=4&rows=5%3A6", "run=a";
            SliceQuery, "run=a&session=s&rank=1&index=2", "run=a&index=0";
            StepQuery, "run=a&step=2&session=s&rank=1", "run=a&step=0";
            AreaQuery, "run=a&session=s&rank=1&from=2&to=3&lanes=4%2C5", "run=a&from=0&to=0";
            PathQuery, "run=a&session=s&rank=1&from=2&to=3", "run=a&from=0&to=0";
            TimelineSearchQuery, "run=a&session=s&rank=1&query=dur%3A%3E1ms&from=2&to=3&width=4", "run=a&query=q";
            CompareQuery, "runs=a%2Cb&base=a&tolerance=0.01&since=1&align=samples&all=1", "runs=a&align=step";
            MapQuery,
            "base=a&other=b&rank=1&tolerance=1e-7&since=2&until=3&align=samples&search=s&role=scalar&from=4&limit=5\
             &columns=6", "base=a&other=b&rank=0&align=step&from=0";
        }
    }

    #[test]
    fn other_requests_have_pairs_or_no_query() {
        assert_eq!(parameters(&()), "");
        let run = parameters(&[("run", "训练/a b&c=+%")]);
        let query: RunQuery = serde_urlencoded::from_str(run.trim_start_matches('?')).unwrap();
        assert_eq!(query.run, "训练/a b&c=+%");
        let pairs = [("run", Some("a")), ("role", None), ("limit", Some("5000"))];
        assert_eq!(parameters(&pairs), "?run=a&limit=5000");
    }
}
