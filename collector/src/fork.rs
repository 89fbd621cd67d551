//! Detection of forks of the recording process.
//!
//! A forked child has a copy of every collector but not its writing thread, and locks may be held forever. So the
//! child must detect the fork before it touches any of them; asking for the process id would be a system call each
//! time.

use std::sync::atomic::{AtomicU32, Ordering};

/// Number of forks between this process and the first one that asked.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Sockets that a fork closes, so that the other end notices when the parent ends; −1 is free.
#[cfg(all(unix, feature = "live"))]
static SOCKETS: [std::sync::atomic::AtomicI32; 16] =
    [const { std::sync::atomic::AtomicI32::new(-1) }; 16];

/// A registered socket; dropping it ends the registration.
#[cfg(feature = "live")]
pub(crate) struct Socket {
    #[cfg(unix)]
    place: Option<usize>,
}

#[cfg(feature = "live")]
impl Socket {
    /// Registers a socket to be closed in forks of this process. Beyond 16 at once, sockets stay open in the forks.
    #[cfg(unix)]
    pub(crate) fn register(socket: &impl std::os::fd::AsRawFd) -> Self {
        let number = socket.as_raw_fd();
        let place = SOCKETS.iter().position(|place| {
            let order = Ordering::Relaxed;
            place.compare_exchange(-1, number, order, order).is_ok()
        });
        Self { place }
    }

    #[cfg(not(unix))]
    pub(crate) fn register<T>(_: &T) -> Self {
        Self {}
    }
}

#[cfg(all(unix, feature = "live"))]
impl Drop for Socket {
    fn drop(&mut self) {
        if let Some(place) = self.place.and_then(|place| SOCKETS.get(place)) {
            place.store(-1, Ordering::Relaxed);
        }
    }
}

/// The generation of this process; differs between a process and its forks.
#[inline]
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Starts counting forks. (Processes created by a bare `clone` or `vfork` are not detected; they must not record.)
pub(crate) fn watch() {
    #[cfg(unix)]
    {
        use std::sync::Once;

        extern "C" fn in_child() {
            GENERATION.fetch_add(1, Ordering::Relaxed);
            #[cfg(feature = "live")]
            for place in &SOCKETS {
                let number = place.swap(-1, Ordering::Relaxed);
                if number >= 0 {
                    #[expect(
                        unsafe_code,
                        reason = "a socket of the parent must not live on in the child"
                    )]
                    // SAFETY: `close` is allowed between fork and exec. The number is that of a registered socket,
                    // which nothing in the child uses or closes: its owner is a thread that the child does not have.
                    unsafe {
                        libc::close(number);
                    }
                }
            }
        }

        static REGISTERED: Once = Once::new();
        REGISTERED.call_once(|| {
            #[expect(
                unsafe_code,
                reason = "the only way to hear of a fork; the handler does one atomic addition, which is all that a \
                          child may do between fork and exec"
            )]
            // SAFETY: `in_child` is a function of this program, never unloaded, and safe to call after a fork.
            let _out_of_memory = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        });
    }
}
