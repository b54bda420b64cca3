// The twin of `fail/06-no-gradients/require_grad_of_int.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Autodiff<Flex>, 1, f64>::ones([3], &device).require_grad();
}
