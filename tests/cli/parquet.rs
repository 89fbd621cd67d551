//! Exports as Parquet: every number to the bit, and tables of several runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

use crate::support::lab::{Lab, workspace_root};
use crate::support::terminal::{CommandOutput, trainscope_in};

fn trainscope(args: &[&str]) -> CommandOutput {
    trainscope_in(&workspace_root(), args)
}

fn open(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

type Row = BTreeMap<String, Field>;

fn rows(reader: &SerializedFileReader<File>) -> Vec<Row> {
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().into_columns().into_iter().collect())
        .collect()
}

/// Cells of a table without quoted cells.
fn csv(printed: &CommandOutput) -> Vec<Vec<&str>> {
    let lines = printed.out.lines().skip(1);
    lines.map(|line| line.split(',').collect()).collect()
}

const VALUES: [f32; 6] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    -0.0,
    f32::MIN_POSITIVE / 2.0,
    0.1,
];

#[test]
fn numbers_are_the_same_to_the_bit_and_none_is_hidden_by_statistics() {
    let lab = Lab::new();
    let values = |step: i64| VALUES[usize::try_from(step).unwrap() % VALUES.len()];
    lab.record("run").curve("loss", 0..60, values);
    let run = lab.base().join("run").display().to_string();
    let file = lab.path("scalars.parquet");
    let output = file.to_str().unwrap();
    let args = ["export", &run, "-k", "scalars"];
    let done = trainscope(&[&args[..], &["-f", "parquet", "-o", output]].concat());
    assert_eq!(done.status, 0, "{done:?}");
    let reader = open(&file);
    for (at, row) in rows(&reader).iter().enumerate() {
        assert_eq!(row["step"], Field::Long(i64::try_from(at).unwrap()));
        let Field::Double(value) = row["value"] else {
            panic!("{row:?}")
        };
        let recorded = f64::from(VALUES[at % VALUES.len()]);
        assert_eq!(value.to_bits(), recorded.to_bits(), "{at}");
        assert_eq!(row["tag"], Field::Str("loss".into()));
        assert!(
            matches!(row["wall_time"], Field::TimestampMicros(_)),
            "{row:?}"
        );
    }
    let metadata = reader.metadata();
    let group = metadata.row_group(0);
    assert_eq!(group.num_rows(), 60);
    let with_statistics: Vec<&str> = group
        .columns()
        .iter()
        .filter(|column| column.statistics().is_some())
        .map(|column| column.column_path().parts()[0].as_str())
        .collect();
    assert_eq!(
        with_statistics,
        ["tag", "rank", "step", "wall_time", "writer"]
    );
    let keys = metadata.file_metadata().key_value_metadata().unwrap();
    let kind = keys
        .iter()
        .find(|pair| pair.key == "trainscope.kind")
        .unwrap();
    assert_eq!(kind.value.as_deref(), Some("scalars"));
}

#[test]
fn tables_of_several_runs_are_those_of_each_run() {
    for kind in [
        "scalars",
        "statistics",
        "hits",
        "histograms",
        "steps",
        "operators",
        "memory",
        "ranks",
    ] {
        let one = |run: &str| trainscope(&["export", run, "-k", kind]);
        let runs = [
            "sample-runs/torch/run1",
            "sample-runs/torch/profiled",
            "sample-runs/mlp/overflow",
        ];
        let tables: Vec<_> = runs.iter().map(|run| (run, one(run))).collect();
        let with_records = tables.iter().filter(|(_, table)| table.status == 0);
        let wanted: Vec<Vec<String>> = with_records
            .flat_map(|(run, table)| {
                let of_run = move |cells: Vec<&str>| {
                    let cells = cells.into_iter().map(str::to_owned);
                    std::iter::once((**run).to_owned()).chain(cells).collect()
                };
                csv(table).into_iter().map(of_run)
            })
            .collect();
        let all = trainscope(&[&["export"][..], &runs, &["-k", kind]].concat());
        assert_eq!(all.status, 0, "{kind}: {all:?}");
        assert!(all.out.starts_with("run,"), "{kind}");
        assert_eq!(csv(&all), wanted, "{kind}");

        let lab = Lab::new();
        let file = lab.path("all.parquet");
        let output = file.to_str().unwrap();
        let args = [
            &["export"][..],
            &runs,
            &["-k", kind, "-f", "parquet", "-o", output],
        ]
        .concat();
        assert_eq!(trainscope(&args).status, 0, "{kind}");
        assert_eq!(rows(&open(&file)).len(), wanted.len(), "{kind}");
    }
}

#[test]
fn all_runs_below_a_folder_are_read_together() {
    let lab = Lab::new();
    let folder = lab.path("lake");
    let output = format!("{}/", folder.display());
    let args = [
        "export",
        "sample-runs/mlp",
        "--all-runs",
        "-k",
        "scalars",
        "-f",
        "parquet",
        "-o",
        &output,
    ];
    let done = trainscope(&args);
    assert_eq!(done.status, 0, "{done:?}");
    let rows = rows(&open(&folder.join("part-00000.parquet")));
    let mut runs: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let Field::Str(run) = &row["run"] else {
            panic!("{row:?}")
        };
        *runs.entry(run.clone()).or_default() += 1;
    }
    assert_eq!(runs.len(), 8, "{runs:?}");
    let alone = trainscope(&["export", "sample-runs/mlp/healthy", "-k", "scalars"]);
    assert_eq!(runs["sample-runs/mlp/healthy"], csv(&alone).len());
}

#[test]
fn a_table_of_runs_has_typed_columns() {
    let lab = Lab::new();
    let file = lab.path("runs.parquet");
    let output = file.to_str().unwrap();
    let done = trainscope(&["table", "sample-runs", "--format", "parquet", "-o", output]);
    assert_eq!(done.status, 0, "{done:?}");
    let rows = rows(&open(&file));
    assert_eq!(rows.len(), 27);
    let csv = trainscope(&["table", "sample-runs", "--format", "csv"]);
    let head: Vec<&str> = csv.out.lines().next().unwrap().split(',').collect();
    assert!(
        head.iter().all(|key| rows[0].contains_key(*key)),
        "{head:?}"
    );
    let cells = |key: &str| rows.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    let is_number = |cell: &Field| matches!(cell, Field::Double(_) | Field::Null);
    assert!(cells("lr").iter().all(is_number));
    assert!(
        cells("lr").contains(&Field::Double(0.1)),
        "{:?}",
        cells("lr")
    );
    let is_text = |cell: &Field| matches!(cell, Field::Str(_) | Field::Null);
    assert!(cells("opt").iter().all(is_text));
    assert!(cells("opt").contains(&Field::Null), "{:?}", cells("opt"));
}

#[test]
fn exports_that_are_no_tables_are_of_one_run() {
    for (kind, format) in [
        ("scalars", "svg"),
        ("timeline", "json"),
        ("images", "files"),
    ] {
        let runs = ["sample-runs/torch/run1", "sample-runs/torch/profiled"];
        let done = trainscope(&[&["export"][..], &runs, &["-k", kind, "-f", format]].concat());
        assert_eq!(done.status, 2, "{done:?}");
        assert!(done.err.contains("this export takes one run"), "{done:?}");
    }
    let done = trainscope(&[
        "export",
        "sample-runs/torch/run1",
        "-k",
        "images",
        "-f",
        "parquet",
    ]);
    assert_eq!(done.status, 2);
    assert!(
        done.err.contains("images cannot be exported as parquet"),
        "{done:?}"
    );
}
