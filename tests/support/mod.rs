//! What tests share: the reference backend, operands of every kind and layout, every op on them, and the comparison of
//! results.

// Each test that includes this uses a part of it.
#![allow(dead_code, unused_imports, unreachable_pub)]

pub mod compare;
pub mod operand;
pub mod ops;
pub mod reference;

pub use compare::{difference, same_bits};
pub use operand::{Fill, Layout, Operand};
pub use ops::{leaf, leaves, ops};
pub use reference::{Dense, Reference, Value};
