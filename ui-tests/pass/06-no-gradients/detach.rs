// The twin of `fail/06-no-gradients/detach.rs`.
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Autodiff<Flex>, 1>::ones([3], &device).detach();
}
