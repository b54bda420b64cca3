// E0277: `Autodiff` wraps plain backends only
use keyway::DynDevice;
use keyway::prelude::*;

fn device() -> DynDevice {
    DynDevice::custom::<Autodiff<Flex>>(Default::default())
}

fn main() {}
