//! Connections: their maximum number, and the time limits of clients.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::ServiceExt;

/// Time for the headers of a request, and for the next request on a connection. Browsers connect again.
const HEADER_TIME: Duration = Duration::from_secs(15);
/// Time until connections are accepted again, after the system has refused one.
const PAUSE: Duration = Duration::from_millis(200);
/// Maximum number of connections; more than pages and trainings of one server need.
const MAX_CONNECTIONS: usize = 4_096;

/// A place among the connections, for as long as a connection or its WebSocket lasts.
#[derive(Clone)]
pub(super) struct Place(
    #[expect(dead_code, reason = "it is given back when dropped")] Arc<OwnedSemaphorePermit>,
);

/// Serves `app` until `ending` becomes true, then ends open requests. Needs a runtime.
pub async fn serve(listener: TcpListener, app: Router, mut ending: watch::Receiver<bool>) {
    let count = places();
    let places = Arc::new(Semaphore::new(count));
    loop {
        let accepted = async {
            // Further clients wait in the queue of the system.
            let place = Arc::clone(&places).acquire_owned().await.ok()?;
            match listener.accept().await {
                Ok((stream, peer)) => Some((Place(Arc::new(place)), stream, peer)),
                Err(error) => {
                    tracing::debug!(%error, "a connection was not accepted");
                    tokio::time::sleep(PAUSE).await;
                    None
                }
            }
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = ended(&mut ending) => break,
        };
        if let Some((place, stream, peer)) = accepted {
            tokio::spawn(converse(app.clone(), stream, peer, place, ending.clone()));
        }
    }
    drop(listener);
    // All places are back when all connections have ended.
    drop(
        places
            .acquire_many(u32::try_from(count).unwrap_or(u32::MAX))
            .await,
    );
}

async fn converse(
    app: Router,
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
    mut ending: watch::Receiver<bool>,
) {
    // Small answers are sent at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let answer = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        request.extensions_mut().insert(place.clone());
        app.clone().oneshot(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = ended(&mut ending) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // The client has gone, or was too slow.
        tracing::debug!(%error, "a connection has ended");
    }
}

/// Waits for the end of the server. A closed channel also means shutdown.
async fn ended(ending: &mut watch::Receiver<bool>) {
    drop(ending.wait_for(|ending| *ending).await);
}

/// Maximum number of concurrent connections: a quarter of the descriptors is reserved for the files of runs. Raises the
/// process limit of descriptors to the system's maximum.
fn places() -> usize {
    let known = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: known.maximum,
        ..known
    };
    let limit = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => wanted.current,
        Err(_) => known.current,
    };
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    limit.map_or(MAX_CONNECTIONS, |limit| {
        (limit / 4 * 3).clamp(1, MAX_CONNECTIONS)
    })
}
