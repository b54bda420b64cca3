//! Linear algebra.

use keyway::linalg::Norm;
use keyway::raw::Raw;
use keyway::{DType, DynDevice, DynTensor, Error, TensorData};

use crate::check::{Input, Outputs, float, gradients, normal, one, two, values};

#[test]
fn products() {
    gradients([normal(&[2, 3, 4]), normal(&[1, 4])], |[a, x]| one(a.matvec(x)));
    gradients([normal(&[2, 3]), normal(&[2, 4])], |[x, y]| one(x.outer(y)));
    gradients([normal(&[2, 3, 2]), normal(&[2, 4, 1])], |[x, y]| {
        one(x.outer_dim(y, 1))
    });
    gradients([normal(&[2, 3]), normal(&[1, 3])], |[x, y]| one(x.cross(y, 1)));
    gradients([normal(&[2, 3, 4])], |[x]| one(x.trace()));
    gradients([normal(&[3, 2, 2])], |[x]| one(x.diag()));
    gradients([normal(&[2, 3]), normal(&[2, 3])], |[x, y]| {
        one(x.cosine_similarity(y, 1, Some(0.1)))
    });
}

/// Half types multiply as `f32`: 300² is more than an `f16` holds.
#[test]
fn products_of_halves() {
    let half = |x: [f64; 3]| tensor(&[3], &x).cast(DType::F16).unwrap();
    let cross = half([300.0, 300.0, 0.0])
        .cross(half([301.0, 300.0, 0.0]), 0)
        .unwrap();
    assert_eq!(cross.dtype(), DType::F16);
    assert_eq!(read(cross), [0.0, 0.0, -300.0]);
    let close = half([300.0, 300.0, 0.0]).cosine_similarity(half([0.0, 300.0, 300.0]), 0, None);
    assert_eq!(read(close.unwrap()), [0.5]);
}

/// The product of two least norms would be 0, and the quotient NaN.
#[test]
fn cosine_of_zeros() {
    let zeros = tensor(&[1, 2], &[0.0, 0.0]);
    assert_eq!(
        read(zeros.clone().cosine_similarity(zeros, 1, None).unwrap()),
        [0.0]
    );
}

#[test]
fn norms() {
    let exponents = [
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        -1.0,
        -2.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    for p in exponents {
        gradients([float(&[2, 3, 2], 0.3, 2.0)], |[x]| one(x.vector_norm(p, 1)));
        gradients([normal(&[2, 3, 2])], |[x]| one(x.vector_norm_dims(p, &[0, 2])));
        gradients([normal(&[2, 3])], |[x]| one(x.vector_normalize(p, 1, 0.01)));
        gradients([normal(&[2, 3])], |[x]| one(x.vector_norm_dims(p, &[])));
    }
}

#[test]
fn norms_of_zeros() {
    for p in [0.5, 1.0, 2.0, 3.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
        let zeros = || tensor(&[2], &[0.0, 0.0]);
        assert_eq!(read(zeros().vector_norm(p, 0).unwrap()), [0.0], "{p}");
        assert_eq!(
            read(gradient(zeros(), |x| x.vector_norm(p, 0))),
            [0.0, 0.0],
            "{p}"
        );
        let beside = gradient(tensor(&[2], &[0.0, 2.0]), |x| x.vector_norm(p, 0));
        let slope = if p < 0.0 { 0.0 } else { 1.0 };
        near(beside, &tensor(&[2], &[0.0, slope]));
    }
    let ties = gradient(tensor(&[3], &[-2.0, 2.0, 1.0]), |x| x.max_abs_norm(0));
    assert_eq!(read(ties), [-0.5, 0.5, 0.0]);
}

#[test]
fn norms_by_number() {
    let exponents = [0.0, 1.0, 2.0, 2.5, f64::INFINITY, f64::NEG_INFINITY];
    let named = [
        Norm::L0,
        Norm::L1,
        Norm::L2,
        Norm::Lp(2.5),
        Norm::LInf,
        Norm::LNegInf,
    ];
    for (p, norm) in exponents.into_iter().zip(named) {
        assert_eq!(
            (Norm::from(p), Norm::from(p as f32), norm.to_exponent()),
            (norm, norm, p)
        );
        // Whatever name a number has.
        let x = tensor(&[3], &[1.0, 0.0, -2.0]);
        let plain = x.clone().vector_norm(Norm::Lp(p), 0).unwrap();
        let each = x.clone().vector_norm_dims(p, &[]).unwrap();
        near(each, &tensor(&[3], &[1.0, 0.0, if p == 0.0 { 1.0 } else { 2.0 }]));
        assert_eq!(read(plain), read(x.vector_norm(norm, 0).unwrap()));
    }
    assert_eq!(
        [2, 3, i32::MAX, i32::MIN].map(Norm::from),
        [Norm::L2, Norm::Lp(3.0), Norm::LInf, Norm::LNegInf]
    );
    assert_eq!([0, u32::MAX].map(Norm::from), [Norm::L0, Norm::LInf]);
    let counts = tensor(&[3], &[1.0, 0.0, -2.0]).cast(DType::I32).unwrap();
    assert_eq!(read(counts.clone().l0_norm(0).unwrap()), [2.0]);
    assert_eq!(read(counts.max_abs_norm(0).unwrap()), [2.0]);
}

/// The shapes of matrices that are tried.
const SHAPES: &[&[usize]] = &[
    &[1, 1],
    &[2, 2],
    &[3, 3],
    &[2, 5, 5],
    &[3, 5],
    &[5, 3],
    &[2, 1, 3],
    &[4, 1],
    &[2, 2, 4, 3],
    &[8, 8],
];

/// Shapes without elements.
const EMPTY: &[&[usize]] = &[
    &[0, 0],
    &[0, 3],
    &[3, 0],
    &[0, 2, 3],
    &[2, 0, 3],
    &[2, 3, 0],
    &[0, 0, 0],
];

#[test]
fn factors() {
    for &shape in SHAPES {
        gradients([normal(shape)], |[x]| three(x.lu()));
        gradients([normal(shape)], |[x]| two(x.qr(true)));
        gradients([normal(shape)], |[x]| two(x.qr(false)));
        gradients([normal(shape)], |[x]| three(x.svd(false)));
        if let &[.., m, n] = shape
            && m == n
        {
            gradients([normal(shape)], |[x]| one(x.det()));
            for upper in [false, true] {
                gradients([normal(shape)], |[x]| {
                    let rows = Raw::eye(n, DType::F64, &x.device())?.unsqueeze(x.rank())?;
                    let gram = x.clone().matmul(x.clone().transpose()?)?.add(rows)?;
                    // Not symmetric: one triangle counts.
                    one(gram.add(x.mul(0.1)?)?.cholesky(upper))
                });
            }
        }
    }
}

#[test]
fn lu_of_every_shape() {
    for &shape in SHAPES.iter().chain(EMPTY) {
        let (m, n, batch) = sizes(shape);
        let (p, l, u) = random(shape).lu().unwrap();
        let k = m.min(n);
        for (x, expected) in [(&p, [m, m]), (&l, [m, k]), (&u, [k, n])] {
            assert_eq!(x.shape()[..], [batch, &expected].concat());
        }
        near(
            p.clone().matmul(l.clone()).unwrap().matmul(u.clone()).unwrap(),
            &random(shape),
        );
        let rows = p.clone().matmul(p.clone().transpose().unwrap()).unwrap();
        near(rows, &identity(batch, m));
        assert!(read(p).iter().all(|&x| x == 0.0 || x == 1.0));
        assert!(read(l.clone()).iter().all(|x| x.abs() <= 1.0));
        near(l.clone().triu(1).unwrap(), &l.clone().zeros_like().unwrap());
        near(u.clone().tril(-1).unwrap(), &u.zeros_like().unwrap());
        if k > 0 {
            let ones = l.clone().diag().unwrap();
            assert_eq!(read(ones.clone()), read(ones.ones_like().unwrap()));
        }
    }
}

/// Pivots of 0 divide nothing, and neither the values nor the gradients of what is there are lost.
#[test]
fn lu_of_singular_matrices() {
    for rows in [
        [[1.0, 1.0, 0.0], [1.0, 1.0, 2.0], [1.0, 1.0, 3.0]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]],
        [[0.0; 3]; 3],
    ] {
        let x = tensor(&[3, 3], rows.as_flattened());
        let (p, l, u) = x.clone().lu().unwrap();
        near(p.matmul(l).unwrap().matmul(u).unwrap(), &x);
        let slopes = gradient(x, |x| {
            let (_, l, u) = x.lu()?;
            l.sum()?.add(u.sum()?)
        });
        assert!(read(slopes).iter().all(|x| x.is_finite()));
    }
    let (_, _, u) = tensor(&[2, 2, 2], &[f64::NAN, 1.0, 2.0, 3.0, 1.0, 2.0, 2.0, 0.0])
        .lu()
        .unwrap();
    let u = read(u);
    assert!(u[..4].iter().any(|x| x.is_nan()));
    assert_eq!(u[4..], [2.0, 0.0, 0.0, 2.0]);
}

#[test]
fn qr_of_every_shape() {
    for &shape in SHAPES.iter().chain(EMPTY) {
        let (m, n, batch) = sizes(shape);
        for (reduced, size) in [(true, m.min(n)), (false, m)] {
            let (q, r) = random(shape).qr(reduced).unwrap();
            assert_eq!(q.shape()[..], [batch, &[m, size]].concat());
            assert_eq!(r.shape()[..], [batch, &[size, n]].concat());
            near(
                q.clone().transpose().unwrap().matmul(q.clone()).unwrap(),
                &identity(batch, size),
            );
            near(r.clone().tril(-1).unwrap(), &r.clone().zeros_like().unwrap());
            near(q.matmul(r).unwrap(), &random(shape));
        }
    }
}

/// What has zeros below its diagonal already, or columns of zeros.
#[test]
fn qr_of_triangles_and_zeros() {
    let triangle = [
        [2.0, 1.0, -1.0],
        [0.0, -1.0, 0.5],
        [0.0, 0.0, 3.0],
        [0.0, 0.0, 0.0],
    ];
    for reduced in [false, true] {
        gradients([values(&[4, 3], triangle.as_flattened())], |[x]| {
            two(x.qr(reduced))
        });
    }
    for zeros in [
        &[0.0; 6][..],
        &[0.0, 1.0, 0.0, 2.0, 0.0, -1.0],
        &[1.0, 0.0, 2.0, 0.0, 2.0, 0.0],
    ] {
        let x = tensor(&[3, 2], zeros);
        let (q, r) = x.clone().qr(false).unwrap();
        near(
            q.clone().transpose().unwrap().matmul(q.clone()).unwrap(),
            &identity(&[], 3),
        );
        near(q.matmul(r).unwrap(), &x);
        let slopes = gradient(x, |x| {
            let (q, r) = x.qr(false)?;
            q.sum()?.add(r.sum()?)
        });
        assert!(read(slopes).iter().all(|x| x.is_finite()));
    }
}

/// The squares of such columns overflow, or vanish.
#[test]
fn qr_of_every_magnitude() {
    for scale in [1e-40, 1e-30, 1e-23, 1.0, 1e19, 5e37] {
        let x = tensor(&[2, 1], &[3.0, 4.0]).mul(scale).unwrap();
        let (q, r) = x.cast(DType::F32).unwrap().qr(true).unwrap();
        let r = read(r);
        assert!((r[0] / scale + 5.0).abs() < 1e-4, "{scale}: {r:?}");
        let q = read(q);
        assert!(
            (q[0] + 0.6).abs() < 1e-4 && (q[1] + 0.8).abs() < 1e-4,
            "{scale}: {q:?}"
        );
    }
    let slopes = |scale: f64| {
        let x = tensor(&[3, 2], &[3.0, 1.0, 4.0, 2.0, 5.0, -1.0]);
        let x = x.mul(scale).unwrap();
        gradient(x, |x| Ok(x.qr(true)?.1))
    };
    for scale in [1e-200, 1e200] {
        near(slopes(scale), &slopes(1.0)); // of R, which is as large as A
    }
}

#[test]
fn determinants() {
    let det = |shape: &[usize], x: &[f64]| tensor(shape, x).det().unwrap();
    near(det(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), &tensor(&[1], &[-2.0]));
    near(
        det(&[3, 1, 1], &[5.0, 0.0, -1.0]),
        &tensor(&[3], &[5.0, 0.0, -1.0]),
    );
    // Every permutation of three rows.
    let (a, b, c) = ([2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]);
    let even = [[a, b, c], [b, c, a], [c, a, b]];
    let odd = [[b, a, c], [a, c, b], [c, b, a]];
    let all: Vec<f64> = even.iter().chain(&odd).flatten().flatten().copied().collect();
    let signs = [24.0, 24.0, 24.0, -24.0, -24.0, -24.0];
    assert_eq!(read(det(&[6, 3, 3], &all)), signs);

    for (shape, want) in [
        (&[0, 0][..], &[1][..]),
        (&[2, 0, 0], &[2]),
        (&[0, 3, 3], &[0]),
        (&[2, 0, 2, 2], &[2, 0]),
    ] {
        let x = tensor(shape, &[]);
        let det = x.clone().det().unwrap();
        assert_eq!(det.shape()[..], *want);
        assert!(read(det).iter().all(|&x| x == 1.0));
        assert_eq!(gradient(x, |x| x.det()).shape()[..], *shape);
    }
    let half = tensor(&[2, 2], &[300.0, 299.0, 301.0, 300.0])
        .cast(DType::F16)
        .unwrap();
    let det = half.det().unwrap();
    assert_eq!(det.dtype(), DType::F16);
    assert!((read(det)[0] - 1.0).abs() < 0.01);
}

/// The gradient is the matrix of cofactors, of singular matrices too, whose zero may be any pivot.
#[test]
fn gradients_of_singular_determinants() {
    for x in [
        [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0],
        [1.0, 1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0, 3.0],
        [0.0, 1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 5.0, 7.0],
        [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0],
        [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, -1.0, -2.0, -3.0],
        [0.0; 9],
    ] {
        let matrix = tensor(&[3, 3], &x);
        assert!(read(matrix.clone().det().unwrap())[0].abs() < 1e-15);
        let minor = |i: usize, j: usize| {
            let at = |r: usize, c: usize| x[(i + r) % 3 * 3 + (j + c) % 3];
            at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
        };
        let cofactors: Vec<f64> = (0..9).map(|at| minor(at / 3, at % 3)).collect();
        near(gradient(matrix, |x| x.det()), &tensor(&[3, 3], &cofactors));
    }
    near(
        gradient(tensor(&[1, 1], &[0.0]), |x| x.det()),
        &tensor(&[1, 1], &[1.0]),
    );
}

#[test]
fn cholesky_reads_one_triangle() {
    let nan = f64::NAN;
    let lower = [4.0, nan, nan, 2.0, 5.0, nan, -2.0, 1.0, 6.0];
    let factor = [2.0, 0.0, 0.0, 1.0, 2.0, 0.0, -1.0, 1.0, 2.0];
    let a = tensor(&[3, 3], &lower);
    assert_eq!(read(a.clone().cholesky(false).unwrap()), factor);
    let slopes = gradient(a.clone(), |a| a.cholesky(false));
    near(slopes.clone().triu(1).unwrap(), &slopes.zeros_like().unwrap());
    let turned = a.transpose().unwrap().cholesky(true).unwrap();
    assert_eq!(read(turned.transpose().unwrap()), factor);

    // The second of two is not positive definite.
    let two = read(
        tensor(&[2, 2, 2], &[4.0, 2.0, 2.0, 5.0, 1.0, 2.0, 2.0, 1.0])
            .cholesky(false)
            .unwrap(),
    );
    assert_eq!(two[..4], [2.0, 0.0, 1.0, 2.0]);
    assert!(two[7].is_nan());
    for singular in [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]] {
        let factor = read(tensor(&[2, 2], &singular).cholesky(false).unwrap());
        assert!(factor[3].is_nan(), "{factor:?}");
    }
    for &shape in &[&[0, 0][..], &[0, 2, 2], &[2, 0, 0]] {
        assert_eq!(tensor(shape, &[]).cholesky(false).unwrap().shape()[..], *shape);
    }
}

#[test]
fn solutions() {
    for (a, b, want) in [
        (&[3, 3][..], &[3][..], &[3][..]),
        (&[3, 3], &[3, 2], &[3, 2]),
        (&[2, 3, 3], &[2, 3], &[2, 3]),
        (&[2, 3, 3], &[3, 2], &[2, 3, 2]),
        (&[3, 3], &[2, 3, 1], &[2, 3, 1]),
        (&[2, 1, 3, 3], &[4, 3, 2], &[2, 4, 3, 2]),
        (&[1, 1], &[1], &[1]),
    ] {
        assert_eq!(
            random(a).solve(random(b)).unwrap().shape()[..],
            *want,
            "{a:?}, {b:?}"
        );
        gradients([normal(a), normal(b)], |[a, b]| one(a.solve(b)));
    }
    let (a, b) = (random(&[8, 8]), random(&[8, 3]));
    let x = a.clone().solve(b.clone()).unwrap();
    near(a.matmul(x).unwrap(), &b);

    for (a, b, want) in [
        (&[0, 0][..], &[0, 2][..], &[0, 2][..]),
        (&[2, 2], &[2, 0], &[2, 0]),
        (&[0, 2, 2], &[2, 1], &[0, 2, 1]),
        (&[2, 0, 0], &[0], &[2, 0]),
    ] {
        assert_eq!(
            random(a).solve(random(b)).unwrap().shape()[..],
            *want,
            "{a:?}, {b:?}"
        );
    }
    let singular = tensor(&[2, 2], &[1.0, 2.0, 2.0, 4.0]).solve(tensor(&[2], &[1.0, 1.0]));
    assert!(read(singular.unwrap()).iter().all(|x| !x.is_finite()));
    let half = |x: DynTensor| x.cast(DType::BF16).unwrap();
    let x = half(tensor(&[2, 2], &[2.0, 0.0, 0.0, 4.0]))
        .solve(half(tensor(&[2], &[1.0, 1.0])))
        .unwrap();
    assert_eq!((x.dtype(), read(x)), (DType::BF16, vec![0.5, 0.25]));
}

#[test]
fn svd_of_every_shape() {
    let tall = random(&[9, 2]);
    let low_rank = tall.clone().matmul(tall.transpose().unwrap()).unwrap();
    let more = [
        low_rank.clone(),
        low_rank.narrow(1, 0, 5).unwrap(),
        identity(&[2], 3),
        tensor(&[2, 3], &[0.0; 6]),
        tensor(&[2, 2], &[1e-300, 0.0, 1.0, 1e200]),
        tensor(&[2, 2], &[1.0, 1e-310, 0.0, 1e-310]),
        tensor(&[1, 1], &[f64::MAX]),
        tensor(&[2, 2], &[5e-324; 4]),
        random(&[20, 30]),
    ];
    let every = SHAPES.iter().chain(EMPTY).map(|shape| random(shape));
    for x in every.chain(more) {
        let shape = x.shape().to_vec();
        let (m, n, batch) = sizes(&shape);
        let k = m.min(n);
        for full in [false, true] {
            let (u, s, vt) = x.clone().svd(full).unwrap();
            let [left, right] = if full { [m, n] } else { [k, k] };
            assert_eq!(u.shape()[..], [batch, &[m, left]].concat());
            assert_eq!(s.shape()[..], [batch, &[k]].concat());
            assert_eq!(vt.shape()[..], [batch, &[right, n]].concat());
            near(
                u.clone().transpose().unwrap().matmul(u.clone()).unwrap(),
                &identity(batch, left),
            );
            near(
                vt.clone().matmul(vt.clone().transpose().unwrap()).unwrap(),
                &identity(batch, right),
            );
            if shape.contains(&0) {
                continue;
            }
            for values in read(s.clone()).chunks(k) {
                assert!(values.is_sorted_by(|a, b| a >= b) && values[k - 1] >= 0.0);
            }
            let scaled = u
                .narrow(batch.len() + 1, 0, k)
                .unwrap()
                .mul(s.unsqueeze_dim(batch.len()).unwrap());
            let product = scaled.unwrap().matmul(vt.narrow(batch.len(), 0, k).unwrap());
            near(product.unwrap(), &x);
        }
    }
}

/// What lies outside the first columns moves along with them; its projector has one gradient.
#[test]
fn svd_of_full_matrices() {
    gradients([normal(&[4, 2])], |[x]| {
        let (u, s, vt) = x.svd(true)?;
        let others = u.clone().narrow(1, 2, 2)?;
        let projector = others.clone().matmul(others.transpose()?)?;
        Ok(vec![projector, u.narrow(1, 0, 2)?, s, vt])
    });
}

/// Where singular values are equal, the gradient of their sum is U Vᵀ; where one is 0, every gradient is finite.
#[test]
fn svd_of_equal_values() {
    let (sine, cosine) = (0.6, 0.8);
    let x = tensor(&[2, 2], &[cosine, -sine, sine, cosine]);
    near(gradient(x.clone(), |x| Ok(x.svd(false)?.1)), &x);
    gradients([values(&[2, 2], &[cosine, -sine, sine, cosine])], |[x]| {
        let (u, s, vt) = x.svd(false)?;
        Ok(vec![u.matmul(vt)?, s.square()?.sum()?])
    });
    for x in [[1.0, 2.0, 2.0, 4.0], [0.0; 4]] {
        let slopes = gradient(tensor(&[2, 2], &x), |x| {
            let (u, s, vt) = x.svd(false)?;
            u.sum()?.add(s.sum()?)?.add(vt.sum()?)
        });
        assert!(read(slopes).iter().all(|x| x.is_finite()));
    }
}

/// What is computed of half types is computed in `f32`, and rounded once.
#[test]
fn factors_of_halves() {
    let calls: [fn(DynTensor) -> Outputs; 7] = [
        |x| three(x.lu()),
        |x| two(x.qr(false)),
        |x| three(x.svd(false)),
        |x| one(x.det()),
        |x| one(x.clone().solve(x.narrow(1, 0, 1)?)),
        |x| one(x.clone().matmul(x.transpose()?)?.cholesky(true)),
        |x| one(x.lp_norm(3.5, 0)),
    ];
    for dtype in [DType::F16, DType::BF16] {
        let x = identity(&[], 3)
            .add(random(&[3, 3]))
            .unwrap()
            .cast(dtype)
            .unwrap();
        // What is exact in both types: only the last call may round.
        let x = x.mul(2).unwrap().round().unwrap();
        for call in calls {
            let wide = call(x.clone().float().unwrap()).unwrap();
            for (got, wide) in call(x.clone()).unwrap().into_iter().zip(wide) {
                assert_eq!(got.dtype(), dtype);
                assert_eq!(read(got), read(wide.cast(dtype).unwrap()));
            }
        }
    }
}

#[test]
fn einsums() {
    for (equation, shapes) in [
        ("ij,jk->ki", [&[2, 3][..], &[3, 4]]),
        ("ij,j", [&[2, 3], &[3]]),
        ("bij,bjk->bik", [&[2, 2, 3], &[2, 3, 2]]),
        ("...ij,...jk->...ik", [&[2, 1, 2, 3], &[3, 3, 2]]),
        ("iij,kj->ik", [&[2, 2, 3], &[2, 3]]),
        ("ij,ij->", [&[2, 3], &[1, 3]]),
        ("...i,i...->...", [&[3, 2], &[2, 3]]),
        ("ab,cd->dacb", [&[2, 3], &[1, 2]]),
    ] {
        gradients(shapes.map(normal), |[x, y]| {
            one(DynTensor::einsum(equation, vec![x, y]))
        });
    }
    gradients([normal(&[3, 3])], |[x]| {
        one(DynTensor::einsum(" i i -> i ", vec![x]))
    });
    gradients([normal(&[2, 3]), normal(&[3, 2]), normal(&[2])], |[x, y, z]| {
        one(DynTensor::einsum("ij,jk,k->i", vec![x, y, z]))
    });
    let number = tensor(&[1], &[2.0]);
    let scaled = DynTensor::einsum(",i->i", vec![number.clone(), tensor(&[2], &[3.0, 4.0])]);
    assert_eq!(read(scaled.unwrap()), [6.0, 8.0]);
    let rank_0 = DynTensor::einsum("->", vec![number.reshape([]).unwrap()]).unwrap();
    assert_eq!((rank_0.shape().to_vec(), read(rank_0)), (vec![1], vec![2.0]));
    let ints = tensor(&[2], &[3.0, 4.0]).cast(DType::I32).unwrap();
    let dot = DynTensor::einsum("i,i->", vec![ints.clone(), ints]).unwrap();
    assert_eq!((dot.dtype(), read(dot)), (DType::I32, vec![25.0]));
}

#[test]
fn what_is_refused() {
    let einsum = |equation: &str, shapes: &[&[usize]]| {
        let operands = shapes.iter().map(|shape| random(shape)).collect();
        DynTensor::einsum(equation, operands).map(|x| vec![x])
    };
    let refused: &[(Outputs, &str)] = &[
        (
            einsum("ij,jk->ik", &[&[2, 3]]),
            "einsum: `ij,jk->ik`: 1 operands, where the equation has 2",
        ),
        (
            einsum("", &[]),
            "einsum: ``: 0 operands, where the equation has 1",
        ),
        (
            einsum("ij->j", &[&[2]]),
            "einsum: `ij->j`: an operand of rank 1 for `ij`",
        ),
        (
            einsum("i->i", &[&[2, 2]]),
            "einsum: `i->i`: an operand of rank 2 for `i`",
        ),
        (
            einsum("...ij->i", &[&[2]]),
            "einsum: `...ij->i`: an operand of rank 1 for `...ij`",
        ),
        (
            einsum("->", &[&[3]]),
            "einsum: `->`: an operand of shape [3] where a number stands, of shape [1]",
        ),
        (
            einsum("i->j", &[&[2]]),
            "einsum: `i->j`: the output has an axis that no operand has",
        ),
        (
            einsum("i->ii", &[&[2]]),
            "einsum: `i->ii`: an axis stands twice in the output",
        ),
        (
            einsum("ij,jk->ik", &[&[2, 3], &[2, 3]]),
            "einsum: `ij,jk->ik`: sizes 3 and 2 along one axis",
        ),
        (
            einsum("ii->", &[&[1, 3]]),
            "einsum: `ii->`: an operand of shape [1, 3] has two sizes along one letter",
        ),
        (
            einsum("i..->i", &[&[2]]),
            "einsum: `i..->i`: `i..` must be letters, and `...` once at most",
        ),
        (
            einsum("......->", &[&[2]]),
            "einsum: `......->`: `......` must be letters, and `...` once at most",
        ),
        (
            einsum("é", &[&[2]]),
            "einsum: `é`: `é` must be letters, and `...` once at most",
        ),
        (
            einsum("i->j->k", &[&[2]]),
            "einsum: `i->j->k`: `j->k` must be letters, and `...` once at most",
        ),
        (
            one(random(&[2, 3]).det()),
            "det: [2, 3]: the matrix must be square, not 2 × 3",
        ),
        (
            one(random(&[2]).det()),
            "det: expected a matrix, rank 2 or more, got rank 1",
        ),
        (
            one(random(&[2, 2]).int().unwrap().det()),
            "det: expected a float type, got i32; `cast` converts",
        ),
        (
            one(random(&[2, 3]).cholesky(true)),
            "cholesky: [2, 3]: the matrix must be square, not 2 × 3",
        ),
        (
            three(random(&[2]).lu()),
            "lu: expected a matrix, rank 2 or more, got rank 1",
        ),
        (
            two(random(&[]).qr(true)),
            "qr: expected a matrix, rank 2 or more, got rank 0",
        ),
        (
            three(random(&[2]).svd(true)),
            "svd: expected a matrix, rank 2 or more, got rank 1",
        ),
        (
            three(tensor(&[1, 2], &[1.0, f64::NAN]).svd(true)),
            "svd: an element is NaN or infinite",
        ),
        (
            one(random(&[2, 2]).solve(random(&[3]))),
            "solve: [2, 2] and [3, 1]: B must have as many rows as A, and batch axes that broadcast to those of A",
        ),
        (
            one(random(&[2, 2, 2]).solve(random(&[3, 2, 1]))),
            "solve: [2, 2, 2] and [3, 2, 1]: B must have as many rows as A, and batch axes that broadcast to those of A",
        ),
        (
            one(random(&[1, 1]).solve(random(&[]))),
            "solve: expected a B of matrices, rank 2 or more, got rank 0",
        ),
        (
            one(random(&[2, 2]).solve(random(&[2, 2]).float().unwrap())),
            "solve: expected f64, as A, got f32; `cast` converts",
        ),
        (
            one(random(&[2, 2]).cross(random(&[2, 3]), 1)),
            "cross: [2, 2] and [2, 3]: the cross product is one of 3 numbers each, along axis 1",
        ),
        (
            one(random(&[3])
                .float()
                .unwrap()
                .cross(random(&[3]).cast(DType::F16).unwrap(), 0)),
            "cross: expected f32, as the other operand, got f16; `cast` converts",
        ),
        (
            one(random(&[3]).cosine_similarity(random(&[3]).float().unwrap(), 0, None)),
            "cosine_similarity: expected f64, as the other operand, got f32; `cast` converts",
        ),
        (
            one(random(&[2, 2]).matvec(random(&[2, 2]))),
            "matvec: expected a matrix, rank 2 or more, and a vector of one axis less, not 2, got rank 2",
        ),
        (
            one(random(&[]).outer(random(&[]))),
            "outer: expected vectors, rank 1 or more, got rank 0",
        ),
        (
            one(random(&[2]).trace()),
            "trace: expected rank 2 or more, got rank 1",
        ),
        (
            one(random(&[2]).vector_norm(f64::NAN, 0)),
            "vector_norm: there is no norm with p = NaN",
        ),
        (
            one(random(&[2]).vector_normalize(2, 0, f64::NAN)),
            "vector_normalize: the bound of the norm is NaN",
        ),
    ];
    for (result, text) in refused {
        match result {
            Err(error) => assert_eq!(error.to_string(), *text),
            Ok(_) => panic!("accepted: {text}"),
        }
    }
}

/// The error names the function that was called, not one of the ops it is made of.
#[test]
fn norms_are_of_floats() {
    let x = || tensor(&[2], &[1.0, 2.0]).int().unwrap();
    for (name, result) in [
        ("vector_norm", x().vector_norm(2, 0)),
        ("vector_norm", x().vector_norm(3, 0)),
        ("vector_norm", x().vector_norm(-1, 0)),
        ("vector_norm", x().vector_norm_dims(0.5, &[0])),
        ("vector_norm", x().bool().unwrap().vector_norm_dims(1, &[0])),
        ("vector_normalize", x().vector_normalize(1, 0, 1e-5)),
        ("cosine_similarity", x().cosine_similarity(x(), 0, None)),
    ] {
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with(&format!("{name}: ")), "{text}");
    }
    assert_eq!(x().l1_norm(0).unwrap().into_vec::<i32>().unwrap(), [3]);
}

fn three(outputs: Result<(DynTensor, DynTensor, DynTensor), Error>) -> Outputs {
    outputs.map(|(x, y, z)| vec![x, y, z])
}

fn tensor(shape: &[usize], values: &[f64]) -> DynTensor {
    let data = TensorData::new(values.to_vec(), shape).unwrap();
    DynTensor::from_data(data, &DynDevice::default()).unwrap()
}

/// Always the same, by its shape.
fn random(shape: &[usize]) -> DynTensor {
    match normal(shape) {
        Input::Float(shape, values) => tensor(&shape, &values),
        _ => unreachable!("these are floats"),
    }
}

fn identity(batch: &[usize], size: usize) -> DynTensor {
    let one = DynTensor::eye(size, DType::F64, &DynDevice::default()).unwrap();
    one.expand([batch, &[size, size]].concat()).unwrap()
}

fn sizes(shape: &[usize]) -> (usize, usize, &[usize]) {
    match shape {
        [batch @ .., m, n] => (*m, *n, batch),
        _ => panic!("{shape:?} is no matrix"),
    }
}

fn read(x: DynTensor) -> Vec<f64> {
    x.cast(DType::F64).unwrap().into_vec().unwrap()
}

/// Equal but for rounding, measured by the greatest of what is expected.
#[track_caller]
fn near(got: DynTensor, want: &DynTensor) {
    assert_eq!(got.shape(), want.shape());
    let (got, want) = (read(got), read(want.clone()));
    let scale = want.iter().fold(1e-300, |max: f64, x| max.max(x.abs()));
    let scale = if scale > 1e-300 { scale } else { 1.0 };
    for (got, want) in got.iter().zip(&want) {
        assert!((got - want).abs() <= 1e-13 * scale, "{got} is not {want}");
    }
}

/// The gradient of the sum of `f(x)`.
#[track_caller]
fn gradient(x: DynTensor, f: impl Fn(DynTensor) -> Result<DynTensor, Error>) -> DynTensor {
    let x = x.require_grad().unwrap();
    let gradients = f(x.clone()).unwrap().sum().unwrap().backward().unwrap();
    x.grad(&gradients).unwrap().unwrap()
}
