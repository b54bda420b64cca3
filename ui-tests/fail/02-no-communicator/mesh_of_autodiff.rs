// E0277: only a `Local` backend can be joined into a `Mesh`
use keyway::prelude::*;

fn main() {
    let _ = Mesh::<Autodiff<Flex>>::open(2);
}
