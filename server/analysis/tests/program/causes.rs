//! The first cause: proofs before symptoms, tensors before curves, plateaus last.

use trainscope_analysis::diagnosis::{Examiner, Framework};
use trainscope_analysis::watchpoint::{Context, Evaluator, Findings, Watchpoints};
use trainscope_format::Severity;
use trainscope_format::program::ProgramFact;
use trainscope_format::tensor::DType;

use super::{at_line, fact, ids, judged};

fn first(findings: &Findings) -> &str {
    findings.first_hit().map_or("", |hit| hit.condition.id)
}

fn flat(_: i64) -> f64 {
    1.0
}

fn nan(step: i64) -> f64 {
    if step < 60 { 1.0 } else { f64::NAN }
}

/// Findings of facts at a step and a loss, with a layer whose output is NaN since a step.
fn with_tensor(facts: &[(i64, ProgramFact)], bad_from: i64) -> Findings {
    let mut examiner = Examiner::default();
    let mut evaluator = Evaluator::new(Watchpoints::recommended());
    for (step, fact) in facts {
        let context = Context::Program { step: *step, fact };
        examiner.learn(0, &context);
        evaluator.context(0, context);
    }
    for step in 0..40_i16 {
        let is_bad = i64::from(step) >= bad_from;
        let last = if is_bad { f32::NAN } else { f32::from(step) };
        let bytes = crate::support::bytes(&[1.0, 0.5, last, 0.25]);
        let kind = (DType::F32, &[2_u64, 2][..]);
        let at = (0, i64::from(step));
        crate::support::observe(&mut evaluator, at, "activation/head", kind, &bytes, None);
        let loss = if is_bad { f64::NAN } else { 1.0 };
        evaluator.scalar(0, "loss", step.into(), 0.0, loss);
    }
    evaluator.findings_with(&examiner.remarks(Framework::Python))
}

#[test]
fn a_fact_of_the_program_is_the_cause_of_a_plateau_and_names_its_line() {
    let facts = [at_line("gradients_kept | updates=45 kept=40", 42)];
    let findings = judged(&facts, flat);
    assert_eq!(first(&findings), "gradients_not_cleared");
    let cause = findings.first_cause.as_ref().map(|cause| &cause.sentence);
    let said = cause.map(|sentence| {
        (
            sentence.en.contains("(train.py:42)"),
            sentence.zh.contains("train.py:42"),
        )
    });
    assert_eq!(said, Some((true, true)));
    let hit = findings.first_hit();
    let source = hit.and_then(|hit| hit.source.as_ref());
    assert_eq!(source.map(|source| source.line), Some(42));
    let at = hit.map(|hit| (hit.step, hit.last_step, hit.severity));
    assert_eq!(at, Some((10, 79, Severity::Warning)));
}

#[test]
fn a_fact_explains_only_what_it_can_cause() {
    // Gradients that grow may end in NaN; a double softmax does not.
    let kept = fact("gradients_kept | updates=45 kept=40");
    assert_eq!(first(&judged(&[kept], nan)), "gradients_not_cleared");
    let doubled = fact("loss_function cross_entropy | before=softmax");
    assert_eq!(
        first(&judged(std::slice::from_ref(&doubled), nan)),
        "loss_nan"
    );
    assert_eq!(first(&judged(&[doubled], flat)), "loss_activation");
    // Without any other hit, it is the cause itself.
    let falls = |step: i64| 2.0 * 0.97_f64.powi(i32::try_from(step).unwrap_or(0));
    let missing = fact("reached | trainable=8 without_gradient=8 not_reached=a");
    assert_eq!(first(&judged(&[missing], falls)), "parameters_not_reached");
}

#[test]
fn a_note_is_no_cause() {
    let notes = [
        fact("module_modes | passes=90 evaluation=90 class=BatchNorm2d"),
        fact("inputs x | batches=20 different=1"),
        fact("failure KeyboardInterrupt |"),
    ];
    let findings = judged(&notes, |step| {
        2.0 - 0.02 * f64::from(i32::try_from(step).unwrap_or(0))
    });
    assert!(
        findings
            .hits
            .iter()
            .all(|hit| hit.severity == Severity::Info)
    );
    assert_eq!(findings.hits.len(), 3, "{:?}", ids(&findings));
    assert_eq!(findings.first_cause, None);
}

#[test]
fn of_several_facts_the_one_that_makes_the_others_comes_first() {
    let facts = [
        fact("reached | trainable=8 without_gradient=8 not_reached=a"),
        fact("loss_function ? | has_gradient=0"),
        fact("targets cross_entropy | batches=6 labels=384 classes_seen=1"),
    ];
    assert_eq!(first(&judged(&facts, flat)), "loss_without_gradient");
    let facts = [
        fact("embedding pos | rows=64 rows_with_gradient=1 looks=9 row=0"),
        fact("optimizer_parameters Adam | held=6 others=2 missing=2 missing=head"),
    ];
    assert_eq!(first(&judged(&facts, flat)), "optimizer_parameters");
}

/// The operation explains the tensors and the loss, also if they were seen a step earlier, between two looks.
#[test]
fn the_operation_comes_before_the_tensors_that_it_explains() {
    let log = "operation_not_finite log | not_finite=52 elements=192 bad_inputs=52 module=head reason=zeros";
    for (of_fact, bad_from) in [(20, 20), (21, 20)] {
        let findings = with_tensor(&[(of_fact, at_line(log, 7))], bad_from);
        assert_eq!(first(&findings), "operation_not_finite");
        let hit = findings.first_hit();
        let seen = hit.map(|hit| (hit.step, &*hit.tensor, hit.node.as_deref()));
        assert_eq!(seen, Some((of_fact, "log", Some("head"))));
    }
    let without = with_tensor(&[], 20);
    assert_eq!(first(&without), "tensor_overflow");
    let steps = with_tensor(&[(20, fact(log))], 20);
    let of_step = steps
        .causes
        .iter()
        .find(|cause| steps.hits[cause.hit].step == 20);
    let of_step = of_step.map(|cause| steps.hits[cause.hit].condition.id);
    assert_eq!(of_step, Some("operation_not_finite"));
}

/// An operation that overflows may be the end of a growth; one outside of its domain is the cause alone.
#[test]
fn a_growth_before_an_overflow_is_the_cause_of_it() {
    let grows = |step: i64| match step {
        ..40 => 1.0 + 0.01 * f64::from(i32::try_from(step % 3).unwrap_or(0)),
        40..60 => 1.6_f64.powi(i32::try_from(step - 39).unwrap_or(0)) * 20.0,
        _ => f64::NAN,
    };
    let at = |domain: &str| {
        let mut examiner = Examiner::default();
        let mut evaluator = Evaluator::new(Watchpoints::recommended());
        let fact = fact(&format!(
            "operation_not_finite exp | not_finite=5 elements=192 {domain}"
        ));
        let context = Context::Program {
            step: 60,
            fact: &fact,
        };
        examiner.learn(0, &context);
        evaluator.context(0, context);
        for step in 0..80 {
            evaluator.scalar(0, "loss", step, 0.0, grows(step));
        }
        let findings = evaluator.findings_with(&examiner.remarks(Framework::Python));
        first(&findings).to_owned()
    };
    assert_eq!(at("bad_inputs=5"), "operation_not_finite");
    assert_ne!(at(""), "operation_not_finite");
}

#[test]
fn an_exception_matters_more_than_what_does_not_end_the_program() {
    let failed = fact("failure RuntimeError | message=shapes");
    assert_eq!(
        first(&judged(std::slice::from_ref(&failed), flat)),
        "program_failed"
    );
    // It may be raised because of NaN.
    assert_eq!(
        first(&judged(std::slice::from_ref(&failed), nan)),
        "loss_nan"
    );
    let kept = fact("gradients_kept | updates=45 kept=40");
    assert_eq!(
        first(&judged(&[failed, kept], flat)),
        "gradients_not_cleared"
    );
}

#[test]
fn facts_of_ranks_are_one_hit() {
    let mut examiner = Examiner::default();
    let evaluator = Evaluator::new(Watchpoints::recommended());
    let kept = fact("gradients_kept | updates=45 kept=40");
    let cleared = fact("gradients_kept | updates=45 kept=0");
    for rank in 0..4 {
        let fact = if rank < 2 { &cleared } else { &kept };
        examiner.learn(rank, &Context::Program { step: 3, fact });
    }
    let findings = evaluator.findings_with(&examiner.remarks(Framework::Python));
    let hits: Vec<(u32, &str)> = findings
        .hits
        .iter()
        .map(|hit| (hit.rank, hit.condition.id))
        .collect();
    assert_eq!(hits, [(2, "gradients_not_cleared")]);
}
