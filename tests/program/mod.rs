//! Random programs on `DynTensor`s: what they are, and how bytes become one.
//!
//! A program is plain data, and says little: positions of tensors and devices are taken modulo how many there are, and an
//! op is one of those that fit a tensor. So whatever the bytes, most steps make sense, and the others are wild on purpose.

mod composites;
mod run;

use arbitrary::{Arbitrary, Result, Unstructured};
use keyway::collective::CollectiveOp;
use keyway::op::CreateOp;
use keyway::op::random::Key;
use keyway::{DType, ReduceKind, Scalar, Shape};

use crate::support::{Fill, Layout, Operand};
pub use run::run;

/// What is done to a handful of tensors.
#[derive(Clone, Debug)]
pub struct Program {
    pub tensors: Vec<New>,
    pub steps: Vec<Step>,
}

/// A tensor to be made.
#[derive(Clone, Debug)]
pub struct New {
    pub operand: Operand,
    pub layout: Layout,
    pub seed: u64,
    pub device: usize,
    /// Whether it is a leaf, if it holds floats.
    pub tracked: bool,
}

/// One call, or a few that belong together. `x` is a tensor.
#[derive(Clone, Debug)]
pub enum Step {
    New(New),
    Create {
        op: CreateOp,
        shape: Shape,
        dtype: DType,
        device: usize,
    },
    /// One of the ops that fit `x`, on other tensors that fit, or on new ones.
    Op {
        x: usize,
        which: usize,
        others: Others,
        edit: Option<Edit>,
    },
    /// One of the composites.
    Composite {
        x: usize,
        which: usize,
        others: Others,
        numbers: Numbers,
    },
    Cast {
        x: usize,
        dtype: DType,
    },
    ToDevice {
        x: usize,
        device: usize,
    },
    RequireGrad {
        x: usize,
    },
    Detach {
        x: usize,
    },
    Inner {
        x: usize,
    },
    /// The gradients of all tensors; one is kept.
    Backward {
        x: usize,
        sync: bool,
        keep: usize,
    },
    SetDistributedParams {
        x: usize,
        name: u8,
    },
    Collective {
        x: usize,
        op: CollectiveOp,
    },
    /// To a typed tensor, and back.
    Typed {
        x: usize,
        which: usize,
    },
    Drop {
        x: usize,
    },
}

/// Where the operands of an op come from that are not given.
#[derive(Clone, Debug)]
pub struct Others {
    /// Whether a tensor that fits may be one of the program's.
    pub reuse: bool,
    pub layout: Layout,
    pub tracked: bool,
    pub seed: u64,
}

/// The arguments of a composite.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Modulo the rank, unless wild.
    pub axes: [usize; 2],
    pub n: [usize; 2],
    pub number: f64,
}

/// A change to one place of an op's arguments or operands, wherever it leads.
#[derive(Clone, Debug)]
pub struct Edit {
    pub place: usize,
    pub change: Change,
}

#[derive(Clone, Debug)]
pub enum Change {
    /// A number becomes this one.
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    /// A list repeats its last entry.
    Longer,
    /// A list loses its last entry.
    Shorter,
}

/// Sizes, axes and counts on the edges of types.
const WILD: &[usize] = &[
    0,
    1,
    2,
    3,
    5,
    17,
    1 << 16,
    i32::MAX as usize,
    1 << 32,
    1 << 40,
    1 << 62,
    isize::MAX as usize,
    isize::MAX as usize + 1,
    usize::MAX - 1,
    usize::MAX,
];

const FLOATS: &[f64] = &[
    0.5,
    0.0,
    -1.0,
    2.0,
    -0.0,
    1e-30,
    1e300,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

impl<'a> Arbitrary<'a> for Program {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let tensors = (0..u.int_in_range(1..=4)?)
            .map(|_| new(u))
            .collect::<Result<_>>()?;
        let mut steps = vec![];
        while !u.is_empty() && steps.len() < 16 {
            steps.push(step(u)?);
        }
        Ok(Program { tensors, steps })
    }
}

fn step(u: &mut Unstructured) -> Result<Step> {
    let x = u.int_in_range(0..=15)?;
    Ok(match u.int_in_range(0..=47)? {
        0 => Step::New(new(u)?),
        1 | 2 => create(u)?,
        3..=22 => Step::Op {
            x,
            which: u.int_in_range(0..=0xffff)?,
            others: others(u)?,
            edit: if u.ratio(1, 3)? { Some(edit(u)?) } else { None },
        },
        23..=31 => Step::Composite {
            x,
            which: u.int_in_range(0..=255)?,
            others: others(u)?,
            numbers: numbers(u)?,
        },
        32 | 33 => Step::Cast {
            x,
            dtype: *u.choose(DType::ALL)?,
        },
        34 | 35 => Step::ToDevice {
            x,
            device: u.int_in_range(0..=15)?,
        },
        36 => Step::RequireGrad { x },
        37 => Step::Detach { x },
        38 => Step::Inner { x },
        39..=42 => Step::Backward {
            x,
            sync: u.arbitrary()?,
            keep: u.int_in_range(0..=15)?,
        },
        43 => Step::SetDistributedParams {
            x,
            name: u.int_in_range(0..=2)?,
        },
        44 | 45 => Step::Collective {
            x,
            op: collective(u)?,
        },
        46 => Step::Typed {
            x,
            which: u.int_in_range(0..=7)?,
        },
        _ => Step::Drop { x },
    })
}

fn new(u: &mut Unstructured) -> Result<New> {
    let fills = [Fill::Tame, Fill::Unit, Fill::Spiked, Fill::Wild, Fill::Below(4)];
    let dtype = dtype(u)?;
    let fill = match *u.choose(&fills)? {
        Fill::Below(_) if !dtype.is_int() => Fill::Tame,
        fill => fill,
    };
    Ok(New {
        operand: Operand::new(shape(u)?, dtype, fill),
        layout: *u.choose(Layout::ALL)?,
        seed: u.int_in_range(0..=0xff)?,
        device: u.int_in_range(0..=15)?,
        tracked: u.arbitrary()?,
    })
}

/// Most often a float.
fn dtype(u: &mut Unstructured) -> Result<DType> {
    Ok(match u.int_in_range(0..=7)? {
        0..=3 => DType::F32,
        4 => DType::F64,
        _ => *u.choose(DType::ALL)?,
    })
}

/// Ranks 0 to 5, small; empty now and then.
fn shape(u: &mut Unstructured) -> Result<Shape> {
    let mut elements = 1;
    let mut size = |u: &mut Unstructured| {
        let n = match u.int_in_range(0..=15)? {
            0 => 0,
            1..=3 => 1,
            _ => u.int_in_range(2..=6)?,
        };
        let n = if elements * n > 300 { 1 } else { n };
        elements *= n.max(1);
        Ok(n)
    };
    (0..u.int_in_range(0..=5)?).map(|_| size(u)).collect()
}

fn others(u: &mut Unstructured) -> Result<Others> {
    Ok(Others {
        reuse: u.arbitrary()?,
        layout: *u.choose(Layout::ALL)?,
        tracked: u.arbitrary()?,
        seed: u.int_in_range(0..=0xff)?,
    })
}

fn numbers(u: &mut Unstructured) -> Result<Numbers> {
    let size = |u: &mut Unstructured| {
        if u.ratio(1, 12)? {
            u.choose(WILD).copied()
        } else {
            u.int_in_range(0..=5)
        }
    };
    Ok(Numbers {
        axes: [size(u)?, size(u)?],
        n: [size(u)?, size(u)?],
        number: *u.choose(FLOATS)?,
    })
}

fn edit(u: &mut Unstructured) -> Result<Edit> {
    let place = u.int_in_range(0..=63)?;
    let change = match u.int_in_range(0..=6)? {
        0..=2 => Change::Unsigned(*u.choose(WILD)? as u64),
        3 => Change::Signed(*u.choose(&[-1, -2, i64::MIN, i64::MIN + 1, i32::MIN.into()])?),
        4 => Change::Float(*u.choose(FLOATS)?),
        5 => Change::Longer,
        _ => Change::Shorter,
    };
    Ok(Edit { place, change })
}

fn create(u: &mut Unstructured) -> Result<Step> {
    let numbers = [
        Scalar::Int(0),
        Scalar::Int(-3),
        Scalar::Float(0.1),
        Scalar::Float(f64::NAN),
        Scalar::UInt(u64::MAX),
        Scalar::Int(i64::MIN),
        Scalar::Bool(true),
    ];
    let key = Key {
        seed: u.int_in_range(0..=3)?,
        offset: *u.choose(&[0, 5, u64::MAX])?,
    };
    let op = match u.int_in_range(0..=3)? {
        0 => CreateOp::Full(*u.choose(&numbers)?),
        1 => CreateOp::Arange {
            start: *u.choose(&numbers)?,
            step: *u.choose(&numbers)?,
        },
        2 => CreateOp::Uniform {
            low: *u.choose(FLOATS)?,
            high: *u.choose(FLOATS)?,
            key,
        },
        _ => CreateOp::Normal {
            mean: *u.choose(FLOATS)?,
            std: *u.choose(FLOATS)?,
            key,
        },
    };
    let shape = match u.int_in_range(0..=3)? {
        0 => (0..u.int_in_range(0..=3)?)
            .map(|_| u.choose(WILD).copied())
            .collect::<Result<_>>()?,
        1 => [u.int_in_range(0..=9)?].into(),
        _ => shape(u)?,
    };
    Ok(Step::Create {
        op,
        shape,
        dtype: dtype(u)?,
        device: u.int_in_range(0..=15)?,
    })
}

fn collective(u: &mut Unstructured) -> Result<CollectiveOp> {
    let kinds = [
        ReduceKind::Sum,
        ReduceKind::Mean,
        ReduceKind::Max,
        ReduceKind::Min,
        ReduceKind::Prod,
    ];
    let place = if u.ratio(1, 8)? {
        *u.choose(WILD)?
    } else {
        u.int_in_range(0..=1)?
    };
    Ok(match u.int_in_range(0..=4)? {
        0 => CollectiveOp::AllReduce(*u.choose(&kinds)?),
        1 => CollectiveOp::Broadcast { root: place },
        2 => CollectiveOp::AllGather { axis: place },
        3 => CollectiveOp::AllToAll {
            split: place,
            concat: u.int_in_range(0..=1)?,
        },
        _ => CollectiveOp::ReduceScatter {
            kind: *u.choose(&kinds)?,
            axis: place,
        },
    })
}
