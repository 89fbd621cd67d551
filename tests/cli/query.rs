//! `trainscope query`: SQL on the command line.

use serde_json::{Value, json};

use crate::support::lab::fixture;
use crate::support::terminal::trainscope_in;

const TRACE: &str = "torch-cnn/tb.pt.trace.json.gz";

fn query(flags: &[&str]) -> (i32, String, String) {
    let folder = fixture("profile");
    let done = trainscope_in(&folder, &[&["query"], flags].concat());
    (done.status, done.out, done.err)
}

#[test]
fn rows_are_for_people_and_for_programs() {
    let steps = "SELECT step, duration_ns FROM steps ORDER BY step";
    let (status, text, _) = query(&[TRACE, steps]);
    assert_eq!(status, 0);
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["step", "duration_ns"]);
    let lengths: Vec<&str> = lines[1..].iter().map(|line| line[1]).collect();
    assert_eq!(lengths, ["2586272", "2417579", "2124099"]);
    let (_, csv, _) = query(&[TRACE, steps, "--format", "csv"]);
    assert!(csv.starts_with("step,duration_ns\n"), "{csv}");
    assert_eq!(csv.lines().count(), 4);
    let (_, text, _) = query(&[TRACE, steps, "--format", "json"]);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["columns"], json!(["step", "duration_ns"]));
    assert_eq!(answer["rows"][1][1], 2_417_579);
    let (_, none, _) = query(&[TRACE, "SELECT 1 AS one WHERE 0", "--format", "json"]);
    let none: Value = serde_json::from_str(&none).unwrap();
    assert_eq!(none, json!({"columns": ["one"], "rows": []}));
}

#[test]
fn a_statement_that_is_wrong_is_told_where() {
    let (status, _, error) = query(&[TRACE, "SELECT nme FROM slices"]);
    assert_eq!(status, 2);
    assert!(
        error.contains("no such column: nme, at `nme FROM slices`"),
        "{error}"
    );
    let (status, _, error) = query(&[TRACE, "DELETE FROM slices"]);
    assert_eq!(status, 2);
    assert!(error.contains("only one statement that reads"), "{error}");
    let (status, text, _) = query(&["--tables"]);
    assert_eq!(status, 0);
    assert!(text.contains("duration_ns"), "{text}");
}
