//! `trainscope start`: binds, serves and reads, in this order, until it is stopped.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::client;
use super::mistake::Mistake;
use super::state::{Presence, ServerState, StateDir, remove_file, replace_file};
use super::style::{LINK, QUIET, STRONG};
use super::{CommandError, words};
use crate::alarm::Alarms;
use crate::colours::Colours;
use crate::files;
use crate::http::access::{Access, Token};
use crate::http::{About, Assets, Metrics, Parts, Site, metrics_router, prepare, router};
use crate::ingest::{IngestSettings, Ingester};
use crate::judging::{Judgements, NewJudgement};
use crate::notebook::Notebooks;
use crate::profiles::{ColumnCache, Profiles};
use crate::queries::Graphs;
use crate::session::Sessions;
use crate::settings::{Settings, StartFlags, UserDirs, is_beyond_loopback, is_shared_machine};
use crate::table::Tables;

mod background;
mod events;
mod port;
mod progress;
mod session_lines;
mod sharing;

use port::Port;
use sharing::Sharing;

/// Exit status if the port is not available.
/// Time between two scans of folders, unless another one is set.
const RELOAD_INTERVAL: Duration = Duration::from_secs(3);
const CANNOT_BIND: u8 = 3;
/// Grace period for open requests at shutdown.
const LAST_REQUESTS: Duration = Duration::from_secs(3);
/// Timeout for the first answer of the server.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

/// Runs until Ctrl-C, or with `--background` until the page answers.
pub(super) fn run(flags: StartFlags) -> Result<u8, CommandError> {
    let settings = Settings::resolve(flags).map_err(Mistake::from)?;
    let child = background::is_child();
    if child && settings.background {
        return Err(background::nested().into());
    }
    let mut stderr = anstream::stderr().lock();
    for note in &settings.notes {
        writeln!(stderr, "{QUIET}note: {note}{QUIET:#}")?;
    }
    drop(stderr);
    if child {
        background::detach();
    }
    let listener = match Port::claim(&settings)? {
        Port::Ours(listener) => listener,
        Port::Served(other) => return already_running(&settings, &other),
    };
    if settings.background {
        drop(listener);
        return background::start(&settings);
    }
    let dirs = UserDirs::find().map_err(Mistake::from)?;
    let token = token(&settings, &dirs)?;
    // Checked before anything starts, since it is a user error.
    let assets = match &settings.web_dir {
        Some(dir) => Assets::folder(dir, &settings.url_path_prefix).map_err(Mistake::from)?,
        None => Assets::built_in(&settings.url_path_prefix),
    };
    let sharing = Sharing::open(&settings.sharing)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Mistake::new(3, format!("the server cannot start: {error}")))?;
    let result = runtime.block_on(serve(settings, listener, token, assets, sharing));
    // A handler that waits for the disk must not delay the shutdown.
    runtime.shutdown_background();
    result
}

/// The token with its file. It is needed beyond loopback, and on machines with accounts of other people, who reach
/// loopback too.
fn token(settings: &Settings, dirs: &UserDirs) -> Result<Option<(Token, PathBuf)>, Mistake> {
    let path = match &settings.token_file {
        Some(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
        None if is_beyond_loopback(&settings.host) => dirs.state.join("token"),
        // For requests that do not come from the proxy.
        None if !settings.sharing.trusted_proxy.is_empty() => dirs.state.join("token"),
        None if !settings.no_token && is_shared_machine() => dirs.state.join("token"),
        None => return Ok(None),
    };
    let token = Token::load_or_make(&path)?;
    Ok(Some((token, path)))
}

async fn serve(
    settings: Settings,
    listener: std::net::TcpListener,
    token: Option<(Token, PathBuf)>,
    assets: Assets,
    sharing: Sharing,
) -> Result<u8, CommandError> {
    let began = std::time::Instant::now();
    let cannot =
        |error: io::Error| Mistake::new(CANNOT_BIND, format!("the server cannot start: {error}"));
    listener.set_nonblocking(true).map_err(cannot)?;
    let listener = TcpListener::from_std(listener).map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    let (token, token_file) = token.unzip();
    let state = ServerState {
        pid: std::process::id(),
        started_secs: now_secs(),
        host: settings.host.clone(),
        port,
        prefix: settings.url_path_prefix.clone(),
        base_dirs: settings.base_dirs.clone(),
        token_file,
        log: background::log_of_child(port),
    };
    if let Some(interval) = settings.reload_interval {
        files::set_store_interval(interval);
    }
    let (ingester, index) = Ingester::start(IngestSettings {
        base_dirs: settings.base_dirs.clone(),
        cache_dir: settings.cache_dir.clone(),
        reload_interval: settings.reload_interval.unwrap_or(RELOAD_INTERVAL),
        file_events: settings.file_events,
    })
    .map_err(Mistake::from)?;
    let (end, ending) = watch::channel(false);
    let names = settings
        .allowed_hosts
        .iter()
        .cloned()
        .chain(own_name(&settings.host));
    let mut alarms = Alarms::start(settings.alarm.clone()).map_err(cannot)?;
    let server = crate::session::attach::Server {
        address: state.address(),
        token: token.as_ref().map(|token| token.reveal().to_owned()),
    };
    // The judgement needs the sessions, and they need its watchpoints.
    let judged_by: std::sync::Arc<std::sync::OnceLock<Judgements>> = std::sync::Arc::default();
    let sessions = {
        let judged_by = std::sync::Arc::clone(&judged_by);
        Sessions::new(
            index.clone(),
            &settings.base_dirs,
            server,
            settings.session_limits,
            move |run| crate::session::watchpoints_of(judged_by.get()?, run),
        )
    }
    .map_err(|error| cannot(io::Error::other(error)))?;
    let live = sessions.clone();
    let on_judged = move |judged: &NewJudgement<'_>| {
        crate::session::pause_by_rules(&live, judged);
        if let Some(alarms) = &mut alarms {
            let session = live.of_runs().remove(judged.run);
            alarms.see(judged, session.as_deref());
        }
    };
    let profiles = Profiles::new(&index);
    let profiles = match settings.profile_cache {
        0 => profiles,
        max_bytes => profiles.with_columns(ColumnCache::open(&settings.cache_dir, max_bytes)),
    };
    let judgements =
        Judgements::start(&settings.base_dirs, &index, &ingester, &profiles, on_judged)
            .map_err(cannot)?;
    // It is set once.
    drop(judged_by.set(judgements.clone()));
    tokio::spawn(sessions.clone().watch());
    let judging = judgements.pulse().cloned();
    let site = Site::new(Parts {
        index: index.clone(),
        graphs: Graphs::new(&index, &judgements, &profiles),
        profiles,
        judgements,
        tables: Tables::new(index.clone(), settings.base_dirs.clone()),
        colours: Colours::open(&settings.base_dirs, &settings.cache_dir),
        notebooks: Notebooks::open(&settings.base_dirs, &settings.cache_dir),
        comparisons: crate::comparison::Comparisons::default(),
        sessions: sessions.clone(),
        tensors: crate::tensors::Memory::default(),
        about: About {
            pid: state.pid,
            started_secs: state.started_secs,
            base_dirs: state.base_dirs.clone(),
        },
        access: Access::new(&settings.host, names, token),
        login: sharing.login,
        audit: sharing.audit,
        is_read_only: settings.sharing.read_only,
        reading: Some(ingester.pulse()),
        judging,
        metrics: Metrics::default(),
        assets,
        prefix: settings.url_path_prefix.clone(),
        ending: ending.clone(),
    });
    let reader = site.clone();
    std::thread::spawn(move || prepare(&reader));
    if let Some(listener) = sharing.metrics {
        listener.set_nonblocking(true).map_err(cannot)?;
        let listener = TcpListener::from_std(listener).map_err(cannot)?;
        let app = metrics_router(site.clone());
        tokio::spawn(crate::http::serve(listener, app, ending.clone()));
    }
    let app = router(site);
    let server = tokio::spawn(crate::http::serve(listener, app, ending.clone()));

    let marks = Marks::new(state.clone(), settings.port_file.clone());
    listen_for_signals(end, marks.clone()).map_err(cannot)?;
    if answers(&state).await {
        marks.set()?;
    }
    if let Some(command) = settings.on_wait.clone() {
        let (sessions, index) = (sessions.clone(), index.clone());
        let ending = ending.clone();
        tokio::spawn(session_lines::run_on_wait(command, sessions, index, ending));
    }
    announce(&settings, &state)?;
    let quiet = settings.quiet;
    let told = tokio::spawn({
        let ending = ending.clone();
        async move {
            if !quiet {
                progress::tell(index.clone(), began, ending.clone()).await;
                tokio::join!(
                    events::tell(index.clone(), ending.clone()),
                    session_lines::tell(sessions, index, ending),
                );
            }
        }
    });

    ended(ending).await;
    // Streams end with `ending`; open requests get the grace period.
    if tokio::time::timeout(LAST_REQUESTS, server).await.is_err() {
        tracing::warn!("requests were cut off at the end");
    }
    told.abort();
    if let Err(error) = tokio::task::spawn_blocking(move || ingester.stop()).await {
        tracing::error!(%error, "the index was not closed");
    }
    marks.clear();
    Ok(0)
}

/// Requests the status of this server, which answers once everything is in place.
async fn answers(state: &ServerState) -> bool {
    let state = state.clone();
    let asked = tokio::task::spawn_blocking(move || {
        let until = std::time::Instant::now() + FIRST_ANSWER;
        while std::time::Instant::now() < until {
            match state.presence() {
                Presence::Answers(_) => return true,
                Presence::Silent => std::thread::sleep(Duration::from_millis(20)),
                // The name resolves to another address, with another server.
                Presence::Gone => return false,
            }
        }
        false
    });
    let answers = asked.await.unwrap_or(false);
    if !answers {
        tracing::warn!("the server does not answer itself; `status` and `stop` will not find it");
    }
    answers
}

fn now_secs() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}

/// The host name of this machine, for a server that others can reach.
fn own_name(host: &str) -> Option<String> {
    is_beyond_loopback(host).then(|| {
        rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned()
    })
}

async fn ended(mut ending: watch::Receiver<bool>) {
    // A closed channel also means shutdown.
    drop(ending.wait_for(|ending| *ending).await);
}

/// The first signal ends the server in order, the second one at once.
fn listen_for_signals(end: watch::Sender<bool>, marks: Marks) -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    // The terminal was closed.
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        end.send_replace(true);
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        marks.clear();
        std::process::exit(130);
    });
    Ok(())
}

/// Files that describe this server.
#[derive(Clone)]
struct Marks(std::sync::Arc<MarkFiles>);

struct MarkFiles {
    state: ServerState,
    port_file: Option<PathBuf>,
    set: AtomicBool,
}

impl Marks {
    fn new(state: ServerState, port_file: Option<PathBuf>) -> Self {
        Self(std::sync::Arc::new(MarkFiles {
            state,
            port_file,
            set: AtomicBool::new(false),
        }))
    }

    /// Writes the files. A failure is a warning for the state file, and an error for the port file.
    fn set(&self) -> Result<(), Mistake> {
        self.0.set.store(true, Ordering::Release);
        if let Err(error) = StateDir::of_user()
            .map_err(io::Error::other)
            .and_then(|dir| dir.write(&self.0.state))
        {
            tracing::warn!(%error, "no state file: `status` and `stop` will not find this server");
        }
        write_port_file(self.0.port_file.as_deref(), self.0.state.port)
    }

    fn clear(&self) {
        if !self.0.set.swap(false, Ordering::AcqRel) {
            return;
        }
        let removed = StateDir::of_user()
            .map_err(io::Error::other)
            .and_then(|dir| dir.remove(&self.0.state));
        let removed = removed.and(self.0.port_file.as_deref().map_or(Ok(()), remove_file));
        if let Err(error) = removed {
            tracing::warn!(%error, "a file that says where the server was stays");
        }
    }
}

fn write_port_file(file: Option<&Path>, port: u16) -> Result<(), Mistake> {
    let Some(file) = file else {
        return Ok(());
    };
    replace_file(file, format!("{port}\n").as_bytes()).map_err(|error| {
        Mistake::new(2, format!("the port file cannot be written: {error}"))
            .at(words::path(file))
            .attempt("--port-file FILE in a folder that can be written to")
    })
}

/// Reports that the folders are already being served.
fn already_running(settings: &Settings, other: &ServerState) -> Result<u8, CommandError> {
    write_port_file(settings.port_file.as_deref(), other.port)?;
    let mut out = anstream::stdout().lock();
    writeln!(
        out,
        "Already running: {LINK}{}{LINK:#} (process {})",
        page_link(other),
        other.pid
    )?;
    out.flush()?;
    Ok(0)
}

/// URL to open. A server on all addresses is named by the host name.
fn page_address(state: &ServerState) -> String {
    let bare = state.host.trim_start_matches('[').trim_end_matches(']');
    let all = bare
        .parse::<std::net::IpAddr>()
        .is_ok_and(|address| address.is_unspecified());
    let host = if all {
        own_name(bare).unwrap_or_else(|| "localhost".to_owned())
    } else {
        bare.to_owned()
    };
    client::address_of(&host, state.port, &state.prefix)
}

/// URL to open, with the token, which the browser keeps.
fn page_link(state: &ServerState) -> String {
    let mut link = page_address(state);
    if let Some(token) = state.token() {
        link.push_str("?token=");
        link.push_str(token.trim());
    }
    link
}

/// Prints the address of the page. A closed output does not stop the server.
fn announce(settings: &Settings, state: &ServerState) -> Result<(), CommandError> {
    let mut text = format!(
        "{STRONG}trainscope{STRONG:#} {}\n\n  Page     {LINK}{}{LINK:#}",
        env!("CARGO_PKG_VERSION"),
        // A log may be read by others.
        if background::is_child() {
            page_address(state)
        } else {
            page_link(state)
        }
    );
    if is_beyond_loopback(&state.host) {
        text.push_str(" (reachable from other machines)");
    }
    text.push('\n');
    if let Some(file) = &state.token_file {
        text.push_str("  Token    ");
        text.push_str(&words::path(file));
        text.push('\n');
    }
    text.push_str(&folders(settings));
    ignore_closed_pipe(write_out(&text))
}

/// One line per folder.
fn folders(settings: &Settings) -> String {
    if settings.base_dir_assumed {
        return "  Folder   . (the current one; no --summary-base-dir given)\n".to_owned();
    }
    let dirs: Vec<String> = settings
        .base_dirs
        .iter()
        .map(|dir| words::path(dir))
        .collect();
    format!("  Folder   {}\n", dirs.join("\n           "))
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The server outlives the terminal that it was started from.
fn ignore_closed_pipe(result: io::Result<()>) -> Result<(), CommandError> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
