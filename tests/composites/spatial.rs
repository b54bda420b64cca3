//! Windows, pools, grids and what samples images.

use keyway::grid::{GridIndexing, GridSampleOptions, GridSamplePaddingMode, affine_grid_2d};
use keyway::module::*;
use keyway::prelude::*;
use keyway::raw::Raw;
use keyway::{DType, DynDevice, DynTensor, f16};

use crate::check::{bools, float, gradients, ints, normal, one, two, values};

/// Rows of an image of one row.
fn row<E: Element>(values: &[E]) -> Tensor<Flex, 4, E>
where
    Flex: Supports<E>,
{
    Tensor::from_vec(values.to_vec(), [1, 1, 1, values.len()], &Default::default())
}

#[track_caller]
fn close<const D: usize>(x: Tensor<Flex, D, f64>, want: &[f64]) {
    let got = x.into_vec().unwrap();
    let near = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12;
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(near),
        "{got:?} is not {want:?}"
    );
}

fn dynamic(shape: &[usize]) -> DynTensor {
    DynTensor::ones(shape, DType::F32, &DynDevice::default()).unwrap()
}

#[track_caller]
fn refused<T>(result: Result<T, Error>, text: &str) {
    match result {
        Ok(_) => panic!("not refused: {text}"),
        Err(error) => assert!(error.to_string().contains(text), "{error}"),
    }
}

mod slopes {
    use super::*;

    #[test]
    fn convolutions() {
        let (conv, transposed) = (
            ConvOptions::new_with_padding([2], [(0, 2)], [2], 2),
            ConvTransposeOptions::new([2], [1], [1], [2], 2),
        );
        let inputs = || [normal(&[2, 4, 5]), normal(&[2, 2, 2]), normal(&[2])];
        gradients(inputs(), |[x, w, b]| one(x.conv(w, Some(b), conv)));
        let inputs = [normal(&[2, 4, 3]), normal(&[4, 1, 2]), normal(&[2])];
        gradients(inputs, |[x, w, b]| one(x.conv_transpose(w, Some(b), transposed)));
        let inputs = [
            normal(&[1, 2, 3, 4]),
            normal(&[2, 2, 2, 2]),
            normal(&[1, 2, 2, 3]),
        ];
        gradients(inputs, |[x, w, g]| {
            one(x.conv_weight_backward(w, g, ConvOptions::<2>::default()))
        });
    }

    #[test]
    fn deformed_convolution() {
        let options = DeformConvOptions::new([1, 2], [1, 0], [1, 1], 2, 2);
        let inputs = [
            normal(&[1, 4, 3, 4]),
            float(&[1, 16, 4, 2], -1.4, 1.4),
            normal(&[2, 2, 2, 2]),
            normal(&[1, 8, 4, 2]),
            normal(&[2]),
        ];
        gradients(inputs, |[x, offset, w, mask, b]| {
            one(x.deform_conv2d(offset, w, Some(mask), Some(b), options))
        });
        let inputs = [
            normal(&[2, 1, 2, 3]),
            normal(&[2, 4, 2, 2]),
            normal(&[2, 1, 1, 2]),
        ];
        gradients(inputs, |[x, offset, w]| {
            one(x.deform_conv2d(offset, w, None, None, DeformConvOptions::default()))
        });
    }

    #[test]
    fn pools() {
        for ceil in [false, true] {
            let max = MaxPoolOptions::new([3])
                .with_stride([2])
                .with_padding_pairs([(1, 0)]);
            let max = max.with_ceil_mode(ceil);
            gradients([normal(&[1, 2, 7])], |[x]| one(x.max_pool(max)));
            for include in [false, true] {
                let avg = AvgPoolOptions::new([2, 3])
                    .with_stride([2, 2])
                    .with_padding_pairs([(1, 0), (0, 1)])
                    .with_dilation([2, 1])
                    .with_count_include_pad(include)
                    .with_ceil_mode(ceil);
                gradients([normal(&[1, 2, 4, 5])], |[x]| one(x.avg_pool(avg)));
                let shape = dynamic(&[1, 2, 4, 5]).avg_pool(avg).unwrap().shape().to_vec();
                gradients([normal(&[1, 2, 4, 5]), normal(&shape)], |[x, g]| {
                    one(x.avg_pool_backward(g, avg))
                });
            }
        }
        let solid = MaxPoolOptions::new([2; 3]).with_ceil_mode(true);
        gradients([normal(&[1, 1, 2, 3, 4])], |[x]| one(x.max_pool(solid)));
        let places = ints(&[1, 1, 2], &[1, 3]);
        gradients(
            [normal(&[1, 1, 4]), normal(&[1, 1, 2]), places],
            |[x, g, places]| one(x.max_pool_with_indices_backward(MaxPoolOptions::new([2]), g, places)),
        );
        gradients([normal(&[1, 2, 5, 4])], |[x]| one(x.adaptive_avg_pool(&[3, 2])));
        gradients([normal(&[1, 1, 3, 4, 2])], |[x]| {
            one(x.adaptive_avg_pool(&[2, 6, 2]))
        });
        gradients([normal(&[1, 2, 6])], |[x]| one(x.adaptive_avg_pool(&[3])));
    }

    #[test]
    fn windows() {
        gradients([normal(&[2, 5, 2])], |[x]| one(x.unfold(1, 3, 2)));
        let blocks = UnfoldOptions::new([2, 1], [1, 0], [1, 2]);
        gradients([normal(&[2, 2, 3, 4])], |[x]| one(x.unfold4d([2, 2], blocks)));
        gradients([normal(&[2, 8, 4])], |[x]| one(x.fold4d([3, 4], [2, 2], blocks)));
    }

    #[test]
    fn resampling() {
        use InterpolateMode::*;
        for mode in [Nearest, NearestExact, Bilinear, Bicubic, Lanczos3] {
            for align in [false, true] {
                let options = InterpolateOptions::new(mode).with_align_corners(align);
                let inputs = || [normal(&[1, 2, 3, 4])];
                gradients(inputs(), |[x]| {
                    one(x.interpolate(options.with_output_size([5, 3])))
                });
                gradients(inputs(), |[x]| {
                    one(x.interpolate(options.with_scale_factor([0.7, 1.6])))
                });
            }
        }
        let crop = CoordinateTransformMode::TfCropAndResize {
            roi: [[-0.2, 0.8], [0.1, 1.3]],
            extrapolation_value: 9.0,
        };
        let options = InterpolateOptions::new(Bilinear).with_coordinate_transform(crop);
        gradients([normal(&[1, 2, 3, 4])], |[x]| {
            one(x.interpolate(options.with_output_size([4, 4])))
        });
    }

    #[test]
    fn grids() {
        use GridSamplePaddingMode::*;
        use InterpolateMode::*;
        for mode in [Nearest, Bilinear, Bicubic] {
            for padding in [Zeros, Border, Reflection] {
                for align in [false, true] {
                    let options = GridSampleOptions::new(mode)
                        .with_padding_mode(padding)
                        .with_align_corners(align);
                    let inputs = [normal(&[2, 2, 3, 4]), float(&[2, 2, 2, 2], -1.7, 1.7)];
                    gradients(inputs, |[x, grid]| one(x.grid_sample_2d(grid, options)));
                    let far = values(&[1, 1, 3, 2], &[-1.9, 0.3, 2.6, -2.2, 0.11, 5.3]);
                    gradients([normal(&[1, 1, 2, 3]), far], |[x, grid]| {
                        one(x.grid_sample_2d(grid, options))
                    });
                }
            }
        }
        gradients([normal(&[2, 2, 3])], |[maps]| {
            one(maps.affine_grid_2d([2, 1, 2, 3]))
        });
        gradients([normal(&[2]), normal(&[3])], |[x, y]| {
            Raw::meshgrid(&[x, y], GridIndexing::Cartesian)
        });
    }

    #[test]
    fn norms_and_attention() {
        let inputs = || [normal(&[3, 2, 2]), normal(&[2]), normal(&[2])];
        gradients(inputs(), |[x, gamma, beta]| {
            one(x.batch_norm_train(gamma, beta, 0.1).map(|(y, ..)| y))
        });
        let statistics = [normal(&[2]), float(&[2], 0.5, 2.0)];
        let [x, gamma, beta] = inputs();
        let [mean, var] = statistics;
        gradients([x, gamma, beta, mean, var], |[x, gamma, beta, mean, var]| {
            one(x.batch_norm(gamma, beta, mean, var, 0.1))
        });
        for causal_alignment in [CausalAlignment::BottomRight, CausalAlignment::TopLeft] {
            let options = AttentionModuleOptions {
                softcap: Some(0.8),
                is_causal: true,
                causal_alignment,
                ..Default::default()
            };
            let inputs = [
                normal(&[1, 4, 2, 3]),
                normal(&[1, 2, 3, 3]),
                normal(&[1, 2, 3, 2]),
                normal(&[1, 4, 2, 3]),
                bools(&[1, 1, 1, 3], &[false, true, false]),
            ];
            gradients(inputs, |[q, k, v, bias, mask]| {
                one(q.attention(k, v, Some(mask), Some(bias), options))
            });
        }
        gradients([normal(&[4, 2])], |[x]| {
            two(x
                .clone()
                .unfold(0, 2, 2)
                .and_then(|y| Ok((y, x.unfold(0, 4, 1)?))))
        });
    }
}

mod output_sizes {
    use super::*;

    /// What the sizes say is what the functions do, for windows that fit and others.
    #[test]
    fn are_those_of_the_functions() {
        let (mut fits, mut none) = (0, 0);
        for bits in 0..4usize.pow(6) {
            let [size, kernel, stride, before, after, dilation] =
                std::array::from_fn(|i| bits / 4usize.pow(i as u32) % 4);
            let size = size + 1;
            let x = dynamic(&[1, 1, size]);
            for ceil in [false, true] {
                let avg = AvgPoolOptions::new([kernel])
                    .with_stride([stride])
                    .with_padding_pairs([(before, after)])
                    .with_dilation([dilation])
                    .with_ceil_mode(ceil);
                let pooled = x.clone().avg_pool(avg).ok().map(|y| [y.shape()[2]]);
                assert_eq!(avg_pool_output_size([size], &avg), pooled, "{size}: {avg:?}");
                match pooled {
                    Some(_) => fits += 1,
                    None => none += 1,
                }
                let max = MaxPoolOptions::new([kernel])
                    .with_stride([stride])
                    .with_padding_pairs([(before, after)])
                    .with_dilation([dilation])
                    .with_ceil_mode(ceil);
                assert_eq!(max_pool_output_size([size], &max), pooled);
            }
            let conv = ConvOptions::new_with_padding([stride], [(before, after)], [dilation], 1);
            let weight = dynamic(&[1, 1, kernel]);
            let y = x
                .clone()
                .conv(weight.clone(), None, conv)
                .ok()
                .map(|y| [y.shape()[2]]);
            assert_eq!(
                conv_output_size([size], weight.shape(), &conv),
                y,
                "{size}: {conv:?}"
            );
            let up = ConvTransposeOptions::new([stride], [before], [after], [dilation], 1);
            let says = conv_transpose_output_size([size], weight.shape(), &up);
            // Of sizes that the stride leaves possible.
            if let Ok(y) = x.conv_transpose(weight, None, up) {
                assert_eq!(says, Some([y.shape()[2]]), "{size}: {up:?}");
            }
        }
        assert!(fits > 1000 && none > 1000, "{fits}, {none}");
        assert_eq!(
            conv_output_size([4], &[1, 1].into(), &ConvOptions::default()),
            None
        );
        assert_eq!(
            conv_output_size(
                [usize::MAX],
                &[1, 1, 2].into(),
                &ConvOptions::new([1], [1], [1], 1)
            ),
            None
        );
        assert_eq!(
            max_pool_output_size([usize::MAX], &MaxPoolOptions::new([2]).with_ceil_mode(true)),
            None
        );
    }

    #[test]
    #[should_panic = "give one of `output_size` and `scale_factor`"]
    fn of_no_size() {
        interpolate_output_size([2, 2], &InterpolateOptions::new(InterpolateMode::Nearest));
    }
}

mod values {
    use super::*;

    /// Overhang is neither the greatest nor counted, padding is as it is told.
    #[test]
    fn windows_that_overhang() {
        let x = Tensor::<Flex, 3, f64>::from_array([[[-1.0, -2.0, -3.0, -4.0]]], &Default::default());
        let max = MaxPoolOptions::new([3]).with_stride([3]).with_ceil_mode(true);
        close(max_pool1d(x.clone(), max), &[-1.0, -4.0]);
        let avg = AvgPoolOptions::new([3]).with_ceil_mode(true);
        close(avg_pool1d(x.clone(), avg), &[-2.0, -4.0]);
        // Of 0 -1 -2, -3 -4 0: the padding counts.
        close(avg_pool1d(x.clone(), avg.with_padding([1])), &[-1.0, -7.0 / 3.0]);
        close(
            avg_pool1d(x.clone(), avg.with_padding([1]).with_count_include_pad(false)),
            &[-1.5, -3.5],
        );
        // Of -1 -2 | -3 -4 | 0 and nothing, which begins in the padding at the end.
        close(
            avg_pool1d(
                x,
                AvgPoolOptions::new([2])
                    .with_padding_pairs([(0, 1)])
                    .with_ceil_mode(true),
            ),
            &[-1.5, -3.5],
        );
    }

    #[test]
    fn an_average_counts_no_infinity_beside_it() {
        let x = row(&[1.0, 2.0, f64::INFINITY, f64::NAN, 3.0, 4.0, 6.0]);
        close(
            adaptive_avg_pool2d(x, [1, 3]),
            &[f64::INFINITY, f64::NAN, 13.0 / 3.0],
        );
        let half = row(&[f16::from_f32(60000.0); 3]);
        let two = adaptive_avg_pool2d(half, [1, 2]);
        assert_eq!(two.into_vec().unwrap(), [f16::from_f32(60000.0); 2]);
    }

    /// An element that weighs 0 may be infinite.
    #[test]
    fn interpolation_takes_no_infinity_from_beside() {
        use InterpolateMode::*;
        let x = row(&[1.0, f64::INFINITY, 3.0, f64::NAN, 5.0]);
        for mode in [Nearest, NearestExact, Bilinear, Bicubic, Lanczos3] {
            let same = InterpolateOptions::new(mode).with_output_size([2, 5]);
            let want = [1.0, f64::INFINITY, 3.0, f64::NAN, 5.0];
            close(interpolate(x.clone(), same), &[want, want].concat());
        }
        let wide = InterpolateOptions::new(Bilinear).with_output_size([1, 9]);
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        close(
            interpolate(x, wide),
            &[1.0, inf, inf, inf, 3.0, nan, nan, nan, 5.0],
        );
    }

    /// By the definitions, in Python.
    #[test]
    fn modes_that_pytorch_lacks() {
        let x = row(&[1.0, 5.0, 2.0, 8.0]);
        let lanczos = InterpolateOptions::new(InterpolateMode::Lanczos3);
        close(
            interpolate(
                x.clone(),
                lanczos.with_align_corners(false).with_output_size([1, 6]),
            ),
            &LANCZOS_HALF_PIXEL,
        );
        close(
            interpolate(x.clone(), lanczos.with_output_size([1, 7])),
            &LANCZOS_ALIGNED,
        );
        let cubic = InterpolateOptions::new(InterpolateMode::Bicubic).with_align_corners(false);
        let inside = cubic.with_cubic_options(CubicOptions {
            a: -0.5,
            exclude_outside: true,
        });
        close(interpolate(x, inside.with_output_size([1, 6])), &CUBIC_INSIDE);
    }
    const LANCZOS_HALF_PIXEL: [f64; 6] = [
        0.546068130958517,
        3.2322738386308068,
        4.782832502615844,
        1.9133165039512787,
        4.911980440097799,
        8.638136434057436,
    ];
    const LANCZOS_ALIGNED: [f64; 7] = [
        1.0000000000000002,
        3.2322738386308068,
        5.0,
        3.2142857142857144,
        2.0000000000000004,
        4.911980440097799,
        8.0,
    ];
    const CUBIC_INSIDE: [f64; 6] = [
        0.7368421052631585,
        3.0588235294117645,
        4.800925925925924,
        2.0601851851851842,
        5.0,
        8.394736842105262,
    ];

    #[test]
    fn places() {
        use CoordinateTransformMode::*;
        let x = row(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let linear = InterpolateOptions::new(InterpolateMode::Bilinear);
        let at = |transform, size| {
            let options = linear.with_coordinate_transform(transform);
            interpolate(x.clone(), options.with_output_size([1, size]))
        };
        close(at(AlignCorners, 3), &[0.0, 2.0, 4.0]);
        close(at(AlignCorners, 1), &[0.0]);
        close(at(HalfPixel, 1), &[2.0]);
        close(at(PytorchHalfPixel, 1), &[0.0]);
        close(at(PytorchHalfPixel, 2), &[0.75, 3.25]);
        close(at(Asymmetric, 2), &[0.0, 2.5]);
        let crop = |start, end| TfCropAndResize {
            roi: [[0.0, 1.0], [start, end]],
            extrapolation_value: -1.0,
        };
        close(at(crop(0.25, 0.75), 3), &[1.0, 2.0, 3.0]);
        close(at(crop(0.5, 1.0), 1), &[3.0]);
        close(at(crop(0.75, 1.25), 3), &[3.0, 4.0, -1.0]);
        close(at(crop(1.0, 0.0), 2), &[4.0, 0.0]);
        // 5 · 1.5 is 7.5: what stands in the middle of it begins a quarter later.
        let scaled = |transform| {
            let options = linear.with_coordinate_transform(transform);
            interpolate(x.clone(), options.with_scale_factor([1.0, 1.5])).slice_dim(3, 1..3)
        };
        close(scaled(HalfPixel), &[0.5, 1.0 + 1.0 / 6.0]);
        close(scaled(HalfPixelSymmetric), &[0.5 + 1.0 / 6.0, 1.0 + 1.0 / 3.0]);
    }

    #[test]
    fn nearest_of_two() {
        use NearestRoundingMode::*;
        let x = row(&[0.0, 1.0, 2.0, 3.0]);
        let at = |mode| {
            let options = InterpolateOptions::new(InterpolateMode::Nearest).with_nearest_mode(mode);
            interpolate(x.clone(), options.with_scale_factor([1.0, 2.0]))
        };
        close(at(Floor), &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
        close(at(Ceil), &[0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0]);
        close(at(RoundPreferFloor), &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
        close(at(RoundPreferCeil), &[0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0]);
    }

    #[test]
    fn a_place_that_is_nan() {
        use GridSamplePaddingMode::*;
        use InterpolateMode::*;
        let x = row(&[1.0, 2.0]);
        let grid = Tensor::from_array(
            [[[[f64::NAN, 0.0], [0.0, f64::NAN], [9.0, 0.0]]]],
            &Default::default(),
        );
        for mode in [Nearest, Bilinear, Bicubic] {
            for (padding, outside) in [(Zeros, 0.0), (Border, 2.0)] {
                let options = GridSampleOptions::new(mode).with_padding_mode(padding);
                close(
                    x.clone().grid_sample_2d(grid.clone(), options),
                    &[f64::NAN, f64::NAN, outside],
                );
            }
        }
    }

    /// However far, it is outside, or beside the edge.
    #[test]
    fn a_place_that_is_far() {
        use GridSamplePaddingMode::*;
        use InterpolateMode::*;
        let image = [[[[1.0f32, 2.0, 3.0, 4.0]]]];
        let x = Tensor::<Autodiff<Flex>, 4>::from_array(image, &Default::default()).require_grad();
        let places = [[[[3e38f32, 0.0], [-3e38, 0.0], [f32::INFINITY, 0.0], [0.0, 3e38]]]];
        for mode in [Nearest, Bilinear, Bicubic] {
            for align in [false, true] {
                let at = |padding| {
                    let grid = Tensor::from_array(places, &Default::default()).require_grad();
                    let options = GridSampleOptions::new(mode).with_padding_mode(padding);
                    let y = x
                        .clone()
                        .grid_sample_2d(grid.clone(), options.with_align_corners(align));
                    let gradients = y.clone().sum().backward();
                    // The nearest element has none in the grid.
                    let slopes = [&x, &grid].into_iter().filter_map(|x| x.grad(&gradients));
                    let slopes = slopes.flat_map(|slopes| slopes.into_vec().unwrap());
                    assert!(slopes.into_iter().all(|slope| slope.is_finite()));
                    y.into_vec().unwrap()
                };
                assert_eq!(at(Zeros)[..3], [0.0; 3]);
                assert_eq!(at(Border)[..3], [4.0, 1.0, 4.0]);
                assert!(at(Reflection).iter().all(|y| y.is_finite()));
            }
        }
    }

    /// Elements outside of what is sampled may be anything.
    #[test]
    fn sampling_takes_nothing_from_outside() {
        let image = [[[[1.0, 2.0, f64::NAN], [3.0, 4.0, f64::INFINITY]]]];
        let x = Tensor::<Autodiff<Flex>, 4, f64>::from_array(image, &Default::default()).require_grad();
        let grid = Tensor::from_array([[[[-1.2, -1.1], [-0.5, 0.0]]]], &Default::default());
        let y = x.clone().grid_sample_2d(grid, InterpolateMode::Bilinear);
        let gradients = y.clone().sum().backward();
        assert!(y.into_vec().unwrap().iter().all(|y| y.is_finite()));
        let gradient = x.grad(&gradients).unwrap().into_vec().unwrap();
        assert!(gradient.iter().all(|g| g.is_finite()) && gradient[2] == 0.0);
    }

    /// The grid of no transformation gives the image back.
    #[test]
    fn the_identity() {
        let x =
            Tensor::<Flex, 4, f64>::from_array([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]], &Default::default());
        let stay = Tensor::from_array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], &Default::default());
        let options = GridSampleOptions::default().with_align_corners(true);
        let y = x.grid_sample_2d(affine_grid_2d(stay, [1, 1, 2, 3]), options);
        close(y, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    /// Without displacements it is a convolution.
    #[test]
    fn deformed_by_nothing() {
        let device = Default::default();
        let [x, weight] = [[2, 4, 5, 4], [6, 2, 3, 2]]
            .map(|shape| Tensor::<Flex, 4, f64>::random(shape, Distribution::Normal(0.0, 1.0), &device));
        let conv = ConvOptions::new([2, 1], [1, 0], [1, 2], 2);
        let want = conv2d(x.clone(), weight.clone(), None, conv);
        let [batch, _, rows, columns] = want.dims();
        let offset = Tensor::zeros([batch, 2 * 12, rows, columns], &device);
        let options = DeformConvOptions::new([2, 1], [1, 0], [1, 2], 2, 2);
        close(
            deform_conv2d(x, offset, weight, None, None, options),
            &want.into_vec().unwrap(),
        );
    }

    #[test]
    fn statistics_carry_no_gradient() {
        let x = Tensor::<Autodiff<Flex>, 2>::from_array([[1.0], [3.0]], &Default::default()).require_grad();
        let one = Tensor::ones([1], &Default::default());
        let train = batch_norm_train(x, one.clone(), one, 0.0);
        assert!(<Autodiff<Flex>>::is_tracked(train.output.raw().primitive()));
        for statistic in [train.mean, train.variance] {
            assert!(!<Autodiff<Flex>>::is_tracked(statistic.raw().primitive()));
        }
    }

    /// A group of heads shares keys and values; a mask of one head is that of all.
    #[test]
    fn heads_that_share() {
        let device = Default::default();
        let q = Tensor::<Flex, 3, f64>::zeros([4, 1, 1], &device);
        let k = Tensor::zeros([2, 2, 1], &device);
        let v = Tensor::from_array([[[1.0], [3.0]], [[5.0], [7.0]]], &device);
        let mask = Tensor::from_array(
            [
                [[false, false]],
                [[true, false]],
                [[false, true]],
                [[false, false]],
            ],
            &device,
        );
        close(
            attention(q, k, v, Some(mask), None, Default::default()),
            &[2.0, 3.0, 5.0, 6.0],
        );
    }
}

mod empty {
    use super::*;

    #[test]
    fn batches() -> Result<(), Error> {
        let x = || dynamic(&[0, 2, 4, 5]);
        let shape = |x: Result<DynTensor, Error>| x.map(|x| x.shape().to_vec());
        assert_eq!(
            shape(x().max_pool(MaxPoolOptions::new([2, 2]).with_ceil_mode(true)))?,
            [0, 2, 2, 3]
        );
        assert_eq!(
            shape(
                x().avg_pool(
                    AvgPoolOptions::new([2, 2])
                        .with_padding([1, 1])
                        .with_ceil_mode(true)
                )
            )?,
            [0, 2, 3, 3]
        );
        assert_eq!(shape(x().adaptive_avg_pool(&[3, 3]))?, [0, 2, 3, 3]);
        assert_eq!(shape(x().unfold(2, 2, 1))?, [0, 2, 3, 5, 2]);
        assert_eq!(shape(x().unfold4d([2, 2], UnfoldOptions::default()))?, [0, 8, 12]);
        assert_eq!(
            shape(dynamic(&[0, 8, 12]).fold4d([4, 5], [2, 2], UnfoldOptions::default()))?,
            [0, 2, 4, 5]
        );
        let twice = InterpolateOptions::new(InterpolateMode::Bicubic).with_scale_factor([2.0, 2.0]);
        assert_eq!(shape(x().interpolate(twice))?, [0, 2, 8, 10]);
        for mode in [
            InterpolateMode::Nearest,
            InterpolateMode::Bilinear,
            InterpolateMode::Bicubic,
        ] {
            assert_eq!(
                shape(x().grid_sample_2d(dynamic(&[0, 3, 2, 2]), mode))?,
                [0, 2, 3, 2]
            );
        }
        assert_eq!(
            shape(dynamic(&[2, 1, 3, 3]).grid_sample_2d(dynamic(&[2, 0, 4, 2]), InterpolateMode::Bicubic))?,
            [2, 1, 0, 4]
        );
        assert_eq!(
            shape(dynamic(&[0, 2, 3]).affine_grid_2d([0, 1, 2, 3]))?,
            [0, 2, 3, 2]
        );
        let deformed = x().deform_conv2d(
            dynamic(&[0, 8, 3, 4]),
            dynamic(&[3, 2, 2, 2]),
            None,
            None,
            DeformConvOptions::default(),
        );
        assert_eq!(shape(deformed)?, [0, 3, 3, 4]);
        let (y, mean, _) = x().batch_norm_train(dynamic(&[2]), dynamic(&[2]), 1e-5)?;
        assert_eq!((&y.shape()[..], &mean.shape()[..]), (&[0, 2, 4, 5][..], &[2][..]));
        assert_eq!(
            shape(DynTensor::cartesian_grid(
                [2, 0],
                DType::I32,
                &DynDevice::default()
            ))?,
            [2, 0, 2]
        );
        Ok(())
    }

    #[test]
    fn windows() -> Result<(), Error> {
        let x = || dynamic(&[2, 3]);
        assert_eq!(x().unfold(1, 4, 1)?.shape()[..], [2, 0, 4]);
        assert_eq!(x().unfold(1, 0, 2)?.shape()[..], [2, 2, 0]);
        assert_eq!(dynamic(&[2, 0]).unfold(1, 1, 1)?.shape()[..], [2, 0, 1]);
        // Padding alone.
        let padding = dynamic(&[1, 1, 0, 2]).unfold4d([2, 2], UnfoldOptions::new([1, 1], [1, 0], [1, 1]))?;
        assert_eq!(padding.into_vec::<f32>()?, [0.0; 4]);
        Ok(())
    }

    /// What comes of nothing has a gradient of nothing.
    #[test]
    fn gradients() -> Result<(), Error> {
        let x = dynamic(&[0, 1, 3, 3]).require_grad()?;
        let options = InterpolateOptions::new(InterpolateMode::Bilinear).with_output_size([2, 2]);
        for y in [
            x.clone().interpolate(options)?,
            x.clone().adaptive_avg_pool(&[2, 2])?,
            x.clone().unfold(2, 2, 1)?,
            x.clone().unfold4d([2, 2], UnfoldOptions::default())?,
            x.clone()
                .grid_sample_2d(dynamic(&[0, 1, 1, 2]), InterpolateMode::Bilinear)?,
        ] {
            let gradients = y.sum()?.backward()?;
            assert_eq!(
                x.grad(&gradients)?.map(|g| g.shape().to_vec()),
                Some(vec![0, 1, 3, 3])
            );
        }
        Ok(())
    }
}

#[test]
fn errors_say_what_was_given_and_the_way_out() {
    let x = || dynamic(&[1, 2, 3, 4]);
    let image = "rank 4, [batch, channels, height, width]";
    refused(dynamic(&[2]).unfold4d([1, 1], UnfoldOptions::default()), image);
    refused(
        dynamic(&[2]).interpolate(InterpolateOptions::new(InterpolateMode::Nearest)),
        image,
    );
    refused(x().unfold(0, 1, 0), "the step is 0");
    refused(x().unfold(4, 1, 1), "axis 4");
    let ints = DynTensor::ones([1, 1, 2, 2], DType::I32, &DynDevice::default()).unwrap();
    refused(
        ints.clone().adaptive_avg_pool(&[1, 1]),
        "expected a float type, got i32",
    );
    refused(x().adaptive_avg_pool(&[2]), "batch, channels and 1 spatial axes");
    refused(x().adaptive_avg_pool(&[2, 0]), "no means of nothing");
    refused(
        x().adaptive_avg_pool(&[2, usize::MAX]),
        "exceeds the address space",
    );
    refused(
        x().interpolate(InterpolateOptions::new(InterpolateMode::Nearest)),
        "give one of `output_size` and `scale_factor`",
    );
    let bilinear = InterpolateOptions::new(InterpolateMode::Bilinear);
    refused(
        x().interpolate(bilinear.with_scale_factor([1.0, -2.0])),
        "the scale -2 gives an input of [3, 4] no size",
    );
    refused(
        x().interpolate(bilinear.with_scale_factor([f64::NAN, 1.0])),
        "the scale NaN",
    );
    refused(
        x().interpolate(bilinear.with_scale_factor([0.1, 1.0])),
        "heights and widths must not be 0",
    );
    refused(
        x().interpolate(bilinear.with_output_size([usize::MAX, 2])),
        "exceeds the address space",
    );
    let crop = CoordinateTransformMode::TfCropAndResize {
        roi: [[0.0, f64::INFINITY], [0.0, 1.0]],
        extrapolation_value: 0.0,
    };
    refused(
        x().interpolate(bilinear.with_coordinate_transform(crop).with_output_size([2, 2])),
        "no part of the input",
    );
    let grid = || dynamic(&[1, 2, 2, 2]);
    refused(
        x().grid_sample_2d(grid(), InterpolateMode::Lanczos3),
        "Lanczos3 does not sample: Nearest, Bilinear and Bicubic do",
    );
    refused(
        x().grid_sample_2d(dynamic(&[2, 2, 2, 2]), InterpolateMode::Bilinear),
        "one grid for each image",
    );
    refused(
        x().grid_sample_2d(dynamic(&[1, 2, 2, 3]), InterpolateMode::Bilinear),
        "a grid [batch, height, width, 2]",
    );
    refused(
        dynamic(&[1, 1, 0, 2]).grid_sample_2d(grid(), InterpolateMode::Bilinear),
        "nothing to sample",
    );
    let doubles = grid().cast(DType::F64).unwrap();
    refused(
        x().grid_sample_2d(doubles, InterpolateMode::Bilinear),
        "expected f32, as the image, got f64",
    );
    refused(
        dynamic(&[2, 2, 3]).affine_grid_2d([3, 1, 2, 2]),
        "the maps of a batch of 3 are [3, 2, 3]",
    );
    refused(
        DynTensor::meshgrid(&[x()], GridIndexing::Matrix),
        "vectors, rank 1",
    );
    let vectors = [dynamic(&[2]), dynamic(&[3]).cast(DType::F64).unwrap()];
    refused(
        DynTensor::meshgrid(&vectors, GridIndexing::Matrix),
        "expected f32, as the first vector, got f64",
    );
    refused(
        DynTensor::cartesian_grid([usize::MAX, 2], DType::I32, &DynDevice::default()),
        "exceeds the address space",
    );
    refused(
        x().unfold4d([4, 1], UnfoldOptions::default()),
        "one is larger than the padded image",
    );
    refused(
        dynamic(&[1, 8, 5]).fold4d([3, 3], [2, 2], UnfoldOptions::default()),
        "these blocks of [3, 3] are [1, 8, 4]",
    );
    refused(
        x().avg_pool_backward(x(), AvgPoolOptions::new([3, 4])),
        "the shape of the pool's result, [1, 2, 1, 1]",
    );
    refused(
        x().avg_pool_backward(x(), AvgPoolOptions::new([4, 4])),
        "the windows fit no such input",
    );
    let two = dynamic(&[1, 2, 1, 1]);
    refused(
        x().max_pool_with_indices_backward(MaxPoolOptions::new([3, 4]), two, ints),
        "must have one shape",
    );
    let half = || dynamic(&[1, 2, 1, 1]).cast(DType::F16).unwrap();
    refused(
        x().avg_pool_backward(half(), AvgPoolOptions::new([3, 4])),
        "expected f32, as the input, got f16",
    );
    refused(
        x().conv_weight_backward(dynamic(&[2, 1, 1, 1]), x(), ConvOptions::<2>::default()),
        "those of weights [2, 2, 1, 1]",
    );
    let deform = |offset: &[usize], options| {
        x().deform_conv2d(dynamic(offset), dynamic(&[2, 2, 1, 1]), None, None, options)
    };
    refused(
        deform(&[1, 3, 3, 4], DeformConvOptions::default()),
        "the offsets must be [1, 1 · 1 · 2, 3, 4]",
    );
    refused(
        deform(
            &[1, 2, 3, 4],
            DeformConvOptions::new([1, 1], [0, 0], [1, 1], 2, 1),
        ),
        "both divisible by them",
    );
    refused(
        deform(
            &[1, 2, 3, 4],
            DeformConvOptions::new([0, 1], [0, 0], [1, 1], 1, 1),
        ),
        "a number is 0",
    );
    let [two, three] = [2, 3].map(|n| dynamic(&[n]));
    refused(
        x().batch_norm_train(three, two.clone(), 0.0),
        "one number for each of the 2 channels, axis 1",
    );
    refused(
        x().batch_norm_train(two.clone(), two.clone(), -1.0),
        "epsilon is -1: it must not be negative",
    );
    refused(
        x().batch_norm_train(two.clone(), two.clone(), f64::INFINITY),
        "epsilon is inf",
    );
    refused(
        two.clone().batch_norm_train(two.clone(), two, 0.0),
        "rank 2 or more, [batch, channels, …]",
    );
    for (softcap, text) in [(0.0, "softcap is 0, not"), (f64::INFINITY, "softcap is inf, not")] {
        let softcap = AttentionModuleOptions {
            softcap: Some(softcap),
            ..Default::default()
        };
        refused(x().attention(x(), x(), None, None, softcap), text);
    }
    let heads = dynamic(&[1, 4, 3, 4]);
    let mask = DynTensor::ones([1, 2, 3, 3], DType::Bool, &DynDevice::default());
    refused(
        heads.attention(x(), x(), Some(mask.unwrap()), None, Default::default()),
        "mask and bias must have 4 heads, or 1",
    );
}
