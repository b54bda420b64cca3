//! Runs a program on `DynTensor`s, with oracles beside.
//!
//! Each result is checked against three: its shape and element type, or its error, against `infer`; its values, from the
//! operands' values as they were read, against the reference; and its bits, whether it is tracked, and gradients against
//! the mirror, the same program on typed backends under `Autodiff`. No panic is allowed, on any thread, even if something
//! catches it.

use std::backtrace::BacktraceStatus;
use std::fmt::Debug;
use std::mem::discriminant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once};

use keyway::collective::CollectiveOp;
use keyway::dynamic::DynDevice;
use keyway::op::{self, ConvOp, CreateOp, FusedOp, HasMeta, IndexOp, Meta, MoveOp, Op};
use keyway::op::{PoolOp, ReduceOp, ScanOp, ScatterMode};
use keyway::raw::Raw;
use keyway::{
    Autodiff, AutodiffBackend, Backend, DType, Dyn, DynTensor, Element, Error, Flex, ReduceKind, Shape,
    Tensor, TensorData,
};
use serde_json::Value as Json;

use super::composites::{Args, Composite, composites};
use super::{Change, Edit, New, Numbers, Others, Program, Step};
use crate::support::{Dense, Fill, Layout, Operand, Reference, Value, difference, ops, same_bits};

#[cfg(not(any(feature = "ndarray", feature = "candle", feature = "tch")))]
type Mirror = Flex;

#[cfg(any(feature = "ndarray", feature = "candle", feature = "tch"))]
keyway::backends! {
    /// The backends that the mirror runs on.
    pub struct Mirror;
    /// A device of one.
    pub enum MirrorDevice;
    /// A tensor of one.
    pub enum MirrorTensor;
    Flex(Flex),
    #[cfg(feature = "ndarray")]
    NdArray(keyway::NdArray),
    #[cfg(feature = "candle")]
    Candle(keyway::Candle),
    #[cfg(feature = "tch")]
    LibTorch(keyway::LibTorch),
}

type Tracked = Autodiff<Mirror>;
type Place = <Mirror as keyway::backend::BackendTypes>::Device;

/// What went wrong.
type Check<T = ()> = Result<T, String>;

/// Runs a program.
///
/// # Errors
/// The first step that panics, or whose result is not what the oracles say.
pub fn run(program: &Program) -> Check {
    count_panics();
    let before = panics().len();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut machine = Machine::new();
        for new in &program.tensors {
            machine.step(&Step::New(new.clone()))?;
        }
        for (i, step) in program.steps.iter().enumerate() {
            let result = machine.step(step);
            result.map_err(|wrong| format!("step {i}: {wrong}\n{}", machine.trace.join("\n")))?;
        }
        machine.check_all()
    }));
    // Tensors, graphs and devices are gone by now: a panic that a drop hid counts too.
    let panics = panics()[before..].join("\n");
    match outcome {
        Ok(result) if panics.is_empty() => result,
        _ => Err(panics),
    }
}

static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn panics() -> Vec<String> {
    PANICS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .clone()
}

/// Notes every panic of the process.
fn count_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let trace = std::backtrace::Backtrace::capture();
            let text = match trace.status() {
                BacktraceStatus::Captured => format!("{info}\n{trace}"),
                _ => info.to_string(),
            };
            PANICS
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .push(text);
            hook(info);
        }));
    });
}

/// The largest result that is computed; what is larger stays a view.
const LARGE: usize = 1 << 13;

/// More tensors than this are not kept.
const MOST: usize = 10;

/// A tensor, and what is known of it.
#[derive(Clone)]
struct Register {
    x: DynTensor,
    device: usize,
    /// The values when it was made; none where they are too many to read.
    data: Option<TensorData>,
    mirror: Raw<Tracked>,
}

struct Machine {
    devices: Vec<(DynDevice, Place)>,
    registers: Vec<Register>,
    composites: Composites,
    /// What was called.
    trace: Vec<String>,
}

struct Composites {
    on: Vec<Composite<Autodiff<keyway::Dyn>>>,
    mirror: Vec<Composite<Tracked>>,
    reference: Vec<Composite<Reference>>,
}

impl Machine {
    fn new() -> Self {
        let open = |text: &str| text.strip_suffix(":2").unwrap_or(text).parse::<DynDevice>();
        let available = DynDevice::available()
            .into_iter()
            .map(|device| open(&device.text).expect("opens"));
        let devices = available.chain([DynDevice::custom::<Flex>(Default::default())]);
        Machine {
            devices: devices.map(|device| (device.clone(), place(&device))).collect(),
            registers: vec![],
            composites: Composites {
                on: composites(),
                mirror: composites(),
                reference: composites(),
            },
            trace: vec![],
        }
    }

    fn step(&mut self, step: &Step) -> Check {
        match step {
            Step::New(new) => {
                let new = self.place(new)?;
                self.keep(new)
            }
            Step::Create {
                op,
                shape,
                dtype,
                device,
            } => self.create(op, shape, *dtype, *device),
            &Step::Drop { x } => {
                // The others find one in any case.
                if self.registers.len() > 1 {
                    let x = x % self.registers.len();
                    self.registers.swap_remove(x);
                }
                Ok(())
            }
            Step::Op {
                x,
                which,
                others,
                edit,
            } => self.op(*x, *which, others, edit.as_ref()),
            &Step::Composite {
                x,
                which,
                ref others,
                ref numbers,
            } => self.composite(x, which, others, numbers),
            &Step::Cast { x, dtype } => {
                let register = self.register(x);
                let op = Op::Cast(dtype, register.clone());
                let same = register.x.dtype() == dtype;
                self.run(
                    op,
                    |op| match op {
                        Op::Cast(dtype, x) => x.cast(dtype),
                        _ => unreachable!("the op is a cast"),
                    },
                    |op| match op {
                        Op::Cast(dtype, x) if same => x.cast(dtype),
                        op => Raw::run(op),
                    },
                )
            }
            &Step::ToDevice { x, device } => self.moved_to(x, device),
            &Step::RequireGrad { x } => {
                let Register {
                    x,
                    device,
                    data,
                    mirror,
                } = self.register(x);
                if data.is_none() {
                    return Ok(());
                }
                let got = x.require_grad();
                let want = Tracked::require_grad(mirror.into_primitive()).map(Raw::new);
                self.finish("require_grad", got, want, device, data)
            }
            &Step::Detach { x } => {
                let Register {
                    x,
                    device,
                    data,
                    mirror,
                } = self.register(x);
                let want = Tracked::from_inner(Tracked::inner(mirror.into_primitive()));
                self.finish("detach", Ok(x.detach()), Ok(Raw::new(want)), device, data)
            }
            &Step::Inner { x } => {
                let Register {
                    x,
                    device,
                    data,
                    mirror,
                } = self.register(x);
                let got = x.inner().map(DynTensor::from_inner);
                let want = if Tracked::is_tracked(mirror.primitive()) {
                    Ok(Raw::new(Tracked::from_inner(Tracked::inner(
                        mirror.into_primitive(),
                    ))))
                } else {
                    Err(Error::NotTracked { op: "inner".into() })
                };
                self.finish("inner", got, want, device, data)
            }
            &Step::Backward { x, sync, keep } => self.backward(x, sync, keep),
            &Step::SetDistributedParams { x, name } => self.set_distributed_params(x, name),
            &Step::Collective { x, op } => self.collective(x, op),
            &Step::Typed { x, which } => match which % 5 {
                0 => self.typed::<1, f32>(x),
                1 => self.typed::<2, f32>(x),
                2 => self.typed::<3, f32>(x),
                3 => self.typed::<2, f64>(x),
                _ => self.typed::<1, i32>(x),
            },
        }
    }

    /// The tensor at a position, counted round.
    fn register(&self, x: usize) -> Register {
        self.registers[x % self.registers.len()].clone()
    }

    /// Takes a new tensor in, once it is checked.
    fn keep(&mut self, register: Register) -> Check {
        register.check()?;
        if self.registers.len() == MOST {
            self.registers.remove(0);
        }
        self.registers.push(register);
        Ok(())
    }

    /// Nothing has written to a tensor that someone holds.
    fn check_all(&self) -> Check {
        self.registers.iter().try_for_each(Register::check)
    }

    fn place(&mut self, new: &New) -> Check<Register> {
        let device = new.device % self.devices.len();
        let (on, at) = &self.devices[device];
        let track = new.tracked && new.operand.dtype().is_float();
        let leaf = |x: DynTensor| {
            if track {
                x.require_grad().expect("a new tensor")
            } else {
                x
            }
        };
        let mirrored = |x: Raw<Tracked>| match Tracked::require_grad(x.clone().into_primitive()) {
            Ok(x) if track => Raw::new(x),
            _ => x,
        };
        let New {
            mut operand,
            layout,
            seed,
            ..
        } = new.clone();
        operand.meta.dtype = held(operand.dtype(), on);
        self.trace.push(format!("{new:?}"));
        let x = operand
            .place(layout, seed, on, leaf)
            .map_err(|error| error.to_string())?;
        let mirror = operand
            .place(layout, seed, at, mirrored)
            .map_err(|error| error.to_string())?;
        let data = Some(x.clone().into_data().map_err(|error| error.to_string())?);
        Ok(Register {
            x,
            device,
            data,
            mirror,
        })
    }

    fn create(&mut self, op: &CreateOp, shape: &Shape, dtype: DType, device: usize) -> Check {
        let dtype = held(dtype, &self.devices[device % self.devices.len()].0);
        let meta = op::infer_create(op, shape.clone(), dtype);
        if meta.as_ref().is_ok_and(|meta| meta.shape.num_elements() > LARGE) {
            return Ok(());
        }
        let device = device % self.devices.len();
        let (on, at) = self.devices[device].clone();
        self.trace.push(format!("{op:?} {shape} {dtype} on {on}"));
        let got = DynTensor::create(op.clone(), shape.clone(), dtype, &on);
        let want = Raw::create(op.clone(), shape.clone(), dtype, &at);
        let reference = Raw::<Reference>::create(op.clone(), shape.clone(), dtype, &Default::default());
        same_outcome(&got, &reference)?;
        if let Err(wrong) = &meta {
            same_error(got.as_ref().err(), wrong)?;
        }
        let data = got.clone().and_then(Raw::into_data).ok();
        self.finish(op.name(), got, want, device, data)
    }

    fn op(&mut self, x: usize, which: usize, others: &Others, edit: Option<&Edit>) -> Check {
        let first = self.register(x);
        if first.x.rank() > 7 {
            return Ok(());
        }
        let fitting = ops(first.x.shape(), first.x.dtype());
        if fitting.is_empty() {
            return Ok(());
        }
        let mut operands: Vec<Register> = vec![];
        let positions = fitting[which % fitting.len()].clone().try_map(|operand| {
            let fits =
                |register: &&Register| register.x.meta() == operand.meta && register.device == first.device;
            let known = [&first].into_iter().filter(|_| operands.is_empty());
            let known = known
                .chain(self.registers.iter().filter(|_| others.reuse))
                .find(fits)
                .cloned();
            let register =
                known.map_or_else(|| self.fresh(operand.clone(), &first, others, operands.len()), Ok)?;
            operands.push(register);
            Ok::<_, String>(operands.len() - 1)
        })?;
        let positions = edit.map_or(positions.clone(), |edit| edited(positions, edit));
        let op = positions.map(|i| match operands.get(i) {
            Some(operand) => operand.clone(),
            None => self.register(i),
        });
        self.run(op, Raw::run, Raw::run)
    }

    /// A new tensor beside another.
    fn fresh(
        &mut self,
        operand: Operand,
        beside: &Register,
        others: &Others,
        place: usize,
    ) -> Check<Register> {
        if operand.shape().checked_elements().is_none_or(|n| n > LARGE) {
            return Ok(beside.clone());
        }
        // The buffer of a view is larger, also beside an axis of size 0.
        let wide = operand.shape().iter().any(|&n| n > LARGE);
        self.place(&New {
            operand,
            layout: if wide { Layout::Contiguous } else { others.layout },
            seed: others.seed + 31 * place as u64,
            device: beside.device,
            tracked: others.tracked,
        })
    }

    /// Runs an op of the vocabulary, and checks the result.
    fn run(
        &mut self,
        op: Op<Register>,
        on: impl FnOnce(Op<DynTensor>) -> Result<DynTensor, Error>,
        mirror: impl FnOnce(Op<Raw<Tracked>>) -> Result<Raw<Tracked>, Error>,
    ) -> Check {
        let meta = op::infer(&op);
        let device = op.first().map(|x| x.device);
        if meta.as_ref().is_ok_and(|meta| self.is_too_large(&op, meta)) {
            return Ok(());
        }
        self.trace.push(format!("{:?}", op.clone().map(|x| x.describe())));
        let got = on(op.clone().map(|x| x.x));
        let meta = match meta {
            Ok(meta) => meta,
            Err(wrong) => return same_error(got.err().as_ref(), &wrong),
        };
        let mut mixed = false;
        op.visit(|x| mixed |= Some(x.device) != device);
        if mixed {
            return match got {
                Err(Error::DeviceMismatch { .. } | Error::BackendMismatch { .. }) => Ok(()),
                other => Err(format!("operands on two devices give {other:?}")),
            };
        }
        let name = op.name();
        if let Some(device) = device
            && held(meta.dtype, &self.devices[device].0) != meta.dtype
        {
            return match got {
                Err(Error::Unsupported { .. }) => Ok(()),
                other => Err(format!("a result that the device does not hold: {other:?}")),
            };
        }
        let large = meta.shape.num_elements() > LARGE;
        let data = match &got {
            Ok(x) if !large => Some(x.clone().into_data()).transpose(),
            _ => Ok(None),
        };
        let got = got.and_then(|x| data.map(|data| (x, data)));
        if let Ok((x, _)) = &got
            && x.meta() != meta
        {
            return Err(format!("the result is {:?}, not {meta:?}", x.meta()));
        }
        let read = |x: Register| x.data.filter(|_| !large).ok_or(());
        if let Ok(dense) = op
            .clone()
            .try_map(|x| read(x).map(|data| Dense::from_data(&data)))
        {
            let want = op::run::<Reference>(dense.clone());
            match (&want, &got) {
                (Ok(want), Ok((_, Some(data)))) if comparable(&dense) => {
                    let backend = device.map(|device| Dyn::name(&self.devices[device].0));
                    if let Some(wrong) = difference(&backend.unwrap_or_default(), &dense, want, data) {
                        return Err(format!("the result {wrong}\n{want}\n{}", Dense::from_data(data)));
                    }
                }
                (Ok(_), Ok(_)) => {}
                (Err(want), Err(got)) if discriminant(want) == discriminant(got) => {}
                (want, got) => return Err(format!("the result is {got:?}, not {want:?}")),
            }
        }
        let want = mirror(op.map(|x| x.mirror));
        let (got, data) = match got {
            Ok((x, data)) => (Ok(x), data),
            Err(error) => (Err(error), None),
        };
        self.finish(name, got, want, device.expect("`infer` asks for a tensor"), data)
    }

    /// Whether an op would take too much time or memory. Views of any size are fine on the backend that has them.
    fn is_too_large(&self, op: &Op<Register>, meta: &Meta) -> bool {
        let (mut most, mut unread, mut tracked, mut views) = (0usize, false, false, true);
        op.visit(|x| {
            most = most.max(x.x.shape().num_elements());
            unread |= x.data.is_none();
            tracked |= x.x.is_tracked();
            let on = self.devices[x.device].0.to_string();
            views &= !["ndarray", "candle", "tch"].iter().any(|name| on.contains(name));
        });
        let view = matches!(
            op,
            Op::Move(
                MoveOp::Permute(_) | MoveOp::Expand(_) | MoveOp::Slice(_) | MoveOp::Flip(_),
                _
            )
        );
        let result = meta.shape.num_elements();
        let work = match op {
            Op::Conv(op) => match &**op {
                ConvOp::Forward { weight, .. } | ConvOp::Transpose { weight, .. } => {
                    weight.x.shape().num_elements() as f64
                }
                ConvOp::WeightGrad { kernel, .. } => kernel.iter().map(|&n| n as f64).product(),
            },
            Op::Pool(op, _) => op.options().kernel.iter().map(|&n| n as f64).product(),
            _ => 1.0,
        };
        if view && views && !tracked {
            return false;
        }
        unread || result > LARGE || work * most.max(result) as f64 > 1e6
    }

    fn composite(&mut self, x: usize, which: usize, others: &Others, numbers: &Numbers) -> Check {
        let x = self.register(x);
        let rank = x.x.rank();
        if rank > 7 || x.data.is_none() || x.x.shape().num_elements() > LARGE {
            return Ok(());
        }
        let axes = numbers
            .axes
            .map(|axis| if axis < 6 { axis % rank.max(1) } else { axis });
        let along = x.x.shape().get(axes[0]).copied().unwrap_or(1);
        // As many as there are rows, every second time.
        let places = match (along, x.x.shape().first()) {
            (0, _) => 0,
            (_, Some(&rows)) if others.seed.is_multiple_of(2) => rows,
            _ => 1 + others.seed as usize % 4,
        };
        let mut other = |place: usize, operand: Operand| {
            let fits = |y: &&Register| y.x.meta() == operand.meta && y.device == x.device && y.data.is_some();
            let known = self
                .registers
                .iter()
                .rev()
                .filter(|_| others.reuse)
                .find(fits)
                .cloned();
            known.map_or_else(|| self.fresh(operand, &x, others, place), Ok)
        };
        let like = |fill| Operand::new(x.x.shape().clone(), x.x.dtype(), fill);
        let args = Args {
            y: other(1, like(Fill::Tame))?,
            z: other(2, like(Fill::Unit))?,
            mask: other(3, Operand::new(x.x.shape().clone(), DType::Bool, Fill::Tame))?,
            index: other(4, Operand::new([places], DType::I32, Fill::Below(along)))?,
            row: other(5, Operand::new([along], x.x.dtype(), Fill::Tame))?,
            x,
            axes,
            n: numbers.n,
            number: numbers.number,
        };
        let which = which % self.composites.on.len();
        let name = self.composites.on[which].name;
        self.trace.push(format!(
            "{name} of {:?}",
            args.clone()
                .map(|x| Ok::<_, ()>(x.describe()))
                .expect("has a text")
        ));
        let (device, first) = (args.x.device, args.x.x.device());
        let map = args
            .clone()
            .map(|x| Ok::<_, ()>(x.x))
            .expect("every tensor is one");
        let got = (self.composites.on[which].call)(map);
        let dense = |x: Register| x.data.map(|data| Raw::new(Dense::from_data(&data))).ok_or(());
        if let Ok(args) = args.clone().map(dense) {
            let want = (self.composites.reference[which].call)(args);
            same_outcome(&got, &want)?;
            for (got, want) in got.iter().flatten().zip(want.iter().flatten()) {
                if got.meta() != want.meta() {
                    return Err(format!("{name} gives {:?}, not {:?}", got.meta(), want.meta()));
                }
            }
        }
        let map = args.map(|x| Ok::<_, ()>(x.mirror)).expect("every tensor is one");
        let want = (self.composites.mirror[which].call)(map);
        match (got, want) {
            (Ok(got), Ok(want)) if got.len() == want.len() => {
                for (got, want) in got.into_iter().zip(want) {
                    if got.device() != first {
                        return Err(format!("{name} led from {first} to {}", got.device()));
                    }
                    let data = got.clone().into_data().map_err(|error| error.to_string())?;
                    self.finish(name, Ok(got), Ok(want), device, Some(data))?;
                }
                Ok(())
            }
            (Err(got), Err(want)) => same_error(Some(&got), &want),
            (got, want) => Err(format!("{name} gives {got:?}, not {want:?}")),
        }
    }

    /// Compares a result with the mirror's, and keeps it.
    fn finish(
        &mut self,
        name: &str,
        got: Result<DynTensor, Error>,
        want: Result<Raw<Tracked>, Error>,
        device: usize,
        data: Option<TensorData>,
    ) -> Check {
        match (got, want) {
            (Ok(x), Ok(mirror)) => self.keep(Register {
                x,
                device,
                data,
                mirror,
            }),
            (Err(got), Err(want)) => same_error(Some(&got), &want),
            (got, want) => Err(format!("{name} gives {got:?}, not {want:?}")),
        }
    }

    fn moved_to(&mut self, x: usize, device: usize) -> Check {
        let Register {
            x,
            device: from,
            data,
            mirror,
        } = self.register(x);
        let Some(data) = data else { return Ok(()) };
        let device = device % self.devices.len();
        let (on, at) = self.devices[device].clone();
        self.trace.push(format!("to {on}, of {:?}", x.meta()));
        let got = x.to_device(&on);
        if let Ok(x) = &got
            && x.device() != on
        {
            return Err(format!("moved to {on}, but on {}", x.device()));
        }
        // The values go through the host, either way.
        let moved = |x: Raw<Mirror>, place: &Place| Raw::<Mirror>::from_data(x.into_data()?, place);
        let want = if device == from {
            Ok(mirror)
        } else {
            let back = self.devices[from].1.clone();
            moved(Raw::new(Tracked::inner(mirror.clone().into_primitive())), &at).map(|value| {
                let value = value.into_primitive();
                let back = move |grad| moved(grad, &back);
                Raw::new(Tracked::record(mirror.into_primitive(), "to_device", value, back))
            })
        };
        self.finish("to_device", got, want, device, Some(data))
    }

    fn backward(&mut self, x: usize, sync: bool, keep: usize) -> Check {
        let Register { x, data, mirror, .. } = self.register(x);
        if data.is_none() {
            return Ok(());
        }
        self.trace.push(format!("backward of {:?}", x.meta()));
        let want = Tracked::backward(mirror.into_primitive());
        let got = match (x.backward(), &want) {
            (Ok(got), Ok(_)) => got,
            (Err(got), Err(want)) => return same_error(Some(&got), want),
            (got, want) => {
                return Err(format!(
                    "backward gives {got:?}, not {:?}",
                    want.as_ref().map(drop)
                ));
            }
        };
        let want = want.map_err(|error| error.to_string())?;
        let synced = if sync {
            Some(got.clone().sync().map_err(|error| error.to_string())?)
        } else {
            None
        };
        let mut found = vec![];
        for register in &self.registers {
            let gradient = match &synced {
                Some(synced) => register.x.grad(synced),
                None => register.x.grad(&got),
            };
            let primitive = register.mirror.primitive();
            let expected = Tracked::leaf(primitive).map(|leaf| want.get(leaf));
            match (gradient, expected) {
                (Err(Error::NotTracked { .. }), None) if !Tracked::is_tracked(primitive) => {}
                (Err(Error::NotLeaf { .. }), None) if Tracked::is_tracked(primitive) => {}
                (Ok(None), Some(None)) => {}
                (Ok(Some(gradient)), Some(Some(expected))) => {
                    if gradient.meta() != register.x.meta() || gradient.device() != register.x.device() {
                        return Err(format!("{gradient:?} is the gradient of {:?}", register.x));
                    }
                    let data = gradient.clone().into_data().map_err(|error| error.to_string())?;
                    found.push(Register {
                        x: gradient,
                        device: register.device,
                        data: Some(data),
                        mirror: Raw::new(Tracked::from_inner(expected.clone())),
                    });
                }
                (got, want) => return Err(format!("the gradient is {got:?}, not {want:?}")),
            }
        }
        found.iter().try_for_each(Register::check)?;
        match found.len() {
            0 => Ok(()),
            n => self.keep(found.swap_remove(keep % n)),
        }
    }

    fn set_distributed_params(&mut self, x: usize, name: u8) -> Check {
        let Register {
            x,
            device,
            data,
            mirror,
        } = self.register(x);
        let op = "set_distributed_params";
        let name = format!("parameter {name}");
        let want = match &mirror {
            _ if !x.dtype().is_float() => Err(Error::dtype(op, x.dtype(), "a float type")),
            _ if !self.devices[device].0.is_collective() => Err(self.devices[device].0.not_collective()),
            mirror if !Tracked::is_tracked(mirror.primitive()) => Err(Error::NotTracked { op: op.into() }),
            _ => Tracked::set_param(mirror.clone().into_primitive(), name.as_str().into()).map(Raw::new),
        };
        match (x.set_distributed_params(name.as_str()), want) {
            // Another live tensor of another shape has the name.
            (Err(Error::Collective { .. }), Ok(_)) => Ok(()),
            (got, want) => self.finish(op, got, want, device, data),
        }
    }

    /// In a group of one, each operation gives what it takes.
    fn collective(&mut self, x: usize, op: CollectiveOp) -> Check {
        let Register {
            x,
            device,
            data,
            mirror,
        } = self.register(x);
        if data.is_none() {
            return Ok(());
        }
        self.trace.push(format!("{op:?} of {:?}", x.meta()));
        let on = &self.devices[device].0;
        let want = if !on.is_collective() {
            Err(on.not_collective())
        } else {
            op.infer(&x, 1).and_then(|_| {
                let kind = match op {
                    CollectiveOp::AllReduce(kind) | CollectiveOp::ReduceScatter { kind, .. } => kind,
                    CollectiveOp::Broadcast { .. }
                    | CollectiveOp::AllGather { .. }
                    | CollectiveOp::AllToAll { .. } => ReduceKind::Sum,
                };
                if x.is_tracked() && !matches!(kind, ReduceKind::Sum | ReduceKind::Mean) {
                    return Err(Error::argument(op.name(), "has no gradient"));
                }
                let value = Tracked::inner(mirror.clone().into_primitive());
                Ok(Raw::new(Tracked::record(
                    mirror.into_primitive(),
                    op.name(),
                    value,
                    Ok,
                )))
            })
        };
        let got = x.collective(op).and_then(|pending| pending.wait());
        self.finish(op.name(), got, want, device, data)
    }

    /// To a typed tensor on `Flex`, plain and under `Autodiff`, and back.
    fn typed<const D: usize, E: Element>(&mut self, x: usize) -> Check
    where
        Flex: keyway::Supports<E>,
    {
        let Register {
            x,
            device,
            data,
            mirror,
        } = self.register(x);
        self.trace
            .push(format!("{} of rank {D} from {:?}", E::DTYPE, x.meta()));
        let fits =
            (x.rank(), x.dtype()) == (D, E::DTYPE) && matches!(self.devices[device].0, DynDevice::Flex(_));
        let tracked = Tracked::is_tracked(mirror.primitive());
        let leaf = Tracked::leaf(mirror.primitive()).is_some();
        let plain = match Tensor::<Flex, D, E>::try_from(x.clone()) {
            Ok(typed) if fits && !tracked => typed.into(),
            Err(refused) if !fits || tracked => refused.tensor,
            other => return Err(format!("converted to {other:?}")),
        };
        self.finish("try_from", Ok(plain), Ok(mirror.clone()), device, data.clone())?;
        let back = match Tensor::<Autodiff<Flex>, D, E>::try_from(x) {
            Ok(typed) if fits && (leaf || !tracked) => {
                DynTensor::try_from(typed).map_err(|error| error.to_string())?
            }
            Err(refused) if !fits || (tracked && !leaf) => refused.tensor,
            other => return Err(format!("converted to {other:?}")),
        };
        self.finish("try_from", Ok(back), Ok(mirror), device, data)
    }
}

impl Register {
    /// The values are those that the mirror has, and that were read when the tensor was made.
    fn check(&self) -> Check {
        let (x, mirror) = (&self.x, self.mirror.primitive());
        if x.is_tracked() != Tracked::is_tracked(mirror) {
            return Err(format!("{x:?} should be tracked as {mirror:?} is"));
        }
        if x.meta() != mirror.meta() {
            return Err(format!("{:?} is {:?} in the mirror", x.meta(), mirror.meta()));
        }
        let Some(data) = &self.data else { return Ok(()) };
        let read = x.clone().into_data().map_err(|error| error.to_string())?;
        let mirrored = self
            .mirror
            .clone()
            .into_data()
            .map_err(|error| error.to_string())?;
        if !same_bits(&read, data) {
            return Err(format!("{data:?} was made, {read:?} is read"));
        }
        if !same_bits(&read, &mirrored) {
            return Err(format!("{read:?} is {mirrored:?} in the mirror"));
        }
        Ok(())
    }

    fn describe(&self) -> String {
        let tracked = if self.x.is_tracked() { "tracked " } else { "" };
        let values = self.data.as_ref().map(|data| Dense::from_data(data).to_string());
        format!(
            "{tracked}{} on {}",
            values.unwrap_or_else(|| format!("{:?}", self.x.meta())),
            self.x.device()
        )
    }
}

impl HasMeta for Register {
    fn shape(&self) -> &Shape {
        self.x.shape()
    }
    fn dtype(&self) -> DType {
        self.x.dtype()
    }
}

impl<T> Args<T> {
    fn map<U, X>(self, mut f: impl FnMut(T) -> Result<U, X>) -> Result<Args<U>, X> {
        Ok(Args {
            x: f(self.x)?,
            y: f(self.y)?,
            z: f(self.z)?,
            mask: f(self.mask)?,
            index: f(self.index)?,
            row: f(self.row)?,
            axes: self.axes,
            n: self.n,
            number: self.number,
        })
    }
}

/// The element type, or another integer type where the device does not hold it.
fn held(dtype: DType, device: &DynDevice) -> DType {
    if device.dtypes().contains(&dtype) {
        dtype
    } else {
        DType::I64
    }
}

/// Where the mirror of a tensor on this device lives.
fn place(device: &DynDevice) -> Place {
    match device {
        #[cfg(feature = "ndarray")]
        DynDevice::NdArray(_) | DynDevice::MeshNdArray(_) => MirrorDevice::NdArray(Default::default()),
        #[cfg(feature = "candle")]
        DynDevice::Candle(_) | DynDevice::MeshCandle(_) => MirrorDevice::Candle(Default::default()),
        #[cfg(feature = "tch")]
        DynDevice::LibTorch(device) => MirrorDevice::LibTorch(device.clone()),
        #[cfg(feature = "tch")]
        DynDevice::MeshLibTorch(device) => MirrorDevice::LibTorch(device.inner().clone()),
        #[cfg(any(feature = "ndarray", feature = "candle", feature = "tch"))]
        _ => MirrorDevice::Flex(Default::default()),
        #[cfg(not(any(feature = "ndarray", feature = "candle", feature = "tch")))]
        _ => Default::default(),
    }
}

/// Both are values, or errors of one kind.
fn same_outcome<T: Debug, U: Debug>(got: &Result<T, Error>, want: &Result<U, Error>) -> Check {
    match (got, want) {
        (Ok(_), Ok(_)) => Ok(()),
        (Err(got), Err(want)) => same_error(Some(got), want),
        _ => Err(format!("the result is {got:?}, not {want:?}")),
    }
}

fn same_error(got: Option<&Error>, want: &Error) -> Check {
    match got {
        Some(got) if discriminant(got) == discriminant(want) => Ok(()),
        got => Err(format!("the error is {got:?}, not {want:?}")),
    }
}

/// The op with one place of its arguments changed: a number, or the length of a list. What is no op any more stays as it
/// was.
fn edited(op: Op<usize>, edit: &Edit) -> Op<usize> {
    let mut json = serde_json::to_value(&op).expect("an op is plain data");
    let mut places = 0;
    visit(&mut json, &mut |_| places += 1);
    let mut left = edit.place % places.max(1);
    visit(&mut json, &mut |place| {
        if left == 0 {
            match (&edit.change, &mut *place) {
                (&Change::Unsigned(n), Json::Number(_)) => *place = n.into(),
                (&Change::Signed(n), Json::Number(_)) => *place = n.into(),
                (&Change::Float(n), Json::Number(_)) => *place = n.into(),
                (Change::Longer, Json::Array(entries)) => entries.extend(entries.last().cloned()),
                (Change::Shorter, Json::Array(entries)) => drop(entries.pop()),
                _ => {}
            }
        }
        left = left.wrapping_sub(1);
    });
    serde_json::from_value(json).unwrap_or(op)
}

/// Calls `f` on every number and every list.
fn visit(json: &mut Json, f: &mut impl FnMut(&mut Json)) {
    if matches!(json, Json::Number(_) | Json::Array(_)) {
        f(json);
    }
    match json {
        Json::Array(entries) => entries.iter_mut().for_each(|entry| visit(entry, f)),
        Json::Object(fields) => fields.values_mut().for_each(|entry| visit(entry, f)),
        _ => {}
    }
}

/// Whether the tolerances hold for these operands: they are made for sums that do not overflow, and for fused ops whose
/// numbers are about 1.
fn comparable(op: &Op<Dense>) -> bool {
    let (mut most, mut least, mut elements, mut half) = (0f64, f64::INFINITY, 0, false);
    op.visit(|x| {
        elements = elements.max(x.values.len());
        half |= x.dtype().is_float() && x.dtype().size() == 2;
        for value in &x.values {
            if let Value::Float(x) = *value {
                most = if x.is_nan() {
                    f64::INFINITY
                } else {
                    most.max(x.abs())
                };
                least = if x == 0.0 { least } else { least.min(x.abs()) };
            }
        }
    });
    let sums = || most <= if half { 16.0 } else { 1e4 } && elements <= 512;
    let products = || sums() && elements <= 16 && least >= 0.1 && most <= 2.0;
    match op {
        Op::Reduce(ReduceOp::Sum | ReduceOp::Mean, ..) | Op::Scan(ScanOp::Sum, ..) => sums(),
        Op::Reduce(ReduceOp::Prod, ..) | Op::Scan(ScanOp::Prod, ..) => products(),
        Op::Matmul(..) | Op::Conv(_) => sums(),
        Op::Pool(op, _) => sums() || matches!(**op, PoolOp::MaxIndices(_)),
        Op::Index(op) => match **op {
            IndexOp::Scatter {
                mode: ScatterMode::Add,
                ..
            }
            | IndexOp::SelectAssign {
                mode: ScatterMode::Add,
                ..
            } => sums(),
            IndexOp::Scatter {
                mode: ScatterMode::Mul,
                ..
            }
            | IndexOp::SelectAssign {
                mode: ScatterMode::Mul,
                ..
            } => products(),
            _ => true,
        },
        Op::Fused(op) => {
            let gentle = match **op {
                FusedOp::LayerNorm { eps, .. } => (0.1..=1.0).contains(&eps),
                FusedOp::Attention { scale, .. } => scale.is_none_or(|scale| scale.abs() <= 1.0),
                _ => true,
            };
            gentle && most <= 2.0 && elements <= 512
        }
        _ => true,
    }
}
