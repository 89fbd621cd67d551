//! The `trainscope` program.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
