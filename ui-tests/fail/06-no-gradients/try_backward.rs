// E0277: use `Autodiff<keyway::Flex>`
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let x = Tensor::<Flex, 1>::ones([3], &device);
    let _ = x.sum().try_backward();
}
