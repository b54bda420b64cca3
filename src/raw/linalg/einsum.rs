//! Einstein summation.

use crate::backend::Backend;
use crate::error::Error;
use crate::raw::Raw;
use crate::shape::Dims;

impl<B: Backend> Raw<B> {
    /// Sums of products of elements, by an equation: each axis of an operand has a letter, and along equal letters it is
    /// multiplied; letters that the output, after `->`, lacks are summed over. Equal letters have equal sizes, or one is 1 and
    /// stretches; within one operand they take its diagonal. `...` are any more axes, which broadcast from the last.
    /// Without `->` the output is `...` and the letters that stand once, in alphabetical order, capitals first. An output
    /// without axes has shape `[1]`. Operands are contracted from left to right.
    ///
    /// # Errors
    /// If the equation is none, or the operands are others than it says.
    pub fn einsum(equation: &str, operands: Vec<Self>) -> Result<Self, Error> {
        let ranks: Vec<usize> = operands.iter().map(Raw::rank).collect();
        let Equation { inputs, output } = Equation::parse(equation, &ranks)?;
        let wanted = |label: Label, later: &[Vec<Label>]| {
            output.contains(&label) || later.iter().any(|input| input.contains(&label))
        };
        let terms = operands.into_iter().zip(&inputs).map(|(x, labels)| {
            let labels = labels.clone();
            // No axes, and one of size 1, are a number both.
            match &x.shape()[..] {
                [1] if labels.is_empty() => Ok(Term {
                    x: x.reshape([])?,
                    labels,
                }),
                shape if labels.len() != shape.len() => {
                    let message =
                        format!("an operand of shape {shape:?} where a number stands, of shape [1]");
                    Err(refuse(equation, message))
                }
                _ => Term { x, labels }.diagonals(equation),
            }
        });
        let mut product: Option<Term<B>> = None;
        for (i, term) in terms.enumerate() {
            let later = &inputs[i + 1..];
            product = Some(match product {
                None => term?.sum_but(|label| wanted(label, later))?,
                Some(left) => left.times(term?, |label| wanted(label, later), equation)?,
            });
        }
        let Some(product) = product else {
            return Err(refuse(equation, "there are no operands"));
        };
        product.ordered(&output)
    }
}

/// An axis: a letter, or one of those that `...` stands for, counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    More(std::cmp::Reverse<usize>),
    Letter(u8),
}

struct Equation {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

impl Equation {
    fn parse(equation: &str, ranks: &[usize]) -> Result<Self, Error> {
        let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
        let (inputs, output) = match text.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output)),
            None => (&text[..], None),
        };
        let terms: Vec<&str> = inputs.split(',').collect();
        if terms.len() != ranks.len() {
            let message = format!("{} operands, where the equation has {}", ranks.len(), terms.len());
            return Err(refuse(equation, message));
        }
        let inputs = terms.iter().zip(ranks).map(|(term, &rank)| {
            let letters = letters(equation, term)?;
            let (named, open) = (letters.iter().flatten().count(), letters.contains(&None));
            let number = term.is_empty() && rank <= 1;
            if named > rank && !number || named < rank && !open && !number {
                let message = format!("an operand of rank {rank} for `{term}`");
                return Err(refuse(equation, message));
            }
            Ok(labels(&letters, rank.saturating_sub(named)))
        });
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let mut all: Vec<Label> = inputs.concat();
        all.sort();
        let more = all.iter().filter_map(|label| match label {
            Label::More(place) => Some(place.0 + 1),
            Label::Letter(_) => None,
        });
        let more = more.max().unwrap_or(0);
        let output = match output {
            Some(term) => labels(&letters(equation, term)?, more),
            None => {
                let once = |label: &Label| all.iter().filter(|other| *other == label).count() == 1;
                let mut labels = all.clone();
                labels.retain(|label| matches!(label, Label::More(_)) || once(label));
                labels.dedup();
                labels
            }
        };
        for (i, label) in output.iter().enumerate() {
            if output[..i].contains(label) {
                return Err(refuse(equation, "an axis stands twice in the output"));
            }
            if !all.contains(label) {
                return Err(refuse(equation, "the output has an axis that no operand has"));
            }
        }
        Ok(Equation { inputs, output })
    }
}

/// The letters of a term, and `None` for `...`.
fn letters(equation: &str, term: &str) -> Result<Vec<Option<u8>>, Error> {
    let mut letters = vec![];
    let mut rest = term;
    while let Some(c) = rest.chars().next() {
        if let (false, Some(after)) = (letters.contains(&None), rest.strip_prefix("...")) {
            letters.push(None);
            rest = after;
        } else if c.is_ascii_alphabetic() {
            letters.push(Some(c as u8));
            rest = &rest[1..];
        } else {
            let message = format!("`{term}` must be letters, and `...` once at most");
            return Err(refuse(equation, message));
        }
    }
    Ok(letters)
}

fn labels(letters: &[Option<u8>], more: usize) -> Vec<Label> {
    let labels = letters.iter().map(|letter| match letter {
        Some(letter) => vec![Label::Letter(*letter)],
        None => (0..more)
            .rev()
            .map(|place| Label::More(std::cmp::Reverse(place)))
            .collect(),
    });
    labels.flatten().collect()
}

/// A tensor whose axes have labels, each once.
struct Term<B: Backend> {
    x: Raw<B>,
    labels: Vec<Label>,
}

impl<B: Backend> Term<B> {
    /// Of axes with one label their diagonal.
    fn diagonals(self, equation: &str) -> Result<Self, Error> {
        let Term { mut x, mut labels } = self;
        while let Some((first, second)) = twice(&labels) {
            let shape = x.shape().clone();
            if shape[first] != shape[second] {
                let message = format!("an operand of shape {shape} has two sizes along one letter");
                return Err(refuse(equation, message));
            }
            let rank = x.rank();
            x = x.movedim([first, second], [rank - 2, rank - 1])?.diag()?;
            labels.remove(second);
            let label = labels.remove(first);
            labels.push(label);
        }
        Ok(Term { x, labels })
    }

    /// The sum over what is not kept.
    fn sum_but(mut self, keep: impl Fn(Label) -> bool) -> Result<Self, Error> {
        let axes: Dims = (0..self.labels.len())
            .filter(|&axis| !keep(self.labels[axis]))
            .collect();
        if !axes.is_empty() {
            self.x = self.x.sum_dims(&axes)?.squeeze_dims(&axes)?;
            self.labels.retain(|&label| keep(label));
        }
        Ok(self)
    }

    /// The product with another, summed over what is not kept: by `matmul` over the axes of both.
    fn times(self, other: Self, keep: impl Fn(Label) -> bool, equation: &str) -> Result<Self, Error> {
        let left = self.sum_but(|label| keep(label) || other.labels.contains(&label))?;
        let right = other.sum_but(|label| keep(label) || left.labels.contains(&label))?;
        let of = |labels: &[Label], choose: &dyn Fn(&Label) -> bool| -> Vec<Label> {
            labels.iter().copied().filter(choose).collect()
        };
        let shared = |label: &Label| right.labels.contains(label);
        let batch = of(&left.labels, &|label| shared(label) && keep(*label));
        let summed = of(&left.labels, &|label| shared(label) && !keep(*label));
        let rows = of(&left.labels, &|label| !shared(label));
        let columns = of(&right.labels, &|label| !left.labels.contains(label));

        let mut sizes: Vec<(Label, usize)> = vec![];
        for &label in left.labels.iter().chain(&columns) {
            let size = match (left.size(label), right.size(label)) {
                (Some(1), Some(n)) | (Some(n), Some(1)) => n,
                (Some(m), Some(n)) if m != n => {
                    let message = format!("sizes {m} and {n} along one axis");
                    return Err(refuse(equation, message));
                }
                (size, other) => size.or(other).unwrap_or(1),
            };
            sizes.push((label, size));
        }
        let size_of = |label: &Label| {
            sizes
                .iter()
                .find(|(of, _)| of == label)
                .map_or(1, |(_, size)| *size)
        };
        let dims = |labels: &[Label]| labels.iter().map(size_of).collect::<Vec<usize>>();
        let labels = [&batch[..], &rows, &columns].concat();

        if summed.is_empty() {
            let left = left.aligned(&labels)?;
            let right = right.aligned(&labels)?;
            return Ok(Term {
                x: left.mul(right)?,
                labels,
            });
        }
        let joined = |labels: &[Label]| labels.iter().map(size_of).fold(1, usize::saturating_mul);
        let matrices = |term: Self, first: &[Label], second: &[Label]| {
            let order = [&batch[..], first, second].concat();
            let shape = [dims(&batch), vec![joined(first), joined(second)]].concat();
            term.aligned(&order)?.expand(dims(&order))?.reshape(shape)
        };
        let product = matrices(left, &rows, &summed)?.matmul(matrices(right, &summed, &columns)?)?;
        let x = product.reshape(dims(&labels))?;
        Ok(Term { x, labels })
    }

    /// The axes in this order, those of size 1 among them that the term has not.
    fn aligned(self, order: &[Label]) -> Result<Raw<B>, Error> {
        let place = |label: &Label| self.labels.iter().position(|of| of == label);
        let axes: Dims = order.iter().filter_map(place).collect();
        let new: Dims = (0..order.len())
            .filter(|&axis| place(&order[axis]).is_none())
            .collect();
        self.x.permute(axes)?.unsqueeze_dims(&new)
    }

    /// The axes in this order, or `[1]` where there are none.
    fn ordered(self, order: &[Label]) -> Result<Raw<B>, Error> {
        match self.aligned(order)? {
            x if x.rank() == 0 => x.reshape([1]),
            x => Ok(x),
        }
    }

    fn size(&self, label: Label) -> Option<usize> {
        let axis = self.labels.iter().position(|&of| of == label)?;
        Some(self.x.shape()[axis])
    }
}

/// The first two axes with one label.
fn twice(labels: &[Label]) -> Option<(usize, usize)> {
    labels.iter().enumerate().find_map(|(second, label)| {
        let first = labels[..second].iter().position(|other| other == label)?;
        Some((first, second))
    })
}

fn refuse(equation: &str, message: impl std::fmt::Display) -> Error {
    Error::argument("einsum", format!("`{equation}`: {message}"))
}
