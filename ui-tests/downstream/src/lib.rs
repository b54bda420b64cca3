//! A model, a data-parallel trainer and a backend, all outside keyway.
#![deny(warnings)]

pub mod host;
pub mod model;
pub mod train;
