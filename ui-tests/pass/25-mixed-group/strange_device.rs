// The twin of `fail/25-mixed-group/strange_device.rs`.
use keyway::{FlexDevice, MeshDevice};
use keyway::prelude::*;

fn members(one: MeshDevice<Flex>, other: MeshDevice<Flex>) -> Vec<MeshDevice<Flex>> {
    vec![one, other]
}

fn main() {}
