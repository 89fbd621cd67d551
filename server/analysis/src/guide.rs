//! The guided diagnosis: one row for each topic, in the order in which an expert checks them.
//!
//! Hits and remarks are sorted into rows by the topics of their conditions and rules. A row without either passes only
//! if data of its topic were judged.

use trainscope_api::Sentence;
use trainscope_api::guide::{RowState, Topic};
use trainscope_format::digits::count;

use crate::diagnosis::{Remark, State};
use crate::watchpoint::{Findings, Hit, Inconclusive, Key, Watchpoints};

/// A row of the guided diagnosis.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its topic.
    pub topic: Topic,
    /// Worst state found.
    pub state: RowState,
    /// Number of watchpoints.
    pub watched: u64,
    /// Number of hits.
    pub hits: u64,
    /// Index into [`Findings::hits`] of the first hit of the worst severity; for speed, of the first one of the rule
    /// with the largest gain.
    pub worst: Option<usize>,
    /// Index of the first remark of the worst state. Only notes and faults count, and no rule whose condition has a
    /// hit: the hit says the same.
    pub remark: Option<usize>,
    /// Amount of data judged without a hit, or the missing data; empty with a hit or remark.
    pub sentence: Sentence,
}

/// Rows in the order of [`Topic::ALL`]. `is_damaged` is true if a part of a file could not be read.
pub fn rows(
    findings: &Findings,
    watchpoints: &Watchpoints,
    remarks: &[Remark],
    is_damaged: bool,
) -> [Row; 7] {
    Topic::ALL.map(|topic| {
        let of_topic = |index: &u32| {
            let watchpoint = watchpoints.all().get(*index as usize);
            watchpoint.is_some_and(|watchpoint| watchpoint.condition.topic == topic)
        };
        let indices = (0..).take(watchpoints.all().len()).filter(of_topic);
        let hits = findings.hits.iter().enumerate();
        let hits = hits.filter(|(_, hit)| hit.condition.topic == topic);
        let worst = hits.clone().reduce(|worst, one| {
            let of = |hit: &Hit| (hit.severity, hit.values.of(Key::GainSecs).unwrap_or(0.0));
            if of(one.1) > of(worst.1) { one } else { worst }
        });
        // Of several ranks the first one: the sentence on top and the profile show its figures.
        let worst = worst.and_then(|(_, worst)| {
            let is_same =
                |hit: &Hit| (hit.watchpoint, hit.severity) == (worst.watchpoint, worst.severity);
            hits.clone().find(|(_, hit)| is_same(hit))
        });
        let listed = remarks.iter().enumerate();
        let listed = listed.filter(|(_, remark)| remark.rule.topic() == topic);
        let has_hit = |remark: &Remark| {
            let mut hits = findings.hits.iter();
            hits.any(|hit| hit.condition.rule == Some(remark.rule))
        };
        let remark = listed
            .clone()
            .filter(|(_, remark)| remark.state >= State::Note && !has_hit(remark))
            .reduce(|worst, one| {
                if one.1.state > worst.1.state {
                    one
                } else {
                    worst
                }
            });
        let mut row = Row {
            topic,
            state: RowState::Skipped,
            watched: indices.clone().count() as u64,
            hits: hits.count() as u64,
            worst: worst.map(|(index, _)| index),
            remark: remark.map(|(index, _)| index),
            sentence: Sentence::default(),
        };
        let is_on = |index: &u32| {
            let watchpoint = watchpoints.all().get(*index as usize);
            watchpoint.is_some_and(|watchpoint| watchpoint.on)
        };
        let on = indices.clone().filter(is_on);
        let has_data = |index: &u32| findings.without_data.binary_search(index).is_err();
        let judged = on.clone().filter(has_data).count() as u64;
        let is_off = on.count() == 0;
        let rules_pass = listed
            .clone()
            .any(|(_, remark)| remark.state > State::Unknown);
        row.state = match (worst, remark) {
            (Some((_, hit)), _) => hit.severity.into(),
            (None, Some((_, remark))) => remark.state.into(),
            (None, None) => {
                row.sentence = if is_off && topic != Topic::Recorded {
                    Sentence::new("no watchpoint is switched on", "没有启用的监测点")
                } else {
                    sentence(findings, topic, row.watched, judged, rules_pass)
                };
                without_finding(findings, topic, judged, rules_pass, is_damaged)
            }
        };
        row
    })
}

/// True if watchpoints about speed, or about anything else, could not be judged.
fn has_unjudged(findings: &Findings, topic: Topic) -> bool {
    let is_of_topic =
        |entry: &Inconclusive| (entry.condition.topic == Topic::Speed) == (topic == Topic::Speed);
    findings.inconclusive.iter().any(is_of_topic)
}

/// State of a row without a hit or a remark.
fn without_finding(
    findings: &Findings,
    topic: Topic,
    judged: u64,
    rules_pass: bool,
    is_damaged: bool,
) -> RowState {
    let (has_judged, coverage) = (judged > 0, &findings.judged);
    let is_judged = has_judged || rules_pass;
    let is_unjudged = has_unjudged(findings, topic);
    // (passed, open): data of the topic itself, and everything else that belongs to it.
    let (is_passed, is_open) = match topic {
        Topic::Recorded if is_damaged => return RowState::Warning,
        Topic::Recorded => (
            coverage.tensors > 0 && !is_unjudged && findings.unread.is_empty(),
            true,
        ),
        Topic::Model => (has_judged && coverage.tensors > 0, is_judged),
        Topic::Input => (findings.inputs > 0, rules_pass),
        // Settings and metrics depend on everything else, and are sound only if everything else is.
        Topic::Hyperparameters | Topic::Metric => {
            (has_judged && findings.first_cause.is_none(), is_judged)
        }
        Topic::Loss => (has_judged, is_judged),
        Topic::Speed => (coverage.profiles > 0 && !is_unjudged, is_judged),
    };
    match (is_passed, is_open) {
        (true, _) => RowState::Passed,
        (false, true) => RowState::Open,
        (false, false) => RowState::Skipped,
    }
}

/// Amount of data judged, or the missing data. Of `watched` watchpoints `judged` had data.
fn sentence(
    findings: &Findings,
    topic: Topic,
    watched: u64,
    judged: u64,
    rules_pass: bool,
) -> Sentence {
    let coverage = &findings.judged;
    let (en, zh) = match topic {
        Topic::Recorded => (
            format!(
                "{}, {}, {}",
                plural(coverage.tensors, "tensor"),
                plural(coverage.scalars, "scalar"),
                plural(coverage.steps, "step")
            ),
            format!(
                "{} 个张量，{} 个标量，{} 个迭代",
                count(coverage.tensors),
                count(coverage.scalars),
                count(coverage.steps)
            ),
        ),
        Topic::Model if judged > 0 && coverage.tensors > 0 => (
            format!(
                "{}, no hits in {}",
                plural(judged, "watchpoint"),
                plural(coverage.tensors, "tensor")
            ),
            format!(
                "{} 个监测点检查了 {} 个张量，均未命中",
                count(judged),
                count(coverage.tensors)
            ),
        ),
        Topic::Model if rules_pass => (
            "Only the graph was recorded.".to_owned(),
            "只记录了计算图。".to_owned(),
        ),
        Topic::Model if coverage.tensors == 0 => (
            "neither tensors nor a graph were recorded".to_owned(),
            "未记录张量和计算图".to_owned(),
        ),
        Topic::Input if findings.inputs == 0 => (
            "input values were not recorded".to_owned(),
            "未记录输入数据的值".to_owned(),
        ),
        Topic::Speed if coverage.profiles == 0 && has_unjudged(findings, topic) => (
            "the profile could not be judged".to_owned(),
            "无法判断性能分析".to_owned(),
        ),
        // A rule about the program may have been judged.
        Topic::Speed if coverage.profiles == 0 => (
            "no profile was recorded".to_owned(),
            "未采集性能分析".to_owned(),
        ),
        _ if judged == 0 => (
            format!("{}, not judged", plural(watched, "watchpoint")),
            format!("{} 个监测点均未作判断", count(watched)),
        ),
        _ => (
            format!("{}, no hits", plural(judged, "watchpoint")),
            format!("{} 个监测点均未命中", count(judged)),
        ),
    };
    Sentence { en, zh }
}

/// `1 step`, `1,200 steps`.
fn plural(of: u64, one: &str) -> String {
    format!("{} {one}{}", count(of), if of == 1 { "" } else { "s" })
}

impl From<State> for RowState {
    fn from(state: State) -> Self {
        match state {
            State::Unknown => Self::Skipped,
            State::Fine => Self::Passed,
            State::Note => Self::Note,
            State::Fault => Self::Warning,
            State::Error => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::Rule;
    use crate::watchpoint::config::{Value, WatchpointConfig, WatchpointsFile};
    use crate::watchpoint::{Figures, FirstCause};
    use RowState::{Open, Passed, Skipped, Warning};
    use trainscope_api::findings::Coverage;
    use trainscope_format::Severity;

    const WATCHED: [&str; 5] = [
        "learning_rate_jump",
        "loss_nan",
        "weight_overflow",
        "input_range",
        "loss_spike",
    ];

    fn watchpoints() -> Watchpoints {
        let config = |id: &str| {
            let id = ("condition".to_owned(), Value::Text(id.to_owned()));
            WatchpointConfig([id].into())
        };
        let watchpoint = WATCHED.into_iter().map(config).collect();
        Watchpoints::from_file(&WatchpointsFile { watchpoint }).unwrap()
    }

    fn hit(watchpoint: u32, severity: Severity, step: i64) -> Hit {
        Hit {
            condition: watchpoints().all()[watchpoint as usize].condition,
            watchpoint,
            severity,
            rank: 0,
            step,
            last_step: step,
            tensor: "t".into(),
            node: None,
            values: Figures::default(),
            thresholds: Figures::default(),
            measure: None,
            sentence: Sentence::default(),
            source: None,
        }
    }

    fn remark(rule: Rule, state: State, places: u64) -> Remark {
        Remark {
            rule,
            state,
            sentence: Sentence::default(),
            node: None,
            object: String::new(),
            source: None,
            at: None,
            places,
            record: "",
        }
    }

    fn states(findings: &Findings, remarks: &[Remark], is_damaged: bool) -> [RowState; 7] {
        rows(findings, &watchpoints(), remarks, is_damaged).map(|row| row.state)
    }

    #[test]
    fn each_hit_has_a_row_and_the_first_of_the_worst_speaks() {
        let findings = Findings {
            hits: vec![
                hit(0, Severity::Info, 40),
                hit(4, Severity::Warning, 41),
                hit(1, Severity::Error, 43),
                hit(1, Severity::Error, 44),
            ],
            ..Findings::default()
        };
        let rows = rows(&findings, &watchpoints(), &[], false);
        let counts = rows.each_ref().map(|row| (row.watched, row.hits));
        assert_eq!(
            counts,
            [(0, 0), (1, 1), (1, 0), (1, 0), (2, 3), (0, 0), (0, 0)]
        );
        let worst = rows.each_ref().map(|row| row.worst);
        assert_eq!(worst, [None, Some(0), None, None, Some(2), None, None]);
        assert_eq!(rows[4].state, RowState::Error);
        assert!(rows[4].sentence.en.is_empty());
    }

    #[test]
    fn the_first_of_the_worst_remarks_speaks_unless_a_hit_says_the_same() {
        let remarks = [
            remark(Rule::Settings, State::Fine, 0),
            remark(Rule::Broadcast, State::Note, 1),
            remark(Rule::UselessBias, State::Fault, 2),
            remark(Rule::LinearLayers, State::Fault, 3),
            remark(Rule::Scaling, State::Unknown, 0),
        ];
        let findings = Findings {
            without_data: (0..5).collect(),
            ..Findings::default()
        };
        let all = rows(&findings, &watchpoints(), &remarks, false);
        let told = all.each_ref().map(|row| row.remark);
        assert_eq!(told, [None, None, Some(2), None, None, None, None]);
        let states = all.map(|row| row.state);
        assert_eq!(
            states,
            [Open, Open, Warning, Skipped, Skipped, Skipped, Skipped]
        );

        let same = crate::watchpoint::CONDITIONS.iter();
        let mut same = same.filter(|condition| condition.rule == Some(Rule::UselessBias));
        let findings = Findings {
            hits: vec![Hit {
                condition: same.next().unwrap(),
                ..hit(2, Severity::Warning, 0)
            }],
            ..Findings::default()
        };
        let all = rows(&findings, &watchpoints(), &remarks, false);
        assert_eq!((all[2].worst, all[2].remark), (Some(0), Some(3)));
    }

    #[test]
    fn a_row_passes_only_where_data_of_its_topic_were_judged() {
        let whole = Findings {
            judged: Coverage {
                tensors: 14,
                ..Coverage::default()
            },
            inputs: 1,
            ..Findings::default()
        };
        let no_data = Findings {
            without_data: (0..5).collect(),
            ..Findings::default()
        };
        let wrong = Findings {
            first_cause: Some(FirstCause {
                hit: 0,
                explains: Vec::new(),
                sentence: Sentence::default(),
                advice: Sentence::default(),
            }),
            inputs: 0,
            ..whole.clone()
        };
        let graph = [remark(Rule::LinearLayers, State::Fine, 0)];
        for (findings, remarks, is_damaged, expected) in [
            (
                &whole,
                &[][..],
                false,
                [Passed, Passed, Passed, Passed, Passed, Skipped, Skipped],
            ),
            (
                &whole,
                &[],
                true,
                [Warning, Passed, Passed, Passed, Passed, Skipped, Skipped],
            ),
            (
                &wrong,
                &[],
                false,
                [Passed, Open, Passed, Skipped, Passed, Skipped, Skipped],
            ),
            (
                &no_data,
                &[],
                false,
                [Open, Skipped, Skipped, Skipped, Skipped, Skipped, Skipped],
            ),
            (
                &no_data,
                &graph,
                false,
                [Open, Skipped, Open, Skipped, Skipped, Skipped, Skipped],
            ),
        ] {
            assert_eq!(states(findings, remarks, is_damaged), expected);
        }
    }

    #[test]
    fn a_row_without_judged_watchpoints_does_not_say_no_hits() {
        let said = |findings: &Findings, remarks: &[Remark]| {
            rows(findings, &watchpoints(), remarks, false).map(|row| row.sentence.en)
        };
        let no_data = Findings {
            without_data: (0..5).collect(),
            inputs: 1,
            ..Findings::default()
        };
        // Rules about the program and the settings need no watchpoint.
        let remarks = [
            remark(Rule::WaitsForDevice, State::Fine, 0),
            remark(Rule::Settings, State::Fine, 0),
        ];
        let texts = said(&no_data, &remarks);
        assert_eq!(texts[1], "1 watchpoint, not judged");
        assert_eq!(
            texts[3..5],
            ["1 watchpoint, not judged", "2 watchpoints, not judged"]
        );
        // None is about speed.
        assert_eq!(texts[6], "no watchpoint is switched on");
        // Of two watchpoints of the loss one has data.
        let one = Findings {
            without_data: vec![0, 1, 2, 3],
            ..Findings::default()
        };
        assert_eq!(said(&one, &[])[4], "1 watchpoint, no hits");
    }
}
