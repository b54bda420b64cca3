//! Buffers and the views on them.

use std::fmt;
use std::sync::{Arc, LazyLock};

use smallvec::SmallVec;

use super::copy::to_row_major;
use crate::backend::Device;
use crate::data::{Buffer, TensorData};
use crate::element::{DType, Element};
use crate::error::Error;
use crate::op::HasMeta;
use crate::op::random::KeySource;
use crate::shape::Shape;
use crate::with_buffer;

/// The CPU. All handles are equal; each has the random stream that it or its original was made with.
#[derive(Clone)]
pub struct FlexDevice {
    keys: Arc<KeySource>,
}

/// A strided view of a shared buffer.
#[derive(Clone, Debug)]
pub struct FlexTensor {
    buffer: Arc<Buffer>,
    layout: Layout,
    device: FlexDevice,
}

/// Which elements of a buffer a view takes, in row-major order of its shape.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    pub(super) strides: SmallVec<[isize; 4]>,
    pub(super) offset: usize,
}

// The derived one would clone stride by stride.
impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Self {
        Layout {
            shape: self.shape.clone(),
            strides: SmallVec::from_slice(&self.strides),
            offset: self.offset,
        }
    }
}

impl FlexDevice {
    /// A handle with a random stream of its own.
    pub fn new(seed: u64) -> Self {
        FlexDevice {
            keys: Arc::new(KeySource::new(seed)),
        }
    }
}

/// The handle that the process shares; its random stream starts at seed 0.
impl Default for FlexDevice {
    fn default() -> Self {
        static SHARED: LazyLock<FlexDevice> = LazyLock::new(|| FlexDevice::new(0));
        SHARED.clone()
    }
}

impl fmt::Debug for FlexDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Flex")
    }
}

impl PartialEq for FlexDevice {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Device for FlexDevice {
    fn keys(&self) -> &KeySource {
        &self.keys
    }
}

impl Layout {
    pub(super) fn contiguous(shape: Shape) -> Self {
        Layout {
            strides: shape.contiguous_strides(),
            shape,
            offset: 0,
        }
    }

    /// Whether the view's elements lie one after another, in order.
    pub(super) fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if size == 0 {
                return true;
            }
            if size != 1 {
                if stride != expected {
                    return false;
                }
                expected *= size as isize;
            }
        }
        true
    }
}

impl FlexTensor {
    /// A buffer in row-major order.
    pub(super) fn new(buffer: Buffer, shape: Shape, device: FlexDevice) -> Self {
        debug_assert_eq!(buffer.len(), shape.num_elements());
        FlexTensor {
            buffer: Arc::new(buffer),
            layout: Layout::contiguous(shape),
            device,
        }
    }

    /// Values in row-major order.
    pub(super) fn from_vec<E: Element>(values: Vec<E>, shape: Shape, device: FlexDevice) -> Self {
        Self::new(E::into_buffer(values), shape, device)
    }

    pub(super) fn device(&self) -> &FlexDevice {
        &self.device
    }

    pub(super) fn with_device(self, device: FlexDevice) -> Self {
        FlexTensor { device, ..self }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Another view of the same buffer.
    pub(super) fn with_layout(self, layout: Layout) -> Self {
        FlexTensor { layout, ..self }
    }

    /// The whole buffer, of which the view takes some elements.
    ///
    /// # Panics
    /// If the elements are not of type `E`.
    pub(super) fn base<E: Element>(&self) -> &[E] {
        E::slice(&self.buffer).expect("the element type was checked before")
    }

    /// The view's elements if they lie one after another.
    pub(super) fn as_slice<E: Element>(&self) -> Option<&[E]> {
        let len = self.layout.shape.num_elements();
        self.layout.is_contiguous().then(|| match len {
            0 => &[],
            _ => &self.base::<E>()[self.layout.offset..self.layout.offset + len],
        })
    }

    /// The elements of a view that lies in order, as one does after [`FlexTensor::into_contiguous`].
    ///
    /// # Panics
    /// If it does not, or if the elements are not of type `E`.
    pub(super) fn in_order<E: Element>(&self) -> &[E] {
        self.as_slice().expect("the tensor was made contiguous")
    }

    /// The buffer itself, where nobody else holds it and the view takes all of it in order; otherwise the tensor back.
    pub(super) fn into_unique<E: Element>(self) -> Result<(Vec<E>, Shape, FlexDevice), Self> {
        let whole = self.layout.offset == 0
            && self.buffer.len() == self.layout.shape.num_elements()
            && self.layout.is_contiguous()
            && self.dtype() == E::DTYPE;
        if !whole {
            return Err(self);
        }
        let FlexTensor {
            buffer,
            layout,
            device,
        } = self;
        match Arc::try_unwrap(buffer) {
            Ok(buffer) => Ok((
                E::from_buffer(buffer).expect("the element type was checked"),
                layout.shape,
                device,
            )),
            Err(buffer) => Err(FlexTensor {
                buffer,
                layout,
                device,
            }),
        }
    }

    /// The elements, where nobody else holds the buffer and the view takes all of it in order.
    pub(super) fn unique_mut<E: Element>(&mut self) -> Option<&mut [E]> {
        if !self.layout.is_contiguous() {
            return None;
        }
        let len = self.layout.shape.num_elements();
        let values = E::slice_mut(Arc::get_mut(&mut self.buffer)?)?;
        (values.len() == len).then_some(values)
    }

    /// A tensor of this shape, on this device.
    pub(super) fn like<E: Element>(&self, values: Vec<E>) -> Self {
        self.like_shape(values, &self.layout.shape)
    }

    /// A tensor on this device.
    pub(super) fn like_shape<E: Element>(&self, values: Vec<E>, shape: &Shape) -> Self {
        Self::from_vec(values, shape.clone(), self.device.clone())
    }

    /// The elements in row-major order.
    pub(super) fn to_vec<E: Element>(&self) -> Vec<E> {
        match self.as_slice() {
            Some(slice) => slice.to_vec(),
            None => to_row_major(self.base::<E>(), &self.layout),
        }
    }

    /// The same elements in a buffer that lies in row-major order.
    pub(super) fn into_contiguous(self) -> Self {
        if self.layout.is_contiguous() {
            return self;
        }
        let buffer = with_buffer!(&*self.buffer, v => contiguous_buffer(&self, v));
        FlexTensor::new(buffer, self.layout.shape, self.device)
    }

    pub(super) fn into_data(self) -> Result<TensorData, Error> {
        let x = self.into_contiguous();
        let shape = x.layout.shape.clone();
        if x.layout.offset == 0 && x.buffer.len() == shape.num_elements() {
            let buffer = Arc::unwrap_or_clone(x.buffer);
            return TensorData::from_buffer(buffer, shape);
        }
        let buffer = with_buffer!(&*x.buffer, v => contiguous_buffer(&x, v));
        TensorData::from_buffer(buffer, shape)
    }
}

fn contiguous_buffer<E: Element>(x: &FlexTensor, _: &[E]) -> Buffer {
    E::into_buffer(x.to_vec::<E>())
}

impl Layout {
    /// The starts of the rows along the last axis, and the length and the step of a row.
    pub(super) fn split_last(&self) -> (Layout, usize, isize) {
        let mut rows = self.clone();
        let Some((&len, outer)) = self.shape.split_last() else {
            return (rows, 1, 1);
        };
        rows.shape = outer.into();
        let step = rows.strides.pop().expect("every axis has a stride");
        (rows, len, step)
    }

    /// The buffer position of every element, in row-major order.
    pub(super) fn offsets(&self) -> Vec<usize> {
        let mut offsets = Vec::with_capacity(self.shape.num_elements());
        self.for_each_offset(|offset| offsets.push(offset));
        offsets
    }

    /// Calls `f` with the buffer position of every element, in row-major order.
    pub(super) fn for_each_offset(&self, mut f: impl FnMut(usize)) {
        let rank = self.shape.rank();
        if self.shape.num_elements() == 0 {
            return;
        }
        let mut index: SmallVec<[usize; 4]> = smallvec::smallvec![0; rank];
        let mut offset = self.offset as isize;
        loop {
            f(offset as usize);
            let mut axis = rank;
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                index[axis] += 1;
                offset += self.strides[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                offset -= self.strides[axis] * self.shape[axis] as isize;
                index[axis] = 0;
            }
        }
    }
}

impl HasMeta for FlexTensor {
    #[inline]
    fn shape(&self) -> &Shape {
        &self.layout.shape
    }
    #[inline]
    fn dtype(&self) -> DType {
        self.buffer.dtype()
    }
}
