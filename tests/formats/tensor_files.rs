//! Tensor files that cannot be displayed completely: unsupported element types, and truncated files.

use trainscope_api::paths;
use trainscope_api::runs::FileStatus;

use crate::pages::tensors::odd;
use crate::support::server::query;
use crate::support::{Lab, wait_for};

#[test]
fn a_file_that_ends_early_is_told_before_the_first_byte() {
    let lab = Lab::new();
    let server = odd(&lab);
    for (tensor, format, status) in [
        ("cut", "npy", 404),
        ("cut", "csv", 404),
        ("giant", "npy", 404),
        ("layer.weight", "npy", 200),
    ] {
        let pairs = query(&[("run", "odd"), ("tensor", tensor), ("format", format)]);
        let answer = server.get(&format!("{}?{pairs}", paths::TENSOR_FILE));
        assert_eq!(answer.status, status, "{tensor} as {format}");
        if status == 404 {
            let message = answer.json()["message"].as_str().unwrap().to_owned();
            assert!(message.contains("it ends at byte"), "{message}");
        }
    }
    // The existing part is sent.
    let pairs = query(&[
        ("run", "odd"),
        ("tensor", "giant"),
        ("format", "csv"),
        ("slice", "0,0:10"),
    ]);
    let answer = server.get(&format!("{}?{pairs}", paths::TENSOR_FILE));
    assert_eq!(answer.status, 200);
}

#[test]
fn types_that_are_not_computed_with_are_listed_and_no_damage() {
    let lab = Lab::new();
    let server = odd(&lab);
    let listed = |name: &str| {
        let pairs = query(&[("run", "odd"), ("search", name)]);
        let answer = server.get(&format!("{}?{pairs}", paths::TENSOR_INDEX));
        answer.json()["tensors"][0].clone()
    };
    assert_eq!(listed("complex")["dtype"], "complex64");
    assert_eq!(listed("objects")["dtype"], "Python object");
    assert!(listed("complex")["shape"].is_array());
    let findings = wait_for("the judgement", || {
        let pairs = query(&[("run", "odd")]);
        let answer = server.get(&format!("{}?{pairs}", paths::FINDINGS)).json();
        (answer["state"] == "done").then_some(answer)
    });
    let mut unread: Vec<&str> = findings["unread"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tensor| tensor["tensor"].as_str().unwrap())
        .collect();
    unread.sort_unstable();
    assert_eq!(unread, ["complex", "objects"]);
    let files = server.run("odd").unwrap().files;
    let damaged: Vec<&str> = files
        .iter()
        .filter(|file| file.status == FileStatus::Damaged)
        .map(|file| file.path.rsplit('/').next().unwrap())
        .collect();
    assert!(damaged.contains(&"cut.npy"), "{damaged:?}");
    let is_whole = |name: &&str| ["complex.npy", "objects.npy"].contains(name);
    assert!(!damaged.iter().any(is_whole), "{damaged:?}");
}
