// E0277: `B` cannot take part in collective operations
use keyway::prelude::*;

fn mean<B: Backend>(x: Tensor<B, 1>) -> Result<Tensor<B, 1>, keyway::Error> {
    x.all_reduce(ReduceKind::Mean)
}

fn main() {}
