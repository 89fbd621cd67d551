//! `trainscope status`: the servers that this user has started on this machine.

use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trainscope_api::status::Status;

use super::mistake::Mistake;
use super::state::{Presence, ServerState, StateDir};
use super::style::{QUIET, WARNING};
use super::table::{Column, Table, styled};
use super::{CommandError, words};

/// Exit status without a server.
const NONE: u8 = 1;
/// Exit status if a server does not answer.
const SILENT: u8 = 2;

pub(super) fn run() -> Result<u8, CommandError> {
    let servers = StateDir::of_user().map_err(Mistake::from)?.servers();
    let mut out = anstream::stdout().lock();
    if servers.is_empty() {
        writeln!(
            out,
            "No trainscope is running on this machine for this user."
        )?;
        writeln!(
            out,
            "  {QUIET}try    trainscope start --summary-base-dir DIR{QUIET:#}"
        )?;
        out.flush()?;
        return Ok(NONE);
    }
    let now_secs = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64();
    let rows: Vec<Row> = servers
        .iter()
        .map(|(state, presence)| Row::new(state, presence, now_secs))
        .collect();
    write_table(&mut out, rows)?;
    let mut status = 0;
    for (state, _) in servers
        .iter()
        .filter(|(_, presence)| matches!(presence, Presence::Silent))
    {
        status = SILENT;
        writeln!(
            out,
            "\n{WARNING}warning{WARNING:#}  process {} lives but does not answer on port {}",
            state.pid, state.port
        )?;
        match &state.log {
            Some(log) => writeln!(
                out,
                "  try    the log {}; kill {}",
                words::path(log),
                state.pid
            )?,
            None => writeln!(out, "  try    the terminal it runs in; kill {}", state.pid)?,
        }
    }
    out.flush()?;
    Ok(status)
}

/// Uptime of a server.
pub(super) fn up(started_secs: f64, now_secs: f64) -> String {
    let time = Duration::try_from_secs_f64(now_secs - started_secs).unwrap_or_default();
    words::span(time)
}

struct Row {
    port: String,
    pid: String,
    up: String,
    /// Runs, live runs, waiting sessions; `None` if it does not answer.
    counts: Option<[String; 3]>,
    folder: String,
}

impl Row {
    fn new(state: &ServerState, presence: &Presence, now_secs: f64) -> Self {
        let folders: Vec<String> = state.base_dirs.iter().map(|dir| words::path(dir)).collect();
        let answer: Option<&Status> = match presence {
            Presence::Answers(status) => Some(status),
            Presence::Silent | Presence::Gone => None,
        };
        Self {
            port: state.port.to_string(),
            pid: state.pid.to_string(),
            up: match answer {
                Some(_) => up(state.started_secs, now_secs),
                None => "no answer".to_owned(),
            },
            counts: answer
                .map(|status| [status.runs, status.live_runs, status.waiting].map(words::count)),
            folder: folders.join(", "),
        }
    }
}

fn write_table(out: &mut impl Write, rows: Vec<Row>) -> io::Result<()> {
    let mut table = Table::new([
        Column::left("PORT"),
        Column::right("PROCESS"),
        Column::left("UP"),
        Column::right("RUNS"),
        Column::right("LIVE"),
        Column::right("WAITING"),
        Column::left("FOLDER"),
    ]);
    for row in rows {
        let silent = if row.counts.is_none() {
            WARNING
        } else {
            anstyle::Style::new()
        };
        let [runs, live, waiting] = row.counts.unwrap_or_default();
        table.row([
            row.port.into(),
            row.pid.into(),
            styled(silent, row.up),
            runs.into(),
            live.into(),
            waiting.into(),
            row.folder.into(),
        ]);
    }
    table.write(out)
}

#[cfg(test)]
mod tests {
    use super::{Row, write_table};
    use crate::cli::state::{Presence, ServerState};
    use trainscope_api::status::Status;

    fn state(port: u16, pid: u32, folder: &str) -> ServerState {
        ServerState {
            pid,
            started_secs: 1_000.0,
            host: "127.0.0.1".to_owned(),
            port,
            prefix: String::new(),
            base_dirs: vec![folder.into()],
            token_file: None,
            log: None,
        }
    }

    fn plain(rows: Vec<Row>) -> String {
        {
            let mut out = anstream::StripStream::new(Vec::new());
            write_table(&mut out, rows).unwrap();
            String::from_utf8(out.into_inner()).unwrap()
        }
    }

    #[test]
    fn columns_stand_below_their_heads() {
        let answers = |runs, live_runs| {
            Presence::Answers(Box::new(Status {
                runs,
                live_runs,
                ..Status::default()
            }))
        };
        let rows = [
            Row::new(
                &state(8080, 48_213, "/experiments/2026-q4"),
                &answers(14, 1),
                12_520.0,
            ),
            Row::new(
                &state(8081, 51_007, "/segmentation"),
                &answers(1, 0),
                1_720.0,
            ),
        ];
        assert_eq!(
            plain(rows.into()),
            "PORT  PROCESS  UP          RUNS  LIVE  WAITING  FOLDER\n\
             8080    48213  3 h 12 min    14     1        0  /experiments/2026-q4\n\
             8081    51007  12 min         1     0        0  /segmentation\n"
        );
    }

    #[test]
    fn a_silent_server_has_no_numbers() {
        let rows = [Row::new(
            &state(8080, 48_213, "/x"),
            &Presence::Silent,
            2_000.0,
        )];
        assert_eq!(
            plain(rows.into()),
            "PORT  PROCESS  UP         RUNS  LIVE  WAITING  FOLDER\n\
             8080    48213  no answer                       /x\n"
        );
    }
}
