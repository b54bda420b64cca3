//! Tensors: shared `ndarray` arrays of any element type.

use std::fmt;
use std::sync::{Arc, LazyLock};

use half::{bf16, f16};
use ndarray::{ArcArray, ArrayD, ArrayViewD, IxDyn};

use crate::backend::Device;
use crate::data::TensorData;
use crate::element::{DType, Element};
use crate::error::Error;
use crate::op::random::KeySource;
use crate::op::{HasMeta, Meta};
use crate::shape::Shape;
use crate::{with_buffer, with_dtype};

/// The CPU. All handles are equal; each has the random stream that it or its original was made with.
#[derive(Clone)]
pub struct NdArrayDevice {
    keys: Arc<KeySource>,
}

/// A shared array, stretched to a shape.
///
/// `ndarray` cannot own an array with strides of 0. So an expanded axis has size 1 in the array, and its size only in
/// the shape. An empty tensor's array has no axis longer than 1, since `ndarray` refuses shapes whose sizes overflow
/// when those of 0 are left out.
#[derive(Clone, Debug)]
pub struct NdArrayTensor {
    values: Values,
    shape: Shape,
    device: NdArrayDevice,
}

/// A shared array.
pub(super) type Array<E> = ArcArray<E, IxDyn>;

/// An element type as one of the [`Values`].
pub(super) trait Held: Element {
    fn into_values(array: Array<Self>) -> Values;
    fn from_values(values: Values) -> Option<Array<Self>>;
    fn array(values: &Values) -> Option<&Array<Self>>;
}

macro_rules! values {
    ($($variant:ident($T:ty)),*) => {
        /// An array of any element type.
        #[derive(Clone, Debug)]
        pub(super) enum Values { $($variant(Array<$T>)),* }

        impl Values {
            fn dtype(&self) -> DType {
                match self { $(Values::$variant(_) => DType::$variant),* }
            }
        }

        $(impl Held for $T {
            fn into_values(array: Array<Self>) -> Values {
                Values::$variant(array)
            }
            fn from_values(values: Values) -> Option<Array<Self>> {
                match values {
                    Values::$variant(array) => Some(array),
                    _ => None,
                }
            }
            fn array(values: &Values) -> Option<&Array<Self>> {
                match values {
                    Values::$variant(array) => Some(array),
                    _ => None,
                }
            }
        })*
    };
}
values! {
    F64(f64), F32(f32), F16(f16), BF16(bf16), I64(i64), I32(i32), I16(i16), I8(i8), U64(u64), U32(u32), U16(u16),
    U8(u8), Bool(bool)
}

impl NdArrayDevice {
    /// A handle with a random stream of its own.
    pub fn new(seed: u64) -> Self {
        NdArrayDevice {
            keys: Arc::new(KeySource::new(seed)),
        }
    }
}

/// The handle that the process shares; its random stream starts at seed 0.
impl Default for NdArrayDevice {
    fn default() -> Self {
        static SHARED: LazyLock<NdArrayDevice> = LazyLock::new(|| NdArrayDevice::new(0));
        SHARED.clone()
    }
}

impl fmt::Debug for NdArrayDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NdArray")
    }
}

impl PartialEq for NdArrayDevice {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Device for NdArrayDevice {
    fn keys(&self) -> &KeySource {
        &self.keys
    }
}

impl NdArrayTensor {
    /// An array that stretches to the shape.
    pub(super) fn new(values: Values, shape: Shape, device: NdArrayDevice) -> Self {
        NdArrayTensor {
            values,
            shape,
            device,
        }
    }

    /// A tensor without elements.
    pub(super) fn empty(meta: &Meta, device: NdArrayDevice) -> Self {
        let dims: Vec<usize> = meta.shape.iter().map(|&size| size.min(1)).collect();
        let values = with_dtype!(meta.dtype, E => owned(ArrayD::from_elem(dims, E::default())));
        Self::new(values, meta.shape.clone(), device)
    }

    pub(super) fn from_data(data: TensorData, device: NdArrayDevice) -> Self {
        let (buffer, shape) = data.into_parts();
        if buffer.is_empty() {
            let dtype = buffer.dtype();
            return Self::empty(&Meta { shape, dtype }, device);
        }
        let values = with_buffer!(buffer, v => from_vec(v, &shape));
        Self::new(values, shape, device)
    }

    pub(super) fn into_data(self) -> Result<TensorData, Error> {
        let shape = self.shape.clone();
        let buffer = with_dtype!(self.dtype(), E => E::into_buffer(self.into_vec::<E>()));
        TensorData::from_buffer(buffer, shape)
    }

    pub(super) fn device(&self) -> &NdArrayDevice {
        &self.device
    }

    pub(super) fn with_device(self, device: NdArrayDevice) -> Self {
        NdArrayTensor { device, ..self }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The array before it is stretched.
    pub(super) fn into_values(self) -> Values {
        self.values
    }

    /// The array before it is stretched.
    pub(super) fn array<E: Held>(&self) -> &Array<E> {
        E::array(&self.values).expect(CHECKED)
    }

    /// The array before it is stretched.
    pub(super) fn into_array<E: Held>(self) -> Array<E> {
        E::from_values(self.values).expect(CHECKED)
    }

    /// The elements, of which there is at least one.
    pub(super) fn view<E: Held>(&self) -> ArrayViewD<'_, E> {
        stretched(self.array(), &self.shape)
    }

    /// The elements, of which there is at least one, for writing: in place where nobody else holds them.
    pub(super) fn into_owned<E: Held>(self) -> ArrayD<E> {
        if self.array::<E>().shape() == &self.shape[..] {
            self.into_array().into_owned()
        } else {
            self.view().to_owned()
        }
    }

    /// The elements in row-major order.
    fn into_vec<E: Held>(self) -> Vec<E> {
        if self.is_empty() {
            return Vec::new();
        }
        let array = self.into_owned::<E>();
        if !array.is_standard_layout() {
            return array.iter().copied().collect();
        }
        let len = array.len();
        let (mut values, offset) = array.into_raw_vec_and_offset();
        // A view of a part still has the whole.
        values.truncate(offset.unwrap_or(0) + len);
        values.drain(..offset.unwrap_or(0));
        values
    }
}

impl HasMeta for NdArrayTensor {
    fn shape(&self) -> &Shape {
        &self.shape
    }
    fn dtype(&self) -> DType {
        self.values.dtype()
    }
}

const CHECKED: &str = "`infer` has checked the element type";

/// An array of the result's own.
pub(super) fn owned<E: Held>(array: ArrayD<E>) -> Values {
    E::into_values(array.into_shared())
}

/// Values in row-major order, at least one.
pub(super) fn from_vec<E: Held>(values: Vec<E>, shape: &Shape) -> Values {
    owned(ArrayD::from_shape_vec(dims(shape), values).expect("the values fill the shape"))
}

/// The view of an array with its axes of size 1 stretched.
pub(super) fn stretched<'a, E>(array: &'a Array<E>, shape: &Shape) -> ArrayViewD<'a, E> {
    array
        .broadcast(dims(shape))
        .expect("the array stretches to its shape")
}

/// The shape, as `ndarray` has it.
pub(super) fn dims(shape: &[usize]) -> IxDyn {
    IxDyn(shape)
}

/// Runs `$body` with `$array` bound to the typed array inside `Values`.
macro_rules! with_values {
    ($values:expr, $array:ident => $body:expr) => {
        match $values {
            Values::F64($array) => $body,
            Values::F32($array) => $body,
            Values::F16($array) => $body,
            Values::BF16($array) => $body,
            Values::I64($array) => $body,
            Values::I32($array) => $body,
            Values::I16($array) => $body,
            Values::I8($array) => $body,
            Values::U64($array) => $body,
            Values::U32($array) => $body,
            Values::U16($array) => $body,
            Values::U8($array) => $body,
            Values::Bool($array) => $body,
        }
    };
}
pub(super) use with_values;
