// E0004: not covered
use keyway::op::Op;

fn family<T>(op: &Op<T>) -> &str {
    match op {
        Op::Unary(..) | Op::Binary(..) | Op::Compare(..) => "element-wise",
        Op::Reduce(..) | Op::Scan(..) => "reduction",
        Op::Move(..) | Op::Cat(..) | Op::Index(..) => "movement",
        Op::Matmul(..) | Op::Conv(..) | Op::Pool(..) => "linear",
        Op::Cast(..) => "other",
    }
}

fn main() {}
