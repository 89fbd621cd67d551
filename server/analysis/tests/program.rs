//! Rules over facts of the program: each with a fact that is a fault, one near it that is sound, and one without the
//! numbers to judge it.

use trainscope_analysis::diagnosis::{Examiner, Framework, Remark, Rule, State};
use trainscope_analysis::watchpoint::{CONDITIONS, Context, Evaluator, Findings, Watchpoints};
use trainscope_format::program::{ProgramFact, SourceLine};

mod cases;
mod causes;

use cases::CASES;

/// A fact as `kind subject | number=1 text=word`. Underscores of texts are kept; `~` is a space.
fn fact(written: &str) -> ProgramFact {
    let (head, fields) = written.split_once('|').unwrap_or((written, ""));
    let (kind, subject) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
    let mut fact = ProgramFact {
        kind: kind.to_owned(),
        subject: subject.replace('~', " "),
        ..ProgramFact::default()
    };
    for (name, value) in fields.split_whitespace().filter_map(|f| f.split_once('=')) {
        match value.parse() {
            Ok(number) => fact.numbers.push((name.to_owned(), number)),
            Err(_) => fact.texts.push((name.to_owned(), value.replace('~', " "))),
        }
    }
    fact
}

/// The same at a line of the program.
fn at_line(written: &str, line: u64) -> ProgramFact {
    ProgramFact {
        source: Some(SourceLine {
            file: "train.py".to_owned(),
            line,
            function: "main".to_owned(),
            first_line: line - 1,
            excerpt: "for x, y in batches:\n    loss.backward()\n".to_owned(),
        }),
        ..fact(written)
    }
}

/// Remarks of facts of rank 0, each a step after the one before.
fn remarks(facts: &[&str]) -> Vec<Remark> {
    let mut examiner = Examiner::default();
    for (step, written) in (0..).zip(facts) {
        let fact = &fact(written);
        examiner.learn(0, &Context::Program { step, fact });
    }
    examiner.remarks(Framework::Python)
}

/// The worst state of a rule; `None` without a remark of it.
fn state(facts: &[&str], rule: Rule) -> Option<State> {
    let all = remarks(facts).into_iter();
    all.filter(|remark| remark.rule == rule)
        .map(|remark| remark.state)
        .max()
}

/// Findings of a run with facts and a loss.
fn judged(facts: &[ProgramFact], loss: impl Fn(i64) -> f64) -> Findings {
    let mut examiner = Examiner::default();
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for fact in facts {
        let context = Context::Program { step: 10, fact };
        examiner.learn(0, &context);
        evaluator.context(0, context);
    }
    for step in 10..80 {
        evaluator.scalar(0, "loss", step, 0.0, loss(step));
    }
    evaluator.findings_with(&examiner.remarks(Framework::Python))
}

fn ids(findings: &Findings) -> Vec<&str> {
    findings.hits.iter().map(|hit| hit.condition.id).collect()
}

#[test]
fn faults_are_found_and_lookalikes_are_not() {
    for case in CASES {
        let name = case.rule.name();
        for facts in case.faults {
            assert_eq!(
                state(facts, case.rule),
                Some(case.worst),
                "{name}: {facts:?}"
            );
        }
        for facts in case.sound {
            assert_eq!(
                state(facts, case.rule),
                Some(State::Fine),
                "{name}: {facts:?}"
            );
        }
        for facts in case.unknown {
            let state = state(facts, case.rule).unwrap_or(State::Unknown);
            assert_eq!(state, State::Unknown, "{name}: {facts:?}");
        }
    }
}

/// Facts that may be intended.
#[test]
fn what_may_be_meant_is_a_note() {
    for (facts, rule) in [
        (
            "reached | trainable=8 foreign=6 unregistered=0",
            Rule::ParametersNotRegistered,
        ),
        (
            "reached | trainable=4 without_gradient=1 beside_reached=1 not_reached=2.bias",
            Rule::ParametersNotReached,
        ),
        (
            "loss_function mse_loss | broadcast=1 outputs_shape=[64,~10] targets_shape=[10]",
            Rule::Broadcast,
        ),
        (
            "loss_function mse_loss | before=softmax",
            Rule::LossActivation,
        ),
        (
            "loss_function cross_entropy | before=log_softmax",
            Rule::LossActivation,
        ),
        (
            "optimizer_parameters Adam | held=4 of_model=4 others=0 missing=2",
            Rule::OptimizerParameters,
        ),
        (
            "module_modes | passes=90 evaluation=90 class=BatchNorm2d",
            Rule::EvaluationMode,
        ),
        (
            "targets cross_entropy | batches=6 labels=600 classes_seen=2 most_common_share=0.95",
            Rule::OneLabel,
        ),
        (
            "targets mse_loss | correlation=1 feature=0 samples=500",
            Rule::LabelInFeatures,
        ),
        (
            "probe initial_loss | result=failed says=far",
            Rule::PreflightProbe,
        ),
        ("failure KeyboardInterrupt |", Rule::ProgramFailed),
    ] {
        assert_eq!(state(&[facts], rule), Some(State::Note), "{facts}");
    }
    let wrapped = [
        "optimizer_parameters SAM | held=6 missing=0 twice=6",
        "optimizer_parameters SGD | held=6 missing=0 twice=6",
    ];
    assert_eq!(
        state(&wrapped, Rule::OptimizerParameters),
        Some(State::Note)
    );
    let ids: Vec<&str> = CONDITIONS.iter().map(|condition| condition.id).collect();
    assert!(CASES.iter().all(|case| ids.contains(&case.rule.name())));
}

/// Every rule that facts decide is in the table.
#[test]
fn every_rule_over_facts_has_a_case() {
    let only_of_graphs = [
        Rule::UnusedParameters,
        Rule::UselessBias,
        Rule::LinearLayers,
        Rule::Scaling,
    ];
    for rule in Rule::ALL
        .into_iter()
        .filter(|rule| !only_of_graphs.contains(rule))
    {
        assert!(
            CASES.iter().any(|case| case.rule == rule),
            "{}",
            rule.name()
        );
    }
}

#[test]
fn sentences_have_the_numbers() {
    let first = |facts: &str, rule| {
        let all = remarks(&[facts]).into_iter();
        let found = all
            .filter(|remark| remark.rule == rule)
            .map(|remark| remark.sentence.en);
        found.collect::<Vec<_>>().join("\n")
    };
    for (facts, rule, words) in [
        (
            "gradients_kept | updates=45 kept=40",
            Rule::GradientsNotCleared,
            &["40 of 45", "zero_grad() is missing"][..],
        ),
        (
            "reached | trainable=8 without_gradient=4 not_reached=a.weight,a.bias",
            Rule::ParametersNotReached,
            &["a.weight,a.bias and 2 more", "8 trainable"],
        ),
        (
            "operation_not_finite log | not_finite=52 elements=192 module=head reason=52~of~192~inputs~of~log~are~0 inputs_from=softmax",
            Rule::OperationNotFinite,
            &[
                "log in head makes 52 of 192 elements",
                "52 of 192 inputs of log are 0",
                "come from softmax",
            ],
        ),
        (
            "operation_not_finite log | without_line=its~step~was~not~looked~at",
            Rule::OperationNotFinite,
            &["its line is not known", "`every=1`"],
        ),
        (
            "inputs x | largest_rms=4254 smallest_rms=0.001",
            Rule::InputScale,
            &["from 0.001 to 4,254", "normalize them"],
        ),
        (
            "failure ValueError | message=no~data",
            Rule::ProgramFailed,
            &["ValueError: no data"],
        ),
    ] {
        let said = first(facts, rule);
        for word in words {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
}

/// Texts of a file are of any length, with any characters, and there may be any number of facts.
#[test]
fn hostile_facts_are_bounded() {
    let mut examiner = Examiner::default();
    for subject in 0..6_000 {
        let long = "x\n\u{1b}[31m".repeat(200);
        let fact = ProgramFact {
            kind: "failure".to_owned(),
            subject: format!("E{subject}"),
            numbers: vec![("calls".to_owned(), f64::NAN)],
            texts: vec![("message".to_owned(), long)],
            source: None,
        };
        let step = if subject % 2 == 0 { i64::MIN } else { i64::MAX };
        examiner.learn(subject % 7, &Context::Program { step, fact: &fact });
    }
    let remarks = examiner.remarks(Framework::Python);
    assert!((1_000..5_000).contains(&remarks.len()), "{}", remarks.len());
    for remark in remarks
        .iter()
        .filter(|remark| remark.rule == Rule::ProgramFailed)
    {
        assert!(remark.sentence.en.len() < 400 && !remark.sentence.en.contains(char::is_control));
    }
    let not_numbers = "reached | trainable=NaN without_gradient=inf foreign=NaN";
    assert_eq!(state(&[not_numbers], Rule::ParametersNotReached), None);
}

/// An epoch that is begun for each pass gives its first batch only; one batch that is kept is a note.
#[test]
fn a_loader_that_is_begun_for_each_pass_gives_its_first_batch() {
    let same = "inputs x | batches=20 different=1";
    for (loader, expected) in [
        (
            "data_loader Data | batches=20 passes=200 iterations=200 training=1",
            State::Fault,
        ),
        (
            "data_loader Data | batches=1 passes=200 iterations=200 training=1",
            State::Note,
        ),
        (
            "data_loader Data | batches=20 passes=200 iterations=1 training=1",
            State::Note,
        ),
    ] {
        let found = state(&[same, loader], Rule::RepeatedBatch);
        assert_eq!(found, Some(expected), "{loader}");
    }
    let other = "inputs x | batches=20 different=20";
    let loader = "data_loader Data | batches=20 passes=200 iterations=200 training=1 shuffle=1";
    let found = state(&[other, loader], Rule::RepeatedBatch);
    assert_eq!(found, Some(State::Fine));
}

/// The conditions that a loss hits which rises hundredfold, beside facts of each step.
fn of_a_rising_loss(facts_at: &dyn Fn(i64) -> Vec<String>, tags: &[&str]) -> Vec<String> {
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for step in 0..80 {
        for written in facts_at(step) {
            let fact = &fact(&written);
            evaluator.context(0, Context::Program { step, fact });
        }
        for tag in tags {
            evaluator.scalar(0, tag, step, 0.0, 0.5 + (step as f64 / 8.0).powi(2));
        }
    }
    let findings = evaluator.findings();
    let alarms = findings
        .hits
        .iter()
        .filter(|hit| hit.severity >= trainscope_format::Severity::Warning);
    alarms.map(|hit| hit.condition.id.to_owned()).collect()
}

/// Errors of a value whose targets grow with the returns, of chosen actions and of models that play against each other.
#[test]
fn a_loss_whose_targets_move_does_not_diverge() {
    let sized = |size: f64| vec![format!("loss_function smooth_l1_loss | targets_rms={size}")];
    let one = &["loss"][..];
    let fixed = |step: i64| sized(1.0 + 0.3 * (step % 3) as f64);
    assert_eq!(of_a_rising_loss(&fixed, one), ["loss_divergence"]);
    let growing = |step: i64| sized(1.0 + step as f64 / 4.0);
    assert_eq!(of_a_rising_loss(&growing, one), [""; 0]);
    let chosen = |_: i64| vec!["loss_function mse_loss | chosen=1 targets_rms=1".to_owned()];
    assert_eq!(of_a_rising_loss(&chosen, one), [""; 0]);
    let policy = |_: i64| vec!["loss_function policy_gradient | passes=1".to_owned()];
    assert_eq!(of_a_rising_loss(&policy, one), [""; 0]);

    let kept = |models: u8| format!("gradients_kept | models={models} optimizers={models}");
    let two = &["loss/first", "loss/second"][..];
    let several = |_: i64| vec![kept(2)];
    assert_eq!(of_a_rising_loss(&several, two), [""; 0]);
    let single = |_: i64| vec![kept(1)];
    assert!(of_a_rising_loss(&single, two).contains(&"loss_divergence".to_owned()));
    // Models of folds, one after the other, have one loss.
    assert_eq!(of_a_rising_loss(&several, one), ["loss_divergence"]);
}
