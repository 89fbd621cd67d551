//! The three lines of the most common errors.

use super::Mistake;
use crate::settings::SettingsError;

fn text(mistake: &Mistake) -> String {
    let mut bytes = anstream::StripStream::new(Vec::new());
    mistake.write(&mut bytes).unwrap();
    String::from_utf8(bytes.into_inner()).unwrap()
}

#[test]
fn a_missing_folder_says_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("transformer-small/fp16")).unwrap();
    std::fs::create_dir_all(dir.path().join("resnet18")).unwrap();
    let said = |path: &str| {
        let mistake: Mistake = SettingsError::MissingDir(dir.path().join(path)).into();
        assert_eq!(mistake.status, 2);
        text(&mistake).replace(&dir.path().display().to_string(), "runs")
    };
    assert_eq!(
        said("transformer-smal/fp16"),
        "error: there is no folder runs/transformer-smal/fp16\n  \
         where  runs exists and has 2 folders; transformer-smal is not one of them\n  \
         try    trainscope start --summary-base-dir runs/transformer-small/fp16\n"
    );
    assert!(said("x/y").ends_with("DIR, where the training writes to\n"));
    assert!(said("transformer-smal/fp17").ends_with("DIR, where the training writes to\n"));
}
