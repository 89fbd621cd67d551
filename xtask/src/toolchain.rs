//! Compiler for the browser target: the active toolchain if it has the target, else rustup installs it, else Debian's
//! compiler is used, else the user gets instructions.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::console;
use crate::packages;
use crate::process::{cargo, find_program, output_of, run};
use crate::workspace::Workspace;

/// The target of the browser program.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's compiler for its browsers, the source of its standard library, its cargo, and an allocator.
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "rust-web-src", "cargo-web", "libjemalloc2"];
/// Debian's compiler needs 15 % less time with it than with the allocator of the C library.
const ALLOCATOR: &str = "libjemalloc.so.2";
/// Path of Debian's compiler.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// The oldest compiler that builds the workspace.
const NEEDED: &str = env!("CARGO_PKG_RUST_VERSION");

/// A compiler with the browser target.
pub enum WasmCompiler {
    /// The active toolchain.
    Active,
    /// Debian's, with the linker to use.
    Debian {
        /// `rust-lld`, or `lld`.
        linker: PathBuf,
    },
}

impl WasmCompiler {
    /// Finds a compiler, installing missing parts.
    pub fn find() -> Result<Self> {
        if env::var("XTASK_WASM").is_ok_and(|way| way == "debian") {
            return Self::debian();
        }
        if active_has_target()? {
            return Ok(Self::Active);
        }
        if rustup_may_install() {
            console::step(&format!("add the target {TARGET} to the toolchain"));
            match run(Command::new("rustup").args(["target", "add", TARGET])) {
                Ok(()) if active_has_target()? => return Ok(Self::Active),
                Ok(()) => {
                    console::line("    rustup added it to another toolchain than the one in use");
                }
                Err(error) => console::line(&format!("    {error:#}")),
            }
        }
        if packages::is_debian() {
            return Self::debian();
        }
        bail!(
            "the compiler cannot build for the browser; install the target with\n  rustup target add {TARGET}\n\
             or build Rust with it; then call this again"
        )
    }

    /// The command that [`Self::find`] would install missing parts with; `None` if nothing is missing.
    pub fn installation() -> Result<Option<String>> {
        let asks_for_debian = env::var("XTASK_WASM").is_ok_and(|way| way == "debian");
        if !asks_for_debian && active_has_target()? {
            return Ok(None);
        }
        if !asks_for_debian && rustup_may_install() {
            return Ok(Some(format!("rustup target add {TARGET}")));
        }
        Ok(packages::installation(&DEBIAN_PACKAGES))
    }

    fn debian() -> Result<Self> {
        packages::ensure(&DEBIAN_PACKAGES).with_context(|| {
            format!("no compiler here can build for the browser: `rustup target add {TARGET}`, or")
        })?;
        if !is_new_enough(&debian_version()?) {
            packages::install_newest(&DEBIAN_PACKAGES)?;
        }
        let version = debian_version()?;
        ensure!(
            is_new_enough(&version),
            "Debian's compiler for the browser is {version}, and {NEEDED} is needed: `rustup target add {TARGET}`, or \
             let the package lists have `bookworm-security` or a newer release"
        );
        let linker = if let Some(linker) = rustup_linker()? {
            linker
        } else {
            packages::ensure(&["lld"])?;
            find_program("wasm-ld").context("the package lld brings no wasm-ld")?
        };
        Ok(Self::Debian { linker })
    }

    /// The command that compiles the browser program with a profile of the workspace; its output is [`output_path`].
    /// `flags_with_std` are flags of a compiler that also compiles the standard library.
    pub(crate) fn build_command(
        &self,
        workspace: &Workspace,
        profile: &str,
        flags_with_std: &[&'static str],
    ) -> Command {
        let mut flags = FLAGS_OF_LEPTOS.to_vec();
        if matches!(self, Self::Debian { .. }) {
            flags.extend(flags_with_std);
        }
        let mut command = match self {
            Self::Active => cargo(),
            Self::Debian { linker } => debian_cargo(linker),
        };
        command
            .current_dir(&workspace.root)
            .args([
                "rustc",
                "--locked",
                "--profile",
                profile,
                "-p",
                "trainscope-web",
                "--lib",
                // Not in the manifest: link-time optimization is silently off for a package with a second type.
                "--crate-type",
                "cdylib",
                "--target",
                TARGET,
                "--config",
                &format!("target.{TARGET}.rustflags={flags:?}"),
            ])
            // A separate target folder: two compilers in one would rebuild everything in turn.
            .arg("--target-dir")
            .arg(workspace.target.join("wasm"));
        if matches!(self, Self::Debian { .. }) {
            // The features leave out support for backtraces.
            command.args([
                "-Zbuild-std=std,panic_abort",
                "-Zbuild-std-features=optimize_for_size",
            ]);
        }
        command
    }
}

/// Leptos then keeps one type of view instead of one for each component: a bundle smaller by 7 %. The relocations of
/// the linker list the references between functions, so that the program can be split.
const FLAGS_OF_LEPTOS: [&str; 3] = ["--cfg", "erase_components", "-Clink-args=--emit-relocs"];

/// Output of [`WasmCompiler::build_command`].
pub(crate) fn output_path(workspace: &Workspace, profile: &str) -> PathBuf {
    workspace
        .target
        .join("wasm")
        .join(TARGET)
        .join(profile)
        .join("trainscope_web.wasm")
}

fn debian_cargo(linker: &Path) -> Command {
    let mut command = Command::new("/usr/bin/cargo");
    // Variables set by `cargo run` refer to the other compiler.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_of_other_compiler) {
            command.env_remove(name);
        }
    }
    command
        .env("RUSTC", DEBIAN_RUSTC)
        // This stable compiler lacks the target's standard library and needs `-Zbuild-std`.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("LD_PRELOAD", ALLOCATOR)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    command
}

/// `true` for variables that would mislead another cargo: all of those of cargo and rustup, except the user's registry
/// and home.
fn is_of_other_compiler(name: &str) -> bool {
    let is_wanted = name == "CARGO_HOME"
        || [
            "CARGO_REGISTRIES_",
            "CARGO_REGISTRY_",
            "CARGO_SOURCE_",
            "CARGO_HTTP_",
            "CARGO_NET_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix));
    let is_theirs = ["CARGO", "RUSTUP", "RUSTC", "RUSTDOC"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || name == "RUSTFLAGS"
        || name == "LD_LIBRARY_PATH";
    is_theirs && !is_wanted
}

/// Version of Debian's compiler, like `1.96.0`.
fn debian_version() -> Result<String> {
    // Set by `cargo run` for the libraries of the other compiler.
    let mut compiler = Command::new(DEBIAN_RUSTC);
    let version = output_of(compiler.arg("--version").env_remove("LD_LIBRARY_PATH"))?;
    let number = version.split_whitespace().nth(1);
    Ok(number
        .context("`rustc --version` says no number")?
        .to_owned())
}

/// `true` if a version like `1.96.0` is [`NEEDED`] or later.
fn is_new_enough(version: &str) -> bool {
    let numbers = |version: &str| -> Vec<u32> {
        let parts = version
            .split(['.', '-'])
            .map_while(|part| part.parse().ok());
        parts.collect()
    };
    numbers(version) >= numbers(NEEDED)
}

/// `true` if rustup is installed, and `RUSTUP_AUTO_INSTALL` does not forbid a change of the toolchain.
fn rustup_may_install() -> bool {
    env::var("RUSTUP_AUTO_INSTALL").map_or(true, |value| value != "0")
        && find_program("rustup").is_some()
}

fn active_sysroot() -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Ok(output_of(Command::new(rustc).args(["--print", "sysroot"]))?.into())
}

fn active_has_target() -> Result<bool> {
    let libraries = active_sysroot()?
        .join("lib/rustlib")
        .join(TARGET)
        .join("lib");
    Ok(libraries.is_dir())
}

/// The linker of the active toolchain.
fn rustup_linker() -> Result<Option<PathBuf>> {
    let rustlib = active_sysroot()?.join("lib/rustlib");
    let Ok(targets) = rustlib.read_dir() else {
        return Ok(None);
    };
    Ok(targets
        .filter_map(|target| Some(target.ok()?.path().join("bin/rust-lld")))
        .find(|linker| linker.is_file()))
}

#[cfg(test)]
mod tests {
    use super::{NEEDED, is_new_enough, is_of_other_compiler};

    #[test]
    fn a_compiler_from_before_the_workspace_is_too_old() {
        for old in ["1.85.0", "1.9.0", "0.99.0", ""] {
            assert!(!is_new_enough(old), "{old}");
        }
        for new in [NEEDED, "1.95.1", "1.96.0-nightly", "1.100.0", "2.0.0"] {
            assert!(is_new_enough(new), "{new}");
        }
    }

    #[test]
    fn only_registry_and_home_reach_the_other_cargo() {
        for kept in [
            "CARGO_HOME",
            "CARGO_REGISTRIES_MIRROR_INDEX",
            "CARGO_NET_OFFLINE",
            "PATH",
            "HOME",
        ] {
            assert!(!is_of_other_compiler(kept), "{kept}");
        }
        for removed in [
            "CARGO",
            "CARGO_PKG_NAME",
            "CARGO_TARGET_DIR",
            "RUSTUP_TOOLCHAIN",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "LD_LIBRARY_PATH",
        ] {
            assert!(is_of_other_compiler(removed), "{removed}");
        }
    }
}
