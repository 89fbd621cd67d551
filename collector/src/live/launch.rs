//! Name of the launch of a program, equal on all its ranks.

use std::env;

const TORCHRUN_RESTARTS: &str = "TORCHELASTIC_RESTART_COUNT";

/// Variables of launchers: job and number of restarts.
const LAUNCHERS: [(&str, Option<&str>); 4] = [
    ("TORCHELASTIC_RUN_ID", Some(TORCHRUN_RESTARTS)),
    ("SLURM_JOB_ID", Some("SLURM_RESTART_COUNT")),
    ("PMIX_NAMESPACE", None),
    ("OMPI_MCA_ess_base_jobid", None),
];

/// The name by `TRAINSCOPE_LAUNCH`, else by torchrun, Slurm or MPI, else host and process. Several ranks have the
/// address at which PyTorch's ranks meet, else the process that started them.
pub(crate) fn launch(host: &str, process: u32, world_size: u32) -> String {
    let value = |name: &str| env::var(name).ok().filter(|text| !text.is_empty());
    launch_by(value, host, process, world_size)
}

fn launch_by(
    value: impl Fn(&str) -> Option<String>,
    host: &str,
    process: u32,
    world_size: u32,
) -> String {
    if let Some(given) = value("TRAINSCOPE_LAUNCH") {
        return given;
    }
    let restarts = |name: Option<&str>| name.and_then(&value).unwrap_or_else(|| "0".into());
    for (job, counter) in LAUNCHERS {
        // torchrun says `none` if no id was given.
        if let Some(job) = value(job).filter(|job| job != "none") {
            return format!("{job}.{}", restarts(counter));
        }
    }
    if world_size < 2 {
        return format!("{host}.{process}");
    }
    match (value("MASTER_ADDR"), value("MASTER_PORT")) {
        (Some(address), Some(port)) => {
            format!("{address}:{port}.{}", restarts(Some(TORCHRUN_RESTARTS)))
        }
        _ => format!("{host}.{}", std::os::unix::process::parent_id()),
    }
}

/// Name of the program: the first word of the command line without its folder.
pub(crate) fn program() -> String {
    let first = env::args_os().next().unwrap_or_default();
    let path = std::path::Path::new(&first);
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::launch_by;

    fn of(variables: &[(&str, &str)], world_size: u32) -> String {
        let value = |name: &str| {
            let variable = variables.iter().find(|variable| variable.0 == name)?;
            Some(variable.1.to_owned())
        };
        launch_by(value, "host", 7, world_size)
    }

    #[test]
    fn all_ranks_of_a_launch_have_its_name() {
        let torchrun = [
            ("TORCHELASTIC_RUN_ID", "none"),
            ("TORCHELASTIC_RESTART_COUNT", "2"),
            ("MASTER_ADDR", "127.0.0.1"),
            ("MASTER_PORT", "29500"),
        ];
        assert_eq!(of(&torchrun, 4), "127.0.0.1:29500.2");
        assert_eq!(of(&torchrun, 1), "host.7");
        let with_id = [
            ("TORCHELASTIC_RUN_ID", "job"),
            ("MASTER_ADDR", "a"),
            ("MASTER_PORT", "1"),
        ];
        assert_eq!(of(&with_id, 4), "job.0");
        assert_eq!(
            of(&[("SLURM_JOB_ID", "12"), ("SLURM_RESTART_COUNT", "1")], 4),
            "12.1"
        );
        assert_eq!(
            of(&[("TRAINSCOPE_LAUNCH", "own"), ("SLURM_JOB_ID", "12")], 4),
            "own"
        );
        assert_eq!(of(&[], 1), "host.7");
        assert_eq!(
            of(&[], 2),
            format!("host.{}", std::os::unix::process::parent_id())
        );
    }
}
