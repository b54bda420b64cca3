//! Modules: parameters, layers, moving models between backends and devices, and files.
//!
//! Layers are made by a configuration: `LinearConfig::new(3, 1).with_bias(false).init(&device)`. Whether they train
//! follows from the backend: dropout drops and batch normalisation measures on `Autodiff<_>`, and not on the plain
//! backend that [`Module::valid`] leads to.

mod containers;
mod conv;
mod distribute;
mod dropout;
mod embedding;
mod file;
mod init;
mod linear;
mod module;
mod norm;
mod param;
mod pool;

pub use conv::{Conv2d, Conv2dConfig, PaddingConfig2d};
pub use dropout::{Dropout, DropoutConfig};
pub use embedding::{Embedding, EmbeddingConfig};
pub use file::Format;
pub use init::Initializer;
pub use linear::{Linear, LinearConfig};
pub use module::{Kind, Mapper, Module, Record, Slot, Visitor};
pub use norm::{BatchNorm, BatchNormConfig, LayerNorm, LayerNormConfig};
pub use param::{Buffer, Param};
pub use pool::{AvgPool2d, AvgPool2dConfig, MaxPool2d, MaxPool2dConfig};
