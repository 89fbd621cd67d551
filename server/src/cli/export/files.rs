//! Export to separate files: images and audio byte by byte, elements of tensors as npy.
//!
//! In file names, tags are reduced to letters that are safe in any file system, after a number that makes the name
//! unique.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use trainscope_api::tags::Tag;
use trainscope_api::tensors::{Slice, TensorIndexQuery};
use trainscope_format::ImageEncoding;

use super::left_out::SkippedTensors;
use super::records::{audio, images};
use super::{ExportFlags, ExportKind, judged, replace, unwritable};
use crate::cli::mistake::Mistake;
use crate::cli::reading::Reading;
use crate::cli::{CommandError, words};
use crate::files::is_address;
use crate::tensors::export;
use crate::tensors::find::{Steps, TensorError};

/// Maximum length of a tag in a file name.
const NAME_LETTERS: usize = 80;

/// Writes each record to a file in the folder.
pub(super) fn write(
    flags: &ExportFlags,
    reading: &Reading,
    tags: &[Tag],
) -> Result<u8, CommandError> {
    let Some(folder) = flags.path() else {
        return Err(
            Mistake::new(2, "files go into a folder, and none was named")
                .at("--format files")
                .attempt("--output DIR")
                .into(),
        );
    };
    if is_address(folder) {
        let what = "files go into a folder of this machine, not to an address";
        return Err(Mistake::new(2, what).at(words::path(folder)).into());
    }
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let mut files = Files {
        folder,
        count: 0,
        len_bytes: 0,
    };
    let mut left_out = SkippedTensors::default();
    match flags.kind {
        ExportKind::Tensors => left_out = files.tensors(flags, reading)?,
        ExportKind::Images => {
            for tag in tags {
                for at in images(flags, reading, tag)? {
                    for (index, item) in at.body.items.iter().enumerate() {
                        let name = format!("{}.step_{}.{index}", plain(&tag.tag), at.step);
                        files.blob(reading, &item.id, &name, |bytes| {
                            picture(ImageEncoding::sniff(bytes))
                        })?;
                    }
                }
            }
        }
        _ => {
            for tag in tags {
                for at in audio(flags, reading, tag)? {
                    for (index, item) in at.body.items.iter().enumerate() {
                        let name = format!("{}.step_{}.{index}", plain(&tag.tag), at.step);
                        files.blob(reading, &item.id, &name, sound)?;
                    }
                }
            }
        }
    }
    let many = words::plural(files.count, "file", "files");
    let mut stderr = anstream::stderr().lock();
    writeln!(
        stderr,
        "{many}, {}, in {}",
        words::size(files.len_bytes),
        words::path(folder)
    )?;
    drop(stderr);
    Ok(left_out.tell()?)
}

/// Replaces letters that are not safe in every file system.
fn plain(tag: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
            c
        } else {
            '_'
        }
    };
    let plain: String = tag.chars().map(safe).take(NAME_LETTERS).collect();
    plain.trim_matches('.').to_owned()
}

fn picture(encoding: ImageEncoding) -> &'static str {
    match encoding.content_type().rsplit('/').next() {
        Some("jpeg") => "jpg",
        Some("png") => "png",
        Some("gif") => "gif",
        Some("bmp") => "bmp",
        Some("webp") => "webp",
        _ => "bin",
    }
}

fn sound(bytes: &[u8]) -> &'static str {
    match bytes {
        [b'R', b'I', b'F', b'F', ..] => "wav",
        [b'f', b'L', b'a', b'C', ..] => "flac",
        [b'O', b'g', b'g', b'S', ..] => "ogg",
        [b'I', b'D', b'3', ..] => "mp3",
        _ => "bin",
    }
}

struct Files<'a> {
    folder: &'a Path,
    count: u64,
    len_bytes: u64,
}

impl Files<'_> {
    fn blob(
        &mut self,
        reading: &Reading,
        id: &str,
        name: &str,
        extension: impl Fn(&[u8]) -> &'static str,
    ) -> Result<(), CommandError> {
        let bytes = reading
            .index
            .blob(id)
            .map_err(|error| reading.unread(&error))?;
        self.put(name, extension(&bytes), |out| Ok(out.write_all(&bytes)?))
    }

    fn put(
        &mut self,
        name: &str,
        extension: &str,
        write: impl FnOnce(&mut (dyn io::Write + Send)) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let number = self.count + 1;
        let path = self.folder.join(format!("{number:06}_{name}.{extension}"));
        replace(&path, write)?;
        self.count = number;
        self.len_bytes += fs::metadata(&path).map_or(0, |metadata| metadata.len());
        Ok(())
    }

    /// Writes the elements of each tensor at each step; unreadable ones are skipped.
    fn tensors(
        &mut self,
        flags: &ExportFlags,
        reading: &Reading,
    ) -> Result<SkippedTensors, CommandError> {
        let mut left_out = SkippedTensors::default();
        for entry in judged::listed(flags, reading, &TensorIndexQuery::default())? {
            for rank in entry
                .ranks
                .iter()
                .filter(|rank| flags.rank.is_none_or(|wanted| wanted == **rank))
            {
                let failed = |error: &TensorError| {
                    Mistake::new(2, error.to_string()).at(words::name(&entry.tensor, None))
                };
                let steps = Steps::find(&reading.index, &reading.run, &entry.tensor, *rank)
                    .map_err(|error| failed(&error))?;
                for step in steps
                    .elements
                    .keys()
                    .filter(|step| flags.wants_step(**step))
                {
                    let opened = match steps.open(*step, None) {
                        Ok(opened) => opened,
                        Err(error) => {
                            left_out.add(&entry.tensor, *rank, *step, &error);
                            continue;
                        }
                    };
                    let name = format!("{}.rank_{rank}.step_{step}", plain(&entry.tensor));
                    let slice = Slice::whole(&opened.stored.shape);
                    let mut unread = None;
                    let put = self.put(&name, "npy", |out| {
                        let mut written = Ok(());
                        let read = export::npy(&opened.stored, &slice, &mut |piece| {
                            written = out.write_all(&piece);
                            written.is_ok()
                        });
                        written?;
                        read.map_err(|error| {
                            let error = TensorError::unread(&opened.place.file, error);
                            left_out.add(&entry.tensor, *rank, *step, &error);
                            CommandError::from(failed(unread.insert(error)))
                        })
                    });
                    // The file appears only when it is complete.
                    if unread.is_none() {
                        put?;
                    }
                }
            }
        }
        if self.count == 0 {
            let title = words::name(&reading.title, None);
            let what =
                format!("{title} has recorded no elements of the tensors that are asked for");
            let where_it_is = left_out.first().unwrap_or("--kind tensors --format files");
            return Err(Mistake::new(2, what)
                .at(where_it_is)
                .attempt("--kind tensors, which lists what is there, or --kind statistics")
                .into());
        }
        Ok(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_of_tags_never_lead_anywhere() {
        assert_eq!(plain("../../etc/passwd"), "_.._etc_passwd");
        assert_eq!(plain("conv1/weight"), "conv1_weight");
        assert_eq!(plain("损失"), "__");
        assert_eq!(plain(".."), "");
    }
}
