// E0277: needs a float element type
use keyway::prelude::*;

fn main() {
    let device = Default::default();
    let _ = Tensor::<Autodiff<Flex>, 1, i32>::ones([3], &device).require_grad();
}
