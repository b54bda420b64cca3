#![doc = include_str!("../README.md")]
#![warn(missing_docs, unreachable_pub)]

pub mod autodiff;
pub mod backend;
pub mod collective;
pub mod coming_from_burn;
mod data;
pub mod dynamic;
mod element;
mod error;
pub mod guarantees;
pub mod nn;
pub mod op;
pub mod optim;
pub mod raw;
mod shape;
mod tensor;

pub use autodiff::{
    Autodiff, AutodiffBackend, BalancedCheckpointing, Gradients, NoCheckpointing, ReadyToStep,
};
#[cfg(feature = "candle")]
pub use backend::candle::{Candle, CandleDevice};
pub use backend::flex::{Flex, FlexDevice};
#[cfg(feature = "ndarray")]
pub use backend::ndarray::{NdArray, NdArrayDevice};
#[cfg(feature = "tch")]
pub use backend::tch::{LibTorch, LibTorchDevice};
pub use backend::{
    Backend, Collective, Device, Local, LocalBackend, PlainBackend, Readable, Supports, Synced, Unproven,
    Unsynced,
};
pub use collective::{
    CollectiveBackend, GradientReduction, GroupOptions, InProcess, Mesh, MeshDevice, ParamId, Pending,
    ReduceKind,
};
pub use data::{Buffer, TensorData};
pub use dynamic::{Dyn, DynDevice, DynTensor};
pub use element::{DType, Element, FloatElement, IntElement, NumericElement, Scalar};
pub use error::{Error, Name};
pub use half::{bf16, f16};
pub use raw::{Distribution, Slice, SliceArgs};
pub use shape::{Dims, Shape};
pub use tensor::{
    AsDim, BitElement, ExpandArgs, MovedimArgs, Nested, Operand, PrintOptions, ReshapeArgs, Tensor,
    Transaction, set_print_options,
};
pub use tensor::{activation, grid, linalg, loss, module, signal};

/// What model code needs.
pub mod prelude {
    pub use crate::nn::Module;
    pub use crate::op::{PadMode, ScatterMode};
    pub use crate::optim::Optimizer;
    pub use crate::{
        Autodiff, AutodiffBackend, Backend, BalancedCheckpointing, CollectiveBackend, Device, Distribution,
        Element, Error, Flex, FlexDevice, FloatElement, IntElement, Mesh, MeshDevice, NoCheckpointing,
        NumericElement, ParamId, PlainBackend, Readable, ReduceKind, Slice, Supports, Tensor, TensorData,
        activation, grid, linalg, loss, module, s, signal,
    };
    #[cfg(feature = "candle")]
    pub use crate::{Candle, CandleDevice};
    #[cfg(feature = "tch")]
    pub use crate::{LibTorch, LibTorchDevice};
    #[cfg(feature = "ndarray")]
    pub use crate::{NdArray, NdArrayDevice};
}
