//! The licences of all crates in the program, as one text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, Package, PackageId};

use crate::archive;

/// First letters of the names of files that are part of a licence.
const NAMES: [&str; 5] = ["licen", "copying", "notice", "unlicense", "copyright"];

/// Names, licences and texts of all crates that the program is compiled from. Equal texts appear once, with the crates
/// that they come from.
pub(crate) fn of_program(metadata: &Metadata) -> Result<String> {
    let resolve = metadata
        .resolve
        .as_ref()
        .context("cargo resolved nothing")?;
    let packages: BTreeMap<&PackageId, &Package> = metadata
        .packages
        .iter()
        .map(|package| (&package.id, package))
        .collect();
    let edges: BTreeMap<&PackageId, Vec<&PackageId>> = resolve
        .nodes
        .iter()
        .map(|node| {
            let compiled_in = node.deps.iter().filter(|dep| {
                let mut kinds = dep.dep_kinds.iter();
                kinds.any(|kind| kind.kind == DependencyKind::Normal)
            });
            (&node.id, compiled_in.map(|dep| &dep.pkg).collect())
        })
        .collect();
    // The module of the wheel and the page have further dependencies.
    let mut open: Vec<&PackageId> = metadata
        .workspace_packages()
        .iter()
        .filter(|package| {
            ["trainscope", "trainscope-python", "trainscope-web"].contains(&package.name.as_str())
        })
        .map(|package| &package.id)
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            open.extend(edges.get(id).into_iter().flatten());
        }
    }

    let mut list =
        String::from("The program is compiled from these crates, beside its own sources:\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in seen.iter().filter_map(|id| packages.get(id)) {
        if metadata.workspace_members.contains(&package.id) {
            continue;
        }
        let name = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref().unwrap_or("see its text below");
        writeln!(list, "{name}: {licence}")?;
        let folder = package
            .manifest_path
            .parent()
            .context("a manifest has a folder")?;
        for file in archive::files_of(folder.as_std_path())? {
            let lower = file
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .to_lowercase();
            if NAMES.iter().any(|start| lower.starts_with(start)) {
                let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
                texts.entry(text).or_default().push(name.clone());
            }
        }
    }
    for (text, names) in texts {
        writeln!(
            list,
            "\n{}\n{}\n\n{}",
            "=".repeat(80),
            names.join(", "),
            text.trim_end()
        )?;
    }
    Ok(list)
}
