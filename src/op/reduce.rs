use super::leaf_ops;
use crate::element::DType;

leaf_ops! {
    /// A reduction. Half types accumulate in `f32`; integers stay in their type and wrap.
    ReduceOp {
        /// The sum; 0 of nothing.
        Sum = "sum",
        /// The mean; NaN of nothing.
        Mean = "mean",
        /// The product; 1 of nothing.
        Prod = "prod",
        /// The greatest; NaN if any is. Of nothing it is an error.
        Max = "max",
        /// The least; NaN if any is. Of nothing it is an error.
        Min = "min",
        /// Where the greatest is, as `i32`: the first of several, and the first NaN before all.
        ArgMax = "argmax",
        /// Where the least is, as `i32`: the first of several, and the first NaN before all.
        ArgMin = "argmin",
        /// Whether any is true; false of nothing.
        Any = "any",
        /// Whether all are true; true of nothing.
        All = "all",
    }
}

leaf_ops! {
    /// A running reduction along an axis. NaN stays once met.
    ScanOp {
        /// Running sum.
        Sum = "cumsum",
        /// Running product.
        Prod = "cumprod",
        /// Running maximum.
        Max = "cummax",
        /// Running minimum.
        Min = "cummin",
    }
}

impl ReduceOp {
    /// Whether the op takes this element type.
    pub fn takes(self, dtype: DType) -> bool {
        use ReduceOp::*;
        match self {
            Sum | Prod | Max | Min | ArgMax | ArgMin => dtype != DType::Bool,
            Mean => dtype.is_float(),
            Any | All => dtype == DType::Bool,
        }
    }

    /// The element type of the result.
    pub fn output(self, dtype: DType) -> DType {
        if self.is_arg() { DType::I32 } else { dtype }
    }

    /// Whether the result is a place, not a value; such an op reduces exactly one axis.
    pub fn is_arg(self) -> bool {
        matches!(self, ReduceOp::ArgMax | ReduceOp::ArgMin)
    }

    /// Whether the op has no value for zero elements.
    pub fn needs_elements(self) -> bool {
        matches!(self, ReduceOp::Max | ReduceOp::Min) || self.is_arg()
    }
}
