//! The command line: one file per subcommand, and shared parts.
//!
//! Results go to stdout, everything else to stderr. A closed pipe ends the output without an error.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::settings::StartFlags;

mod attach;
pub(crate) mod check;
mod client;
mod control;
mod diff;
mod export;
mod importance;
mod mistake;
mod output;
mod parquet;
mod query;
mod reading;
mod remote;
mod report;
mod run;
mod run_table;
mod start;
mod state;
mod status;
mod stop;
mod style;
mod table;
mod upload;
mod words;

use mistake::Mistake;

/// Shows what happens inside the training of a neural network.
#[derive(Parser, Debug)]
#[command(name = "trainscope", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to colour the output
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, global = true)]
    color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a training, record it without a change of it, and say what was found
    Run(Box<run::RunFlags>),
    /// Watch folders of training runs and show them as a page
    Start(Box<StartFlags>),
    /// Judge what trainings have recorded, for people and for CI
    Check(Box<check::CheckFlags>),
    /// Show where two runs diverge
    Diff(Box<diff::DiffFlags>),
    /// Write what a run has recorded for other programs: tables, JSON, pictures, files
    Export(Box<export::ExportFlags>),
    /// Ask a profile with SQL
    Query(query::QueryFlags),
    /// Show parameters, results and facts of many runs as a table
    Table(Box<run_table::TableFlags>),
    /// Show the parameters that move a result, over many runs
    Importance(Box<importance::ImportanceFlags>),
    /// Write one run as a page that opens without a server
    Report(report::ReportFlags),
    /// Bring recordings to an object store, once or as they grow
    Upload(upload::UploadFlags),
    /// Ask a training that runs to connect to the server of its run
    Attach(attach::AttachFlags),
    /// Pause a connected training, let it go on, or end it
    Control(control::ControlFlags),
    /// List the servers that run on this machine
    Status,
    /// Stop servers in the background; trainings are not affected
    Stop(stop::StopFlags),
}

/// Reason why a command failed.
#[derive(Debug)]
enum CommandError {
    /// An error that the user can correct.
    Mistake(Mistake),
    /// The output could not be written.
    Output(io::Error),
}

impl From<Mistake> for CommandError {
    fn from(mistake: Mistake) -> Self {
        Self::Mistake(mistake)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    crate::allocator::return_large_blocks();
    let result = match Cli::try_parse() {
        Ok(cli) => {
            set_color(cli.color);
            start_log();
            match cli.command {
                Command::Run(flags) => run::run(&flags),
                Command::Start(flags) => start::run(*flags),
                Command::Check(flags) => check::run(&flags),
                Command::Diff(flags) => diff::run(&flags),
                Command::Export(flags) => export::run(&flags),
                Command::Query(flags) => query::run(&flags),
                Command::Table(flags) => run_table::run(&flags),
                Command::Importance(flags) => importance::run(&flags),
                Command::Report(flags) => report::run(&flags),
                Command::Upload(flags) => upload::run(&flags),
                Command::Attach(flags) => attach::run(&flags),
                Command::Control(flags) => control::run(&flags),
                Command::Status => status::run(),
                Command::Stop(flags) => stop::run(&flags),
            }
        }
        // Help and version go to stdout and are not errors.
        Err(error) => {
            let status = if error.use_stderr() { 2 } else { 0 };
            error.print().map(|()| status).map_err(CommandError::Output)
        }
    };
    let status = match result {
        Ok(status) => status,
        Err(CommandError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => 0,
        Err(CommandError::Output(error)) => report(
            &Mistake::new(2, format!("the output cannot be written: {error}"))
                .at("standard output"),
        ),
        Err(CommandError::Mistake(mistake)) => report(&mistake),
    };
    ExitCode::from(status)
}

/// A reader that closes the pipe has seen enough: the exit status still tells the result.
fn unless_closed(written: Result<(), CommandError>) -> Result<(), CommandError> {
    match written {
        Err(CommandError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints an error. If that fails too, only the exit status reports it.
fn report(mistake: &Mistake) -> u8 {
    let mut stderr = anstream::stderr().lock();
    mistake
        .write(&mut stderr)
        .and_then(|()| stderr.flush())
        .map_or(mistake.status, |()| mistake.status)
}

fn set_color(color: Color) {
    match color {
        // Decided by the stream, `NO_COLOR`, `CLICOLOR_FORCE` and `TERM`.
        Color::Auto => anstream::ColorChoice::Auto,
        Color::Always => anstream::ColorChoice::AlwaysAnsi,
        Color::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Sends the log to stderr; `TRAINSCOPE_LOG`, or else `RUST_LOG`, sets the level.
fn start_log() {
    use std::io::IsTerminal as _;
    let filter = ["TRAINSCOPE_LOG", "RUST_LOG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        // `usvg` warns about letters from a fallback font, which are harmless.
        .unwrap_or_else(|| "warn,usvg=error".to_owned());
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::builder().parse_lossy(filter))
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_is_stable() {
        let mut command = Cli::command();
        command.build();
        let mut help = String::new();
        for name in [
            "run", "start", "check", "diff", "export", "query", "report", "attach", "control",
            "status", "stop",
        ] {
            let sub = command.find_subcommand_mut(name).unwrap();
            help.push_str(&sub.render_help().to_string());
            help.push('\n');
        }
        insta::assert_snapshot!(help);
    }

    #[test]
    fn repeatable_flags_repeat() {
        let cli = Cli::try_parse_from([
            "trainscope",
            "start",
            "--summary-base-dir",
            "a",
            "--summary-base-dir",
            "b",
            "--allowed-host",
            "c,d",
        ])
        .unwrap();
        let super::Command::Start(flags) = cli.command else {
            panic!("another command");
        };
        assert_eq!(flags.summary_base_dir.len(), 2);
        assert_eq!(flags.allowed_host, ["c", "d"]);
    }
}
