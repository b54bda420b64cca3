// E0277: `Autodiff` wraps plain backends only
use keyway::prelude::*;

fn f(_device: &<Autodiff<Autodiff<Flex>> as keyway::backend::BackendTypes>::Device) {}

fn main() {}
