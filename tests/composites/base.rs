//! Elements, order, indices, reductions.

use crate::check::{float, gradients, normal, one, two};

#[test]
fn reductions() {
    gradients([normal(&[2, 3, 4])], |[x]| one(x.var(1)));
    gradients([normal(&[3, 4])], |[x]| two(x.var_mean_bias(0)));
    gradients([normal(&[3, 4])], |[x]| one(x.std(1)));
    gradients([float(&[2, 3], 0.2, 2.0)], |[x]| one(x.prod_dims(&[0, 1])));
}
