//! The twins of the cases in `fail`.
#![allow(dead_code)]

mod cast_to_u16;
mod generic_of_u32;
mod no_autodiff;
mod not_collective;
mod two_backends;
mod zeros_of_u64;
