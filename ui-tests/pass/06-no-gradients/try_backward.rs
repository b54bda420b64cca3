// The twin of `fail/06-no-gradients/try_backward.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let x = Tensor::<Autodiff<Flex>, 1>::ones([3], &device);
    let _ = x.sum().try_backward();
}
