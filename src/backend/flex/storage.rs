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

/// A strided view of a shared buffer. It is one pointer wide: every layer that an op passes through moves its operands.
#[derive(Clone, Debug)]
pub struct FlexTensor(Arc<View>);

#[derive(Debug)]
struct View {
    elements: Elements,
    layout: Layout,
    device: FlexDevice,
}

#[derive(Debug)]
enum Elements {
    /// The tensor's own.
    Own(Buffer),
    /// Those of another, which owns them.
    Of(Arc<View>),
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

impl View {
    fn buffer(&self) -> &Buffer {
        match &self.elements {
            Elements::Own(buffer) => buffer,
            Elements::Of(base) => base.buffer(),
        }
    }
}

impl FlexTensor {
    /// A buffer in row-major order.
    pub(super) fn new(buffer: Buffer, shape: Shape, device: FlexDevice) -> Self {
        debug_assert_eq!(buffer.len(), shape.num_elements());
        FlexTensor(Arc::new(View {
            elements: Elements::Own(buffer),
            layout: Layout::contiguous(shape),
            device,
        }))
    }

    /// Values in row-major order.
    pub(super) fn from_vec<E: Element>(values: Vec<E>, shape: Shape, device: FlexDevice) -> Self {
        Self::new(E::into_buffer(values), shape, device)
    }

    pub(super) fn device(&self) -> &FlexDevice {
        &self.0.device
    }

    pub(super) fn with_device(self, device: FlexDevice) -> Self {
        let mut x = self.view();
        x.device = device;
        FlexTensor(Arc::new(x))
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// Another view of the same buffer.
    pub(super) fn with_layout(mut self, layout: Layout) -> Self {
        match Arc::get_mut(&mut self.0) {
            Some(view) => {
                view.layout = layout;
                self
            }
            None => FlexTensor(Arc::new(View {
                layout,
                ..self.view()
            })),
        }
    }

    /// A view like this one, on the tensor that owns the elements.
    fn view(self) -> View {
        View {
            layout: self.0.layout.clone(),
            device: self.0.device.clone(),
            elements: Elements::Of(match &self.0.elements {
                Elements::Own(_) => self.0,
                Elements::Of(base) => base.clone(),
            }),
        }
    }

    /// The whole buffer, of which the view takes some elements.
    ///
    /// # Panics
    /// If the elements are not of type `E`.
    pub(super) fn base<E: Element>(&self) -> &[E] {
        E::slice(self.0.buffer()).expect("the element type was checked before")
    }

    /// The view's elements if they lie one after another.
    pub(super) fn as_slice<E: Element>(&self) -> Option<&[E]> {
        let Layout { shape, offset, .. } = self.layout();
        let len = shape.num_elements();
        self.layout().is_contiguous().then(|| match len {
            0 => &[],
            _ => &self.base::<E>()[*offset..offset + len],
        })
    }

    /// The elements of a view that lies in order, as one does after [`FlexTensor::into_contiguous`].
    ///
    /// # Panics
    /// If it does not, or if the elements are not of type `E`.
    pub(super) fn in_order<E: Element>(&self) -> &[E] {
        self.as_slice().expect("the tensor was made contiguous")
    }

    /// Whether the view takes all of its buffer in order.
    fn is_whole(&self) -> bool {
        let Layout { shape, offset, .. } = self.layout();
        *offset == 0 && self.0.buffer().len() == shape.num_elements() && self.layout().is_contiguous()
    }

    /// The buffer itself, where nobody else holds it and the view takes all of it in order; otherwise the tensor back.
    pub(super) fn into_unique<E: Element>(self) -> Result<(Vec<E>, Shape, FlexDevice), Self> {
        if self.dtype() != E::DTYPE {
            return Err(self);
        }
        let (buffer, shape, device) = self.into_unique_buffer()?;
        let values = E::from_buffer(buffer).expect("the element type was checked");
        Ok((values, shape, device))
    }

    fn into_unique_buffer(self) -> Result<(Buffer, Shape, FlexDevice), Self> {
        if !self.is_whole() {
            return Err(self);
        }
        let View {
            elements,
            layout,
            device,
        } = Arc::try_unwrap(self.0).map_err(FlexTensor)?;
        let elements = match elements {
            Elements::Of(base) => Arc::try_unwrap(base).map_or_else(Elements::Of, |base| base.elements),
            own => own,
        };
        match elements {
            Elements::Own(buffer) => Ok((buffer, layout.shape, device)),
            shared => Err(FlexTensor(Arc::new(View {
                elements: shared,
                layout,
                device,
            }))),
        }
    }

    /// The elements, where nobody else holds the buffer and the view takes all of it in order.
    pub(super) fn unique_mut<E: Element>(&mut self) -> Option<&mut [E]> {
        if !self.layout().is_contiguous() {
            return None;
        }
        let len = self.layout().shape.num_elements();
        let mut elements = &mut Arc::get_mut(&mut self.0)?.elements;
        while let Elements::Of(base) = elements {
            elements = &mut Arc::get_mut(base)?.elements;
        }
        let Elements::Own(buffer) = elements else {
            return None;
        };
        let values = E::slice_mut(buffer)?;
        (values.len() == len).then_some(values)
    }

    /// A tensor of this shape, on this device.
    pub(super) fn like<E: Element>(&self, values: Vec<E>) -> Self {
        self.like_shape(values, &self.layout().shape)
    }

    /// A tensor on this device.
    pub(super) fn like_shape<E: Element>(&self, values: Vec<E>, shape: &Shape) -> Self {
        Self::from_vec(values, shape.clone(), self.device().clone())
    }

    /// The elements in row-major order.
    pub(super) fn to_vec<E: Element>(&self) -> Vec<E> {
        match self.as_slice() {
            Some(slice) => slice.to_vec(),
            None => to_row_major(self.base::<E>(), self.layout()),
        }
    }

    /// The same elements in a buffer that lies in row-major order.
    pub(super) fn into_contiguous(self) -> Self {
        if self.layout().is_contiguous() {
            return self;
        }
        let buffer = with_buffer!(self.0.buffer(), v => contiguous_buffer(&self, v));
        FlexTensor::new(buffer, self.layout().shape.clone(), self.device().clone())
    }

    pub(super) fn into_data(self) -> Result<TensorData, Error> {
        let (buffer, shape) = match self.into_unique_buffer() {
            Ok((buffer, shape, _)) => (buffer, shape),
            Err(x) => {
                let buffer = with_buffer!(x.0.buffer(), v => contiguous_buffer(&x, v));
                (buffer, x.layout().shape.clone())
            }
        };
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
        &self.0.layout.shape
    }
    #[inline]
    fn dtype(&self) -> DType {
        self.0.buffer().dtype()
    }
}
