//! Judgements of profiles: hits with their gain, rules that could not be judged, and runs without profiles.

use trainscope_analysis::guide;
use trainscope_analysis::trace::advice::{Judgement, Lack, Limits, Rule};
use trainscope_analysis::watchpoint::config::{Value, WatchpointConfig, WatchpointsFile};
use trainscope_analysis::watchpoint::{
    CONDITIONS, Evaluator, Findings, Key, Missing, ProfileJudgement, Watchpoints,
};
use trainscope_api::Sentence;
use trainscope_api::findings::Verdict;
use trainscope_api::profile::Advice;
use trainscope_format::Severity;

/// The rules of the recommended watchpoints.
const RECOMMENDED: [Rule; 8] = [
    Rule::DataBound,
    Rule::HostBound,
    Rule::ExposedCommunication,
    Rule::StragglerRank,
    Rule::MemoryNearLimit,
    Rule::MemoryGrowth,
    Rule::AllocatorInStep,
    Rule::StepTimeDrift,
];

fn advice(rule: Rule, severity: Severity, value: f64, limit: f64) -> Advice {
    Advice {
        id: rule.name().to_owned(),
        severity,
        value,
        limit,
        gain_nanos: 12_000_000,
        evidence: Sentence {
            en: "Loading data takes 72 % of the steps.".to_owned(),
            zh: "加载数据占迭代的 72 %。".to_owned(),
        },
        step: Some(7),
        ..Advice::default()
    }
}

/// A profile of steps 4 to 15 of the profiler, which are 1004 to 1015 of the training.
fn profile(rank: u32, judged: Judgement) -> ProfileJudgement {
    ProfileJudgement {
        rank,
        session: "cycle 1".into(),
        step_range: (4, 15),
        step_offset: 1_000,
        steps: 12,
        left_out: 0,
        judged: vec![judged],
    }
}

fn found(advice: Vec<Advice>) -> Judgement {
    Judgement {
        advice,
        ..Judgement::default()
    }
}

fn judge(
    watchpoints: Watchpoints,
    profiles: impl IntoIterator<Item = ProfileJudgement>,
) -> Findings {
    let mut evaluator = Evaluator::new(watchpoints);
    for profile in profiles {
        evaluator.profile(profile);
    }
    evaluator.findings()
}

fn watching(watchpoints: &[&[(&str, Value)]]) -> Watchpoints {
    let config = |keys: &&[(&str, Value)]| {
        let keys = keys.iter().cloned();
        WatchpointConfig(keys.map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let watchpoint = watchpoints.iter().map(config).collect();
    let made = Watchpoints::from_file(&WatchpointsFile { watchpoint });
    made.unwrap_or_else(|error| panic!("{error}"))
}

fn condition(rule: Rule) -> (&'static str, Value) {
    ("condition", Value::Text(rule.name().to_owned()))
}

#[test]
fn events_that_exceed_a_limit_of_the_reader_are_named() {
    let judged = |left_out: u64| {
        let judgement = ProfileJudgement {
            left_out,
            ..profile(0, Judgement::default())
        };
        let about = judge(watching(&[]), [judgement]).about_files.into_iter();
        about.map(|sentence| sentence.en).collect::<Vec<_>>()
    };
    let said =
        "1,200 events of the profile cycle 1 exceed a limit of the reader: they are counted only.";
    assert_eq!(judged(1_200), [said]);
    assert!(judged(0).is_empty());
}

#[test]
fn a_rule_about_all_steps_has_no_step_and_the_figure_of_the_first_rank() {
    let of = |rank: u32, gain_nanos: i64, step: i64| {
        let advice = Advice {
            gain_nanos,
            step: Some(step),
            ..advice(Rule::ExposedCommunication, Severity::Warning, 0.4, 0.1)
        };
        profile(rank, found(vec![advice]))
    };
    let watchpoints = watching(&[&[condition(Rule::ExposedCommunication)]]);
    let ranks = [
        of(0, 1_850_000, 11),
        of(1, 1_870_000, 15),
        of(2, 1_849_000, 4),
    ];
    let findings = judge(watchpoints, ranks);
    let hits: Vec<_> = findings
        .hits
        .iter()
        .map(|hit| (hit.rank, hit.step, hit.last_step))
        .collect();
    assert_eq!(hits, [0, 1, 2].map(|rank| (rank, 1_004, 1_015)));
    let rows = guide::rows(
        &findings,
        &watching(&[&[condition(Rule::ExposedCommunication)]]),
        &[],
        false,
    );
    let worst: Vec<usize> = rows.iter().filter_map(|row| row.worst).collect();
    assert_eq!(worst, [0]);
    assert_eq!(findings.first_cause.map(|cause| cause.hit), Some(0));
    let outliers = advice(Rule::StepOutliers, Severity::Warning, 0.1, 0.02);
    let watchpoints = watching(&[&[condition(Rule::StepOutliers)]]);
    let findings = judge(watchpoints, [profile(0, found(vec![outliers]))]);
    assert_eq!(
        (findings.hits[0].step, findings.hits[0].last_step),
        (1_007, 1_007)
    );
}

#[test]
fn every_rule_has_a_condition_of_its_name() {
    for rule in Rule::ALL {
        let mut conditions = CONDITIONS.iter();
        let condition = conditions
            .find(|condition| condition.profile_rule == Some(rule))
            .unwrap();
        assert_eq!(condition.id, rule.name());
        assert_eq!(
            condition.recommended,
            RECOMMENDED.contains(&rule),
            "{}",
            condition.id
        );
    }
    let conditions = CONDITIONS.iter();
    let of_profiles = conditions.filter(|condition| condition.profile_rule.is_some());
    assert_eq!(of_profiles.count(), Rule::ALL.len());
}

#[test]
fn the_limits_are_the_parameters_of_the_conditions() {
    let limits = Limits::default();
    let shares: [(f64, f64); 8] = [
        (limits.data_share, 0.10),
        (limits.data_share_error, 0.50),
        (limits.idle_share, 0.30),
        (limits.host_idle_share, 0.20),
        (limits.slowness, 1.01),
        (limits.memory_share_error, 0.98),
        (limits.drift_probability, 0.01),
        (limits.operator_step_share, 0.01),
    ];
    for (limit, expected) in shares {
        assert_eq!(limit.to_bits(), expected.to_bits());
    }
    let counts = (
        limits.slow_steps,
        limits.growth_steps,
        limits.regression_steps,
    );
    assert_eq!(counts, (10, 20, 5));
    let recommended = Watchpoints::recommended().profile_limits();
    assert_eq!(recommended, [Limits::default()]);
    assert_eq!(Watchpoints::none().profile_limits(), []);

    let all = watching(&[
        &[condition(Rule::DataBound), ("share_gt", Value::Float(0.3))],
        &[
            condition(Rule::MemoryGrowth),
            ("on", Value::Bool(false)),
            ("steps", Value::Int(50)),
        ],
        &[condition(Rule::DataBound), ("share_gt", Value::Float(0.05))],
    ]);
    let first = Limits {
        data_share: 0.3,
        ..limits.clone()
    };
    let second = Limits {
        data_share: 0.05,
        ..limits
    };
    assert_eq!(all.profile_limits(), [first, second]);
}

#[test]
fn a_finding_is_a_hit_with_its_gain() {
    for (severity, value, limit) in [(Severity::Warning, 0.2, 0.1), (Severity::Error, 0.72, 0.5)] {
        let advice = advice(Rule::DataBound, severity, value, limit);
        let findings = judge(
            Watchpoints::recommended(),
            [profile(2, found(vec![advice]))],
        );
        let [hit] = &findings.hits[..] else {
            panic!("{:?}", findings.hits);
        };
        let steps = (hit.step, hit.last_step);
        assert_eq!(
            (hit.severity, hit.rank, steps),
            (severity, 2, (1_004, 1_015))
        );
        assert_eq!(&*hit.tensor, "cycle 1");
        let sentence = "Loading data takes 72 % of the steps; at best 12 ms less a step";
        assert_eq!(hit.sentence.en, sentence);
        assert_eq!(
            hit.sentence.zh,
            "加载数据占迭代的 72 %；每个迭代最多可缩短 12 ms"
        );
        assert_eq!(hit.values.of(Key::ShareGt), Some(value));
        assert_eq!(hit.thresholds.of(Key::ShareGt), Some(limit));
        assert_eq!(hit.values.of(Key::GainSecs), Some(0.012));
        let measures = hit.measures();
        assert_eq!(measures.len(), 1, "the gain has no limit");
        assert_eq!(findings.verdict(), Verdict::Problem);
        assert_eq!(findings.summary().en, sentence);
    }
}

#[test]
fn a_rule_that_lacks_data_is_neither_passed_nor_hit() {
    let judged = Judgement {
        passed: vec![Rule::DataBound],
        not_judged: vec![
            (Rule::HostBound, Lack::NoLaunches),
            (Rule::MemoryGrowth, Lack::NoMemory),
            (Rule::StragglerRank, Lack::OneRank),
        ],
        ..Judgement::default()
    };
    let watchpoints = Watchpoints::recommended();
    let findings = judge(watchpoints.clone(), [profile(0, judged)]);
    assert!(findings.hits.is_empty());
    let [entry] = &findings.inconclusive[..] else {
        panic!("{:?}", findings.inconclusive);
    };
    assert_eq!(entry.condition.id, Rule::HostBound.name());
    assert_eq!(entry.reason, Missing::Profile(Lack::NoLaunches));
    assert_eq!((entry.step, entry.steps), (1_004, 12));
    // All others are about data that the profile does not have.
    for (index, watchpoint) in (0..).zip(watchpoints.all()) {
        let has_data = findings.without_data.binary_search(&index).is_err();
        let expected = [Rule::DataBound, Rule::HostBound];
        let rule = watchpoint.condition.profile_rule;
        assert_eq!(
            has_data,
            rule.is_some_and(|rule| expected.contains(&rule)),
            "{}",
            watchpoint.condition.id
        );
    }
    assert_eq!((findings.judged.profiles, findings.judged.steps), (1, 12));
    assert_eq!(
        findings.summary().en,
        "No problems found in 1 profile over 12 steps. No tensors were checked."
    );
}

#[test]
fn a_profile_of_which_nothing_could_be_judged_is_no_pass() {
    let judged = Judgement {
        not_judged: vec![(Rule::DataBound, Lack::NoSteps)],
        ..Judgement::default()
    };
    let findings = judge(Watchpoints::recommended(), [profile(0, judged)]);
    assert_eq!(findings.verdict(), Verdict::Nothing);
    assert_eq!(findings.judged.profiles, 0);
}

#[test]
fn without_profiles_their_conditions_have_no_data() {
    let watchpoints = Watchpoints::recommended();
    let findings = judge(watchpoints.clone(), []);
    for (index, watchpoint) in (0..).zip(watchpoints.all()) {
        if watchpoint.condition.profile_rule.is_some() {
            assert!(
                findings.without_data.contains(&index),
                "{}",
                watchpoint.condition.id
            );
        }
    }
    assert!(findings.inconclusive.is_empty());
}

#[test]
fn each_watchpoint_is_judged_by_its_own_limits() {
    let of = |limit: f64| {
        [
            condition(Rule::DataBound),
            ("share_gt", Value::Float(limit)),
        ]
    };
    let named = [
        condition(Rule::DataBound),
        ("exclude", Value::Text("cycle*".to_owned())),
    ];
    let watchpoints = watching(&[&of(0.3), &of(0.05), &named]);
    let strict = advice(Rule::DataBound, Severity::Warning, 0.2, 0.05);
    let passed = Judgement {
        passed: vec![Rule::DataBound],
        ..Judgement::default()
    };
    let findings = judge(
        watchpoints,
        [ProfileJudgement {
            judged: vec![passed, found(vec![strict.clone()]), found(vec![strict])],
            ..profile(0, Judgement::default())
        }],
    );
    let hits: Vec<u32> = findings.hits.iter().map(|hit| hit.watchpoint).collect();
    assert_eq!(hits, [1]);
    assert_eq!(findings.without_data, [2], "it excludes the session");
}

#[test]
fn a_slow_rank_is_one_hit_of_that_rank() {
    let slow = Advice {
        rank: Some(2),
        ..advice(Rule::StragglerRank, Severity::Warning, 1.3, 1.1)
    };
    let ranks = (0..4).map(|rank| profile(rank, found(vec![slow.clone()])));
    let findings = judge(Watchpoints::recommended(), ranks);
    let hits: Vec<(u32, i64)> = findings
        .hits
        .iter()
        .map(|hit| (hit.rank, hit.step))
        .collect();
    assert_eq!(hits, [(2, 1_007)]);
    let waits = advice(Rule::DataBound, Severity::Warning, 0.2, 0.1);
    let ranks = (0..4).map(|rank| profile(rank, found(vec![waits.clone()])));
    let findings = judge(Watchpoints::recommended(), ranks);
    assert_eq!(findings.hits.len(), 4, "each rank waits for its own data");
}

#[test]
fn the_newest_profile_of_a_rank_counts() {
    let waits = advice(Rule::DataBound, Severity::Error, 0.7, 0.5);
    let passed = Judgement {
        passed: vec![Rule::DataBound],
        ..Judgement::default()
    };
    let findings = judge(
        Watchpoints::recommended(),
        [profile(0, found(vec![waits])), profile(0, passed)],
    );
    assert!(findings.hits.is_empty());
}

#[test]
fn a_slow_training_is_not_the_cause_of_a_wrong_one() {
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for step in 1_000..1_020 {
        let loss = if step < 1_010 { 1.0 } else { f64::NAN };
        evaluator.scalar(0, "loss", step, step as f64, loss);
    }
    let waits = advice(Rule::DataBound, Severity::Error, 0.72, 0.5);
    evaluator.profile(profile(0, found(vec![waits])));
    let findings = evaluator.findings();
    let first = findings.first_hit().map(|hit| (hit.condition.id, hit.step));
    assert_eq!(first, Some(("loss_nan", 1_010)));
    let cause = findings.first_cause.as_ref().unwrap();
    let mut explained = cause.explains.iter().map(|index| &findings.hits[*index]);
    assert!(explained.all(|hit| hit.condition.profile_rule.is_none()));
    let mut causes = findings
        .causes
        .iter()
        .map(|cause| &findings.hits[cause.hit]);
    assert!(causes.all(|hit| hit.condition.profile_rule.is_none()));
    assert_eq!(
        findings.hits.first().map(|hit| hit.condition.id),
        Some(Rule::DataBound.name())
    );
}
