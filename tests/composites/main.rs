//! The gradients of what is made of the vocabulary's ops, against finite differences; and ties, zeros and edges, by hand.

mod activation;
mod base;
mod check;
mod linalg;
mod signal;
mod spatial;
