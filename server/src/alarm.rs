//! Notifications about new hits while the server runs: a command or a webhook.
//!
//! The input is every judgement; hits from before the server started, or from a change of the watchpoints, are not new.
//! Two threads send the notifications: neither a slow command nor a silent URL delays judging.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::io::{Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustc_hash::{FxHashSet, FxHasher};
use rustix::process::{Pid, Signal, kill_process_group};
use trainscope_analysis::watchpoint::Hit;
use trainscope_api::findings::HitNotice;
use trainscope_format::Severity;

use crate::judging::NewJudgement;
use crate::queries::findings::notice_of;

/// Number of notifier threads.
const WORKERS: usize = 2;
/// Maximum number of queued notifications; further ones are counted and dropped.
const MAX_WAITING: usize = 1_000;
/// Maximum number of notifications per judgement, since more would not be read.
const MAX_AT_ONCE: usize = 100;
/// Timeout of a command.
pub(crate) const COMMAND_LIMIT: Duration = Duration::from_secs(30);
/// Timeout of a webhook.
const POST_LIMIT: Duration = Duration::from_secs(10);
/// Delays between attempts to reach a webhook.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// Targets of notifications, and their minimum severity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmSettings {
    /// A program and its arguments; it gets the hit as JSON on its standard input.
    pub command: Option<Vec<String>>,
    /// URL to post the same JSON to.
    pub webhook: Option<String>,
    /// Lowest severity to notify.
    pub severity: Severity,
}

/// Known hits of each run, and the queue of notifications.
pub(crate) struct Alarms {
    severity: Severity,
    /// Hits already notified or older than the server, by run.
    known: BTreeMap<String, FxHashSet<u64>>,
    queue: SyncSender<Arc<[u8]>>,
    left_out: u64,
}

impl Alarms {
    /// Starts the notifier threads; `None` without a target.
    pub(crate) fn start(settings: AlarmSettings) -> std::io::Result<Option<Self>> {
        if settings.command.is_none() && settings.webhook.is_none() {
            return Ok(None);
        }
        let severity = settings.severity;
        let (queue, waiting) = mpsc::sync_channel(MAX_WAITING);
        let (settings, waiting) = (Arc::new(settings), Arc::new(Mutex::new(waiting)));
        for number in 0..WORKERS {
            let (settings, waiting) = (Arc::clone(&settings), Arc::clone(&waiting));
            std::thread::Builder::new()
                .name(format!("alarm-{number}"))
                .spawn(move || work(&settings, &waiting))?;
        }
        Ok(Some(Self {
            severity,
            known: BTreeMap::new(),
            queue,
            left_out: 0,
        }))
    }

    /// Queues notifications for the new hits of a judgement. `session` is the id of the session that records the run.
    pub(crate) fn see(&mut self, judged: &NewJudgement<'_>, session: Option<&str>) {
        let known = self.known.entry(judged.run.to_owned()).or_default();
        let is_silent = judged.is_from_before || judged.is_watched_otherwise;
        let mut told = 0;
        for hit in &judged.now.findings.hits {
            let is_news = known.insert(hash_of(hit)) && !is_silent && hit.severity >= self.severity;
            if !is_news {
                continue;
            }
            told += 1;
            let text = (told <= MAX_AT_ONCE).then(|| {
                let notice = HitNotice {
                    session: session.map(str::to_owned),
                    ..notice_of(judged.run, judged.now, hit)
                };
                serde_json::to_vec(&notice).ok()
            });
            let is_queued = text
                .flatten()
                .is_some_and(|text| self.queue.try_send(text.into()).is_ok());
            if !is_queued {
                self.left_out += 1;
                tracing::warn!(
                    run = judged.run,
                    left_out = self.left_out,
                    "a hit is not told of: too many"
                );
            }
        }
    }
}

fn hash_of(hit: &Hit) -> u64 {
    let mut hasher = FxHasher::default();
    (hit.watchpoint, hit.rank, hit.step, &hit.tensor).hash(&mut hasher);
    hasher.finish()
}

fn work(settings: &AlarmSettings, waiting: &Mutex<Receiver<Arc<[u8]>>>) {
    loop {
        // The lock is held while waiting: the other thread waits for it instead.
        let taken = waiting.lock().recv();
        let Ok(text) = taken else {
            return;
        };
        if let Some(command) = &settings.command
            && let Err(error) = run(command, &text, COMMAND_LIMIT)
        {
            tracing::warn!("--on-hit {}: {error}", command.join(" "));
        }
        if let Some(url) = &settings.webhook
            && let Err(error) = post(url, &text, &RETRIES)
        {
            tracing::warn!("--webhook {url}: {error}");
        }
    }
}

/// Runs a program with this text on its standard input, and kills its process group after the timeout.
pub(crate) fn run(command: &[String], text: &[u8], limit: Duration) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let (program, arguments) = command.split_first().ok_or("there is no program")?;
    // A file, not a pipe: a program that does not read it cannot block.
    let mut input = tempfile::tempfile().map_err(said)?;
    input.write_all(text).map_err(said)?;
    input.write_all(b"\n").map_err(said)?;
    input.rewind().map_err(said)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(said)?;
    let until = Instant::now() + limit;
    loop {
        match child.try_wait().map_err(said)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("it ended with {status}")),
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(20)),
            None => {
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    // A process that has ended in the meantime needs no signal.
                    kill_process_group(group, Signal::KILL).unwrap_or_default();
                }
                child.wait().map_err(said)?;
                return Err(format!("it was ended after {} s", limit.as_secs_f64()));
            }
        }
    }
}

/// Posts the text, with retries if the URL cannot be reached.
fn post(url: &str, text: &[u8], retries: &[Duration]) -> Result<(), String> {
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(POST_LIMIT))
        .http_status_as_error(false)
        .build()
        .new_agent();
    let mut retries = retries.iter();
    loop {
        let request = agent.post(url).content_type("application/json");
        let problem = match request.send(text) {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) => {
                let status = answer.status();
                let is_passing = status.is_server_error() || status.as_u16() == 429;
                if !is_passing {
                    return Err(format!("it answers {status}"));
                }
                format!("it answers {status}")
            }
            Err(error) => error.to_string(),
        };
        match retries.next() {
            Some(wait) => std::thread::sleep(*wait),
            None => return Err(format!("{problem}, {} times", RETRIES.len() + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn a_program_gets_the_hit_and_no_more_time_than_there_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("hit.json");
        let copy = words(&["cp", "/dev/stdin", file.to_str().unwrap()]);
        run(&copy, b"{}", COMMAND_LIMIT).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}\n");
        assert!(run(&words(&["false"]), b"", COMMAND_LIMIT).is_err());
        assert!(run(&words(&["/there/is/none"]), b"", COMMAND_LIMIT).is_err());
        assert!(run(&[], b"", COMMAND_LIMIT).is_err());
        let began = Instant::now();
        let slow = words(&["sh", "-c", "sleep 60 & sleep 60"]);
        let error = run(&slow, b"", Duration::from_millis(100)).unwrap_err();
        assert!(error.contains("ended after"), "{error}");
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn an_address_is_tried_again_while_it_may_recover() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let mut bodies = Vec::new();
            for status in ["503 Busy", "204 No Content", "400 Bad Request"] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut len = 0;
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        len = value.trim().parse().unwrap();
                    }
                    if line == "\r\n" {
                        break;
                    }
                }
                let mut body = vec![0; len];
                reader.read_exact(&mut body).unwrap();
                bodies.push(String::from_utf8(body).unwrap());
                let answer =
                    format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).unwrap();
            }
            bodies
        });
        post(&url, b"{\"a\":1}", &[Duration::ZERO]).unwrap();
        let refused = post(&url, b"{\"a\":2}", &[Duration::ZERO]).unwrap_err();
        assert!(refused.contains("400"), "{refused}");
        assert_eq!(
            server.join().unwrap(),
            ["{\"a\":1}", "{\"a\":1}", "{\"a\":2}"]
        );
        // The listener is closed.
        assert!(post(&url, b"", &[Duration::ZERO]).is_err());
    }
}
