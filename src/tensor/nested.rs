//! Nested arrays as tensors.

use crate::element::Element;

/// Nested arrays of depth `D`, up to 6, with elements `E`. They cannot be ragged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rank-{D} array of `{E}`",
    label = "expected nested arrays of depth {D} with `{E}` elements",
    note = "nest as deep as the rank, and write floats as `1.0`"
)]
pub trait Nested<const D: usize, E> {
    /// The sizes, outermost first.
    const DIMS: [usize; D];

    /// The elements in row-major order.
    fn into_elements(self) -> Vec<E>;
}

impl<E: Element, const A: usize> Nested<1, E> for [E; A] {
    const DIMS: [usize; 1] = [A];
    fn into_elements(self) -> Vec<E> {
        self.to_vec()
    }
}

macro_rules! nested {
    ($D:literal, $array:ty, [$A:ident $($rest:ident)+]) => {
        impl<E: Element, const $A: usize $(, const $rest: usize)+> Nested<$D, E> for $array {
            const DIMS: [usize; $D] = [$A $(, $rest)+];
            fn into_elements(self) -> Vec<E> {
                self.into_iter().flat_map(Nested::into_elements).collect()
            }
        }
    };
}

nested!(2, [[E; B]; A], [A B]);
nested!(3, [[[E; C]; B]; A], [A B C]);
nested!(4, [[[[E; D]; C]; B]; A], [A B C D]);
nested!(5, [[[[[E; F]; D]; C]; B]; A], [A B C D F]);
nested!(6, [[[[[[E; G]; F]; D]; C]; B]; A], [A B C D F G]);
