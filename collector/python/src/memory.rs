//! Memory of a tensor of any framework: its address, type and layout, checked before a byte is read.
//!
//! The address alone is not enough: frameworks give one for storage that is freed, and none for tensors that are only
//! traced. The error of an unreadable tensor has the reason.

use std::collections::HashMap;
use std::sync::Mutex;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyTuple, PyType};
use trainscope_collector::{DType, TensorView};

use crate::dlpack::{DlTensor, Exchange};
use crate::objects::type_name;
use crate::refusal::{Outcome, Refusal, attempt};

/// Elements in main memory, which stay there as long as this value.
pub(crate) struct TensorMemory<'py> {
    /// The tensor; for an array, the object that gave the address, which may own the memory.
    owner: Option<Bound<'py, PyAny>>,
    _interface: Option<Bound<'py, PyDict>>,
    /// Elements that are not in the memory of an object: those of a list.
    elements: Vec<u8>,
    address: usize,
    len_bytes: usize,
    dtype: DType,
    shape: Vec<usize>,
    strides: Option<Vec<usize>>,
    /// `true` for complex numbers: each is two elements, along an additional axis.
    is_complex: bool,
}

/// Interfaces that a type of tensors has.
struct TensorClass {
    /// Keeps the address of the type in use.
    _class: Py<PyType>,
    exchange: Option<Exchange>,
    is_torch: bool,
    /// `true` for `torch.Tensor` and `torch.nn.Parameter` themselves.
    is_plain: bool,
}

#[derive(Clone, Copy)]
struct Interfaces {
    exchange: Option<Exchange>,
    is_torch: bool,
    is_plain: bool,
}

static CLASSES: Mutex<Option<HashMap<usize, TensorClass>>> = Mutex::new(None);

/// Maximum number of remembered types; a program that makes types in a loop must not fill the memory.
const MAX_CLASSES: usize = 1_024;

fn interfaces(tensor: &Bound<'_, PyAny>) -> Interfaces {
    let class = tensor.get_type();
    let key = class.as_ptr() as usize;
    let py = tensor.py();
    {
        let classes = CLASSES.lock_py_attached(py);
        let classes = classes.unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(known) = classes.as_ref().and_then(|classes| classes.get(&key)) {
            return Interfaces {
                exchange: known.exchange,
                is_torch: known.is_torch,
                is_plain: known.is_plain,
            };
        }
    }
    // Attributes of a type may run code of the program: not under the lock.
    let module = class
        .module()
        .map(|module| module.to_string_lossy().into_owned());
    let name = type_name(tensor);
    // MindSpore has tensors with storage and `data_ptr`, too; only PyTorch has this.
    let is_torch = class
        .hasattr(intern!(py, "__torch_function__"))
        .unwrap_or(false);
    let found = Interfaces {
        exchange: Exchange::of(&class),
        is_torch,
        is_plain: matches!(
            (module.as_deref().unwrap_or_default(), name.as_str()),
            ("torch", "Tensor") | ("torch.nn.parameter", "Parameter")
        ),
    };
    let classes = CLASSES.lock_py_attached(py);
    let mut classes = classes.unwrap_or_else(std::sync::PoisonError::into_inner);
    let classes = classes.get_or_insert_default();
    if classes.len() < MAX_CLASSES {
        let class = TensorClass {
            _class: class.unbind(),
            exchange: found.exchange,
            is_torch: found.is_torch,
            is_plain: found.is_plain,
        };
        classes.insert(key, class);
    }
    found
}

/// Device types in DLPack whose memory the processor reads: main memory, also if it is pinned for CUDA or `ROCm`.
const HOST_DEVICES: [i32; 3] = [1, 3, 11];

impl<'py> TensorMemory<'py> {
    /// Memory of a tensor or array of any framework, or of numbers in a list. Copied only from other devices, and if
    /// the memory of a framework differs from the elements (negated views, negative strides).
    pub(crate) fn of(tensor: &Bound<'py, PyAny>) -> Outcome<Self> {
        let interfaces = interfaces(tensor);
        if interfaces.is_torch {
            return Self::of_torch(tensor, interfaces);
        }
        if let Some(exchange) = interfaces.exchange
            && let Some(description) = exchange.describe(tensor)
        {
            if HOST_DEVICES.contains(&description.device_type) {
                return Self::described(tensor.clone(), &description);
            }
            return Err(format!("{} is on another device", type_name(tensor)).into());
        }
        let py = tensor.py();
        if let Some(interface) = attempt(tensor.getattr(intern!(py, "__array_interface__")))?
            && let Ok(interface) = interface.cast::<PyDict>()
        {
            return Self::of_array(tensor, interface);
        }
        if tensor.is_instance_of::<PyFloat>() || tensor.is_instance_of::<PyInt>() {
            return Ok(Self::of_numbers(&[tensor.extract()?], Vec::new()));
        }
        // Other sequences may claim any length.
        let is_list = tensor.is_exact_instance_of::<PyList>();
        if (is_list || tensor.is_exact_instance_of::<PyTuple>())
            && let Some(numbers) = attempt(tensor.extract::<Vec<f64>>())?
        {
            return Ok(Self::of_numbers(&numbers, vec![numbers.len()]));
        }
        if attempt(tensor.hasattr(intern!(py, "data_ptr")))? == Some(true) {
            return Self::of_pointer(tensor);
        }
        Self::of_plain_array(&as_array(tensor)?)
    }

    fn of_numbers(numbers: &[f64], shape: Vec<usize>) -> Self {
        let elements: Vec<u8> = bytemuck::cast_slice(numbers).to_vec();
        Self {
            owner: None,
            _interface: None,
            address: 0,
            len_bytes: elements.len(),
            elements,
            dtype: DType::F64,
            shape,
            strides: None,
            is_complex: false,
        }
    }

    fn of_torch(tensor: &Bound<'py, PyAny>, interfaces: Interfaces) -> Outcome<Self> {
        let py = tensor.py();
        if is_inside_transform(tensor)? {
            return Err("the tensor is inside of vmap, grad or another transform".into());
        }
        let mut tensor = tensor.clone();
        if !interfaces.is_plain && attempt(tensor.hasattr(intern!(py, "to_local")))? == Some(true) {
            tensor = tensor.call_method0(intern!(py, "to_local"))?;
        }
        if !is_strided(&tensor)? {
            tensor = values_of_sparse(&tensor)?;
        }
        let is = |method, tensor: &Bound<'py, PyAny>| -> Outcome<bool> {
            let answer = tensor.call_method0(method)?;
            Ok(answer.is_truthy()?)
        };
        // The memory of these views has the other sign, of all elements or of imaginary parts.
        if is(intern!(py, "is_neg"), &tensor)? || is(intern!(py, "is_conj"), &tensor)? {
            for method in [
                intern!(py, "detach"),
                intern!(py, "resolve_conj"),
                intern!(py, "resolve_neg"),
            ] {
                tensor = tensor.call_method0(method)?;
            }
        }
        let description = interfaces.exchange.and_then(|api| api.describe(&tensor));
        let Some(description) = description else {
            return Self::of_pointer(&tensor);
        };
        if !HOST_DEVICES.contains(&description.device_type) {
            let copy = tensor
                .call_method0(intern!(py, "detach"))
                .and_then(|tensor| tensor.call_method0(intern!(py, "cpu")))?;
            if copy.is(&tensor) || type_name(&copy) != "Tensor" {
                return Err("the tensor cannot be copied from its device".into());
            }
            return Self::of_torch(&copy, interfaces);
        }
        let memory = Self::described(tensor, &description)?;
        memory.check_storage()?;
        Ok(memory)
    }

    /// Compares the extent with the storage, which may have been freed (`resize_(0)`, by FSDP between uses) while
    /// shape and address are as before.
    fn check_storage(&self) -> Outcome {
        let Some(tensor) = &self.owner else {
            return Ok(());
        };
        let py = tensor.py();
        let room = || -> PyResult<(usize, usize)> {
            let storage = tensor.call_method0(intern!(py, "untyped_storage"))?;
            let len = storage.call_method0(intern!(py, "nbytes"))?.extract()?;
            let offset = tensor
                .call_method0(intern!(py, "storage_offset"))?
                .extract()?;
            Ok((len, offset))
        };
        let (storage_bytes, offset) = room()?;
        let element_bytes = self.dtype.size_bytes() * if self.is_complex { 2 } else { 1 };
        let needed = offset
            .saturating_mul(element_bytes)
            .saturating_add(self.len_bytes);
        if self.len_bytes > 0 && needed > storage_bytes {
            return Err("the storage of the tensor is freed".into());
        }
        Ok(())
    }

    fn described(owner: Bound<'py, PyAny>, tensor: &DlTensor) -> Outcome<Self> {
        if tensor.type_lanes != 1 {
            return Err("vectors as elements cannot be read".into());
        }
        let (dtype, is_complex) = match (tensor.type_code, tensor.type_bits) {
            (0, 8) => (DType::I8, false),
            (0, 16) => (DType::I16, false),
            (0, 32) => (DType::I32, false),
            (0, 64) => (DType::I64, false),
            (1, 8) => (DType::U8, false),
            (1, 16) => (DType::U16, false),
            (1, 32) => (DType::U32, false),
            (1, 64) => (DType::U64, false),
            (2, 16) => (DType::F16, false),
            (2, 32) => (DType::F32, false),
            (2, 64) => (DType::F64, false),
            (4, 16) => (DType::Bf16, false),
            (5, 64) => (DType::F32, true),
            (5, 128) => (DType::F64, true),
            (6, 8) => (DType::Bool, false),
            (10, 8) => (DType::F8E4m3, false),
            (12, 8) => (DType::F8E5m2, false),
            (code, bits) => {
                return Err(format!(
                    "elements of {bits} bits and DLPack's type {code} cannot be read"
                )
                .into());
            }
        };
        Self::new(
            Some(owner),
            tensor.address(),
            (dtype, is_complex),
            &tensor.shape(),
            tensor.strides().as_deref(),
        )
    }

    /// Memory of an array with NumPy's interface.
    fn of_array(array: &Bound<'py, PyAny>, interface: &Bound<'py, PyDict>) -> Outcome<Self> {
        let py = array.py();
        let item = |name: &str| -> Outcome<Bound<'py, PyAny>> {
            let item = interface.get_item(name)?;
            item.ok_or_else(|| format!("the array interface has no `{name}`").into())
        };
        let type_text: String = item("typestr")?.extract()?;
        if type_text.starts_with('>') {
            let native = array
                .getattr("dtype")
                .and_then(|dtype| dtype.call_method1("newbyteorder", ("=",)))
                .and_then(|dtype| array.call_method1("astype", (dtype,)))?;
            return Self::of_plain_array(&native);
        }
        let shape: Vec<i64> = item("shape")?.extract()?;
        let address = item("data")?;
        let address = address
            .cast::<PyTuple>()
            .map_err(|_| "the array has no address")?;
        let address: usize = address.get_item(0).and_then(|address| address.extract())?;
        let dtype_name = array.getattr(intern!(py, "dtype"));
        let dtype_name = dtype_name.and_then(|dtype| dtype.getattr(intern!(py, "name")));
        let dtype_name = dtype_name.and_then(|name| name.extract::<String>());
        let dtype_name = dtype_name.unwrap_or(type_text);
        let (dtype, is_complex) = dtype_of(&dtype_name)?;
        let element_bytes =
            (dtype.size_bytes() * if is_complex { 2 } else { 1 }).cast_signed() as i64;
        let strides = interface.get_item("strides")?;
        let strides = strides.filter(|strides| !strides.is_none());
        let strides: Option<Vec<i64>> = match strides {
            Some(strides) => Some(strides.extract()?),
            None => None,
        };
        let is_readable = |strides: &Vec<i64>| {
            strides
                .iter()
                .all(|stride| *stride >= 0 && stride % element_bytes == 0)
        };
        if strides
            .as_ref()
            .is_some_and(|strides| !is_readable(strides))
        {
            let numpy = py.import("numpy")?;
            let copy = numpy.call_method1("ascontiguousarray", (array,))?;
            return Self::of_plain_array(&copy);
        }
        let strides: Option<Vec<i64>> = strides.map(|strides| {
            strides
                .iter()
                .map(|stride| stride / element_bytes)
                .collect()
        });
        let memory = Self::new(
            Some(array.clone()),
            address,
            (dtype, is_complex),
            &shape,
            strides.as_deref(),
        )?;
        Ok(Self {
            _interface: Some(interface.clone()),
            ..memory
        })
    }

    fn of_plain_array(array: &Bound<'py, PyAny>) -> Outcome<Self> {
        let interface = array
            .getattr("__array_interface__")
            .and_then(|interface| Ok(interface.cast_into::<PyDict>()?))?;
        Self::of_array(array, &interface)
    }

    /// Memory of a tensor with PyTorch's methods `data_ptr`, `stride` and `dtype`: older versions of it, and MindSpore.
    fn of_pointer(tensor: &Bound<'py, PyAny>) -> Outcome<Self> {
        let py = tensor.py();
        // `is_cpu` is PyTorch's; MindSpore has a device as text, such as `Ascend:0`.
        let is_cpu = match attempt(tensor.getattr(intern!(py, "is_cpu")))? {
            Some(is_cpu) => is_cpu.is_truthy()?,
            None => match attempt(tensor.getattr(intern!(py, "device")))? {
                Some(device) => device.str()?.to_string_lossy().starts_with("CPU"),
                None => true,
            },
        };
        if !is_cpu {
            return Self::of_plain_array(&as_array(tensor)?);
        }
        let dtype = tensor.getattr("dtype").and_then(|dtype| dtype.str())?;
        let dtype = dtype.to_string_lossy().to_lowercase();
        let dtype = dtype_of(dtype.rsplit('.').next().unwrap_or_default())?;
        let shape: Vec<i64> = tensor.getattr("shape").and_then(|shape| shape.extract())?;
        let strides: Vec<i64> = tensor
            .call_method0("stride")
            .and_then(|strides| strides.extract())?;
        let address: usize = tensor
            .call_method0("data_ptr")
            .and_then(|address| address.extract())?;
        let memory = Self::new(Some(tensor.clone()), address, dtype, &shape, Some(&strides))?;
        if attempt(tensor.hasattr("untyped_storage"))? == Some(true) {
            memory.check_storage()?;
        }
        Ok(memory)
    }

    fn new(
        owner: Option<Bound<'py, PyAny>>,
        address: usize,
        (dtype, is_complex): (DType, bool),
        shape: &[i64],
        strides: Option<&[i64]>,
    ) -> Outcome<Self> {
        let sizes = |list: &[i64]| -> Outcome<Vec<usize>> {
            let sizes = list.iter().map(|&size| usize::try_from(size));
            sizes
                .collect::<Result<_, _>>()
                .map_err(|_| "the tensor has negative sizes or strides".into())
        };
        let mut shape = sizes(shape)?;
        let mut strides = match strides {
            Some(strides) if strides.len() == shape.len() => Some(sizes(strides)?),
            Some(_) => return Err("shape and strides of the tensor disagree".into()),
            None => None,
        };
        if is_complex {
            shape.push(2);
            if let Some(strides) = &mut strides {
                for stride in strides.iter_mut() {
                    *stride = stride.saturating_mul(2);
                }
                strides.push(1);
            }
        }
        let elements = extent(&shape, strides.as_deref());
        let len_bytes = elements.and_then(|len| len.checked_mul(dtype.size_bytes()));
        let len_bytes = len_bytes
            .filter(|len| isize::try_from(*len).is_ok())
            .ok_or("the tensor is larger than the memory")?;
        if address == 0 && len_bytes > 0 {
            return Err(
                "the tensor has no memory: it is only traced, on no device, or freed".into(),
            );
        }
        let memory = Self {
            owner,
            _interface: None,
            elements: Vec::new(),
            address,
            len_bytes,
            dtype,
            shape,
            strides,
            is_complex,
        };
        if !memory.view().is_readable() {
            return Err("the tensor has gaps or repeats elements, and 1 GiB or more would have to be copied".into());
        }
        Ok(memory)
    }

    /// Length of the memory that is read, in bytes.
    pub(crate) fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Type of the elements; complex numbers are two of them.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// Bytes from the first element to the last one, gaps included.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.address == 0 || self.len_bytes == 0 {
            return self.elements.as_slice();
        }
        #[expect(unsafe_code, reason = "the memory belongs to another library")]
        // SAFETY: the framework gave this address for this number of elements of this type, `owner` keeps them, and the
        // length was checked against the storage. Another thread of the program may write there meanwhile: then the
        // statistics mix both states, as the documentation of the methods says.
        unsafe {
            std::slice::from_raw_parts(self.address as *const u8, self.len_bytes)
        }
    }

    /// Elements, for as long as the interpreter's object is held by this value.
    pub(crate) fn view(&self) -> TensorView<'_> {
        let bytes = self.bytes();
        match &self.strides {
            Some(strides) => TensorView::strided(self.dtype, &self.shape, strides, bytes),
            None => TensorView::new(self.dtype, &self.shape, bytes),
        }
    }
}

/// Number of elements from the first to the last one in memory, gaps included; `None` on overflow.
fn extent(shape: &[usize], strides: Option<&[usize]>) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    let Some(strides) = strides else {
        return shape
            .iter()
            .try_fold(1_usize, |len, size| len.checked_mul(*size));
    };
    shape
        .iter()
        .zip(strides)
        .try_fold(1_usize, |len, (size, stride)| {
            len.checked_add((size - 1).checked_mul(*stride)?)
        })
}

/// Element type by the names of NumPy, PyTorch, MindSpore and of the array interface; `true` for complex numbers.
pub(crate) fn dtype_of(name: &str) -> Outcome<(DType, bool)> {
    let dtype = match name {
        "bool" | "bool_" | "|b1" => DType::Bool,
        "uint8" | "|u1" => DType::U8,
        "uint16" | "<u2" => DType::U16,
        "uint32" | "<u4" => DType::U32,
        "uint64" | "<u8" => DType::U64,
        "int8" | "|i1" => DType::I8,
        "int16" | "<i2" => DType::I16,
        "int32" | "<i4" => DType::I32,
        "int64" | "<i8" => DType::I64,
        "float16" | "half" | "<f2" => DType::F16,
        "bfloat16" => DType::Bf16,
        "float8_e4m3fn" => DType::F8E4m3,
        "float8_e5m2" => DType::F8E5m2,
        "float32" | "float" | "<f4" => DType::F32,
        "float64" | "double" | "<f8" => DType::F64,
        "complex64" | "<c8" => return Ok((DType::F32, true)),
        "complex128" | "<c16" => return Ok((DType::F64, true)),
        other => return Err(format!("elements of type {other} cannot be read").into()),
    };
    Ok((dtype, false))
}

/// NumPy's array of any object that can be one.
fn as_array<'py>(object: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyAny>> {
    let py = object.py();
    let numpy = py.import("numpy")?;
    let has = |name| -> Outcome<bool> { Ok(attempt(object.hasattr(name))? == Some(true)) };
    if !has("__array__")? {
        for method in ["numpy", "asnumpy"] {
            if let Some(array) = attempt(object.call_method0(method))? {
                return Ok(array);
            }
        }
        if has("__dlpack__")? {
            return Ok(numpy.call_method1("from_dlpack", (object,))?);
        }
    }
    let array = numpy.call_method1("asarray", (object,));
    array.map_err(|error| Refusal::from(error).of(&format!("{} is no tensor", type_name(object))))
}

/// `true` for the wrapped tensors inside of `torch.func` transforms.
fn is_inside_transform(tensor: &Bound<'_, PyAny>) -> Outcome<bool> {
    static CHECK: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let py = tensor.py();
    let check = CHECK.get_or_init(py, || {
        let module = py.import("torch._C._functorch").ok()?;
        Some(module.getattr("is_functorch_wrapped_tensor").ok()?.unbind())
    });
    let Some(check) = check else {
        return Ok(false);
    };
    let answer = check.bind(py).call1((tensor,));
    let answer = answer.and_then(|answer| answer.is_truthy());
    Ok(answer?)
}

fn is_strided(tensor: &Bound<'_, PyAny>) -> Outcome<bool> {
    static STRIDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = tensor.py();
    let strided = STRIDED.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("torch")?.getattr("strided")?.unbind())
    });
    let answer = strided.and_then(|strided| Ok(tensor.getattr(intern!(py, "layout"))?.is(strided)));
    Ok(answer?)
}

/// Elements that a sparse tensor has; the zeros between them are not elements.
fn values_of_sparse<'py>(tensor: &Bound<'py, PyAny>) -> Outcome<Bound<'py, PyAny>> {
    let tensor = tensor.call_method0("detach");
    let values = tensor.and_then(|tensor| {
        tensor
            .call_method0("_values")
            .or_else(|_| tensor.call_method0("values"))
    });
    values.map_err(|_| "tensors of this layout cannot be read".into())
}
