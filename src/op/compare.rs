use super::leaf_ops;
use crate::element::DType;

leaf_ops! {
    /// A comparison. Every one with NaN is false, but `NotEqual`.
    CompareOp {
        /// `a == b`.
        Equal = "equal",
        /// `a != b`.
        NotEqual = "not_equal",
        /// `a < b`.
        Lower = "lower",
        /// `a <= b`.
        LowerEqual = "lower_equal",
        /// `a > b`.
        Greater = "greater",
        /// `a >= b`.
        GreaterEqual = "greater_equal",
    }
}

impl CompareOp {
    /// Whether the op takes this element type: truth values have no order.
    pub fn takes(self, dtype: DType) -> bool {
        dtype != DType::Bool || matches!(self, CompareOp::Equal | CompareOp::NotEqual)
    }
}
