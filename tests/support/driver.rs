//! A driver of browsers, `chromedriver`: for the tests and the bench of pages.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running driver. Dropping it ends it and its browsers.
pub(crate) struct Driver {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Drop for Driver {
    fn drop(&mut self) {
        // A killed driver would leave its browser running.
        self.shut_down().ok();
        self.child.kill().ok();
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
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
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
        Ok(Some(Self { child, address }))
    }

    fn shut_down(&self) -> io::Result<()> {
        let address = self.address.trim_start_matches("http://");
        let mut connection = TcpStream::connect(address)?;
        connection.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(
            connection,
            "GET /shutdown HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        )?;
        connection.read_to_end(&mut Vec::new()).map(drop)
    }
}
