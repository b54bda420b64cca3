// The twin of `fail/07-nested-autodiff/device.rs`.
use keyway::prelude::*;

fn f(_device: &<Autodiff<Flex> as keyway::backend::BackendTypes>::Device) {}

fn main() {}
