use keyway::DynDevice;
use keyway::prelude::*;

fn device() -> DynDevice {
    DynDevice::custom::<Flex>(Default::default())
}

fn main() {}
