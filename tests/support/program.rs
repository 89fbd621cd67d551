//! The built program as a process without root's access rights, also if the tests run as root.

use std::process::Command;

/// Capabilities by which root can read everything.
const RIGHTS: &str = "-dac_override,-dac_read_search";

/// The program without arguments.
pub(crate) fn program() -> Command {
    let program = env!("CARGO_BIN_EXE_trainscope");
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    for set in ["inh-caps", "bounding-set"] {
        command.arg(format!("--{set}={RIGHTS}"));
    }
    command.arg(program);
    command
}
