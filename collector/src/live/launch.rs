//! Name of the launch of a program, equal on all its ranks.

use std::env;

/// Variables of launchers: job and number of restarts.
const LAUNCHERS: [(&str, Option<&str>); 4] = [
    ("TORCHELASTIC_RUN_ID", Some("TORCHELASTIC_RESTART_COUNT")),
    ("SLURM_JOB_ID", Some("SLURM_RESTART_COUNT")),
    ("PMIX_NAMESPACE", None),
    ("OMPI_MCA_ess_base_jobid", None),
];

/// The name by `TRAINSCOPE_LAUNCH`, else by torchrun, Slurm or MPI, else host and process.
pub(crate) fn launch(host: &str, process: u32) -> String {
    let value = |name: &str| env::var(name).ok().filter(|text| !text.is_empty());
    if let Some(given) = value("TRAINSCOPE_LAUNCH") {
        return given;
    }
    for (job, restarts) in LAUNCHERS {
        // torchrun says `none` if no id was given.
        if let Some(job) = value(job).filter(|job| job != "none") {
            let restarts = restarts.and_then(value).unwrap_or_else(|| "0".into());
            return format!("{job}.{restarts}");
        }
    }
    format!("{host}.{process}")
}

/// Name of the program: the first word of the command line without its folder.
pub(crate) fn program() -> String {
    let first = env::args_os().next().unwrap_or_default();
    let path = std::path::Path::new(&first);
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
