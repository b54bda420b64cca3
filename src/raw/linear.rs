use super::Raw;
use crate::backend::Backend;
use crate::error::Error;
use crate::op::{self, FusedOp, Op};
use crate::shape::Dims;

/// How attention weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttentionModuleOptions {
    /// The factor of the scores; `1/√d` by default.
    pub scale: Option<f64>,
    /// What keeps the scores below it: `softcap · tanh(score / softcap)`; positive and finite.
    pub softcap: Option<f64>,
    /// Whether keys after the query are hidden.
    pub is_causal: bool,
    /// Where queries and keys that are not as many begin or end together.
    pub causal_alignment: CausalAlignment,
}

/// Which query sees which keys, where they are not as many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CausalAlignment {
    /// The last query sees the last key.
    #[default]
    BottomRight,
    /// The first query sees the first key alone.
    TopLeft,
}

/// Products, attention and fused ops.
///
/// # Errors
/// Each returns what [`op::run`] does.
impl<B: Backend> Raw<B> {
    /// The matrix product of the last two axes.
    pub fn matmul(self, rhs: Self) -> Result<Self, Error> {
        op::run::<B>(Op::Matmul(self.0, rhs.0)).map(Raw)
    }

    /// `x w + b` over the last axis: `self` is `[…, in]`, `weight` `[in, out]`, `bias` `[out]`.
    pub fn linear(self, weight: Self, bias: Option<Self>) -> Result<Self, Error> {
        let (Some((&width, rows)), &[inputs, outputs]) = (self.shape().split_last(), &weight.shape()[..])
        else {
            return Err(Error::rank(
                "linear",
                weight.rank(),
                "weights of rank 2, and an input of rank 1 or more",
            ));
        };
        if width != inputs {
            let message = "the last axis of the input must be as long as the first of the weights";
            return Err(Error::shape("linear", &[self.shape(), weight.shape()], message));
        }
        let shape: Dims = rows.iter().copied().chain([outputs]).collect();
        let rows = rows.iter().product();
        let y = self.reshape([rows, inputs])?.matmul(weight)?.add_channels(bias)?;
        y.reshape(shape)
    }

    /// The rows of `self`, `[n, width]`, that an index of any shape names: `[…, width]`.
    pub fn embedding(self, index: Self) -> Result<Self, Error> {
        if self.rank() != 2 {
            return Err(Error::rank("embedding", self.rank(), "weights of rank 2"));
        }
        self.take(0, index)
    }

    /// Adds one number for each channel, axis 1.
    pub(crate) fn add_channels(self, bias: Option<Self>) -> Result<Self, Error> {
        let Some(bias) = bias else { return Ok(self) };
        let channels = self.size("bias", 1)?;
        if bias.shape()[..] != [channels] {
            let message = "the bias must hold one number for each channel";
            return Err(Error::shape("bias", &[self.shape(), bias.shape()], message));
        }
        let mut shape: Dims = smallvec::smallvec![1; self.rank()];
        shape[1] = channels;
        self.add(bias.reshape(shape)?)
    }

    /// `softmax(q kᵀ · scale + bias) v` over the last two axes; the others are batch axes. The query, `self`, is
    /// `[…, m, d]`, `key` `[…, n, d]`, `value` `[…, n, e]`; `mask` (true hides) and `bias` stretch to `[…, m, n]`. A query
    /// from which everything is hidden gives zeros. The last batch axis counts heads: where those of the query are a multiple
    /// of those of key and value, as many in a row share one.
    pub fn attention(
        self,
        key: Self,
        value: Self,
        mask: Option<Self>,
        bias: Option<Self>,
        options: AttentionModuleOptions,
    ) -> Result<Self, Error> {
        let rank = self.rank();
        if rank >= 3 && key.rank() == rank && value.rank() == rank {
            let [heads, shared, of_values] = [&self, &key, &value].map(|x| x.shape()[rank - 3]);
            if shared > 1 && heads > shared && heads % shared == 0 && of_values == shared {
                let shape = self.shape().clone().with(rank - 1, value.shape()[rank - 1]);
                let groups = [shared, heads / shared];
                let more = |x: Option<Self>| x.map(|x| x.per_group(heads, groups)).transpose();
                let y = self.regrouped(groups)?.attention(
                    key.regrouped([shared, 1])?,
                    value.regrouped([shared, 1])?,
                    more(mask)?,
                    more(bias)?,
                    options,
                );
                return y?.reshape(shape);
            }
        }
        let AttentionModuleOptions { scale, softcap, .. } = options;
        let (mask, causal) = match options.causal_alignment {
            CausalAlignment::TopLeft if options.is_causal && rank >= 2 && key.rank() == rank => {
                (Self::ahead(&self, &key, mask)?, false)
            }
            _ => (mask, options.is_causal),
        };
        let op = |[q, k, v]: [Self; 3], mask, bias| FusedOp::Attention {
            q,
            k,
            v,
            mask,
            bias,
            causal,
            scale,
        };
        let Some(softcap) = softcap else {
            return Self::fused(op([self, key, value], mask, bias));
        };
        if !(softcap > 0.0 && softcap.is_finite()) {
            let message = format!("softcap is {softcap}, not positive and finite");
            return Err(Error::argument("attention", message));
        }
        let qkv = [self, key, value];
        let fused = op(qkv.clone(), mask.clone(), bias.clone());
        op::infer(&Op::Fused(Box::new(fused)))?;
        op::lower::attention(qkv, mask, bias, causal, scale, Some(softcap))
    }

    /// With two axes in place of the third from the last.
    fn regrouped(self, groups: [usize; 2]) -> Result<Self, Error> {
        let mut shape = self.shape().to_vec();
        let axis = shape.len() - 3;
        shape.splice(axis..=axis, groups);
        self.reshape(shape)
    }

    /// A mask or a bias, for heads in groups.
    fn per_group(self, heads: usize, groups: [usize; 2]) -> Result<Self, Error> {
        match self.shape().iter().rev().nth(2) {
            None => Ok(self),
            Some(1) => self.regrouped([1, 1]),
            Some(&n) if n == heads => self.regrouped(groups),
            Some(_) => {
                let message = format!("mask and bias must have {heads} heads, or 1");
                Err(Error::shape("attention", &[self.shape()], message))
            }
        }
    }

    /// `mask`, and besides the keys whose place is after that of the query.
    fn ahead(query: &Self, key: &Self, mask: Option<Self>) -> Result<Option<Self>, Error> {
        // Beside an axis of size 0 there is no bound on the others.
        if query.shape().num_elements() == 0 && key.shape().num_elements() == 0 {
            return Ok(mask);
        }
        let axis = query.rank() - 2;
        let hidden = key
            .positions(axis)?
            .transpose()?
            .greater(query.positions(axis)?)?;
        Ok(Some(match mask {
            Some(mask) => mask.bool_or(hidden)?,
            None => hidden,
        }))
    }

    /// A fused op.
    pub fn fused(op: FusedOp<Self>) -> Result<Self, Error> {
        Self::run(Op::Fused(Box::new(op)))
    }
}
