// The twin of `fail/06-no-gradients/int_leaf.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Autodiff<Flex>, 1, f64>::ones([3], &device).require_grad();
}
