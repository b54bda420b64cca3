// E0432: the item is gated behind the `ndarray` feature
use keyway::NdArray;

fn main() {}
