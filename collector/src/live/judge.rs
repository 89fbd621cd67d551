//! Judgement inside of the training, by the engine of `trainscope check`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use trainscope_analysis::watchpoint::config::{WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{
    Evaluator, Findings, FreshHit, Hit, Needs, Observation, Watchpoints,
};
use trainscope_format::Severity;
use trainscope_format::session::{HitSentence, PauseLevel, SessionHit, WatchpointTable};
use trainscope_format::statistics::{Role, TensorSummary};
use trainscope_format::tensor::Tolerance;

/// Number of first and newest steps of each tensor that are kept: at most 20 kB a tensor.
const HISTORY: (usize, usize) = (32, 64);
/// Steps until a fresh hit that was not confirmed is weighed again.
const MUTED_STEPS: i64 = 50;
/// Minimum time between two judgements over several steps, as a multiple of the duration of one: 1 % of the time.
const SLOW_FACTOR: u32 = 100;
/// Minimum time between two judgements over several steps.
const SLOW_INTERVAL: Duration = Duration::from_secs(10);

/// Judge of one rank.
#[derive(Debug)]
pub(crate) struct Judge {
    evaluator: Evaluator,
    /// Watchpoints of the program.
    of_program: Watchpoints,
    /// Watchpoints of the server that are used instead.
    of_server: Option<Vec<WatchpointTable>>,
    level: PauseLevel,
    /// Tensors and scalars of the newest step, for new watchpoints.
    newest: NewestStep,
    needs: HashMap<Arc<str>, Needs>,
    /// Watchpoint and tensor of fresh hits that were not confirmed, and the first step of the next attempt.
    muted: HashMap<(u32, Arc<str>), i64>,
    /// Conditions and tensors of hits that were returned.
    returned: HashSet<(&'static str, Arc<str>)>,
    last_slow: Instant,
    slow_took: Duration,
}

#[derive(Debug, Default)]
struct NewestStep {
    step: i64,
    tensors: Vec<(Arc<str>, TensorSummary)>,
    scalars: Vec<(Arc<str>, f64)>,
}

impl NewestStep {
    fn begin(&mut self, step: i64) {
        if self.step != step {
            self.step = step;
            self.tensors.clear();
            self.scalars.clear();
        }
    }
}

impl Judge {
    pub(crate) fn new(watchpoints: Watchpoints, level: PauseLevel) -> Self {
        Self {
            evaluator: evaluator(watchpoints.clone()),
            of_program: watchpoints,
            of_server: None,
            level,
            newest: NewestStep::default(),
            needs: HashMap::new(),
            muted: HashMap::new(),
            returned: HashSet::new(),
            last_slow: Instant::now(),
            slow_took: Duration::ZERO,
        }
    }

    /// `true` if a hit can pause.
    pub(crate) fn can_pause(&self) -> bool {
        let mut all = self.evaluator.watchpoints().all().iter();
        self.level != PauseLevel::Never
            || all.any(|watchpoint| watchpoint.on && watchpoint.pause == Some(true))
    }

    pub(crate) fn set_level(&mut self, level: PauseLevel) {
        self.level = level;
    }

    /// `true` if this list of the server is in use already; without a list, that of the program.
    pub(crate) fn uses(&self, list: Option<&[WatchpointTable]>) -> bool {
        self.of_server.as_deref() == list
    }

    /// Sets the watchpoints to those of the server, or without a list to those of the program, and judges the newest
    /// step at once. Each mistake in the error is a sentence.
    pub(crate) fn set_watchpoints(
        &mut self,
        list: Option<&[WatchpointTable]>,
    ) -> Result<(), String> {
        let watchpoints = match list {
            Some(list) => parse(list)?,
            None => self.of_program.clone(),
        };
        self.evaluator = evaluator(watchpoints);
        self.of_server = list.map(<[WatchpointTable]>::to_vec);
        self.needs.clear();
        self.muted.clear();
        self.returned.clear();
        let newest = std::mem::take(&mut self.newest);
        for (name, summary) in &newest.tensors {
            self.tensor(newest.step, name, summary, Tolerance::default());
        }
        for (tag, value) in &newest.scalars {
            self.scalar(newest.step, tag, *value);
        }
        Ok(())
    }

    /// `true` if a tensor of this step was judged.
    pub(crate) fn has_tensors_of(&self, step: i64) -> bool {
        self.newest.step == step && !self.newest.tensors.is_empty()
    }

    /// Figures that the watchpoints need of a tensor.
    pub(crate) fn needs(&mut self, name: &str, role: Role) -> &Needs {
        if !self.needs.contains_key(name) {
            let needs = self.evaluator.needs(name, role, "");
            self.needs.insert(name.into(), needs);
        }
        // It is there; an empty one costs nothing.
        self.needs.entry(name.into()).or_default()
    }

    pub(crate) fn tensor(
        &mut self,
        step: i64,
        name: &str,
        summary: &TensorSummary,
        tolerance: Tolerance,
    ) {
        self.newest.begin(step);
        let tensors = &mut self.newest.tensors;
        match tensors.iter_mut().find(|entry| *entry.0 == *name) {
            Some(entry) => entry.1 = summary.clone(),
            None => tensors.push((name.into(), summary.clone())),
        }
        self.evaluator.observe(&Observation {
            rank: 0,
            step,
            name,
            op: "",
            summary,
            tolerance,
        });
    }

    pub(crate) fn scalar(&mut self, step: i64, tag: &str, value: f64) {
        self.newest.begin(step);
        self.newest.scalars.push((tag.into(), value));
        // The judgement knows no wall times: rules about them are the server's.
        self.evaluator.scalar(0, tag, step, 0.0, value);
    }

    /// Confirmed hits since the last call that pause or, by `at_least`, stop. With the first one come hits of
    /// conditions over several steps, so that a training that continues is not paused again for a known problem.
    pub(crate) fn hits(&mut self, step: i64, at_least: Option<Severity>) -> Vec<SessionHit> {
        let fresh = self.evaluator.fresh();
        let worth = fresh.into_iter().filter(|hit| self.is_worth_asking(hit));
        let worth: Vec<FreshHit> = worth.collect();
        let is_slow_due =
            self.last_slow.elapsed() >= SLOW_INTERVAL.max(SLOW_FACTOR * self.slow_took);
        if worth.is_empty() && !is_slow_due {
            return Vec::new();
        }
        let begun = Instant::now();
        let findings = self.evaluator.findings();
        let mut hits = Vec::new();
        for fresh in &worth {
            if let Some(hit) = findings.confirms(fresh, Severity::Info) {
                self.return_hit(hit, at_least, &mut hits);
            } else {
                let key = (fresh.watchpoint, fresh.tensor.clone());
                self.muted.insert(key, step.saturating_add(MUTED_STEPS));
            }
        }
        if is_slow_due || !hits.is_empty() {
            self.slow_hits(&findings, at_least, &mut hits);
            self.slow_took = begun.elapsed();
            self.last_slow = Instant::now();
        }
        hits
    }

    /// Hits of the newest step by the current watchpoints, whether or not they pause.
    pub(crate) fn hits_again(&mut self) -> Vec<SessionHit> {
        let step = self.newest.step;
        self.hits(step, Some(Severity::Info))
    }

    fn is_worth_asking(&self, fresh: &FreshHit) -> bool {
        let key = (fresh.watchpoint, fresh.tensor.clone());
        self.muted
            .get(&key)
            .is_none_or(|until| fresh.step >= *until)
    }

    /// Hits of conditions that no single step can meet.
    fn slow_hits(
        &mut self,
        findings: &Findings,
        at_least: Option<Severity>,
        hits: &mut Vec<SessionHit>,
    ) {
        for hit in &findings.hits {
            let watchpoints = self.evaluator.watchpoints().all();
            let watchpoint = watchpoints.get(hit.watchpoint as usize);
            if watchpoint.is_some_and(|watchpoint| !watchpoint.is_instant()) {
                self.return_hit(hit, at_least, hits);
            }
        }
    }

    /// Adds a hit if it pauses or stops, and was not returned before.
    fn return_hit(&mut self, hit: &Hit, at_least: Option<Severity>, hits: &mut Vec<SessionHit>) {
        let watchpoints = self.evaluator.watchpoints().all();
        let watchpoint = watchpoints.get(hit.watchpoint as usize);
        let pauses =
            watchpoint.is_some_and(|watchpoint| watchpoint.pauses(hit.severity, self.level));
        let stops = at_least.is_some_and(|least| hit.severity >= least);
        let key = (hit.condition.id, hit.tensor.clone());
        if !(pauses || stops) || !self.returned.insert(key) {
            return;
        }
        hits.push(SessionHit {
            condition: hit.condition.id.to_owned(),
            watchpoint: hit.watchpoint,
            severity: hit.severity,
            tensor: hit.tensor.to_string(),
            step: hit.step,
            sentence: HitSentence {
                en: hit.sentence.en.clone(),
                zh: hit.sentence.zh.clone(),
            },
            values: hit
                .values
                .iter()
                .map(|(name, value)| (name.as_str().to_owned(), *value))
                .collect(),
            pauses,
        });
    }
}

fn evaluator(watchpoints: Watchpoints) -> Evaluator {
    Evaluator::new(watchpoints)
        .with_history(HISTORY.0, HISTORY.1)
        .with_fresh_hits()
}

/// Watchpoints as a server sends them.
pub(crate) fn parse(list: &[WatchpointTable]) -> Result<Watchpoints, String> {
    let tables = serde_json::to_value(list).map_err(|error| error.to_string())?;
    let watchpoint: Vec<WatchpointConfig> =
        serde_json::from_value(tables).map_err(|error| error.to_string())?;
    Watchpoints::from_file(&WatchpointsFile { watchpoint }).map_err(|error| error.to_string())
}
