#![doc = include_str!("coming_from_burn.md")]

// The page's links begin with these names.
#[allow(unused_imports)]
use crate::raw::Raw;
#[allow(unused_imports)]
use crate::{
    Mesh, PrintOptions, Tensor, TensorData, Transaction, activation, grid, linalg, loss, module, s,
    set_print_options, signal,
};
