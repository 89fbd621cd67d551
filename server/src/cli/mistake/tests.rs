//! The three lines of the commonest mistakes.

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
    let mistake: Mistake = SettingsError::MissingDir(dir.path().join("x/y")).into();
    assert_eq!(mistake.status, 2);
    let text = text(&mistake);
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.contains(&format!("where  {} exists", dir.path().display())),
        "{text}"
    );
}
