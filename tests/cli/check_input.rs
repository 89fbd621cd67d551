//! `trainscope check` on tensors that are odd, damaged, missing or still being written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::Command;
use std::time::Instant;

use crate::cli::check::{Place, floats, names, npy, safetensors};
use crate::support::EventFile;
use crate::support::event_file::put_frame;
use crate::support::lab::STARTED_SECS;

#[test]
fn npy_files_of_every_kind_are_read_or_refused() {
    let place = Place::new();
    let bad = [1.0, f32::NAN, 2.0, 3.0, 4.0, 5.0];
    let big: Vec<u8> = bad.iter().flat_map(|number| number.to_be_bytes()).collect();
    for (name, bytes) in [
        ("weight.plain", npy("'<f4'", false, "(2, 3)", &floats(&bad))),
        ("weight.big", npy("'>f4'", false, "(2, 3)", &big)),
        (
            "weight.columns",
            npy("'<f4'", true, "(2, 3)", &floats(&bad)),
        ),
        (
            "weight.single",
            npy("'<f4'", false, "()", &floats(&[f32::INFINITY])),
        ),
        ("weight.empty", npy("'<f4'", false, "(0, 5)", &[])),
        ("weight.half", npy("'<f2'", false, "(1,)", &[0x00, 0x7c])),
        ("weight.whole", npy("'<i8'", false, "(1,)", &[0; 8])),
        ("weight.objects", npy("'|O'", false, "(1,)", b"\x80\x04N.")),
        ("weight.complex", npy("'<c8'", false, "(1,)", &[0; 8])),
        (
            "weight.cut",
            npy("'<f4'", false, "(2, 3)", &floats(&bad[..2])),
        ),
        (
            "weight.huge",
            npy("'<f4'", false, "(1099511627776,)", &floats(&bad)),
        ),
        (
            "weight.larger",
            npy("'<f8'", false, "(4294967296, 4294967296)", &[]),
        ),
        ("weight.none", b"this is no npy file at all".to_vec()),
        ("weight.short", b"\x93NUM".to_vec()),
    ] {
        place.write(&format!("run/steps/0/{name}.npy"), &bytes);
    }
    // A later step, so that the truncated file counts as final.
    place.write(
        "run/steps/1/weight.plain.npy",
        &npy("'<f4'", false, "(2, 3)", &floats(&[0.0; 6])),
    );
    let answer = place.overflows();
    let mut found = names(&answer, "hits", "tensor");
    found.sort();
    assert_eq!(
        found,
        [
            "weight/big",
            "weight/columns",
            "weight/half",
            "weight/plain",
            "weight/single"
        ]
    );
    let mut damaged = names(&answer, "damaged", "file");
    damaged.sort();
    let wanted =
        ["cut", "huge", "larger", "none", "short"].map(|name| format!("steps/0/weight.{name}.npy"));
    assert_eq!(damaged, wanted);
    let reason = |file: &str| {
        let all = answer["damaged"].as_array().unwrap().iter();
        let mut of_file = all.filter(|fault| fault["file"].as_str().unwrap().contains(file));
        of_file.next().unwrap()["reason"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        reason("cut").contains("bytes are there"),
        "{}",
        reason("cut")
    );
}

#[test]
fn tensors_of_types_that_are_not_computed_with_are_not_judged_and_no_damage() {
    let json = "{\"freqs_cis\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]},\
        \"scale\":{\"dtype\":\"F8_E8M0\",\"shape\":[4],\"data_offsets\":[8,12]},\
        \"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}";
    let mixed = [
        &(json.len() as u64).to_le_bytes()[..],
        json.as_bytes(),
        &[0; 12],
        &floats(&[1.5]),
    ]
    .concat();
    let place = Place::new();
    for step in 0..2 {
        place.write(&format!("run/steps/{step}/all.safetensors"), &mixed);
        for (name, descr, shape) in [
            ("buffer.freqs_cis", "'<c8'", "(1,)"),
            ("buffer.wide", "'<c16'", "(1,)"),
            ("buffer.long", "'<f16'", "(1,)"),
            ("buffer.void", "'|V1'", "(16,)"),
            ("buffer.eighth", "'<f1'", "(16,)"),
            ("buffer.text", "'<U2'", "(2,)"),
            ("buffer.when", "'<M8[s]'", "(2,)"),
            ("buffer.record", "[('a', '<f4')]", "(4,)"),
            // A pickle that would run code if it were read.
            ("buffer.objects", "'|O'", "(1,)"),
        ] {
            let path = format!("run/steps/{step}/{name}.npy");
            place.write(&path, &npy(descr, false, shape, &[0x80; 16]));
        }
    }
    let printed = place.check(&["--format", "json"]);
    let answer = printed.json();
    assert_eq!(printed.status, 0, "{answer:#}");
    assert_eq!(names(&answer, "damaged", "file"), [""; 0]);
    assert_eq!(answer["judged"]["tensors"], 1);
    let types: BTreeMap<String, String> = names(&answer, "unread", "tensor")
        .into_iter()
        .zip(names(&answer, "unread", "dtype"))
        .collect();
    let types: Vec<(&str, &str)> = types.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(
        types,
        [
            ("buffer/eighth", "f1"),
            ("buffer/freqs_cis", "complex64"),
            ("buffer/long", "longdouble"),
            ("buffer/objects", "Python object"),
            ("buffer/record", "record"),
            ("buffer/text", "string (U2)"),
            ("buffer/void", "V1"),
            ("buffer/when", "datetime64[s]"),
            ("buffer/wide", "complex128"),
            ("freqs_cis", "C64"),
            ("scale", "F8_E8M0"),
        ]
    );
    assert_eq!(answer["unread"][0]["steps"], 2);
    assert_eq!(place.check(&["--strict"]).status, 2);
    let text = place.check(&[]);
    assert_eq!(text.status, 0);
    assert!(text.out.contains("11 tensors not judged"), "{text:?}");
    assert!(
        text.out.contains("complex64      buffer/freqs_cis"),
        "{text:?}"
    );
    // An unsupported type does not excuse damage.
    place.write("run/steps/0/weight.cut.npy", b"\x93NUM");
    assert_eq!(place.check(&[]).status, 2);
}

#[test]
fn tensors_of_unread_types_in_event_files_are_not_judged_and_no_damage() {
    let place = Place::new();
    let folder = place.0.path().join("run");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("events.out.tfevents.1760000000.here.1.0");
    let mut file = EventFile::begin(File::create(&path).unwrap(), STARTED_SECS).unwrap();
    file.scalars(STARTED_SECS, 0, &[("train/loss", 1.0)])
        .unwrap();
    file.flush().unwrap();
    drop(file);
    // A `TensorProto` of type 8 (complex64) and shape [1], under the plugin `tensor`.
    let part = |field: u8, bytes: &[u8]| {
        let len = u8::try_from(bytes.len()).unwrap();
        [&[field << 3 | 2, len][..], bytes].concat()
    };
    let shape = part(2, &part(2, &[0x08, 1]));
    let tensor = [&[0x08, 8][..], &shape, &part(4, &[0; 8])].concat();
    let plugin = part(9, &part(1, &part(1, b"tensor")));
    let value = [part(1, b"freqs_cis"), part(8, &tensor), plugin].concat();
    let mut event = [&[0x09][..], &STARTED_SECS.to_le_bytes(), &[0x10, 3]].concat();
    event.extend(part(5, &part(1, &value)));
    let mut bytes = fs::read(&path).unwrap();
    put_frame(&mut bytes, &event);
    fs::write(&path, &bytes).unwrap();
    let printed = place.check(&["--format", "json"]);
    let answer = printed.json();
    assert_eq!(names(&answer, "damaged", "file"), [""; 0], "{answer:#}");
    assert_eq!(printed.status, 0);
    let unread = &answer["unread"][0];
    assert_eq!(
        (&unread["tensor"], &unread["dtype"], &unread["step"]),
        (&"freqs_cis".into(), &"complex64".into(), &3.into())
    );
}

#[test]
fn files_of_one_step_with_tensors_of_the_same_names_hide_none() {
    let tensors = |number: f32| safetensors(&[("fc.weight", &[number]), ("fc.bias", &[0.5])]);
    // Steps within names, after a known word or alone.
    for stems in [
        [
            "ckpt_1000_resnet50",
            "ckpt_2000_resnet50",
            "ckpt_10000_resnet50",
        ],
        ["model_1000", "model_2000", "model_10000"],
        ["weights.1000.ema", "weights.2000.ema", "weights.10000.ema"],
    ] {
        let place = Place::new();
        for (stem, number) in stems.into_iter().zip([1.0, f32::NAN, 2.0]) {
            place.write(&format!("run/{stem}.safetensors"), &tensors(number));
        }
        let answer = place.overflows();
        assert_eq!(answer["judged"]["steps"], 3, "{stems:?}");
        assert_eq!(answer["hits"][0]["step"], 2_000);
        assert_eq!(names(&answer, "hits", "tensor"), ["fc.weight"]);
        assert_eq!(names(&answer, "shared_names", "tensor"), [""; 0]);
    }
    // No step is recognised: reported, and distinguished by the rest of the names.
    let place = Place::new();
    for (stem, number) in [("best", 1.0), ("last", f32::NAN), ("swa", f32::INFINITY)] {
        place.write(&format!("run/{stem}.safetensors"), &tensors(number));
    }
    let answer = place.overflows();
    assert_eq!(
        names(&answer, "hits", "tensor"),
        ["last/fc.weight", "swa/fc.weight"]
    );
    let shared = &answer["shared_names"][0];
    assert_eq!(
        (&shared["files"], &shared["tensors"]),
        (&3.into(), &2.into())
    );
    let text = place.check(&[]).out;
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("3 files hold"), "{said}");
    assert!(said.contains("no step was recognized"), "{said}");
    // Parts of one model have distinct names, which are unchanged.
    let place = Place::new();
    for (number, name) in [(1, "a"), (2, "b")] {
        let path = format!("run/model-0000{number}-of-00002.safetensors");
        place.write(&path, &safetensors(&[(name, &[f32::NAN])]));
    }
    assert_eq!(names(&place.overflows(), "hits", "tensor"), ["a", "b"]);
    // Two models of one training.
    let place = Place::new();
    for step in [10, 20] {
        for model in ["generator", "discriminator"] {
            let path = format!("run/{model}_step_{step}.safetensors");
            place.write(&path, &tensors(f32::NAN));
        }
    }
    let answer = place.overflows();
    let mut found = names(&answer, "hits", "tensor");
    found.sort();
    found.dedup();
    assert_eq!(found, ["discriminator/fc.weight", "generator/fc.weight"]);
    assert_eq!(answer["judged"]["steps"], 2);
    assert_eq!(names(&answer, "shared_names", "tensor"), [""; 0]);
}

#[test]
fn a_table_of_statistics_is_read_in_linear_time() {
    let place = Place::new();
    let mut table = String::from(
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value\n",
    );
    let rows = 40_000;
    let row = |row: i32| {
        let layer = row / 10;
        format!(
            "Add,Default/network/layer{layer}/Add-op{row},0,0,{row},output,0,16,float32,\"(4)\",2,1\n"
        )
    };
    table.extend((0..rows).map(row));
    table += "Exp,Default/Exp-op1,0,0,1,output,0,16,Complex64,\"(2,3)\",,\n";
    place.write("run/rank_0/Net/0/0/statistic.csv", table.as_bytes());
    let began = Instant::now();
    let answer = place.overflows();
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    assert_eq!(answer["judged"]["tensors"], rows);
    assert_eq!(names(&answer, "unread", "dtype"), ["Complex64"]);
}

#[test]
fn a_dump_that_is_still_written_is_no_damage() {
    let place = Place::new();
    let whole = safetensors(&[("weight/a", &[1.0, 2.0]), ("weight/b", &[f32::NAN, 2.0])]);
    for cut in [0, 5, 8, 30, whole.len() - 12, whole.len() - 1] {
        place
            .write("run/steps/step_0.safetensors", &whole)
            .write("run/steps/step_1.safetensors", &whole[..cut]);
        let answer = place.overflows();
        assert_eq!(names(&answer, "damaged", "file"), [""; 0], "cut at {cut}");
        assert_eq!(
            names(&answer, "truncated", "file"),
            ["steps/step_1.safetensors"],
            "cut at {cut}"
        );
        assert_eq!(
            names(&answer, "hits", "tensor"),
            ["weight/b"],
            "cut at {cut}"
        );
        place.write(
            "quiet.toml",
            b"[[watchpoint]]\ncondition = \"tensor_all_zero\"\n",
        );
        let flags = ["--watchpoints", "quiet.toml"];
        assert_eq!(place.check(&flags).status, 0);
        assert_eq!(place.check(&[&flags[..], &["--strict"]].concat()).status, 2);
    }
    // The value between the two counts.
    place.write("run/steps/step_2.safetensors", &whole);
    assert_eq!(
        names(&place.overflows(), "damaged", "file"),
        ["steps/step_1.safetensors"]
    );
}

#[test]
fn safetensors_that_lie_about_their_tensors_are_refused() {
    let file = |json: &str, data: &[u8]| {
        [
            &(json.len() as u64).to_le_bytes()[..],
            json.as_bytes(),
            data,
        ]
        .concat()
    };
    for (number, bytes) in [
        file(
            "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}",
            &[0; 8],
        ),
        file("[1, 2]", &[0; 8]),
        vec![0xff; 64],
    ]
    .iter()
    .enumerate()
    {
        let place = Place::new();
        place.write("run/steps/step_0.safetensors", bytes).write(
            "run/steps/step_1.safetensors",
            &safetensors(&[("a", &[f32::NAN])]),
        );
        let answer = place.overflows();
        assert_eq!(
            names(&answer, "damaged", "file"),
            ["steps/step_0.safetensors"],
            "{number}"
        );
        assert_eq!(names(&answer, "hits", "tensor"), ["a"], "{number}");
    }
}

#[test]
fn steps_may_be_missing_and_tensors_may_come_and_go() {
    let place = Place::new();
    for (step, names) in [
        (0, &["a", "b"][..]),
        (5, &["a"]),
        (6, &["b", "c"]),
        (90, &["a", "c"]),
    ] {
        let tensors: Vec<(&str, &[f32])> = names
            .iter()
            .map(|name| (*name, &[1.0, f32::NAN][..]))
            .collect();
        for rank in 0..2 {
            // The second rank ended early.
            if rank == 0 || step < 6 {
                let path = format!("run/rank_{rank}/steps/step_{step}.safetensors");
                place.write(&path, &safetensors(&tensors));
            }
        }
    }
    let answer = place.overflows();
    assert_eq!(answer["hits"].as_array().unwrap().len(), 7 + 3);
    assert_eq!(answer["judged"]["steps"], 4);
}

#[test]
fn of_several_attempts_at_a_step_the_last_counts() {
    let place = Place::new();
    for (name, number) in [
        ("step_7", f32::NAN),
        ("step_attempt_2.step_7", f32::NAN),
        ("step_attempt_10.step_7", 1.0),
        ("step_attempt_2.step_8", f32::INFINITY),
    ] {
        let path = format!("run/dump/{name}.safetensors");
        place.write(&path, &safetensors(&[("a", &[number])]));
    }
    let answer = place.overflows();
    assert_eq!(answer["judged"]["steps"], 2);
    assert_eq!(answer["hits"].as_array().unwrap().len(), 1);
    assert_eq!(answer["hits"][0]["step"], 8);
}

#[test]
fn files_that_may_not_be_read_leave_the_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place
        .write(
            "run/steps/step_0.safetensors",
            &safetensors(&[("a", &[1.0])]),
        )
        .write(
            "run/steps/step_1.safetensors",
            &safetensors(&[("a", &[f32::NAN])]),
        );
    let path = place.0.path().join("run/steps/step_0.safetensors");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let answer = place.overflows();
    assert_eq!(
        names(&answer, "damaged", "file"),
        ["steps/step_0.safetensors"]
    );
    assert_eq!(answer["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn a_link_to_a_file_that_is_gone_leaves_the_others() {
    let place = Place::new();
    place.write(
        "run/steps/step_1.safetensors",
        &safetensors(&[("a", &[f32::NAN])]),
    );
    let link = place.0.path().join("run/steps/step_0.safetensors");
    std::os::unix::fs::symlink("gone.safetensors", link).unwrap();
    let answer = place.overflows();
    assert_eq!(
        names(&answer, "damaged", "file"),
        ["steps/step_0.safetensors"]
    );
    let reason = answer["damaged"][0]["reason"].as_str().unwrap();
    assert!(reason.starts_with("it cannot be read: "), "{reason}");
    assert_eq!(answer["hits"].as_array().unwrap().len(), 1);
}

#[test]
fn more_folders_than_files_may_be_open() {
    let place = Place::new();
    for run in 0..200 {
        let nan = safetensors(&[("a", &[f32::NAN])]);
        place.write(&format!("run{run}/steps/step_0.safetensors"), &nan);
    }
    let mut program = Command::new("sh");
    program.args(["-c", "ulimit -n 64; exec \"$0\" check \"$1\" --quiet"]);
    program.arg(env!("CARGO_BIN_EXE_trainscope"));
    let output = program.arg(place.0.path()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("200 errors"), "{said}");
    assert!(said.contains("in 200 runs"), "{said}");
}

#[test]
fn scalars_beside_dumps_belong_to_their_run() {
    let place = Place::new();
    place.write(
        "run/steps/step_0.safetensors",
        &safetensors(&[("weight/a", &[1.0])]),
    );
    let folder = place.0.path().join("run/tb");
    fs::create_dir_all(&folder).unwrap();
    let file = File::create(folder.join("events.out.tfevents.1760000000.here.1.0")).unwrap();
    let mut file = EventFile::begin(file, STARTED_SECS).unwrap();
    for step in 0..20 {
        let loss = if step < 12 { 1.0 } else { f32::NAN };
        file.scalars(STARTED_SECS, step, &[("train/loss", loss)])
            .unwrap();
    }
    file.flush().unwrap();
    let answer = place.check(&["--format", "json"]).json();
    assert_eq!(answer["hits"][0]["condition"], "loss_nan");
    assert_eq!(answer["hits"][0]["run"], ".");
    assert_eq!(answer["hits"][0]["step"], 12);
}

#[test]
fn dumps_of_devices_are_refused_with_what_converts_them() {
    let place = Place::new();
    let folder = "run/rank_0/Net/0/3";
    place
        .write(
            &format!("{folder}/Conv2D.Default_conv_Conv2D-op1.5.7.1700"),
            b"raw",
        )
        .write(&format!("{folder}/Add.Default_Add-op2.6.7.1701"), b"raw")
        .write(&format!("{folder}/Opdebug.Node_OpDebug.1.2.1702"), b"raw")
        .write(
            &format!("{folder}/Mul.Default_Mul-op3.8.7.1703.output.0.DefaultFormat.npy"),
            &npy("'<f4'", false, "(1,)", &floats(&[1.0])),
        );
    let printed = place.check(&["--format", "json"]);
    let answer = printed.json();
    assert_eq!(printed.status, 2);
    let reason = answer["damaged"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("msaccucmp.py") && reason.contains("1 more"),
        "{reason}"
    );
    let unjudged = names(&answer, "inconclusive", "condition");
    assert!(
        unjudged.contains(&"operator_overflow".to_owned()),
        "{answer:#}"
    );
    // The converted overflow file names the operator.
    let json = br#"{"AI Core": {"stream_id": 7, "task_id": 8, "status": 32}}"#;
    place.write(
        &format!("{folder}/Opdebug.Node_OpDebug.1.2.1702.output.0.json"),
        json,
    );
    fs::remove_file(
        place
            .0
            .path()
            .join(folder)
            .join("Opdebug.Node_OpDebug.1.2.1702"),
    )
    .unwrap();
    let answer = place.check(&["--format", "json"]).json();
    assert_eq!(
        answer["hits"][0]["condition"], "operator_overflow",
        "{answer:#}"
    );
}

#[test]
fn statistics_and_long_names_of_mindspore_are_read() {
    let place = Place::new();
    let folder = "run/rank_0/Net/0/0";
    let table = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Min Value,\
        Avg Value,Count,Negative Zero Count,Positive Zero Count,NaN Count,Negative Inf Count,Positive Inf Count,Zero Count\n\
        Add,Default_Add-op1,0,0,17,output,0,24,Float32,\"(2,3)\",2.5,-1,0.5,6,1,2,1,0,1,1\n\
        Mul,Default_Mul-op2,0,0,18,output,0,24,Float32,\"(2,3)\",2.5,-1,0.5,6,2,3,0,0,0,1\n";
    place
        .write(&format!("{folder}/statistic.csv"), table.as_bytes())
        .write(
            &format!("{folder}/mapping.csv"),
            b"12345,Sub.Default_Sub-op3.0.0.19.output.0.DefaultFormat.Float32.npy\n",
        )
        .write(
            &format!("{folder}/12345.npy"),
            &npy("'<f4'", false, "(1,)", &floats(&[f32::NEG_INFINITY])),
        );
    let answer = place.overflows();
    let mut found = names(&answer, "hits", "tensor");
    found.sort();
    assert_eq!(found, ["Default_Add-op1", "Default_Sub-op3"]);
    place.write(
        &format!("{folder}/statistic.csv"),
        b"Op Type,Op Name\nAdd,x\n",
    );
    assert_eq!(
        names(&place.overflows(), "damaged", "file"),
        ["rank_0/Net/0/0/statistic.csv"]
    );
}
