//! Terms of the filter against runs.

use std::collections::BTreeMap;

use super::super::test_runs::run;
use super::*;
use trainscope_api::runs::LastValue;

const NOTHING: RunFacts<'static> = RunFacts {
    tags: None,
    notes: None,
    scalar: &|_| None,
    keys: &[],
};

fn passes(text: &str, run: &Run) -> bool {
    Filter::parse(text).matches(run, NOTHING)
}

fn last(tag: &str, value: f64) -> LastValue {
    LastValue {
        tag: tag.into(),
        rank: 0,
        step: 1,
        value,
    }
}

#[test]
fn words_and_keys() {
    let mut resnet = run("vision/resnet18/lr-0.1");
    resnet.last_step = Some(31_280);
    resnet.kinds.insert("histograms".into(), 3);
    for text in [
        "",
        "LR-0.1",
        "resnet vision",
        "folder:vision",
        "folder:vision/resnet18",
        "folder:*",
        "folder:vision/*",
        "status:stopped",
        "steps:>31,000",
        "steps:<=31280",
        "steps:31280",
        "kind:histogram",
        "kind:hist*",
        "name:res*lr",
        "\"resnet18/lr\"",
        "-mlp",
        "adam|resnet",
        "status:live|stopped",
        "-status:live|gone -adam",
        "|",
    ] {
        assert!(passes(text, &resnet) || text == "|", "{text}");
    }
    for text in [
        "adam",
        "folder:resnet18",
        "status:live",
        "steps:>31280",
        "kind:images",
        "file:damaged",
        "resnet adam",
        "lr:0.1",
        "-vision",
        "adam|sgd",
        "-adam|resnet",
    ] {
        assert!(!passes(text, &resnet), "{text}");
    }
}

#[test]
fn hyper_parameters_and_notes() {
    let mut sweep = run("sweep/a");
    sweep.hparams = BTreeMap::from([
        ("lr".to_owned(), HparamValue::Number(0.01)),
        ("Optimizer".to_owned(), HparamValue::Text("Adam".to_owned())),
        ("amp".to_owned(), HparamValue::Bool(true)),
    ]);
    let notes = RunNotes {
        note: "No loss scaling".to_owned(),
        tags: vec!["baseline".to_owned()],
        ..RunNotes::default()
    };
    let known = RunFacts {
        notes: Some(&notes),
        ..NOTHING
    };
    let holds = |text: &str| Filter::parse(text).matches(&sweep, known);
    for text in [
        "lr:0.01",
        "lr:>0.001",
        "LR:<=1e-2",
        "learning_rate:0.01",
        "optimizer:adam",
        "optimizer:a*m",
        "optimizer:sgd|adam",
        "amp:true",
        "note:scaling",
        "tag:base",
        "loss",
        "baseline",
    ] {
        assert!(holds(text), "{text}");
    }
    for text in [
        "lr:>0.01",
        "lr:small",
        "optimizer:sgd",
        "amp:false",
        "beta:1",
        "note:best",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn numbers_are_compared_as_they_are_shown() {
    let mut sweep = run("sweep/a");
    sweep.hparams = BTreeMap::from([(
        "learning_rate".to_owned(),
        HparamValue::Number(f64::from(0.3_f32)),
    )]);
    sweep.loss = Some(last("train/loss", 0.05));
    sweep.metric = Some(last("accuracy", f64::NAN));
    for text in [
        "learning_rate:0.3",
        "lr:0.3",
        "lr:<=0.3",
        "loss:<0.1",
        "train/loss:<0.1",
        "metric:nan",
        "accuracy:NaN",
        "NaN",
    ] {
        assert!(passes(text, &sweep), "{text}");
    }
    for text in [
        "lr:>0.3",
        "lr:0.31",
        "loss:>0.1",
        "loss:nan",
        "metric:<1",
        "inf",
    ] {
        assert!(!passes(text, &sweep), "{text}");
    }
    let known = RunFacts {
        scalar: &|tag| (tag == "val/acc").then_some(0.75),
        ..NOTHING
    };
    assert!(Filter::parse("val/acc:>0.7").matches(&sweep, known));
}

#[test]
fn keys_that_there_are_not_are_named_and_others_suggested() {
    let mut sweep = run("sweep/a");
    sweep
        .hparams
        .insert("optimizer".to_owned(), HparamValue::Text("Adam".to_owned()));
    sweep.loss = Some(last("train/loss", 0.05));
    let runs = [sweep];
    let keys = keys(&runs, ["val/acc"].into_iter());
    let unknown = |text: &str| {
        let filter = Filter::parse(text);
        filter.unknown_key(&keys).map(str::to_owned)
    };
    assert_eq!(unknown("healthy:no"), Some("healthy".to_owned()));
    assert_eq!(
        unknown("health:error val/acc:1 lr:1 Optimizer:adam train/loss:1"),
        None
    );
    assert_eq!(suggestions("foo st", &runs, &keys), ["status:", "steps:"]);
    assert_eq!(suggestions("-status:l", &runs, &keys), ["-status:live"]);
    assert_eq!(suggestions("optimizer:", &runs, &keys), ["optimizer:Adam"]);
    assert_eq!(suggestions("lr:", &runs, &keys), [""; 0]);
}

#[test]
fn steps_need_a_number() {
    assert_eq!(term("steps:many").key, None);
    assert_eq!(term("steps:").key, None);
    assert_eq!(term("steps:>1,000").key.as_deref(), Some("steps"));
}

#[test]
fn tags_of_the_row_count_without_loading() {
    let mut bert = run("bert");
    assert!(!passes("tag:loss", &bert));
    bert.loss = Some(last("train/loss", 1.0));
    assert!(passes("tag:loss", &bert));
    assert!(Filter::parse("tag:loss").asks_for_tags());
}

#[test]
fn chips_are_whole_terms() {
    let (chips, rest) = chips("folder:a foo name:\"b c\" -lr:1 status:");
    assert_eq!(chips, ["folder:a", "name:\"b c\"", "-lr:1"]);
    assert_eq!(rest, "foo status:");
}

#[test]
fn patterns() {
    assert!(like("abc", "a*c"));
    assert!(like("abc", "*"));
    assert!(!like("abc", "a*b"));
    assert!(!like("ab", "ab*b"));
    assert!(like("", "*"));
}

#[test]
fn runs_without_a_value_are_found_by_every_key_that_there_is() {
    let mut with = run("a");
    with.hparams = [("dropout".to_owned(), HparamValue::Number(0.1))].into();
    with.loss = Some(last("train/loss", 0.5));
    let mut null = run("b");
    null.hparams = [("dropout".to_owned(), HparamValue::Null)].into();
    let runs = [with, null, run("c")];
    let keys = keys(&runs, std::iter::empty());
    let known = RunFacts {
        keys: &keys,
        ..NOTHING
    };
    let kept = |text: &str| {
        let filter = Filter::parse(text);
        assert!(filter.asks_for_missing(), "{text}");
        let kept = runs.iter().filter(|run| filter.matches(run, known));
        kept.map(|run| &*run.id).collect::<Vec<&str>>()
    };
    assert_eq!(kept("dropout:none"), ["b", "c"]);
    assert_eq!(kept("-dropout:none"), ["a"]);
    assert_eq!(kept("dropout:0.1|none"), ["a", "b", "c"]);
    assert_eq!(kept("loss:none"), ["b", "c"]);
    assert_eq!(kept("note:none"), ["a", "b", "c"]);
    assert_eq!(kept("dorpout:none"), [""; 0]);
}
