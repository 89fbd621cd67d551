//! What the page shows: the answer for this run, the one for the run it is compared with, and what the address chooses.

use std::sync::Arc;

use leptos::prelude::*;
use trainscope_api::pipeline::{InputTimes, Pipeline, PipelineAnswer, PipelineOperation};

use super::against::{Differing, differing};
use crate::client::{self, ClientError};
use crate::components::ask_again;
use crate::erased::memo;
use crate::live::use_live;
use crate::route::use_run;
use crate::url_state::{History, UrlState, use_url_state};

const PIPELINE: &str = "pipeline";
const OPERATION: &str = "operation";
const AGAINST: &str = "against";

/// How far the first answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Loading,
    /// What the server says.
    Refused(String),
    /// Neither a pipeline nor a profile was recorded.
    Empty,
    Ready,
}

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    url: UrlState,
    pub(super) run: Memo<String>,
    pub(super) load: RwSignal<Load>,
    pub(super) answer: RwSignal<Arc<PipelineAnswer>>,
    /// Which of the pipelines.
    pub(super) chosen: Memo<usize>,
    /// Which of its operations; `None` if it has none.
    pub(super) operation: Memo<Option<usize>>,
    /// The run it is compared with.
    pub(super) base: Memo<Option<String>>,
    /// What is known of that run.
    other: RwSignal<Option<Arc<PipelineAnswer>>>,
    /// What differs, if it is compared.
    pub(super) differing: Memo<Option<Arc<Differing>>>,
}

/// The state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = memo(move || run.get().unwrap_or_default());
        let answer = RwSignal::new(Arc::<PipelineAnswer>::default());
        let (chosen, operation) = (url.param(PIPELINE), url.param(OPERATION));
        let number = |text: Memo<Option<String>>| text.with(|text| text.as_ref()?.parse().ok());
        let chosen = memo(move || {
            let last = answer.with(|answer| answer.pipelines.len().saturating_sub(1));
            number(chosen).unwrap_or(0_usize).min(last)
        });
        let operation = memo(move || {
            let wanted = number(operation).unwrap_or(0_usize);
            let last = answer.with(|answer| {
                let own = answer.pipelines.get(chosen.get())?;
                own.operations.len().checked_sub(1)
            })?;
            Some(wanted.min(last))
        });
        let other = RwSignal::new(None::<Arc<PipelineAnswer>>);
        let differing = memo(move || {
            let base = other.get()?;
            answer.with(|answer| {
                let own = answer.pipelines.get(chosen.get())?;
                Some(Arc::new(differing(own, base.pipelines.first())))
            })
        });
        let model = Self {
            url,
            run,
            load: RwSignal::new(Load::Loading),
            answer,
            chosen,
            operation,
            base: url.param(AGAINST),
            other,
            differing,
        };
        provide_context(model);
        model.keep_answer();
        model.keep_other();
        model
    }

    fn keep_answer(self) {
        let live = use_live();
        let want = move || {
            live.list_version.track();
            Some(self.run.get())
        };
        let ask = |run: String| async move { client::pipeline(&run).await };
        ask_again(want, ask, move |answer| match answer {
            Some(Ok(answer)) => self.put(answer),
            Some(Err(ClientError::Refused(error))) => self.load.set(Load::Refused(error.message)),
            // What is shown stays; the lost connection is said by the stream.
            Some(Err(ClientError::Unreachable | ClientError::Misunderstood)) | None => {}
        });
    }

    fn put(self, answer: PipelineAnswer) {
        let is_empty =
            answer.pipelines.is_empty() && answer.inputs.is_empty() && answer.faults.is_empty();
        if self.answer.with_untracked(|known| **known != answer) {
            self.answer.set(Arc::new(answer));
        }
        let load = if is_empty { Load::Empty } else { Load::Ready };
        if self.load.with_untracked(|known| *known != load) {
            self.load.set(load);
        }
    }

    fn keep_other(self) {
        let want = move || {
            self.other.set(None);
            self.base.get()
        };
        let ask = |base: String| async move { client::pipeline(&base).await };
        ask_again(want, ask, move |answer| {
            if let Some(Ok(answer)) = answer {
                self.other.set(Some(Arc::new(answer)));
            }
        });
    }

    /// The pipeline that is shown; reactive.
    pub(super) fn with_pipeline<T>(self, of: impl FnOnce(&Pipeline) -> T) -> Option<T> {
        let chosen = self.chosen.get();
        self.answer
            .with(|answer| answer.pipelines.get(chosen).map(of))
    }

    /// The operation that is looked at; reactive.
    pub(super) fn shown(self) -> Option<PipelineOperation> {
        let index = self.operation.get()?;
        self.with_pipeline(|own| own.operations.get(index).cloned())?
    }

    /// The operation that the rest waits for, and how full the queue before it is; reactive.
    pub(super) fn slow(self) -> Option<(PipelineOperation, Option<f64>)> {
        self.with_pipeline(|own| {
            let slow = own.slow?;
            let operation = own.operations.get(slow.operation as usize)?;
            Some((operation.clone(), slow.fill_before))
        })?
    }

    /// Waiting of the rank that recorded the pipeline, else of the first one that waited; reactive.
    pub(super) fn input(self) -> Option<InputTimes> {
        let rank = self.with_pipeline(|own| own.rank);
        self.answer.with(|answer| {
            let mut inputs = answer.inputs.iter();
            let own = inputs.find(|own| Some(own.rank) == rank);
            own.or_else(|| answer.inputs.first()).cloned()
        })
    }

    pub(super) fn choose(self, pipeline: usize) {
        let pipeline = (pipeline > 0).then(|| pipeline.to_string());
        let changes = [(PIPELINE, pipeline.as_deref()), (OPERATION, None)];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn select(self, operation: usize) {
        let operation = operation.to_string();
        self.url
            .set(&[(OPERATION, Some(&operation))], History::Replace);
    }

    pub(super) fn compare(self, run: Option<&str>) {
        self.url.set(&[(AGAINST, run)], History::Push);
    }

    /// Looks at the operation so many further; whether there is one.
    pub(super) fn step(self, by: isize) -> bool {
        let all = self.with_pipeline(|own| own.operations.len());
        let now = self.operation.get_untracked();
        let next = now.and_then(|now| now.checked_add_signed(by));
        let next = next.filter(|next| all.is_some_and(|all| *next < all));
        if let Some(next) = next {
            self.select(next);
        }
        next.is_some()
    }
}
