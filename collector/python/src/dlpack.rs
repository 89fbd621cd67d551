//! Tensors by DLPack's C exchange API: a type offers a table of functions, and one of them fills a description of a
//! tensor's memory.
//!
//! The layout is that of `dlpack.h`, version 1.3. The table is extended at its end only within a major version.

use std::ffi::{c_int, c_void};

use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const MAJOR_VERSION: u32 = 1;

#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

#[repr(C)]
struct Header {
    version: Version,
    older: *const Header,
}

type DescribeTensor = unsafe extern "C" fn(*mut PyObject, *mut DlTensor) -> c_int;

#[repr(C)]
struct ExchangeTable {
    header: Header,
    /// Functions that are not called here.
    allocate: *const c_void,
    manage: *const c_void,
    unmanage: *const c_void,
    describe: Option<DescribeTensor>,
}

/// Description of a tensor; the arrays of shape and strides belong to the tensor.
#[repr(C)]
pub(crate) struct DlTensor {
    data: *const u8,
    pub(crate) device_type: i32,
    device_id: i32,
    ndim: i32,
    pub(crate) type_code: u8,
    pub(crate) type_bits: u8,
    pub(crate) type_lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

impl DlTensor {
    pub(crate) fn address(&self) -> usize {
        let offset = usize::try_from(self.byte_offset).unwrap_or(usize::MAX);
        match self.data as usize {
            0 => 0,
            data => data.saturating_add(offset),
        }
    }

    /// Sizes, outermost first.
    pub(crate) fn shape(&self) -> Vec<i64> {
        self.list(self.shape)
    }

    /// Distance of neighbours along each axis in elements; `None` for row-major order.
    pub(crate) fn strides(&self) -> Option<Vec<i64>> {
        (!self.strides.is_null()).then(|| self.list(self.strides))
    }

    fn list(&self, at: *const i64) -> Vec<i64> {
        let len = usize::try_from(self.ndim).unwrap_or(0);
        if at.is_null() || len == 0 {
            return Vec::new();
        }
        #[expect(unsafe_code, reason = "the description of a tensor has C arrays in it")]
        // SAFETY: by the specification both arrays have `ndim` elements and live as long as the tensor, which the
        // caller of `Exchange::describe` holds a reference to.
        let list = unsafe { std::slice::from_raw_parts(at, len) };
        list.to_vec()
    }
}

/// Function of a Python type that describes its tensors.
#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    describe: DescribeTensor,
}

impl Exchange {
    /// The function of a type, if it has one of this major version.
    pub(crate) fn of(class: &Bound<'_, PyAny>) -> Option<Self> {
        let capsule = class.getattr("__dlpack_c_exchange_api__").ok()?;
        let capsule = capsule.cast::<PyCapsule>().ok()?;
        let pointer = capsule.pointer_checked(Some(c"dlpack_exchange_api")).ok()?;
        let mut table: *const Header = pointer.as_ptr().cast_const().cast();
        while !table.is_null() {
            #[expect(unsafe_code, reason = "the table is a C structure")]
            // SAFETY: a capsule of this name holds a table that lives as long as the process, and so do the older ones
            // it leads to.
            let header = unsafe { &*table };
            if header.version.major == MAJOR_VERSION {
                #[expect(unsafe_code, reason = "the table is a C structure")]
                // SAFETY: tables of this major version begin with these fields.
                let table = unsafe { &*table.cast::<ExchangeTable>() };
                return table.describe.map(|describe| Self { describe });
            }
            table = header.older;
        }
        None
    }

    /// Describes a tensor; `None` if its type or layout has no description. The result is valid as long as the tensor.
    pub(crate) fn describe(self, tensor: &Bound<'_, PyAny>) -> Option<DlTensor> {
        let mut description = DlTensor {
            data: std::ptr::null(),
            device_type: 0,
            device_id: 0,
            ndim: 0,
            type_code: 0,
            type_bits: 0,
            type_lanes: 0,
            shape: std::ptr::null(),
            strides: std::ptr::null(),
            byte_offset: 0,
        };
        #[expect(unsafe_code, reason = "a C function of another library is called")]
        // SAFETY: the function belongs to the type of the tensor, the thread is attached to the interpreter, and the
        // description is of the layout that the version of the table promises.
        let status = unsafe { (self.describe)(tensor.as_ptr(), &raw mut description) };
        if status != 0 {
            // The error that it has raised has to be taken.
            drop(PyErr::take(tensor.py()));
            return None;
        }
        Some(description)
    }
}
