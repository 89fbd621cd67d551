//! Data of the page: the answer for this run, that for the compared run, and the choices in the address.

use std::sync::Arc;

use trainscope_api::pipeline::{
    InputTimes, Pipeline, PipelineAnswer, PipelineOperation, SlowOperation,
};

use super::against::{Differences, differing};
use trainscope_web_kit::client;
use trainscope_web_kit::format;
use trainscope_web_kit::parameters::PIPELINE_AGAINST;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Load, Query, query};
use trainscope_web_kit::route::use_run;
use trainscope_web_kit::url_state::{History, Key, Setting, UrlState, use_url_state};

const PIPELINE: Setting<usize> = Key::new("pipeline").or(0);
const OPERATION: Key<usize> = Key::new("operation");
const SHOW: Key<View> = Key::of_words(
    "show",
    &[
        (View::Parameters, "parameters"),
        (View::Queues, "queues"),
        (View::Cpu, "cpu"),
    ],
);

/// View of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Parameters,
    /// Occupancy of the output queue.
    Queues,
    /// CPU utilization of the workers.
    Cpu,
}

impl View {
    /// All views in display order.
    pub(super) const ALL: [Self; 3] = [Self::Parameters, Self::Queues, Self::Cpu];

    /// `true` if any of the operations has data for this view.
    fn is_in(self, operations: &[PipelineOperation]) -> bool {
        let mut ran = operations
            .iter()
            .filter_map(|operation| operation.running.as_ref());
        match self {
            Self::Parameters => true,
            Self::Queues => ran.any(|stats| stats.samples > 0),
            Self::Cpu => ran.any(|stats| stats.busy.is_some()),
        }
    }
}

/// The page's state. `Copy`: take it with [`use_model`].
#[derive(Clone, Copy)]
pub(super) struct Model {
    url: UrlState,
    pub(super) run: Memo<String>,
    load: Query<PipelineAnswer>,
    pub(super) answer: Memo<Arc<PipelineAnswer>>,
    /// Index of the selected pipeline.
    pub(super) chosen: Memo<usize>,
    /// Index of the selected operation; `None` if the pipeline has none.
    pub(super) operation: Memo<Option<usize>>,
    /// Views with data.
    pub(super) views: Memo<Vec<View>>,
    /// Selected view.
    pub(super) view: Memo<View>,
    /// Run to compare with.
    pub(super) base: Memo<Option<String>>,
    /// Differences, if a run is compared.
    pub(super) differing: Memo<Option<Arc<Differences>>>,
}

/// Returns the state of this page.
pub(super) fn use_model() -> Model {
    expect_context()
}

impl Model {
    pub(super) fn provide() -> Self {
        let url = use_url_state();
        let run = use_run();
        let run = Memo::new(move |_| run.get().unwrap_or_default());
        let ask = |run: String| async move { client::pipeline(&run).await };
        let load = query(move || Some(run.get()), ask).again_with_list();
        let answer = Memo::new(move |_| load.answer.get().unwrap_or_default());
        let (chosen, operation) = (url.setting(PIPELINE), url.param(OPERATION));
        let chosen = Memo::new(move |_| {
            let last = answer.with(|answer| answer.pipelines.len().saturating_sub(1));
            chosen.get().min(last)
        });
        let operation = Memo::new(move |_| {
            let wanted = operation.get();
            answer.with(|answer| {
                let pipeline = answer.pipelines.get(chosen.get())?;
                // The slowest operation is selected first.
                let slow = || {
                    pipeline
                        .slow
                        .as_ref()
                        .map_or(0, |slow| slow.operation as usize)
                };
                let last = pipeline.operations.len().checked_sub(1)?;
                Some(wanted.unwrap_or_else(slow).min(last))
            })
        });
        let views = Memo::new(move |_| {
            answer.with(|answer| {
                let pipeline = answer.pipelines.get(chosen.get());
                let operations = pipeline.map_or(&[][..], |pipeline| &pipeline.operations);
                let all = View::ALL.into_iter();
                all.filter(|view| view.is_in(operations))
                    .collect::<Vec<_>>()
            })
        });
        let wanted = url.param(SHOW);
        let view = Memo::new(move |_| {
            let view = wanted.get().unwrap_or(View::Queues);
            views.with(|views| {
                if views.contains(&view) {
                    view
                } else {
                    View::Parameters
                }
            })
        });
        let base = url.param(PIPELINE_AGAINST);
        let other = query(move || base.get(), ask).cleared_with(move || base.get());
        let differing = Memo::new(move |_| {
            let base = other.answer.get()?;
            answer.with(|answer| {
                let pipeline = answer.pipelines.get(chosen.get())?;
                Some(Arc::new(differing(pipeline, base.pipelines.first())))
            })
        });
        let model = Self {
            url,
            run,
            load,
            answer,
            chosen,
            operation,
            views,
            view,
            base,
            differing,
        };
        provide_context(model);
        model
    }

    /// Ready with `true` if a pipeline or a profile was recorded; reactive.
    pub(super) fn state(self) -> Load<bool> {
        self.load.load().map(|answer| {
            !(answer.pipelines.is_empty() && answer.inputs.is_empty() && answer.faults.is_empty())
        })
    }

    /// Passes the shown pipeline to `of`; reactive.
    pub(super) fn with_pipeline<T>(self, of: impl FnOnce(&Pipeline) -> T) -> Option<T> {
        let chosen = self.chosen.get();
        self.answer
            .with(|answer| answer.pipelines.get(chosen).map(of))
    }

    /// Selected operation; reactive.
    pub(super) fn shown(self) -> Option<PipelineOperation> {
        let index = self.operation.get()?;
        self.with_pipeline(|pipeline| pipeline.operations.get(index).cloned())?
    }

    /// Operation that the others wait for, with the details of that; reactive.
    pub(super) fn slow(self) -> Option<(PipelineOperation, SlowOperation)> {
        self.with_pipeline(|pipeline| {
            let slow = pipeline.slow.clone()?;
            let operation = pipeline.operations.get(slow.operation as usize)?;
            Some((operation.clone(), slow))
        })?
    }

    /// Waiting times of the rank that recorded the pipeline, else of the first rank; reactive.
    pub(super) fn input(self) -> Option<InputTimes> {
        let rank = self.with_pipeline(|pipeline| pipeline.rank);
        self.answer.with(|answer| {
            let mut inputs = answer.inputs.iter();
            let of_rank = inputs.find(|input| Some(input.rank) == rank);
            of_rank.or_else(|| answer.inputs.first()).cloned()
        })
    }

    pub(super) fn choose(self, pipeline: usize) {
        let changes = [PIPELINE.to(pipeline), OPERATION.clear()];
        self.url.set(&changes, History::Push);
    }

    pub(super) fn select(self, operation: usize) {
        self.url.set(&[OPERATION.to(operation)], History::Replace);
    }

    /// Shows another view of the operations.
    pub(super) fn show(self, view: View) {
        self.url.set(&[SHOW.to(view)], History::Replace);
    }

    pub(super) fn compare(self, run: Option<&str>) {
        self.url
            .set(&[PIPELINE_AGAINST.to_option(run)], History::Push);
    }

    /// Selects the operation `by` places after the selected one. Returns `false` if there is none.
    pub(super) fn step(self, by: isize) -> bool {
        let all = self.with_pipeline(|pipeline| pipeline.operations.len());
        let now = self.operation.get_untracked();
        let next = now.and_then(|now| now.checked_add_signed(by));
        let next = next.filter(|next| all.is_some_and(|all| *next < all));
        if let Some(next) = next {
            self.select(next);
        }
        next.is_some()
    }
}

/// A share in whole percent.
pub(super) fn whole_share(share: f64) -> String {
    format!("{} %", format::number((share * 100.0).round(), 3))
}
