//! The `trainscope` program.

use mimalloc::MiMalloc;

/// The allocator of the system keeps three times the memory of a trace of a gigabyte once that was read.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> std::process::ExitCode {
    trainscope::cli::main()
}
