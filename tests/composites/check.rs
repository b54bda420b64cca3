//! The gradients of a function against central finite differences in `f64`, on every device, for leaves that lie as they
//! are used and for leaves with their axes reversed.

use keyway::{DType, DynDevice, DynTensor, Element, Error, TensorData};

/// An input of a function.
#[derive(Clone)]
pub enum Input {
    /// Numbers whose gradient is checked.
    Float(Vec<usize>, Vec<f64>),
    Int(Vec<usize>, Vec<i32>),
    Bool(Vec<usize>, Vec<bool>),
}

/// Distinct numbers of a range that look random.
pub fn float(shape: &[usize], low: f64, high: f64) -> Input {
    let len = shape.iter().product();
    let values = (0..len).map(|i| low + (high - low) * noise(len, i)).collect();
    Input::Float(shape.to_vec(), values)
}

/// Numbers of `-1.5..1.5`.
pub fn normal(shape: &[usize]) -> Input {
    float(shape, -1.5, 1.5)
}

pub fn values(shape: &[usize], values: &[f64]) -> Input {
    Input::Float(shape.to_vec(), values.to_vec())
}

pub fn ints(shape: &[usize], values: &[i32]) -> Input {
    Input::Int(shape.to_vec(), values.to_vec())
}

pub fn bools(shape: &[usize], values: &[bool]) -> Input {
    Input::Bool(shape.to_vec(), values.to_vec())
}

/// Numbers in 0..1 that look random and are distinct.
fn noise(seed: usize, i: usize) -> f64 {
    let mut z = (seed as u64 * 1_000_003 + i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Holds the gradients of `f` in its float inputs, where it is smooth, to finite differences. What counts is a weighted sum of
/// all its float outputs.
#[track_caller]
pub fn gradients<const N: usize>(inputs: [Input; N], f: impl Fn([DynTensor; N]) -> Outputs) {
    for device in devices() {
        for reversed in [false, true] {
            let check = Check {
                inputs: &inputs,
                f: &f,
                device: &device,
                reversed,
            };
            check.run(&format!("{device:?}"));
        }
    }
}

pub type Outputs = Result<Vec<DynTensor>, Error>;

/// What gives one output.
pub fn one(output: Result<DynTensor, Error>) -> Outputs {
    output.map(|x| vec![x])
}

/// What gives two.
pub fn two(outputs: Result<(DynTensor, DynTensor), Error>) -> Outputs {
    outputs.map(|(x, y)| vec![x, y])
}

/// Every device, of a group its first.
pub fn devices() -> Vec<DynDevice> {
    let found = DynDevice::available().into_iter();
    found
        .map(|found| found.text.trim_end_matches(":2").parse().unwrap())
        .collect()
}

/// Values on a device.
pub fn tensor<E: Element>(data: &[E], shape: &[usize], device: &DynDevice) -> DynTensor {
    DynTensor::from_data(TensorData::new(data.to_vec(), shape).unwrap(), device).unwrap()
}

/// The text of an error that names the function that was called.
#[track_caller]
pub fn refused<T>(name: &str, result: Result<T, Error>) -> String {
    let Err(error) = result else {
        panic!("`{name}` took it")
    };
    let text = error.to_string();
    assert!(text.starts_with(&format!("{name}: ")), "{text}");
    text
}

/// The gradient of the sum of `f`.
#[track_caller]
pub fn slope(x: DynTensor, f: impl Fn(DynTensor) -> Result<DynTensor, Error>) -> DynTensor {
    let x = x.require_grad().unwrap();
    let gradients = f(x.clone()).unwrap().backward().unwrap();
    x.grad(&gradients).unwrap().unwrap()
}

struct Check<'a, const N: usize, F> {
    inputs: &'a [Input; N],
    f: &'a F,
    device: &'a DynDevice,
    reversed: bool,
}

impl<const N: usize, F: Fn([DynTensor; N]) -> Outputs> Check<'_, N, F> {
    #[track_caller]
    fn run(&self, name: &str) {
        const STEP: f64 = 1e-5;
        let values = self.inputs.each_ref().map(|input| match input {
            Input::Float(_, values) => values.clone(),
            _ => vec![],
        });
        let (loss, leaves) = self
            .loss(&values, true)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let gradients = loss.backward().unwrap_or_else(|error| panic!("{name}: {error}"));
        for (of, leaf) in leaves.iter().enumerate() {
            let Some(leaf) = leaf else { continue };
            let got = match leaf.grad(&gradients).unwrap() {
                Some(gradient) => self.turned(gradient).unwrap().into_vec::<f64>().unwrap(),
                None => vec![0.0; values[of].len()],
            };
            assert_eq!(got.len(), values[of].len());
            for (i, got) in got.into_iter().enumerate() {
                let at = |x: f64| {
                    let mut moved = values.clone();
                    moved[of][i] = x;
                    self.loss(&moved, false).unwrap().0.into_vec::<f64>().unwrap()[0]
                };
                let x = values[of][i];
                let slope = (at(x + STEP) - at(x - STEP)) / (2.0 * STEP);
                assert!(
                    (got - slope).abs() <= 1e-6 * (1.0 + slope.abs()),
                    "{name}, reversed {}, input {of}, element {i}: {got} is not {slope}",
                    self.reversed
                );
            }
        }
    }

    /// The weighted sum of the float outputs, and the leaves of the float inputs.
    fn loss(
        &self,
        values: &[Vec<f64>; N],
        track: bool,
    ) -> Result<(DynTensor, [Option<DynTensor>; N]), Error> {
        let mut leaves = [const { None }; N];
        let mut inputs = Vec::with_capacity(N);
        for ((input, values), leaf) in self.inputs.iter().zip(values).zip(&mut leaves) {
            inputs.push(match input {
                Input::Float(shape, _) => {
                    let x = self.turned(self.upload(values, shape)?)?;
                    // What is turned twice lies as the shape says, or the other way round in memory.
                    let x = if track { x.require_grad()? } else { x };
                    *leaf = Some(x.clone());
                    self.turned(x)?
                }
                Input::Int(shape, values) => self.upload(values, shape)?,
                Input::Bool(shape, values) => self.upload(values, shape)?,
            });
        }
        let Ok(inputs) = inputs.try_into() else {
            unreachable!("one tensor for each input")
        };
        let outputs = (self.f)(inputs)?;
        let mut loss = None;
        for (n, y) in outputs
            .into_iter()
            .enumerate()
            .filter(|(_, y)| y.dtype() == DType::F64)
        {
            let weights: Vec<f64> = (0..y.shape().num_elements())
                .map(|i| noise(99 + n, i) - 0.3)
                .collect();
            let part = y.clone().mul(self.upload(&weights, y.shape())?)?.sum()?;
            loss = Some(match loss {
                Some(loss) => part.add(loss)?,
                None => part,
            });
        }
        Ok((loss.expect("an output of f64"), leaves))
    }

    fn upload<E: Element>(&self, values: &[E], shape: &[usize]) -> Result<DynTensor, Error> {
        DynTensor::from_data(TensorData::new(values.to_vec(), shape)?, self.device)
    }

    /// Its axes in reverse order, if that is asked for.
    fn turned(&self, x: DynTensor) -> Result<DynTensor, Error> {
        let axes: Vec<usize> = (0..x.rank()).rev().collect();
        if self.reversed { x.permute(axes) } else { Ok(x) }
    }
}
