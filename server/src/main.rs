//! The `trainscope` program.

fn main() -> std::process::ExitCode {
    trainscope::cli::main()
}
