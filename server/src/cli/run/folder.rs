//! The folder of the run.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::command::is_python;
use crate::cli::mistake::Mistake;
use crate::cli::words;

/// Default folder of the runs.
const BASE: &str = "runs";
/// Maximum number of bytes of the script's name in the name of a folder.
const NAME_BYTES: usize = 64;
/// Maximum number of folders that are tried within one second.
const TRIES: u32 = 1_000;

/// The folder of the run. It exists before the command starts, so no other run gets it.
pub(super) struct Folder {
    path: PathBuf,
    /// The folder above it, if it was created too.
    made_base: Option<PathBuf>,
}

impl Folder {
    /// Makes the given folder, or a free one with the name of the script.
    pub(super) fn make(given: Option<&Path>, command: &[OsString]) -> Result<Self, Mistake> {
        let cannot = |path: &Path, error: &io::Error| {
            let path = words::path(path);
            Mistake::new(2, format!("{path} cannot be made: {error}"))
                .attempt("--out DIR with a folder that may be written to")
        };
        if let Some(path) = given {
            fs::create_dir_all(path).map_err(|error| cannot(path, &error))?;
            return Ok(Self {
                path: path.to_owned(),
                made_base: None,
            });
        }
        let base = Path::new(BASE);
        let is_new = !base.exists();
        fs::create_dir_all(base).map_err(|error| cannot(base, &error))?;
        let date = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
        let name = format!("{}-{date}", name_of(command));
        let mut path = base.join(&name);
        for number in 2..TRIES {
            match fs::create_dir(&path) {
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    path = base.join(format!("{name}-{number}"));
                }
                Err(error) => return Err(cannot(&path, &error)),
            }
        }
        Ok(Self {
            path,
            made_base: is_new.then(|| base.to_owned()),
        })
    }

    /// The folder for display.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute path, for processes of the command in other working folders.
    pub(super) fn absolute(&self) -> PathBuf {
        std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// Removes the folder if it is empty.
    pub(super) fn remove_if_empty(&self) {
        for path in [Some(&self.path), self.made_base.as_ref()] {
            // The folder has content, or it is gone.
            let _removed = path.map(fs::remove_dir);
        }
    }
}

/// Name of the script in a command: the first Python file, the module of `-m`, or the program.
fn name_of(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let script = words
        .iter()
        .find(|word| word.ends_with(".py"))
        .and_then(|word| Path::new(&**word).file_stem())
        .map(|stem| stem.to_string_lossy().into_owned());
    let module = || {
        command.first().filter(|program| is_python(program))?;
        let at = words.iter().position(|word| word == "-m")?;
        words.get(at + 1).map(|word| word.clone().into_owned())
    };
    let program = || {
        let name = Path::new(command.first()?).file_name()?;
        Some(name.to_string_lossy().into_owned())
    };
    let name = script.or_else(module).or_else(program).unwrap_or_default();
    let plain = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let mut name: String = name
        .chars()
        .map(|letter| if plain(letter) { letter } else { '_' })
        .collect();
    while name.len() > NAME_BYTES {
        name.pop();
    }
    if name.is_empty() {
        "run".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_folder_is_named_after_the_script() {
        for (command, name) in [
            ("python train.py --lr 1", "train"),
            ("python -u a/b/fine_tune.py", "fine_tune"),
            ("torchrun --nproc-per-node 2 train.py", "train"),
            ("python -m torch.distributed.run x/train.py", "train"),
            ("python -m package.train", "package.train"),
            ("./train.sh", "train.sh"),
            ("bash a/tr%ain\n.py", "tr_ain_"),
            ("", "run"),
        ] {
            let words: Vec<_> = command.split(' ').map(Into::into).collect();
            assert_eq!(name_of(&words), name, "{command}");
        }
        assert_eq!(name_of(&[]), "run");
        let long = format!("{}.py", "训".repeat(100));
        assert_eq!(name_of(&[long.into()]), "训".repeat(21));
    }
}
