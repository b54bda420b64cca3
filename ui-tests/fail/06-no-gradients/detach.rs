// E0277: use `Autodiff<keyway::Flex>`
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Flex, 1>::ones([3], &device).detach();
}
