//! Returns large blocks of memory to the system as soon as they are freed.

/// Bytes from which a block is returned. glibc raises its threshold to the largest freed block, up to 32 MiB: columns of a
/// profile then come from heaps that keep their holes, and a server that shows a trace of 1.4 GB stayed at 1.3 GB
/// instead of 0.4 GB (`docs/src/performance.md`).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE_BLOCK_BYTES: libc::c_int = 1 << 20;

/// Sets the threshold. Nothing changes with another C library.
pub(crate) fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "parameters of the allocator are set by C")]
        // SAFETY: the function takes two numbers, checks them and sets a parameter; it is called before there are other
        // threads.
        let is_set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES) };
        debug_assert_eq!(is_set, 1, "a constant below the limit of 32 MiB");
    }
}
