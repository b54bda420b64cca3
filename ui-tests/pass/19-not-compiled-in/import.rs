// The twin of `fail/19-not-compiled-in/import.rs`.
use keyway::Flex;

fn main() {}
