use std::f64::consts::PI;

use super::Raw;
use super::pool::spatial;
use crate::backend::Backend;
use crate::backend::memory::room;
use crate::element::DType;
use crate::error::Error;
use crate::op;
use crate::shape::{Dims, Shape};

/// How an image is resampled: what becomes of a place between its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpolateMode {
    /// The element before the place, or the one that [`InterpolateOptions::nearest_mode`] says; in a grid the nearest.
    Nearest,
    /// The nearest element; a grid does not take it.
    NearestExact,
    /// A line through the 2 nearest elements of each axis.
    Bilinear,
    /// A cubic curve by the 4 nearest elements of each axis (Keys 1981).
    Bicubic,
    /// `sinc(d) sinc(d / 3)` of the distances `d` of the 6 nearest elements of each axis, divided by the sum of these
    /// weights (Lanczos 1956).
    Lanczos3,
}

/// The place in the input, of size `n`, at which element `i` of the result, of size `m`, is taken. The scale is `m / n`, or
/// the given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoordinateTransformMode {
    /// `(i + 1/2) / scale - 1/2`.
    HalfPixel,
    /// `i (n - 1) / (m - 1)`; 0 if `m` is 1.
    AlignCorners,
    /// `i / scale`.
    Asymmetric,
    /// [`HalfPixel`](CoordinateTransformMode::HalfPixel); 0 if `m` is 1.
    PytorchHalfPixel,
    /// [`HalfPixel`](CoordinateTransformMode::HalfPixel), of a result that lies in the middle of what the scale gives
    /// before it is rounded down.
    HalfPixelSymmetric,
    /// Part of the input, aligned by its corners.
    TfCropAndResize {
        /// Where the part begins and ends, for each axis: 0 is the first element, 1 the last.
        roi: [[f64; 2]; 2],
        /// The element that stands outside the input.
        extrapolation_value: f64,
    },
}

/// The element that is nearest to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearestRoundingMode {
    /// Of two at the same distance the one before.
    RoundPreferFloor,
    /// Of two at the same distance the one after.
    RoundPreferCeil,
    /// The one before.
    Floor,
    /// The one after.
    Ceil,
}

/// The curve of bicubic interpolation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicOptions {
    /// The slope of the weights at distance 1.
    pub a: f64,
    /// Whether elements outside the image do not count; otherwise they repeat the edge.
    pub exclude_outside: bool,
}

impl Default for CubicOptions {
    fn default() -> Self {
        CubicOptions {
            a: -0.75,
            exclude_outside: false,
        }
    }
}

/// How an image is resized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterpolateOptions {
    /// What becomes of a place between elements.
    pub mode: InterpolateMode,
    /// Which place it is.
    pub coordinate_transform: CoordinateTransformMode,
    /// What the nearest modes take.
    pub nearest_mode: NearestRoundingMode,
    /// The curve of the bicubic mode.
    pub cubic_options: CubicOptions,
    /// The height and the width of the result, or else the scale gives them.
    pub output_size: Option<[usize; 2]>,
    /// What multiplies height and width, rounded down.
    pub scale_factor: Option<[f64; 2]>,
}

impl InterpolateOptions {
    /// The mode's usual places: [`Asymmetric`](CoordinateTransformMode::Asymmetric) for the nearest,
    /// [`HalfPixel`](CoordinateTransformMode::HalfPixel) for the exact nearest,
    /// [`AlignCorners`](CoordinateTransformMode::AlignCorners) for the others.
    pub fn new(mode: InterpolateMode) -> Self {
        let (coordinate_transform, nearest_mode) = match mode {
            InterpolateMode::Nearest => (CoordinateTransformMode::Asymmetric, NearestRoundingMode::Floor),
            InterpolateMode::NearestExact => (
                CoordinateTransformMode::HalfPixel,
                NearestRoundingMode::RoundPreferCeil,
            ),
            InterpolateMode::Bilinear | InterpolateMode::Bicubic | InterpolateMode::Lanczos3 => (
                CoordinateTransformMode::AlignCorners,
                NearestRoundingMode::RoundPreferFloor,
            ),
        };
        InterpolateOptions {
            mode,
            coordinate_transform,
            nearest_mode,
            cubic_options: CubicOptions::default(),
            output_size: None,
            scale_factor: None,
        }
    }

    /// With other places.
    pub fn with_coordinate_transform(self, coordinate_transform: CoordinateTransformMode) -> Self {
        InterpolateOptions {
            coordinate_transform,
            ..self
        }
    }

    /// With another nearest element.
    pub fn with_nearest_mode(self, nearest_mode: NearestRoundingMode) -> Self {
        InterpolateOptions { nearest_mode, ..self }
    }

    /// With another curve.
    pub fn with_cubic_options(self, cubic_options: CubicOptions) -> Self {
        InterpolateOptions {
            cubic_options,
            ..self
        }
    }

    /// With aligned corners, or half pixels; the nearest modes stay as they are.
    pub fn with_align_corners(self, align_corners: bool) -> Self {
        match self.mode {
            InterpolateMode::Nearest | InterpolateMode::NearestExact => self,
            _ if align_corners => self.with_coordinate_transform(CoordinateTransformMode::AlignCorners),
            _ => self.with_coordinate_transform(CoordinateTransformMode::HalfPixel),
        }
    }

    /// Whether the corners are aligned.
    pub fn align_corners(&self) -> bool {
        self.coordinate_transform == CoordinateTransformMode::AlignCorners
    }

    /// With this height and width, in place of a scale.
    pub fn with_output_size(self, output_size: [usize; 2]) -> Self {
        InterpolateOptions {
            output_size: Some(output_size),
            scale_factor: None,
            ..self
        }
    }

    /// With this scale of height and width, in place of a size.
    pub fn with_scale_factor(self, scale_factor: [f64; 2]) -> Self {
        InterpolateOptions {
            scale_factor: Some(scale_factor),
            output_size: None,
            ..self
        }
    }

    /// The height and the width of the result for an input of this size.
    pub(crate) fn size(&self, input: [usize; 2]) -> Result<[usize; 2], Error> {
        match (self.output_size, self.scale_factor) {
            (Some(size), None) => Ok(size),
            (None, Some(scale)) => {
                let size = [0, 1].map(|i| (input[i] as f64 * scale[i]).floor());
                match scale
                    .iter()
                    .zip(size)
                    .find(|&(&s, size)| !(s > 0.0 && size < usize::MAX as f64))
                {
                    None => Ok(size.map(|size| size as usize)),
                    Some((s, _)) => {
                        let message = format!("the scale {s} gives an input of {input:?} no size");
                        Err(Error::argument(NAME, message))
                    }
                }
            }
            _ => {
                let message = "give one of `output_size` and `scale_factor`";
                Err(Error::argument(NAME, message))
            }
        }
    }

    /// The place in an axis of size `n` at which element `i` of `m` is taken; `None` outside of a part of the input.
    fn place(&self, axis: usize, i: usize, n: usize, m: usize) -> Option<f64> {
        let (i, n, m) = (i as f64, n as f64, m as f64);
        let scale = self.scale_factor.map(|scale| scale[axis]);
        let unscaled = |x: f64| scale.map_or(x * n / m, |scale| x / scale);
        let half_pixel = unscaled(i + 0.5) - 0.5;
        Some(match self.coordinate_transform {
            CoordinateTransformMode::HalfPixel => half_pixel,
            CoordinateTransformMode::AlignCorners if m == 1.0 => 0.0,
            CoordinateTransformMode::AlignCorners => i * (n - 1.0) / (m - 1.0),
            CoordinateTransformMode::Asymmetric => unscaled(i),
            CoordinateTransformMode::PytorchHalfPixel if m == 1.0 => 0.0,
            CoordinateTransformMode::PytorchHalfPixel => half_pixel,
            CoordinateTransformMode::HalfPixelSymmetric => match scale {
                Some(scale) => unscaled(i + 0.5 + (n * scale - m) / 2.0) - 0.5,
                None => half_pixel,
            },
            CoordinateTransformMode::TfCropAndResize { roi, .. } => {
                let [start, end] = roi[axis];
                let part = if m == 1.0 { 0.5 } else { i / (m - 1.0) };
                let place = (start + part * (end - start)) * (n - 1.0);
                return (0.0..=n - 1.0).contains(&place).then_some(place);
            }
        })
    }

    /// The elements of an axis of size `n` around a place, and their weights.
    fn taps(&self, place: f64, n: usize) -> Vec<Tap> {
        let inside = |at: f64| at.clamp(0.0, (n - 1) as f64) as usize;
        let base = place.floor();
        match self.mode {
            InterpolateMode::Nearest | InterpolateMode::NearestExact => {
                let nearest = match self.nearest_mode {
                    NearestRoundingMode::RoundPreferFloor => (place - 0.5).ceil(),
                    NearestRoundingMode::RoundPreferCeil => (place + 0.5).floor(),
                    NearestRoundingMode::Floor => base,
                    NearestRoundingMode::Ceil => place.ceil(),
                };
                vec![(inside(nearest), 1.0)]
            }
            InterpolateMode::Bilinear => {
                let place = place.clamp(0.0, (n - 1) as f64);
                let part = place - place.floor();
                vec![(inside(place), 1.0 - part), (inside(place.floor() + 1.0), part)]
            }
            InterpolateMode::Bicubic => {
                let CubicOptions { a, exclude_outside } = self.cubic_options;
                let taps = (-1..=2).map(|i| base + f64::from(i));
                let weight = |at: f64| match (at == inside(at) as f64, exclude_outside) {
                    (false, true) => 0.0,
                    _ => cubic((place - at).abs(), a),
                };
                let taps = taps.map(|at| (inside(at), weight(at))).collect();
                if exclude_outside {
                    whole(taps, inside(place))
                } else {
                    taps
                }
            }
            InterpolateMode::Lanczos3 => {
                let taps = (-2..=3).map(|i| base + f64::from(i));
                let weight = |at: f64| {
                    if at == inside(at) as f64 {
                        lanczos(place - at)
                    } else {
                        0.0
                    }
                };
                whole(taps.map(|at| (inside(at), weight(at))).collect(), inside(place))
            }
        }
    }
}

const NAME: &str = "interpolate";

/// An element of an axis, and what it counts.
type Tap = (usize, f64);

/// Weights whose sum is 1, or else the nearest element alone.
fn whole(mut taps: Vec<Tap>, nearest: usize) -> Vec<Tap> {
    let total: f64 = taps.iter().map(|tap| tap.1).sum();
    for (i, tap) in taps.iter_mut().enumerate() {
        match total {
            0.0 => *tap = (nearest, if i == 0 { 1.0 } else { 0.0 }),
            _ => tap.1 /= total,
        }
    }
    taps
}

/// Keys' weight of an element at this distance; its slope at 1 is `a`.
fn cubic(d: f64, a: f64) -> f64 {
    match d {
        ..1.0 => ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0,
        ..2.0 => ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a,
        _ => 0.0,
    }
}

fn lanczos(d: f64) -> f64 {
    match d.abs() {
        0.0 => 1.0,
        d if d.fract() == 0.0 => 0.0, // where the sine is not quite
        ..3.0 => 3.0 * (PI * d).sin() * (PI * d / 3.0).sin() / (PI * d).powi(2),
        _ => 0.0,
    }
}

/// Resizing.
///
/// # Errors
/// Each returns what the ops it consists of do.
impl<B: Backend> Raw<B> {
    /// An image `[batch, channels, height, width]` with another height and width.
    pub fn interpolate(self, options: InterpolateOptions) -> Result<Self, Error> {
        let &[batch, channels, height, width] = &self.shape()[..] else {
            return Err(Error::rank(
                NAME,
                self.rank(),
                "rank 4, [batch, channels, height, width]",
            ));
        };
        self.floats(NAME)?;
        let size = options.size([height, width])?;
        let out = Shape::from([batch, channels, size[0], size[1]]);
        if spatial(&self).contains(&0) || size.contains(&0) {
            let message = "heights and widths must not be 0";
            return Err(Error::shape(NAME, &[self.shape(), &out], message));
        }
        let CubicOptions { a, .. } = options.cubic_options;
        if !a.is_finite() {
            return Err(Error::argument(NAME, format!("the slope of the curve is {a}")));
        }
        if let CoordinateTransformMode::TfCropAndResize { roi, .. } = options.coordinate_transform
            && !roi.as_flattened().iter().all(|bound| bound.is_finite())
        {
            return Err(Error::argument(NAME, format!("{roi:?} is no part of the input")));
        }
        op::checked(NAME, out.clone(), self.dtype())?;
        if out.num_elements() == 0 {
            return self.reshape(out);
        }
        for m in size {
            // The tables of the host: 16 numbers for each element of an axis, or less.
            room(NAME, &op::checked(NAME, [m, 16].into(), DType::F64)?)?;
        }
        let dtype = self.dtype();
        // The width first: rows are then taken as a whole.
        let (x, beside) = self.widen()?.resampled(3, size[1], &options)?;
        let (x, above) = x.resampled(2, size[0], &options)?;
        let x = [beside, above]
            .into_iter()
            .flatten()
            .try_fold(x, |x, (outside, value)| {
                let outside = outside.expand(out.clone())?;
                x.mask_where(outside, value)
            })?;
        x.cast(dtype)
    }

    /// Another size of an axis, and which places of it lie outside the input and hold another value.
    fn resampled(
        self,
        axis: usize,
        m: usize,
        options: &InterpolateOptions,
    ) -> Result<(Self, Option<(Self, f64)>), Error> {
        let n = self.shape()[axis];
        let places: Vec<Option<f64>> = (0..m).map(|i| options.place(axis - 2, i, n, m)).collect();
        if n == m && (0..m).all(|i| places[i] == Some(i as f64)) {
            return Ok((self, None));
        }
        let taps: Vec<Vec<Tap>> = places
            .iter()
            .map(|place| without_zeros(options.taps(place.unwrap_or(0.0), n)))
            .collect();
        let mut shape: Dims = smallvec::smallvec![1; self.rank()];
        shape[axis] = m;
        let mut sum: Option<Self> = None;
        for tap in 0..taps[0].len() {
            let index = self.places(NAME, n, taps.iter().map(|taps| taps[tap].0))?;
            let mut part = self.clone().select(axis, index)?;
            if taps[0].len() > 1 {
                let weights = taps.iter().map(|taps| taps[tap].1).collect();
                part = part.mul(self.constant(weights, shape.clone())?)?;
            }
            sum = Some(match sum {
                Some(sum) => sum.add(part)?,
                None => part,
            });
        }
        let outside = match options.coordinate_transform {
            CoordinateTransformMode::TfCropAndResize {
                extrapolation_value, ..
            } => {
                let outside = places.iter().map(Option::is_none).collect::<Vec<_>>();
                let outside = Self::from_vec(outside, shape, &self.device())?;
                Some((outside, extrapolation_value))
            }
            _ => None,
        };
        Ok((sum.unwrap_or(self), outside))
    }
}

/// The same sum without elements that weigh 0, which might be infinite: the heaviest stands in their place, and is shared.
fn without_zeros(mut taps: Vec<Tap>) -> Vec<Tap> {
    let heaviest = (0..taps.len()).max_by(|&i, &j| taps[i].1.abs().total_cmp(&taps[j].1.abs()));
    let Some(heaviest) = heaviest else { return taps };
    for i in 0..taps.len() {
        if taps[i].1 == 0.0 {
            taps[heaviest].1 /= 2.0;
            taps[i] = taps[heaviest];
        }
    }
    taps
}
