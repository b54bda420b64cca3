//! Fourier transforms and windows.
