//! Accounts of other people on this machine.

use std::path::Path;

/// True if other people have accounts on this machine: another user owns a folder among the homes. A container belongs
/// to one user.
pub fn is_shared_machine() -> bool {
    let container = ["/.dockerenv", "/run/.containerenv"];
    let is_container = container.iter().any(|path| Path::new(path).exists())
        || std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
    let user = rustix::process::geteuid().as_raw();
    !is_container
        && PEOPLE
            .iter()
            .any(|folder| has_folder_of_others(Path::new(folder), user))
}

/// Folders of people on Linux and macOS: homes, and runtime folders of logged-in users.
const PEOPLE: [&str; 3] = ["/home", "/Users", "/run/user"];
/// First user id of people, as tools of the systems assign them. macOS counts from 501.
const FIRST_PERSON: u32 = if cfg!(target_os = "macos") {
    501
} else {
    1_000
};
/// User id of folders whose owner is unknown.
const NOBODY: u32 = 65_534;

fn has_folder_of_others(folder: &Path, user: u32) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut owners = entries.filter_map(|entry| {
        let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_dir)?;
        Some(std::os::unix::fs::MetadataExt::uid(&metadata))
    });
    owners.any(|owner| owner >= FIRST_PERSON && owner != NOBODY && owner != user)
}
