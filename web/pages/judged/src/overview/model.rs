//! Data of the page: requested in rounds, again when the run has grown. Only changed values are updated.

use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use serde::Deserialize;
use trainscope_api::findings::{Findings, FindingsQuery, JudgementState};
use trainscope_api::markdown::{Node, NodeKind};
use trainscope_api::paths;
use trainscope_api::program::ProgramFacts;
use trainscope_api::records::{Blob, RecordsQuery};
use trainscope_api::runs::Run;
use trainscope_api::scalars::{ScalarsRequest, Series, SeriesKey};
use trainscope_api::tags::{Tag, TagList};
use trainscope_format::Kind;
use trainscope_format::tensor::TensorStats;

use super::heat::{Bins, Heat};
use super::onset::Onset;
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::state::use_app_state;

mod recorded;

/// Pause between two rounds.
const PAUSE: Duration = Duration::from_secs(2);
/// Points of a curve: about two per pixel.
const POINTS: usize = 480;
/// Maximum number of requests to find a point: enough for ten billion points in [`POINTS`] buckets.
const MAX_LOOKS: usize = 5;
/// Columns of the heat map.
const HISTOGRAMS: usize = 32;
/// Maximum number of scalars with hits in the matrix, in addition to loss and metric.
const HIT_SCALARS: usize = 2;
/// Maximum number of listed operation types.
const TYPES: usize = 4;

/// The elements of a tensor by class, at a step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TensorAt {
    pub(super) name: String,
    pub(super) step: i64,
    pub(super) stats: TensorStats,
}

/// The newest picture or text of a tag.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Newest {
    pub(super) tag: String,
    pub(super) step: i64,
    /// The id of the picture, or the text itself.
    pub(super) content: String,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct GraphSize {
    #[serde(rename = "total_nodes")]
    pub(super) nodes: u64,
    /// Most common types of operations.
    types: Vec<OfType>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct OfType {
    op_type: String,
    nodes: u64,
}

impl GraphSize {
    /// Most common types of operations with their counts.
    pub(super) fn commonest(self) -> Vec<(String, u64)> {
        let types = self.types.into_iter().take(TYPES);
        types.map(|one| (one.op_type, one.nodes)).collect()
    }
}

/// Curves by tag. The first point of each, and the best point of the metric, are exact.
pub(super) type Curves = Vec<(String, Series)>;

pub(super) fn curve_of<'a>(curves: &'a Curves, tag: &str) -> Option<&'a Series> {
    let curve = curves.iter().find(|curve| curve.0 == tag);
    curve.map(|curve| &curve.1)
}

/// Sorts by descending count.
pub(super) fn by_count(mut counted: Vec<(String, u64)>) -> Vec<(String, u64)> {
    counted.sort_by_key(|one| std::cmp::Reverse(one.1));
    counted
}

/// The page's state. `Copy`.
#[derive(Clone, Copy)]
pub(super) struct Model {
    run: StoredValue<String>,
    pub(super) tags: Memo<Option<Arc<TagList>>>,
    /// The run in the list of runs.
    pub(super) info: Memo<Option<Arc<Run>>>,
    /// `None` before the first answer, like the fields below.
    pub(super) findings: RwSignal<Option<Arc<Findings>>>,
    pub(super) curves: RwSignal<Arc<Curves>>,
    pub(super) onset: RwSignal<Option<Arc<Onset>>>,
    pub(super) tensor: RwSignal<Option<Arc<TensorAt>>>,
    /// Names of tensors, listed if the elements of none are loaded.
    pub(super) tensors: RwSignal<Vec<String>>,
    pub(super) heat: RwSignal<Option<Arc<Heat>>>,
    pub(super) picture: RwSignal<Option<Newest>>,
    pub(super) text: RwSignal<Option<Newest>>,
    pub(super) graph: RwSignal<Option<GraphSize>>,
    pub(super) program: RwSignal<Option<Arc<ProgramFacts>>>,
    /// `true` once judgement and matrix are known: the places of everything below the verdict depend on them.
    pub(super) is_known: RwSignal<bool>,
    is_busy: StoredValue<bool>,
    again: StoredValue<bool>,
}

impl Model {
    /// Creates the state and starts the requests.
    pub(super) fn new(run: String) -> Self {
        let state = use_app_state();
        let version = use_live().run_version(&run);
        state.load_tags([run.clone()], false);
        let run = StoredValue::new(run);
        let model = Self {
            run,
            tags: Memo::new(move |_| run.with_value(|run| state.tags(run))),
            info: Memo::new(move |_| run.with_value(|run| state.run(run)).map(Arc::new)),
            findings: RwSignal::new(None),
            curves: RwSignal::new(Arc::default()),
            onset: RwSignal::new(None),
            tensor: RwSignal::new(None),
            tensors: RwSignal::new(Vec::new()),
            heat: RwSignal::new(None),
            picture: RwSignal::new(None),
            text: RwSignal::new(None),
            graph: RwSignal::new(None),
            program: RwSignal::new(None),
            is_known: RwSignal::new(false),
            is_busy: StoredValue::new(false),
            again: StoredValue::new(false),
        };
        Effect::new(move || {
            version.track();
            if model.info.get().is_some() && model.tags.get().is_some() {
                model.ask();
            }
        });
        model
    }

    /// The name of the run.
    pub(super) fn run(self) -> String {
        self.run.get_value()
    }

    /// Number of tags of a kind; reactive.
    pub(super) fn kind(self, kind: &str) -> u64 {
        let info = self.info.get();
        let count = info.and_then(|run| run.kinds.get(kind).copied());
        count.unwrap_or(0)
    }

    /// Starts a round unless one is running. Changes meanwhile start one more.
    fn ask(self) {
        if self.is_busy.get_value() {
            self.again.set_value(true);
            return;
        }
        let known = self.info.get_untracked().zip(self.tags.get_untracked());
        let Some((info, tags)) = known else {
            return;
        };
        self.is_busy.set_value(true);
        spawn_local(async move {
            let is_judged = self.round(&info, &tags).await.unwrap_or(true);
            self.show();
            let rest = move || {
                // The page may have been left meanwhile.
                if self.is_busy.try_set_value(false).is_some() {
                    return;
                }
                let again = self.again.try_update_value(std::mem::take) == Some(true);
                if again || !is_judged {
                    self.ask();
                }
            };
            set_timeout(rest, PAUSE);
        });
    }

    /// Shows the parts below the verdict, unless the run still waits for it.
    fn show(self) {
        let found = self.findings.try_get_untracked().flatten();
        if found.is_some_and(|found| found.state != JudgementState::Waiting) {
            put(self.is_known, true);
        }
    }

    /// `true` if the run is judged up to date and all displayed data are loaded. An error ends the round: displayed
    /// data stay, and the event stream reports the lost connection.
    async fn round(self, info: &Run, tags: &TagList) -> Result<bool, ClientError> {
        let run = &info.id;
        let findings = Arc::new(
            client::findings(&FindingsQuery {
                run: run.clone(),
                ..FindingsQuery::default()
            })
            .await?,
        );
        put(self.findings, Some(Arc::clone(&findings)));
        let curves = curves(info, &findings, tags).await?;
        put(self.curves, Arc::clone(&curves));
        if of_kind(tags, Kind::Program).next().is_some() {
            put(self.program, Some(Arc::new(client::program(run).await?)));
        }
        let is_whole = recorded::ask(self, info, &findings, tags, &curves).await?;
        self.show();
        if let Some(tag) = histogram_tag(&findings, tags) {
            let found: ShortRecords<Bins> = client::records(
                paths::HISTOGRAMS,
                &newest(run, &tag.tag, tag.rank, HISTOGRAMS),
            )
            .await?;
            put(
                self.heat,
                Some(Arc::new(Heat::new(&tag.tag, &found.records))),
            );
        }
        if let Some(tag) = of_kind(tags, Kind::Images).next() {
            let mut found: ShortRecords<Items<Blob>> =
                client::records(paths::IMAGES, &last(run, tag)).await?;
            let newest = found.records.pop();
            let content = newest.and_then(|at| Some((at.step, at.items.into_iter().next()?.id)));
            put(self.picture, content.map(|content| of_tag(tag, content)));
        }
        if let Some(tag) = of_kind(tags, Kind::Text).next() {
            let mut found: ShortRecords<Items<Vec<Node>>> =
                client::records(paths::MARKDOWN, &last(run, tag)).await?;
            let newest = found.records.pop();
            let content = newest.and_then(|at| Some((at.step, plain(at.items.first()?))));
            put(self.text, content.map(|content| of_tag(tag, content)));
        }
        let is_new = self.graph.try_get_untracked() == Some(None);
        if is_new && of_kind(tags, Kind::Graphs).next().is_some() {
            put(self.graph, Some(client::graph_summary(run).await?));
        }
        Ok(is_whole && findings.state == JudgementState::Done)
    }
}

/// Sets a signal if the value differs. Ignored if the page was left.
pub(super) fn put<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    signal.maybe_update(|old| {
        let is_other = *old != value;
        if is_other {
            *old = value;
        }
        is_other
    });
}

/// Text without formatting.
fn plain(nodes: &[Node]) -> String {
    let said = |node: &Node| match node.kind {
        NodeKind::Text | NodeKind::Code => node.text.clone(),
        NodeKind::Strong | NodeKind::Emphasis | NodeKind::Strike | NodeKind::Link => {
            plain(&node.children)
        }
        NodeKind::Head | NodeKind::Cell => plain(&node.children) + " ",
        _ => plain(&node.children) + "\n",
    };
    nodes.iter().map(said).collect()
}

pub(super) fn of_kind(tags: &TagList, kind: Kind) -> impl Iterator<Item = &Tag> {
    tags.tags.iter().filter(move |tag| tag.kind == kind)
}

fn of_tag(tag: &Tag, (step, content): (i64, String)) -> Newest {
    Newest {
        tag: tag.tag.clone(),
        step,
        content,
    }
}

pub(super) fn newest(run: &str, tag: &str, rank: u32, points: usize) -> RecordsQuery {
    RecordsQuery {
        run: run.to_owned(),
        tag: tag.to_owned(),
        rank,
        points: Some(points),
        ..RecordsQuery::default()
    }
}

fn last(run: &str, tag: &Tag) -> RecordsQuery {
    RecordsQuery {
        from: tag.last_step,
        ..newest(run, &tag.tag, tag.rank, 50)
    }
}

/// Requests the curves of the loss, the metric, and the first scalars with hits.
async fn curves(
    info: &Run,
    findings: &Findings,
    tags: &TagList,
) -> Result<Arc<Curves>, ClientError> {
    let mut wanted: Vec<(&str, u32)> = [&info.loss, &info.metric]
        .into_iter()
        .flatten()
        .map(|last| (last.tag.as_str(), last.rank))
        .collect();
    let most = wanted.len() + HIT_SCALARS;
    let cause = findings.first_cause.iter().map(|cause| &cause.hit);
    for hit in cause.chain(&findings.hits) {
        let is_scalar = of_kind(tags, Kind::Scalars).any(|tag| tag.tag == hit.tensor);
        let is_new = wanted.iter().all(|(tag, _)| *tag != hit.tensor);
        if is_scalar && is_new && wanted.len() < most {
            wanted.push((&hit.tensor, hit.rank));
        }
    }
    if wanted.is_empty() {
        // Any tag: the card should not be empty.
        let first = of_kind(tags, Kind::Scalars).next();
        wanted.extend(first.map(|tag| (tag.tag.as_str(), tag.rank)));
    }
    if wanted.is_empty() {
        return Ok(Arc::default());
    }
    let key = |&(tag, rank): &(&str, u32)| SeriesKey {
        run: info.id.clone(),
        rank,
        tag: tag.to_owned(),
        writer: None,
    };
    let answer = client::scalars_many(&ScalarsRequest {
        series: wanted.iter().map(key).collect(),
        points: Some(POINTS),
        ..ScalarsRequest::default()
    })
    .await?;
    let mut curves = Curves::new();
    for (one, series) in wanted.iter().zip(answer.series) {
        let Some(mut series) = series else { continue };
        let is_metric = info.metric.as_ref().is_some_and(|last| last.tag == one.0);
        let picks: [Option<Pick>; 2] = [Some(|_| Some(0)), is_metric.then_some(best_at)];
        for pick in picks.into_iter().flatten() {
            let ask = async |(from, to)| {
                let mut answer = client::scalars_many(&ScalarsRequest {
                    series: vec![key(one)],
                    from,
                    to,
                    points: Some(POINTS),
                    ..ScalarsRequest::default()
                })
                .await?;
                Ok::<_, ClientError>(answer.series.pop().flatten())
            };
            if let Some(point) = exactly(&series, pick, ask).await? {
                put_in(&mut series, point);
            }
        }
        curves.push((one.0.to_owned(), series));
    }
    Ok(Arc::new(curves))
}

/// Selects an entry of a series by index.
type Pick = fn(&Series) -> Option<usize>;

/// Index of the first entry with the maximum finite value.
fn best_at(series: &Series) -> Option<usize> {
    let greatest = if series.cut {
        &series.max
    } else {
        &series.values
    };
    let all = greatest.iter().enumerate();
    let finite = all.filter(|(_, value)| value.is_finite());
    let best = finite.reduce(|best, one| if one.1 > best.1 { one } else { best });
    best.map(|(at, _)| at)
}

/// Steps of a bucket: the last of the bucket before it, and its last.
type BucketSteps = (Option<i64>, Option<i64>);

/// Requests step and value of a point inside a bucket, in ever smaller buckets: a bucket holds only its last point.
/// `ask` requests the series between two steps. `None` if `series` has no buckets.
async fn exactly<E>(
    series: &Series,
    pick: Pick,
    mut ask: impl AsyncFnMut(BucketSteps) -> Result<Option<Series>, E>,
) -> Result<Option<(i64, f64)>, E> {
    let mut seen = Some(series.clone()).filter(|series| series.cut);
    let mut asked = 0;
    while let Some(series) = seen {
        let Some(at) = pick(&series) else { break };
        let step = series.steps.get(at).copied();
        if !series.cut {
            return Ok(step.zip(series.values.get(at).copied()));
        }
        if asked == MAX_LOOKS {
            break;
        }
        asked += 1;
        let before = at.checked_sub(1);
        let before = before.and_then(|before| series.steps.get(before).copied());
        seen = ask((before, step)).await?;
    }
    Ok(None)
}

/// Inserts a point before its bucket, with the bounds of the bucket. The first point of a series has its value as
/// bounds.
fn put_in(series: &mut Series, (step, value): (i64, f64)) {
    let at = series.steps.partition_point(|other| *other < step);
    series.steps.insert(at, step);
    series.values.insert(at, value);
    for bounds in [&mut series.min, &mut series.max] {
        if let Some(bound) = bounds.get(at).copied() {
            bounds.insert(at, if at == 0 { value } else { bound });
        }
    }
}

/// Tag of the shown histogram: the first weight with a hit, else the first tensor with a hit, else the first weight,
/// else the first tag.
fn histogram_tag<'a>(findings: &Findings, tags: &'a TagList) -> Option<&'a Tag> {
    let all = || of_kind(tags, Kind::Histograms);
    let is_weight = |tag: &&Tag| tag.tag.contains("weight") || tag.tag.contains("kernel");
    let hits = findings.hits.iter();
    let hit = || {
        hits.clone()
            .filter_map(|hit| all().find(|tag| tag.tag == hit.tensor))
    };
    hit()
        .find(is_weight)
        .or_else(|| hit().next())
        .or_else(|| all().find(is_weight))
        .or_else(|| all().next())
}

/// Records limited to the fields of this page: code for all fields would be a tenth of its size.
#[derive(Deserialize)]
struct ShortRecords<T> {
    records: Vec<T>,
}

/// Pictures or texts of a step.
#[derive(Deserialize)]
struct Items<T> {
    step: i64,
    items: Vec<T>,
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn a_text_is_what_it_says() {
        let node = |kind, text: &str, children| Node {
            kind,
            text: text.to_owned(),
            children,
        };
        let bold = node(
            NodeKind::Strong,
            "",
            vec![node(NodeKind::Text, "Diverging", vec![])],
        );
        let fault = vec![node(NodeKind::Text, "Fault: ", vec![]), bold];
        let text = plain(&[
            node(NodeKind::Paragraph, "", fault),
            node(NodeKind::Rule, "", vec![]),
        ]);
        assert_eq!(text, "Fault: Diverging\n\n");
    }

    #[test]
    fn a_point_stands_in_front_of_the_rest_of_its_bucket() {
        let mut series = Series {
            steps: vec![10, 20, 30],
            values: vec![1.0, 2.0, 3.0],
            min: vec![0.5, f64::NAN, 0.0],
            max: vec![100.0, f64::NAN, 9.0],
            cut: true,
            ..Series::default()
        };
        assert_eq!(best_at(&series), Some(0));
        let raw = Series {
            steps: vec![1, 2, 3],
            values: vec![f64::INFINITY, 0.9, 0.9],
            ..Series::default()
        };
        assert_eq!(best_at(&raw), Some(1));
        put_in(&mut series, (0, 99.0));
        put_in(&mut series, (24, 9.0));
        assert_eq!(series.steps, [0, 10, 20, 24, 30]);
        assert_eq!(series.values, [99.0, 1.0, 2.0, 9.0, 3.0]);
        assert_eq!(
            (&series.max[..2], &series.max[3..]),
            (&[99.0, 100.0][..], &[9.0, 9.0][..])
        );
        assert_eq!(best_at(&Series::default()), None);
    }

    #[test]
    fn the_answer_to_the_last_request_is_read() {
        let series = |cut| Series {
            steps: vec![10, 20],
            values: vec![1.0, 2.0],
            max: vec![1.0, 3.0],
            cut,
            ..Series::default()
        };
        // Answers have buckets up to a number of requests.
        let found = |bucketed: usize| {
            let mut asked = Vec::new();
            let ask = async |steps| {
                asked.push(steps);
                Ok::<_, ()>(Some(series(asked.len() <= bucketed)))
            };
            let first = series(bucketed > 0);
            let mut answer = Box::pin(exactly(&first, best_at, ask));
            let mut context = Context::from_waker(Waker::noop());
            let Poll::Ready(Ok(point)) = answer.as_mut().poll(&mut context) else {
                panic!("no answer");
            };
            drop(answer);
            assert!(asked.iter().all(|steps| *steps == (Some(10), Some(20))));
            (point, asked.len())
        };
        assert_eq!(found(0), (None, 0));
        assert_eq!(found(1), (Some((20, 2.0)), 2));
        assert_eq!(found(MAX_LOOKS - 1), (Some((20, 2.0)), MAX_LOOKS));
        assert_eq!(found(MAX_LOOKS), (None, MAX_LOOKS));
    }
}
