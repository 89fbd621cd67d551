//! Versions of the C library that programs require.

use std::path::Path;
use std::process::Command;
use std::{cmp, fs};

use anyhow::{Context, Result, ensure};
use xtask::console;
use xtask::process::{output_of, run};

use crate::archive;

/// Major and minor number.
pub(crate) type Version = (u32, u32);

/// Fails if a program or a shared library requires a newer C library than `oldest`.
pub(crate) fn check(file: &Path, oldest: Version) -> Result<()> {
    let listed = output_of(
        Command::new("readelf")
            .args(["--version-info", "--wide"])
            .arg(file),
    )?;
    let newest = newest(&listed).with_context(|| format!("{} names no symbols", file.display()))?;
    console::line(&format!(
        "    {}: glibc {}.{}",
        file.display(),
        newest.0,
        newest.1
    ));
    ensure!(
        newest <= oldest,
        "{} wants glibc {}.{}, and {}.{} is promised",
        file.display(),
        newest.0,
        newest.1,
        oldest.0,
        oldest.1
    );
    Ok(())
}

/// Checks the program and the module in a wheel, which is unpacked into `scratch`.
pub(crate) fn check_wheel(
    tools: &Path,
    wheel: &Path,
    scratch: &Path,
    oldest: Version,
) -> Result<()> {
    if scratch.exists() {
        fs::remove_dir_all(scratch)?;
    }
    run(Command::new(tools.join("bin/python"))
        .args(["-m", "zipfile", "-e"])
        .args([wheel, scratch]))?;
    let mut checked = 0;
    for file in archive::files_below(scratch)? {
        if fs::read(&file)?.starts_with(b"\x7fELF") {
            check(&file, oldest)?;
            checked += 1;
        }
    }
    ensure!(
        checked == 2,
        "{}: {checked} programs and modules, not 2",
        wheel.display()
    );
    Ok(())
}

/// The newest version that readelf lists.
fn newest(listed: &str) -> Option<Version> {
    let names = listed
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("GLIBC_"));
    let versions = names.filter_map(|name| {
        let mut numbers = name.split('.').map_while(|number| number.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    });
    versions.reduce(cmp::max)
}

#[cfg(test)]
mod tests {
    use super::newest;

    #[test]
    fn the_newest_version_is_found_by_number() {
        let listed = "0x0010: Name: GLIBC_2.9  Flags: none\n 0x0020:   Name: GLIBC_2.28  Flags\n GLIBC_2.2.5 GCC_3.0";
        assert_eq!(newest(listed), Some((2, 28)));
        assert_eq!(newest("Name: GCC_4.2"), None);
    }
}
