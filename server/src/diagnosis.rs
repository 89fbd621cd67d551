//! Judges every run as its files grow, in the same way as `trainscope check` does: one thread, never before what is
//! there is read, and never more than a share of the time.
//!
//! A run is judged anew from its files when one of them has changed; nothing is kept between two judgements but what
//! was found. Watchpoints are those of `.trainscope/watchpoints.toml` in the base directory, else the recommended ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::RwLock;
use tokio::sync::broadcast;
use trainscope_analysis::watchpoint::config::WatchpointsFile;
use trainscope_analysis::watchpoint::{Findings, Watchpoints};
use trainscope_api::live::ChangeNotice;

use crate::index::Index;
use crate::recording::find::{FoundRun, find};
use crate::recording::judge::judge;
use crate::watch::{self, Base};

/// After a change, others are awaited for so long.
const SETTLE: Duration = Duration::from_millis(150);
/// Without a change, files are looked at so often: dumps are no part of the index, and nobody tells of them.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);
/// Time between two judgements, as a multiple of what the last one took.
const PAUSE_SHARE: u32 = 3;

/// What was found in each run. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Diagnosis(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    runs: BTreeMap<String, Arc<JudgedRun>>,
    bases: Vec<BaseWatchpoints>,
}

/// What was found in a run, and with which watchpoints.
pub struct JudgedRun {
    /// What they say.
    pub findings: Findings,
    /// File, offset and reason of what could not be read.
    pub damaged: Vec<(String, u64, String)>,
    /// What was watched for.
    pub watchpoints: Watchpoints,
    /// The file that says so; `None`: nobody did.
    pub watchpoints_file: Option<PathBuf>,
    /// What is wrong with that file as it is now.
    pub watchpoints_problem: Option<String>,
    signature: (u64, u64),
    /// Whether its files have changed since.
    is_behind: bool,
}

/// The watchpoints of a base directory.
struct BaseWatchpoints {
    path: PathBuf,
    seen: Option<(SystemTime, u64)>,
    watchpoints: Watchpoints,
    is_file: bool,
    problem: Option<String>,
    /// Grows with every change.
    version: u64,
}

impl Diagnosis {
    /// Starts to judge the runs of these base directories. The thread ends when the index does.
    pub fn start(base_dirs: &[PathBuf], index: &Index) -> std::io::Result<Self> {
        let diagnosis = Self::default();
        let bases = watch::bases(base_dirs);
        diagnosis.0.write().bases = bases.iter().map(|b| BaseWatchpoints::new(&b.dir)).collect();
        let (notices, index) = (index.subscribe(), index.clone());
        let own = diagnosis.clone();
        std::thread::Builder::new()
            .name("diagnosis".to_owned())
            .spawn(move || own.run(&bases, &index, notices))?;
        Ok(diagnosis)
    }

    /// What was found in a run. Event files in a folder of their own (`tb/`) are a part of the run around it if tensors
    /// lie there too.
    pub fn of(&self, run: &str) -> Option<Arc<JudgedRun>> {
        let known = self.0.read();
        let around = || run.rsplit_once('/').map_or(".", |(around, _)| around);
        let found = known.runs.get(run).or_else(|| known.runs.get(around()));
        found.cloned()
    }

    fn run(
        &self,
        bases: &[Base],
        index: &Index,
        mut notices: broadcast::Receiver<Arc<ChangeNotice>>,
    ) {
        let (tell, told) = mpsc::channel();
        let waiting = std::thread::Builder::new()
            .name("diagnosis-wait".to_owned())
            .spawn(move || {
                // What was missed is as good as what was told: look.
                while !matches!(
                    notices.blocking_recv(),
                    Err(broadcast::error::RecvError::Closed)
                ) {
                    if tell.send(()).is_err() {
                        return;
                    }
                }
            });
        if let Err(error) = waiting {
            tracing::warn!("changes are only looked for every few seconds: {error}");
        }
        loop {
            // Reading comes first.
            if index.ingest().idle {
                let began = Instant::now();
                for (number, base) in bases.iter().enumerate() {
                    self.look(number, base, index);
                }
                std::thread::sleep((began.elapsed() * PAUSE_SHARE).max(SETTLE));
            }
            match told.recv_timeout(LOOK_INTERVAL) {
                Ok(()) => {
                    std::thread::sleep(SETTLE);
                    while told.try_recv().is_ok() {}
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Judges what has changed below a base directory.
    fn look(&self, number: usize, base: &Base, index: &Index) {
        let (watchpoints, file, problem, version) = {
            let mut known = self.0.write();
            let own = &mut known.bases[number];
            own.look();
            let file = own.is_file.then(|| own.path.clone());
            (
                own.watchpoints.clone(),
                file,
                own.problem.clone(),
                own.version,
            )
        };
        let found = match find(&base.dir) {
            Ok(found) => found.runs,
            Err(error) => {
                tracing::warn!("{} cannot be judged: {error}", base.dir.display());
                return;
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2));
        for run in &found {
            let name = shown(base, run);
            let signature = (run.signature(), version);
            let known = self.0.read().runs.get(&name).cloned();
            if known.is_some_and(|known| known.signature == signature) {
                continue;
            }
            let judged = judge(run, &watchpoints, threads, |_| {});
            let damaged = judged.damaged.into_iter();
            let judged = JudgedRun {
                findings: judged.findings,
                damaged: damaged
                    .map(|fault| (fault.file.to_string(), fault.offset, fault.reason))
                    .collect(),
                watchpoints: watchpoints.clone(),
                watchpoints_file: file.clone(),
                watchpoints_problem: problem.clone(),
                signature,
                is_behind: false,
            };
            self.0.write().runs.insert(name, Arc::new(judged));
            index.notify(true);
        }
        let names: Vec<String> = found.iter().map(|run| shown(base, run)).collect();
        self.0.write().runs.retain(|name, _| {
            let is_of_base = name == &base.prefix || name.starts_with(&base.prefix);
            !is_of_base || names.contains(name)
        });
    }
}

impl JudgedRun {
    /// Whether its files have changed since it was judged.
    pub fn is_behind(&self) -> bool {
        self.is_behind
    }
}

/// The name of a run in the list of runs.
fn shown(base: &Base, run: &FoundRun) -> String {
    match (&*base.prefix, &*run.name) {
        ("", name) => name.to_owned(),
        (prefix, ".") => prefix.to_owned(),
        (prefix, name) => format!("{prefix}/{name}"),
    }
}

impl BaseWatchpoints {
    fn new(dir: &Path) -> Self {
        Self {
            path: dir.join(".trainscope").join("watchpoints.toml"),
            seen: None,
            watchpoints: Watchpoints::recommended(),
            is_file: false,
            problem: None,
            version: 0,
        }
    }

    /// Reads the file again if it has changed. One that cannot be used leaves those before it.
    fn look(&mut self) {
        let metadata = std::fs::metadata(&self.path).ok();
        let now = metadata.map(|data| {
            (
                data.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                data.len(),
            )
        });
        if now == self.seen {
            return;
        }
        self.seen = now;
        self.version += 1;
        self.problem = None;
        if now.is_none() {
            self.watchpoints = Watchpoints::recommended();
            self.is_file = false;
            return;
        }
        match read(&self.path) {
            Ok(watchpoints) => {
                self.watchpoints = watchpoints;
                self.is_file = true;
            }
            Err(reason) => self.problem = Some(reason),
        }
    }
}

fn read(path: &Path) -> Result<Watchpoints, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let file: WatchpointsFile = toml::from_str(&text).map_err(|e| e.to_string())?;
    Watchpoints::from_file(&file).map_err(|e| e.to_string())
}
