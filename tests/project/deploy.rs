//! The files for Kubernetes: their flags are those of the program, and kubectl renders them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::lab::workspace_root;
use crate::support::program::program;

const FOLDERS: [&str; 2] = ["kustomize", "kustomize-login"];

/// Folder of the job that checks a training in parts.
const CHECK_JOB: &str = "check-job";

fn folder(name: &str) -> PathBuf {
    workspace_root().join("deploy").join(name)
}

/// All files for Kubernetes, as text.
fn texts() -> Vec<String> {
    let files = FOLDERS
        .iter()
        .flat_map(|name| fs::read_dir(folder(name)).unwrap());
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    texts.collect()
}

#[test]
fn flags_for_the_program_exist() {
    let help = program().args(["start", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let texts = texts();
    // The flags of another program follow its image.
    let of_program = texts
        .iter()
        .filter_map(|text| text.split("- name: oauth2-proxy").next());
    let flags: BTreeSet<&str> = of_program
        .flat_map(str::lines)
        .filter_map(|line| line.trim().strip_prefix("- --")?.split('=').next())
        .collect();
    assert!(flags.len() >= 8, "{flags:?}");
    for flag in flags {
        assert!(help.contains(&format!("--{flag} ")), "--{flag}");
    }
}

#[test]
fn files_for_checks_in_parts_have_flags_that_exist_and_one_number_of_parts() {
    let help = program().args(["check", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let job = fs::read_to_string(folder(CHECK_JOB).join("job.yaml")).unwrap();
    let scripts = ["slurm/check.sh", "check-parallel.sh"].map(|name| {
        let text = fs::read_to_string(folder(name)).unwrap();
        // The flags of the scheduler have a value behind `=`, or stand before the program.
        let of_program = text.split("trainscope check").skip(1);
        of_program
            .map(|text| text.lines().next().unwrap_or_default().to_owned())
            .collect::<String>()
    });
    let mut flags = BTreeSet::new();
    for text in scripts.iter().chain([&job]) {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        flags.extend(words.filter(|word| word.starts_with("--") && word.len() > 2));
    }
    assert!(flags.contains("--shard") && flags.len() >= 5, "{flags:?}");
    for flag in flags {
        assert!(help.contains(flag), "{flag}");
    }
    assert!(job.contains("completions: 64") && job.contains("value: \"64\""));
}

#[test]
fn the_image_has_the_version_of_the_program() {
    let text = fs::read_to_string(folder("kustomize").join("kustomization.yaml")).unwrap();
    let tag = format!("newTag: \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&tag), "{text}");
}

#[test]
fn kubectl_renders_the_folders() {
    // Only its users install it; the other tests read the files without it.
    let Ok(version) = Command::new("kubectl")
        .args(["version", "--client"])
        .output()
    else {
        println!("no kubectl: the folders were not rendered");
        return;
    };
    assert!(version.status.success());
    for name in FOLDERS.into_iter().chain([CHECK_JOB]) {
        let rendered = Command::new("kubectl")
            .arg("kustomize")
            .arg(folder(name))
            .output()
            .unwrap();
        let text = String::from_utf8(rendered.stdout).unwrap();
        assert!(
            rendered.status.success(),
            "{}",
            String::from_utf8_lossy(&rendered.stderr)
        );
        assert!(text.contains("readOnlyRootFilesystem: true"), "{text}");
        let is_server = name != CHECK_JOB;
        assert_eq!(text.contains("path: /healthz"), is_server, "{text}");
    }
}
