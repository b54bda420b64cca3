//! Linear algebra.
