//! Runs other programs: the command is printed, its output passes through, and a failure is an error.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::console;

/// The cargo that runs this program.
pub fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Runs `command` to its end.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = announce(command);
    let status = command
        .status()
        .with_context(|| format!("`{shown}` cannot be started"))?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}

/// Runs `command` to its end and passes each line of its standard output to `each` after printing it. Returns `true`
/// on success.
pub fn run_reading(command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool> {
    let shown = announce(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{shown}` cannot be started"))?;
    let stdout = child.stdout.take().context("the pipe was just made")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        console::line(&line);
        each(&line);
    }
    Ok(child.wait()?.success())
}

/// The trimmed standard output of `command`, which must succeed; not printed.
pub fn output_of(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("`{}` cannot be started", shell_text(command)))?;
    ensure!(
        output.status.success(),
        "`{}` failed: {}",
        shell_text(command),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Path of a program in the search path.
pub fn find_program(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

fn announce(command: &Command) -> String {
    let shown = shell_text(command);
    console::line(&format!("    $ {shown}"));
    shown
}

/// A command as typed in a shell, with its environment variables.
fn shell_text(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!(
            "{}={}",
            name.to_string_lossy(),
            value?.to_string_lossy()
        ))
    });
    let words = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned());
    variables.chain(words).collect::<Vec<_>>().join(" ")
}
