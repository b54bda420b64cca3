//! Element-wise ops. Each op is matched once; its loops lie behind a table of kernels, one for each kind of element.

mod binary;
mod cast;
mod choose;
mod compare;
mod half;
mod kernel;
mod math;
mod real;
#[cfg(test)]
mod tests;
mod unary;

pub(super) use binary::binary;
pub(super) use cast::cast;
pub(super) use choose::choose;
pub(super) use compare::compare;
pub(super) use half::{Block, Half};
pub(super) use real::Real;
pub(super) use unary::unary;
