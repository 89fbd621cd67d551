//! Detection of forks of the recording process.
//!
//! A forked child has a copy of every collector but not its writing thread, and locks may be held forever. So the
//! child must detect the fork before it touches any of them; asking for the process id would be a system call each
//! time.

use std::sync::atomic::{AtomicU32, Ordering};

/// Number of forks between this process and the first one that asked.
static GENERATION: AtomicU32 = AtomicU32::new(0);

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
