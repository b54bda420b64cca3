// E0308: expected `MeshDevice<Flex>`, found `FlexDevice`
use keyway::{FlexDevice, MeshDevice};
use keyway::prelude::*;

fn members(one: MeshDevice<Flex>, other: FlexDevice) -> Vec<MeshDevice<Flex>> {
    vec![one, other]
}

fn main() {}
