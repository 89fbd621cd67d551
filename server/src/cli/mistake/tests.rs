//! The three lines of the commonest errors.

use clap::{CommandFactory, Parser};

use super::Mistake;
use crate::cli::Cli;
use crate::settings::SettingsError;

fn text(mistake: &Mistake) -> String {
    let mut bytes = anstream::StripStream::new(Vec::new());
    mistake.write(&mut bytes).unwrap();
    String::from_utf8(bytes.into_inner()).unwrap()
}

fn typed(line: &str) -> String {
    let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let error = Cli::try_parse_from(&args).unwrap_err();
    let mistake = Mistake::from_clap(&error, &args, &Cli::command());
    assert_eq!(mistake.status, 2);
    text(&mistake)
}

#[test]
fn unknown_flags_are_marked() {
    assert_eq!(
        typed("trainscope start --prot 1"),
        "error: there is no flag --prot\n  where  trainscope start --prot 1\n                          ^^^^^^\n  \
         try    --port      (all: trainscope start --help)\n"
    );
}

#[test]
fn wrong_values_are_marked() {
    let text = typed("trainscope start --port=99999");
    assert!(
        text.starts_with("error: --port cannot be `99999`: "),
        "{text}"
    );
    assert!(
        text.contains("\n                                 ^^^^^\n") || text.contains("^^^^^\n"),
        "{text}"
    );
    let text = typed("trainscope start --reload-interval soon");
    assert!(
        text.starts_with("error: --reload-interval cannot be `soon`: wants a number of seconds\n"),
        "{text}"
    );
}

#[test]
fn unknown_commands_suggest_one() {
    let text = typed("trainscope strat");
    assert!(
        text.starts_with("error: there is no command strat\n"),
        "{text}"
    );
    assert!(text.contains("try    trainscope start "), "{text}");
}

#[test]
fn a_missing_folder_says_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("transformer-small/fp16")).unwrap();
    std::fs::create_dir_all(dir.path().join("resnet18")).unwrap();
    let said = |path: &str| {
        let mistake: Mistake = SettingsError::MissingDir(dir.path().join(path)).into();
        assert_eq!(mistake.status, 2);
        text(&mistake).replace(&dir.path().display().to_string(), "runs")
    };
    assert_eq!(
        said("transformer-smal/fp16"),
        "error: there is no folder runs/transformer-smal/fp16\n  \
         where  runs exists and has 2 folders; transformer-smal is not one of them\n  \
         try    trainscope start --summary-base-dir runs/transformer-small/fp16\n"
    );
    assert!(said("x/y").ends_with("DIR, where the training writes to\n"));
    assert!(said("transformer-smal/fp17").ends_with("DIR, where the training writes to\n"));
}
