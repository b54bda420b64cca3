//! What each backend that is compiled in executes itself, op by op and element type by element type.
//!
//! `cargo run --example conformance --all-features`. It runs the vocabulary on small operands, compares every result
//! with the reference of the tests, and observes by which way it came. It fails where a result is wrong, where less than
//! nine tenths of what an engine has is native, and where an engine turns out to have what [`LACKS`] says it has not.

use std::collections::BTreeMap;
use std::process::ExitCode;

use keyway::backend::{Route, observe};
use keyway::op::{self, HasMeta, Op};
use keyway::raw::Raw;
use keyway::{Backend, DType, Dyn, DynDevice};
use support::{Layout, Operand, Reference, difference, leaf, leaves, ops};

#[path = "../tests/support/mod.rs"]
mod support;

/// Ops that an engine lacks, of which element types, and why.
struct Lack {
    backend: &'static str,
    ops: &'static [&'static str],
    of: fn(DType) -> bool,
    why: &'static str,
}

const LACKS: &[Lack] = &[
    Lack {
        backend: "ndarray",
        ops: &[
            "softmax",
            "log_softmax",
            "gelu",
            "silu",
            "layer_norm",
            "attention",
            "cross_entropy",
        ],
        of: DType::is_float,
        why: "`ndarray` has no fused kernels",
    },
    Lack {
        backend: "candle",
        ops: &[
            "softmax",
            "log_softmax",
            "layer_norm",
            "attention",
            "cross_entropy",
        ],
        of: DType::is_float,
        why: "`candle-core` has no such kernels (`candle-nn` has)",
    },
    Lack {
        backend: "candle",
        ops: &[
            "expm1", "log1p", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
            "sigmoid", "atan2", "hypot",
        ],
        of: DType::is_float,
        why: "no such kernels",
    },
    Lack {
        backend: "candle",
        ops: &["round"],
        of: DType::is_float,
        why: "it rounds ties away from zero",
    },
    Lack {
        backend: "candle",
        ops: &[
            "remainder",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "bitwise_left_shift",
            "bitwise_right_shift",
            "prod",
            "cumprod",
            "cummax",
            "cummin",
            "scatter max",
            "scatter min",
            "select_assign max",
            "select_assign min",
        ],
        of: |_| true,
        why: "no such kernels",
    },
    Lack {
        backend: "candle",
        ops: &["cumsum"],
        of: |_| true,
        why: "it multiplies by a triangular matrix: NaN and infinities reach the sums before them",
    },
    Lack {
        backend: "candle",
        ops: &["max_pool", "avg_pool_grad"],
        of: DType::is_float,
        why: "it gives no indices, and no gradient where windows overlap",
    },
    Lack {
        backend: "candle",
        ops: &["pow", "matmul", "scatter add", "select_assign add"],
        of: DType::is_int,
        why: "none for integers, or none that wraps",
    },
];

/// What has been seen of an op on an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Native,
    /// Some operands or arguments go another way.
    Partly,
    Lowered,
    Host,
    /// The backend does not hold the element type.
    Unsupported,
}

fn main() -> ExitCode {
    let devices = DynDevice::available()
        .into_iter()
        .filter(|device| !device.collective);
    let failed = devices.filter(|device| !report(&device.text)).count();
    ExitCode::from(u8::from(failed > 0))
}

/// Prints what there is to say of a backend, and whether it is as it should be.
fn report(backend: &str) -> bool {
    let device: DynDevice = backend.parse().expect("an available device opens");
    let mut wrong = vec![];
    let cells = cells(&device, &mut wrong);
    let lack = |leaf: &str, dtype| {
        let of = |lack: &&Lack| lack.backend == backend && lack.ops.contains(&leaf) && (lack.of)(dtype);
        LACKS.iter().find(of)
    };
    let count = |want: Cell| cells.values().filter(|&&cell| cell == want).count();
    println!(
        "\n{backend}: {} ops, {} pairs of an op and an element type",
        leaves().count(),
        cells.len()
    );
    for (cell, meaning) in [
        (Cell::Native, "native"),
        (Cell::Partly, "native, but for some operands or options"),
        (Cell::Lowered, "lowered to other ops"),
        (Cell::Host, "through the host"),
        (Cell::Unsupported, "of a type that it does not hold"),
    ] {
        println!("{:>6}  {meaning}", count(cell));
    }
    let is_native = |cell: Cell| matches!(cell, Cell::Native | Cell::Partly);
    let (mut has, mut native) = (0, 0);
    let mut others: BTreeMap<(&str, Cell), Vec<DType>> = BTreeMap::new();
    for (&(leaf, dtype), &cell) in cells.iter().filter(|(_, cell)| **cell != Cell::Unsupported) {
        match lack(leaf, dtype) {
            Some(lack) if is_native(cell) => {
                wrong.push(format!("{leaf} of {dtype} is native, though: {}", lack.why))
            }
            Some(_) => {}
            None => {
                has += 1;
                native += usize::from(is_native(cell));
                if cell != Cell::Native {
                    others.entry((leaf, cell)).or_default().push(dtype);
                }
            }
        }
    }
    let share = 100.0 * native as f64 / has.max(1) as f64;
    println!("{native} of the {has} that the engine has are native: {share:.1} %");
    for ((leaf, cell), dtypes) in others {
        println!("        {leaf}: {cell:?} of {dtypes:?}");
    }
    for lack in LACKS.iter().filter(|lack| lack.backend == backend) {
        println!("        lacks {}: {}", lack.ops.join(", "), lack.why);
    }
    if share < 90.0 {
        wrong.push(format!("only {share:.1} % of what the engine has is native"));
    }
    for wrong in &wrong {
        println!("wrong: {wrong}");
    }
    wrong.is_empty()
}

/// Small shapes: of each rank, and images of one and two axes.
const SHAPES: &[&[usize]] = &[&[6], &[3, 4], &[2, 4, 5], &[1, 2, 4, 5]];

/// By which way each op of each element type comes to its result.
fn cells(device: &DynDevice, wrong: &mut Vec<String>) -> BTreeMap<(&'static str, DType), Cell> {
    let mut cells = BTreeMap::new();
    for &dtype in DType::ALL {
        let ops = SHAPES.iter().flat_map(|&shape| ops(&shape.into(), dtype));
        for (seed, op) in ops.enumerate() {
            let mut empty = op::infer(&op).is_ok_and(|meta| meta.shape.contains(&0));
            op.visit(|x| empty |= x.shape().contains(&0));
            if empty {
                continue;
            }
            let key = (leaf(&op), dtype);
            let mut held = op::infer(&op).is_ok_and(|meta| device.dtypes().contains(&meta.dtype));
            op.visit(|x| held &= device.dtypes().contains(&x.dtype()));
            if !held {
                // Another operand or result may be of a type that is held.
                cells.entry(key).or_insert(Cell::Unsupported);
                continue;
            }
            let Some(route) = run(&op, seed as u64, device, wrong) else {
                continue;
            };
            let seen = match route {
                Route::Native => Cell::Native,
                Route::Lowered => Cell::Lowered,
                Route::Host => Cell::Host,
            };
            let cell = cells.entry(key).or_insert(seen);
            *cell = cell.with(seen);
        }
    }
    cells
}

/// By which way an op came to its result; nothing where it has none, or a wrong one.
fn run(op: &Op<Operand>, seed: u64, device: &DynDevice, wrong: &mut Vec<String>) -> Option<Route> {
    let place = |operand: Operand| operand.place::<Dyn>(Layout::Contiguous, seed, device, |x| x);
    let dense =
        |operand: Operand| operand.place::<Reference>(Layout::Contiguous, seed, &Default::default(), |x| x);
    let operands = op
        .clone()
        .try_map(dense)
        .expect("operands are valid")
        .map(Raw::into_primitive);
    // A division by zero is an error on every backend.
    let want = op::run::<Reference>(operands.clone()).ok()?;
    let op = op.clone().try_map(place).expect("the backend holds the operands");
    let (name, dtype) = (leaf(&op), op.first().map(HasMeta::dtype));
    let (result, route) = observe(|| Raw::<Dyn>::run(op));
    let difference = match result.and_then(Raw::into_data) {
        Ok(got) => difference(&Dyn::name(device), &operands, &want, &got),
        Err(error) => Some(format!("is an error: {error}")),
    };
    match difference {
        Some(difference) => {
            wrong.push(format!("{name} of {dtype:?}: the result {difference}"));
            None
        }
        None => Some(route),
    }
}

impl Cell {
    /// What is known of an op of which another case is known.
    fn with(self, other: Cell) -> Cell {
        match (self, other) {
            (Cell::Unsupported, known) | (known, Cell::Unsupported) => known,
            (a, b) if a == b => a,
            (Cell::Native | Cell::Partly, _) | (_, Cell::Native | Cell::Partly) => Cell::Partly,
            (Cell::Host, _) | (_, Cell::Host) => Cell::Host,
            _ => Cell::Lowered,
        }
    }
}
