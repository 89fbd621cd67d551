//! Large bodies, sent in pieces: memory and threads are bounded for all clients together, and a client that is gone or
//! takes nothing ends the work for it.

use std::fmt::Display;
use std::io;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::body::{Body, Bytes};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

use super::error::Failure;

/// Bytes of a piece, about.
pub(super) const PIECE_BYTES: usize = 256 << 10;
/// Pieces that wait for a client; one more is being made.
const WAITING_PIECES: usize = 2;
/// Bodies that are sent at a time, each on a thread of its own. Further clients wait for their first byte.
const MAX_BODIES: usize = 64;
/// A client that takes no piece for so long is given up, so that others get its turn.
const MAX_PAUSE: Duration = Duration::from_mins(1);

static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(MAX_BODIES)));

/// Takes the next piece of a body; `false` if no more is wanted.
pub(super) type Sink<'a> = &'a mut dyn FnMut(Vec<u8>) -> bool;

/// A body of the pieces that `write` makes. After an error of it the connection is closed, so that the client knows that
/// the body is not whole.
pub(super) async fn body<E: Display>(
    write: impl FnOnce(Sink<'_>) -> Result<(), E> + Send + 'static,
) -> Result<Body, Failure> {
    let turn = Arc::clone(&TURNS).acquire_owned();
    let turn = turn.await.map_err(|e| Failure::internal("no turn", &e))?;
    let (sender, mut receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING_PIECES);
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let send = |piece| runtime.block_on(sender.send_timeout(piece, MAX_PAUSE));
        if let Err(error) = write(&mut |piece| send(Ok(piece.into())).is_ok()) {
            let error = io::Error::other(error.to_string());
            if send(Err(error)).is_err() {
                tracing::debug!("a client was gone before its answer broke off");
            }
        }
    });
    let pieces = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    Ok(Body::from_stream(pieces))
}
