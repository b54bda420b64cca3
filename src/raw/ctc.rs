use super::Raw;
use crate::backend::Backend;
use crate::element::{DType, Scalar};
use crate::error::Error;

const NEVER: f64 = f64::NEG_INFINITY;

/// Connectionist temporal classification.
impl<B: Backend> Raw<B> {
    /// `-ln P(targets)` for each sample, where the probability is the sum over all alignments (Graves et al. 2006). `self`
    /// holds log-probabilities `[time, n, classes]`, `targets` `[n, s]` classes other than `blank`, the lengths `[n]` how
    /// much of either counts. A target that needs more time than there is gives infinity and no gradient.
    ///
    /// # Errors
    /// If the shapes do not fit, or a length, a class or `blank` is out of range.
    pub fn ctc_loss(
        self,
        targets: Self,
        input_lengths: Self,
        target_lengths: Self,
        blank: usize,
    ) -> Result<Self, Error> {
        check(&self, &targets, [&input_lengths, &target_lengths], blank)?;
        let dtype = self.dtype();
        if targets.shape()[0] == 0 {
            return Self::zeros([0], dtype, &self.device());
        }
        Alignments::new(self.widen()?, targets, input_lengths, target_lengths, blank)
            .and_then(Alignments::loss)
            .map_err(|error| error.of("ctc_loss"))?
            .cast(dtype)
    }

    /// `ln Σ eˣ` along an axis; of `-∞` alone it is `-∞`, with gradient 0.
    fn log_sum_exp(self, axis: usize) -> Result<Self, Error> {
        let greatest = self.clone().max_dim(axis)?;
        let never = greatest.clone().equal(NEVER)?;
        let shift = never.clone().choose(0.0, greatest)?;
        let sum = self.sub(shift.clone())?.exp()?.sum_dim(axis)?;
        let log = never.clone().choose(1.0, sum)?.log()?.add(shift)?;
        never.choose(NEVER, log)
    }
}

fn check<B: Backend>(
    log_probs: &Raw<B>,
    targets: &Raw<B>,
    lengths: [&Raw<B>; 2],
    blank: usize,
) -> Result<(), Error> {
    let op = "ctc_loss";
    log_probs.floats(op)?;
    if let Some(x) = [targets, lengths[0], lengths[1]]
        .into_iter()
        .find(|x| !x.dtype().is_int())
    {
        return Err(Error::dtype(
            op,
            x.dtype(),
            "targets and lengths of an integer type",
        ));
    }
    let classes = match (&log_probs.shape()[..], &targets.shape()[..]) {
        (&[_, n, classes], &[m, _]) if m == n && lengths.iter().all(|x| x.shape()[..] == [n]) => classes,
        _ => {
            let message = "needs log-probabilities [time, n, classes], targets [n, s], and n lengths of each";
            let shapes = [log_probs, targets, lengths[0], lengths[1]].map(Raw::shape);
            return Err(Error::shape(op, &shapes, message));
        }
    };
    if blank >= classes {
        let message = format!("blank {blank} is not one of {classes} classes");
        return Err(Error::argument(op, message));
    }
    Ok(())
}

/// The states of all samples: a blank before, between and after their labels.
struct Alignments<B: Backend> {
    /// `[time, n, states]`: the log-probability of each state's label; 0 after the end of a sample.
    emitted: Raw<B>,
    /// `[time, n, 1]`: before the end of the sample.
    running: Raw<B>,
    /// `[n, states]`: whether the state can follow that before the previous one.
    skips: Raw<B>,
    /// `[n]`: the lengths of the targets, as `i32`.
    labels: Raw<B>,
}

impl<B: Backend> Alignments<B> {
    fn new(
        log_probs: Raw<B>,
        targets: Raw<B>,
        input_lengths: Raw<B>,
        target_lengths: Raw<B>,
        blank: usize,
    ) -> Result<Self, Error> {
        let (time, n, s) = (log_probs.shape()[0], targets.shape()[0], targets.shape()[1]);
        let states = 2 * s + 1;
        let steps = up_to(time, "an input", input_lengths)?;
        let labels = up_to(s, "a target", target_lengths)?;

        // Small types may not hold the blank; what stands after the end of a target is anything.
        let targets = match targets.dtype().size() {
            1 | 2 => targets.cast(DType::I32)?,
            _ => targets,
        };
        let blank = Scalar::UInt(blank as u64);
        let unused = targets
            .positions(1)?
            .greater_equal(labels.clone().reshape([n, 1])?)?;
        let targets = targets.mask_where(unused, blank)?.reshape([n, s, 1])?;
        let pairs = Raw::cat(vec![targets.full_like(blank)?, targets.clone()], 2)?;
        let last = Raw::full([n, 1], blank, targets.dtype(), &targets.device())?;
        let path = Raw::cat(vec![pairs.reshape([n, states - 1])?, last], 1)?;

        let before = path.clone().pad([(0, 0), (2, 0)], blank)?.narrow(1, 0, states)?;
        let skips = path
            .clone()
            .not_equal(before)?
            .bool_and(path.clone().not_equal(blank)?)?;

        let running = log_probs.positions(0)?.lower(steps.reshape([1, n, 1])?)?;
        let path = path.reshape([1, n, states])?.expand([time, n, states])?;
        let emitted = log_probs.gather(2, path)?;
        // What stands after the end of a sample is anything, also NaN.
        let emitted = running.clone().choose(emitted, 0.0)?;
        Ok(Alignments {
            emitted,
            running,
            skips,
            labels,
        })
    }

    /// The forward recursion over time, in logarithms.
    fn loss(self) -> Result<Raw<B>, Error> {
        let (n, states) = (self.emitted.shape()[1], self.emitted.shape()[2]);
        let device = self.emitted.device();
        // Before the first step each sample stands at the first blank.
        let start = Raw::zeros([n, 1], self.emitted.dtype(), &device)?;
        let mut reached = start.pad([(0, 0), (0, states - 1)], NEVER)?;
        for (emitted, running) in self.emitted.iter_dim(0)?.zip(self.running.iter_dim(0)?) {
            let padded = reached.clone().pad([(0, 0), (2, 0)], NEVER)?;
            let back = |by: usize| padded.clone().narrow(1, 2 - by, states);
            let ways = vec![back(0)?, back(1)?, self.skips.clone().choose(back(2)?, NEVER)?];
            let next = Raw::stack(ways, 0)?.log_sum_exp(0)?.squeeze_dim(0)?;
            let next = next.add(emitted.squeeze_dim(0)?)?;
            reached = running.squeeze_dim(0)?.choose(next, reached)?;
        }
        // A sample ends at its last label or at the blank after it.
        let blank = self.labels.mul(2)?.reshape([n, 1])?;
        let label = blank.clone().sub(1)?.max_pair(0)?;
        let none = blank.clone().equal(0)?;
        let at_label = none.choose(NEVER, reached.clone().gather(1, label)?)?;
        let ends = Raw::cat(vec![reached.gather(1, blank)?, at_label], 1)?;
        ends.log_sum_exp(1)?.neg()?.reshape([n])
    }
}

/// The lengths as `i32`; an error if one is not in `0..=greatest`.
fn up_to<B: Backend>(greatest: usize, of: &str, lengths: Raw<B>) -> Result<Raw<B>, Error> {
    let looked_up = lengths.arange_like(greatest + 1)?.select(0, lengths);
    looked_up.map_err(|error| match error {
        Error::Index { index, .. } => Error::argument(
            "ctc_loss",
            format!("the length of {of} is {index}, not in 0..={greatest}"),
        ),
        other => other,
    })
}
