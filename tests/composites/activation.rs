//! Activations, losses and what training is made of.
