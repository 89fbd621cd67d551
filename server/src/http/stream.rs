//! Large bodies, sent in pieces: memory and threads are bounded for all clients together, and a client that
//! disconnects or stalls ends the work for it.

use std::fmt::Display;
use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::body::{Body, Bytes};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

use super::error::Failure;
use crate::people;

/// Approximate size of a piece.
pub(super) const PIECE_BYTES: usize = 256 << 10;
/// Number of pieces buffered for a client; one more is being built.
const WAITING_PIECES: usize = 2;
/// Maximum number of concurrent bodies, each on a separate thread. Further clients wait for their first byte.
const MAX_BODIES: usize = 64;
/// Timeout of a client that takes no piece, in favour of waiting clients.
const MAX_PAUSE: Duration = Duration::from_mins(1);

static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(MAX_BODIES)));

/// Takes the next piece of a body; `false` to stop.
pub(super) type Sink<'a> = &'a mut dyn FnMut(Vec<u8>) -> bool;

/// A body from the pieces that `write` produces. After an error the connection is closed, so that the client detects
/// the incomplete body.
pub(super) async fn body<E: Display>(
    write: impl FnOnce(Sink<'_>) -> Result<(), E> + Send + 'static,
) -> Result<Body, Failure> {
    let turn = Arc::clone(&TURNS).acquire_owned();
    let turn = turn.await.map_err(|e| Failure::internal("no turn", &e))?;
    let (sender, mut receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING_PIECES);
    let runtime = Handle::current();
    tokio::task::spawn_blocking(people::carry(move || {
        let _turn = turn;
        let send = |piece| runtime.block_on(sender.send_timeout(piece, MAX_PAUSE));
        if let Err(error) = write(&mut |piece| send(Ok(piece.into())).is_ok()) {
            let error = io::Error::other(error.to_string());
            if send(Err(error)).is_err() {
                tracing::debug!("a client was gone before its answer broke off");
            }
        }
    }));
    let pieces = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    Ok(Body::from_stream(pieces))
}
