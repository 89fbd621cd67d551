//! System packages: missing ones are installed if no password is needed (Debian, as root or with passwordless sudo),
//! otherwise listed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};

use crate::console;
use crate::process::{find_program, run};

/// `true` if this system has Debian's package manager.
pub fn is_debian() -> bool {
    Path::new("/etc/debian_version").exists() && find_program("apt-get").is_some()
}

/// Installs the missing packages of `names`.
pub fn ensure(names: &[&str]) -> Result<()> {
    let missing = missing(names);
    if missing.is_empty() {
        return Ok(());
    }
    install_newest(&missing)
}

/// The command that would install the missing packages of `names`; `None` if none is missing, or this is not Debian.
pub fn installation(names: &[&str]) -> Option<String> {
    let missing = missing(names);
    (is_debian() && !missing.is_empty()).then(|| format!("apt-get install {}", missing.join(" ")))
}

fn missing<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let names = names.iter().copied();
    names.filter(|name| !is_installed(name)).collect()
}

/// Held while packages are installed: apt-get refuses to run twice.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Installs the newest available versions of `names`, upgrading older ones.
pub fn install_newest(names: &[&str]) -> Result<()> {
    let list = names.join(" ");
    if !may_install() {
        bail!(
            "these packages are missing or too old: {list}\n  as root: apt-get update && apt-get install {list}"
        );
    }
    let _installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    console::step(&format!("install packages: {list}"));
    // An old package list names versions that are gone, or compilers that are too old.
    if let Err(error) = run(apt_get().args(["update"])) {
        console::line(&format!(
            "    {error:#}; going on with the list that is there"
        ));
    }
    run(apt_get()
        .args(["install", "--yes", "--no-install-recommends"])
        .args(names))
}

/// `true` if packages can be installed without a password.
pub fn may_install() -> bool {
    is_debian() && (is_root() || succeeds(Command::new("sudo").args(["-n", "true"])))
}

fn is_root() -> bool {
    crate::process::output_of(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}

fn is_installed(name: &str) -> bool {
    crate::process::output_of(Command::new("dpkg-query").args(["-W", "-f=${Status}", name]))
        .is_ok_and(|status| status == "install ok installed")
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn apt_get() -> Command {
    let mut command = if is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "apt-get"]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
