//! Facts of the program: the newest of each in the API, their settings in the table and in a comparison.

use serde_json::{Value, json};
use trainscope_api::paths;
use trainscope_format::hparams::{HparamValue, SessionStart};
use trainscope_format::{Hparams, ProgramFact, SourceLine};

use crate::judging::verdicts::{Runs, at};
use crate::support::server::query;
use crate::support::terminal::trainscope_in;
use crate::support::{Lab, wait_for};

/// Settings of the first group of an optimizer.
fn settings(rate: f64, decay: f64) -> ProgramFact {
    ProgramFact {
        kind: "optimizer_settings".into(),
        subject: "AdamW 0".into(),
        numbers: vec![
            ("lr".into(), rate / 2.0),
            ("highest_lr".into(), rate),
            ("weight_decay".into(), decay),
            ("lr_to_weight".into(), f64::NAN),
        ],
        source: Some(SourceLine {
            file: "../../etc/passwd".into(),
            line: 3,
            function: "<module>".into(),
            first_line: 1,
            excerpt: "<script>1</script>\n".into(),
        }),
        ..ProgramFact::default()
    }
}

/// Two runs that differ in one setting, of which one has recorded its learning rate itself.
fn two_runs() -> Runs {
    let runs = Runs::new();
    let mut recording = runs.events("a");
    recording.curve("loss", 9, |_| 1.0);
    recording.0.program(at(0), &settings(0.5, 0.1)).unwrap();
    recording.0.program(at(7), &settings(1.0, 0.1)).unwrap();
    let session = SessionStart {
        values: vec![("learning_rate".into(), HparamValue::Number(2.0))],
        ..SessionStart::default()
    };
    let mut other = runs.events("b");
    other.curve("loss", 9, |_| 1.0);
    other
        .0
        .hparams(at(0), &Hparams::SessionStart(session))
        .unwrap();
    other.0.program(at(0), &settings(1.0, 0.2)).unwrap();
    runs
}

#[test]
fn the_newest_fact_of_each_subject_is_answered_as_it_is() {
    let runs = two_runs();
    let lab = Lab::new();
    let server = lab.start_on(&[runs.path()], &[]);
    wait_for("an idle server", || {
        (server.run_ids().len() == 2 && server.status().ingest.idle).then_some(())
    });
    let path = format!("{}?{}", paths::PROGRAM, query(&[("run", "a")]));
    let answer = server.get(&path).json();
    let source = json!({
        "file": "../../etc/passwd", "line": 3, "function": "<module>", "first_line": 1,
        "excerpt": "<script>1</script>\n"
    });
    let fact = json!({
        "rank": 0, "first_step": 0, "step": 7, "kind": "optimizer_settings", "subject": "AdamW 0",
        "numbers": {"lr": 0.5, "highest_lr": 1.0, "weight_decay": 0.1, "lr_to_weight": "NaN"},
        "texts": {},
        "source": source,
    });
    let row = |name: [&str; 2], value: Value, source: &Value| {
        let [en, zh] = name;
        json!({"part": "optimizer", "name": {"en": en, "zh": zh}, "value": value, "source": source})
    };
    let both = |text: &str| json!({"en": text, "zh": text});
    let description = [
        row(["AdamW 0"; 2], Value::Null, &source),
        row(["learning rate", "学习率"], both("0.5"), &Value::Null),
        row(["weight decay", "权重衰减"], both("0.1"), &Value::Null),
    ];
    let expected = json!({
        "facts": [fact], "cut": false, "description": description, "chain": [], "probes": [],
    });
    assert_eq!(answer, expected);
}

#[test]
fn settings_of_the_program_are_compared_and_hyper_parameters_go_before_them() {
    let runs = two_runs();
    let diff = trainscope_in(runs.path(), &["diff", "a", "b", "--format", "json"]);
    let differing = json!([
        {"key": "learning_rate", "values": [1.0, 2.0], "is_path": false},
        {"key": "weight_decay", "values": [0.1, 0.2], "is_path": false},
    ]);
    assert_eq!(diff.json()["configuration"], differing);
}
