//! Tensors in full: one safetensors file per step, which appears only when complete.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::Path;

use safetensors::tensor::{Dtype, View};
use trainscope_format::collection::DumpRef;
use trainscope_format::tensor::DType;

/// The folder below that of the event file.
const FOLDER: &str = "dump";

/// A copy of a tensor.
#[derive(Debug)]
pub(crate) struct DumpTensor {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl DumpTensor {
    pub(crate) fn len_bytes(&self) -> usize {
        size_of::<Self>() + self.name.len() + 8 * self.shape.len() + self.bytes.len()
    }
}

impl View for &DumpTensor {
    fn dtype(&self) -> Dtype {
        match self.dtype {
            DType::Bool => Dtype::BOOL,
            DType::U8 => Dtype::U8,
            DType::U16 => Dtype::U16,
            DType::U32 => Dtype::U32,
            DType::U64 => Dtype::U64,
            DType::I8 => Dtype::I8,
            DType::I16 => Dtype::I16,
            DType::I32 => Dtype::I32,
            DType::I64 => Dtype::I64,
            DType::F16 => Dtype::F16,
            DType::Bf16 => Dtype::BF16,
            DType::F8E4m3 => Dtype::F8_E4M3,
            DType::F8E5m2 => Dtype::F8_E5M2,
            DType::F32 => Dtype::F32,
            DType::F64 => Dtype::F64,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes the tensors of a step below `run`. If a restart finds a file of that step, it is preserved and the new name
/// gets a number. The file is renamed into place when it is complete.
pub(crate) fn write(
    run: &Path,
    step: i64,
    tensors: &[DumpTensor],
    reason: &str,
) -> io::Result<DumpRef> {
    let folder = run.join(FOLDER);
    fs::create_dir_all(&folder)?;
    let unfinished = folder.join(format!("step_{step}.safetensors.unfinished"));
    // The library creates a file that only its owner may read; this one gets the usual permissions.
    let permissions = fs::File::create(&unfinished)?.metadata()?.permissions();
    let views = tensors.iter().map(|tensor| (tensor.name.as_str(), tensor));
    let finished = safetensors::serialize_to_file(views, None, &unfinished)
        .map_err(io::Error::other)
        .and_then(|()| fs::set_permissions(&unfinished, permissions))
        .and_then(|()| fs::metadata(&unfinished))
        .and_then(|metadata| Ok((metadata.len(), give_name(&folder, step, &unfinished)?)));
    let (len_bytes, name) = finished.inspect_err(|_| {
        // An incomplete file is useless; failing to remove it is harmless.
        drop(fs::remove_file(&unfinished));
    })?;
    Ok(DumpRef {
        path: format!("{FOLDER}/{name}"),
        tensors: tensors.len() as u64,
        len_bytes,
        reason: reason.to_owned(),
    })
}

fn give_name(folder: &Path, step: i64, unfinished: &Path) -> io::Result<String> {
    let mut name = format!("step_{step}.safetensors");
    let mut attempt = 1;
    while folder.join(&name).exists() {
        attempt += 1;
        // The name ends with the step, as readers expect, and sorts after the first attempt.
        name = format!("step_attempt_{attempt}.step_{step}.safetensors");
    }
    fs::rename(unfinished, folder.join(&name))?;
    Ok(name)
}
