//! The twins of the cases in `fail`.
#![allow(dead_code)]

mod cast_to_i8;
mod generic_of_u16;
mod no_autodiff;
mod not_collective;
mod two_backends;
mod zeros_of_u64;
