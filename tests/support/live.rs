//! The live stream as read by a client.

use std::io::{BufRead, BufReader};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;
use trainscope_api::paths;

use super::wait::DEADLINE;

/// An open stream. Its reader ends with the server.
pub(crate) struct Live {
    events: Receiver<LiveEvent>,
}

/// One server-sent event.
#[derive(Clone, Debug)]
pub(crate) struct LiveEvent {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

impl Live {
    pub(super) fn open(address: &str, seen: Option<u64>) -> Self {
        let mut request = ureq::get(format!("{address}{}", paths::LIVE));
        if let Some(seq) = seen {
            request = request.header("last-event-id", seq.to_string());
        }
        let response = request.call().unwrap();
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let (sender, events) = channel();
        std::thread::spawn(move || {
            let mut event = empty();
            for line in BufReader::new(response.into_body().into_reader()).lines() {
                let Ok(line) = line else { return };
                if line.is_empty() {
                    let finished = std::mem::replace(&mut event, empty());
                    if !finished.name.is_empty() && sender.send(finished).is_err() {
                        return;
                    }
                } else if let Some((field, value)) = line.split_once(':') {
                    let value = value.trim_start();
                    match field {
                        "event" => value.clone_into(&mut event.name),
                        "id" => value.clone_into(&mut event.id),
                        "data" => event.data = serde_json::from_str(value).unwrap_or(Value::Null),
                        _ => {}
                    }
                }
            }
        });
        Self { events }
    }

    /// The next event that `is_wanted` accepts; others are skipped.
    pub(crate) fn wait_for(&self, what: &str, is_wanted: impl Fn(&LiveEvent) -> bool) -> LiveEvent {
        let deadline = std::time::Instant::now() + DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) if is_wanted(&event) => return event,
                Ok(_) => {}
                Err(error) => panic!("no notice of {what} came: {error}"),
            }
        }
    }

    /// The next `change` that names a run.
    pub(crate) fn wait_for_run(&self, run: &str) -> LiveEvent {
        self.wait_for(run, |event| {
            event.name == "change"
                && event.data["runs"]
                    .as_array()
                    .is_some_and(|runs| runs.iter().any(|change| change["run"] == run))
        })
    }
}

fn empty() -> LiveEvent {
    LiveEvent {
        name: String::new(),
        id: String::new(),
        data: Value::Null,
    }
}
