//! Models in safetensors files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use safetensors::{Dtype, SafeTensors, View};

use super::module::{Module, Record, Slot, Visitor};
use crate::backend::{Backend, Readable};
use crate::data::TensorData;
use crate::element::DType;
use crate::error::Error;
use crate::raw::Raw;
use crate::shape::Shape;

/// Whose layout the tensors of a file have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As the model holds them.
    #[default]
    Keyway,
    /// As PyTorch's `state_dict` does: the weights of linear layers are transposed, and `num_batches_tracked`, which no
    /// layer here has, is passed over.
    PyTorch,
}

pub(super) fn save<B: Readable, M: Module<B>>(model: &M, path: &Path, format: Format) -> Result<(), Error> {
    let refused = |message: String| file_error(path, message);
    let mut tensors = Vec::new();
    model.for_each(|slot, x| {
        let data = oriented(x.clone(), slot, format)?.into_data()?;
        tensors.push((slot.path.to_owned(), Entry::new(&data)));
        Ok(())
    })?;
    let about = (format == Format::PyTorch).then(|| HashMap::from([("format".into(), "pt".into())]));
    let bytes = safetensors::serialize(tensors, about).map_err(|e| refused(e.to_string()))?;
    // Written beside it and moved, so that a failure leaves the file that was there.
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    written.map_err(|e| {
        // The error to report is that of the write.
        let _ = fs::remove_file(&partial);
        refused(e.to_string())
    })
}

pub(super) fn load<B: Backend, M: Module<B>>(
    model: &mut M,
    path: &Path,
    format: Format,
) -> Result<(), Error> {
    let refused = |message: String| file_error(path, message);
    let bytes = fs::read(path).map_err(|e| refused(e.to_string()))?;
    let record = parse(&bytes, format).map_err(&refused)?;
    assign(model, record, format, refused)
}

/// Gives a model the values of a record. Everything is checked and on the device before the first tensor changes.
pub(super) fn assign<B: Backend, M: Module<B>>(
    model: &mut M,
    mut record: Record,
    format: Format,
    refused: impl Fn(String) -> Error,
) -> Result<(), Error> {
    let mut new = BTreeMap::new();
    let mut faults = Vec::new();
    model.for_each(|slot, old| {
        let Some(data) = record.remove(slot.path) else {
            faults.push(format!("`{}` is missing", slot.path));
            return Ok(());
        };
        let shape: Shape = match transposed(slot, format) {
            true => old.shape().iter().rev().copied().collect(),
            false => old.shape().clone(),
        };
        if *data.shape() == shape && data.dtype() == old.dtype() {
            let x = oriented(Raw::from_data(data, &old.device())?, slot, format)?;
            new.insert(slot.path.to_owned(), x);
            return Ok(());
        }
        let (path, got, dtype) = (slot.path, data.shape(), data.dtype());
        let expected = old.dtype();
        faults.push(format!(
            "`{path}` is {got} of {dtype}, expected {shape} of {expected}"
        ));
        Ok(())
    })?;
    faults.extend(record.keys().map(|path| format!("the model has no `{path}`")));
    if !faults.is_empty() {
        return Err(refused(faults.join("; ")));
    }
    model.visit(&mut Visitor::new(&mut |slot, _| Ok(new.remove(slot.path))))
}

/// The transpose, where the format holds that.
fn oriented<B: Backend>(x: Raw<B>, slot: &Slot<'_>, format: Format) -> Result<Raw<B>, Error> {
    if transposed(slot, format) {
        let axes: Vec<usize> = (0..x.rank()).rev().collect();
        return x.permute(&axes);
    }
    Ok(x)
}

fn transposed(slot: &Slot<'_>, format: Format) -> bool {
    format == Format::PyTorch && slot.transposed_in_pytorch
}

fn parse(bytes: &[u8], format: Format) -> Result<Record, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| format!("not a safetensors file: {e}"))?;
    let mut record = Record::new();
    for (name, tensor) in file.iter() {
        if format == Format::PyTorch && name.rsplit('.').next() == Some("num_batches_tracked") {
            continue;
        }
        let dtype = ours(tensor.dtype()).ok_or_else(|| {
            format!(
                "`{name}` holds {:?} elements, which no tensor here does",
                tensor.dtype()
            )
        })?;
        let data = TensorData::from_le_bytes(tensor.data(), dtype, tensor.shape())
            .map_err(|e| format!("`{name}`: {e}"))?;
        record.insert(name.to_owned(), data);
    }
    Ok(record)
}

fn file_error(path: &Path, message: String) -> Error {
    Error::File {
        path: path.display().to_string(),
        message,
    }
}

/// A tensor as the file format takes it.
struct Entry {
    dtype: Dtype,
    shape: Shape,
    bytes: Vec<u8>,
}

impl Entry {
    fn new(data: &TensorData) -> Self {
        Entry {
            dtype: theirs(data.dtype()),
            shape: data.shape().clone(),
            bytes: data.to_le_bytes(),
        }
    }
}

impl View for Entry {
    fn dtype(&self) -> Dtype {
        self.dtype
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

macro_rules! element_types {
    ($($ours:ident $theirs:ident),* $(,)?) => {
        fn theirs(dtype: DType) -> Dtype {
            match dtype { $(DType::$ours => Dtype::$theirs),* }
        }
        fn ours(dtype: Dtype) -> Option<DType> {
            match dtype { $(Dtype::$theirs => Some(DType::$ours),)* _ => None }
        }
    };
}
element_types! {
    F64 F64, F32 F32, F16 F16, BF16 BF16, I64 I64, I32 I32, I16 I16, I8 I8, U64 U64, U32 U32, U16 U16, U8 U8, Bool BOOL,
}
