//! A driver of browsers, `chromedriver`: for the tests and the bench of pages.

use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

/// A running driver. Dropping it ends it and its browsers.
pub(crate) struct Driver {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// Temporary files, profiles among them.
    _folder: TempDir,
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The browser would outlive a driver that is ended alone, and sometimes one that is asked to end it.
        kill_process_group(Pid::from_child(&self.child), Signal::KILL).ok();
        self.child.wait().ok();
    }
}

impl Driver {
    /// Starts `chromedriver` on a port of its choice. It binds that port on IPv4 and then on IPv6, and ends if another
    /// process took the second one between, so it may need more than one attempt.
    pub(crate) fn start() -> io::Result<Self> {
        const ATTEMPTS: usize = 5;
        let mut printed = String::new();
        for _ in 0..ATTEMPTS {
            if let Some(driver) = Self::listening(&mut printed)? {
                return Ok(driver);
            }
        }
        let all = format!("chromedriver ended {ATTEMPTS} times before it listened:\n{printed}");
        Err(io::Error::other(all))
    }

    /// A driver that listens, or `None` if it ended before. Its output is appended to `printed`.
    fn listening(printed: &mut String) -> io::Result<Option<Self>> {
        let folder = TempDir::new()?;
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
            .env("TMPDIR", folder.path())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| {
                let help = "`cargo xtask test` installs it";
                io::Error::new(
                    e.kind(),
                    format!("no `chromedriver` could be started ({e}): {help}"),
                )
            })?;
        let output = child.stdout.take();
        let mut lines = BufReader::new(output.ok_or(io::ErrorKind::BrokenPipe)?).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            printed.push_str(&line);
            printed.push('\n');
            let port = line.split("started successfully on port ").nth(1)?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let Some(port) = port else {
            printed.push_str(&child.wait()?.to_string());
            printed.push('\n');
            return Ok(None);
        };
        // The pipe must be drained.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let address = format!("http://127.0.0.1:{port}");
        Ok(Some(Self {
            child,
            address,
            _folder: folder,
        }))
    }
}
