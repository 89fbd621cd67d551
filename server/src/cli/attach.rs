//! `trainscope attach`: asks a training that runs already to connect to the server of its run.

use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args;
use trainscope_api::paths;
use trainscope_api::sessions::{AttachAnswer, AttachRequest};
use trainscope_format::session::PauseLevel;

use super::CommandError;
use super::mistake::Mistake;
use super::remote::Remote;

/// Polling interval while waiting for the session.
const INTERVAL: Duration = Duration::from_millis(100);

/// The flags of `trainscope attach`.
#[derive(Args, Debug)]
pub(super) struct AttachFlags {
    /// Folder of the run, or its name on the page
    #[arg(value_name = "RUN")]
    run: String,

    /// Server to connect to [default: the one on this machine that serves the run]
    #[arg(long, value_name = "URL")]
    server: Option<String>,

    /// Longest time to wait for the training, in seconds
    #[arg(long, value_name = "S", default_value_t = 10)]
    wait: u64,
}

pub(super) fn run(flags: &AttachFlags) -> Result<u8, CommandError> {
    let remote = Remote::find(&flags.run, flags.server.as_deref())?;
    let connected = |remote: &Remote| -> Result<bool, Mistake> {
        let session = remote.session()?;
        Ok(session.is_some_and(|session| !session.state.is_over()))
    };
    let mut out = anstream::stdout().lock();
    if connected(&remote)? {
        writeln!(out, "{} is connected already.", remote.run)?;
        out.flush()?;
        return Ok(0);
    }
    let request = AttachRequest {
        run: remote.run.clone(),
        level: PauseLevel::Error,
    };
    let asked = remote.post::<AttachAnswer>(paths::SESSION_ATTACH, &request);
    let asked = asked.map_err(|error| error.into_mistake(&remote.address))?;
    let until = Instant::now() + Duration::from_secs(flags.wait);
    while Instant::now() < until {
        if connected(&remote)? {
            writeln!(out, "{} is connected. It pauses at errors.", remote.run)?;
            out.flush()?;
            return Ok(0);
        }
        std::thread::sleep(INTERVAL);
    }
    Err(Mistake::new(
        1,
        format!("{} has not connected within {} s", remote.run, flags.wait),
    )
    .at(asked.file)
    .attempt(
        "look whether it still runs, as the same user, with trainscope's collector and without TRAINSCOPE_LIVE=0",
    )
    .into())
}
