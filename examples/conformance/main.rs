//! By which way each op of each element type comes to its result on each backend that is compiled in.
//!
//! `cargo run --all-features --example conformance`. It runs the vocabulary on small operands, holds every result to the
//! reference of the tests, and observes whether the engine executed the op. It fails where a result is wrong, where less
//! than nine tenths of what an engine has is native, and where an engine does what [`lacks`] says it has no call for.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use keyway::backend::{Route, observe};
use keyway::op::{self, HasMeta, Op};
use keyway::raw::Raw;
use keyway::{Backend, DType, Dyn, DynDevice};
use lacks::LACKS;
use support::{Layout, Operand, Reference, difference, leaf, leaves, ops};

mod lacks;
#[path = "../../tests/support/mod.rs"]
mod support;

const README: &str = include_str!("../../README.md");

/// What has been seen of an op on an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Native,
    /// Some operands or options go another way.
    Partly,
    Lowered,
    Host,
    /// The backend does not hold the element type.
    NotHeld,
}

/// What has been seen of a backend.
struct Report {
    backend: String,
    cells: BTreeMap<(&'static str, DType), Seen>,
    wrong: Vec<String>,
}

fn main() -> ExitCode {
    let available = DynDevice::available().into_iter();
    let mut reports: Vec<Report> = available
        .filter(|device| !device.collective)
        .map(|device| Report::of(device.text))
        .collect();
    println!(
        "Pairs of an op and an element type, of {} ops:\n",
        leaves().count()
    );
    println!(
        "| backend | native | in part | lowered | by the host | type not held | native of what the engine has |"
    );
    println!("|---|---|---|---|---|---|---|");
    for report in &mut reports {
        let [native, partly, lowered, host, not_held] = [
            Seen::Native,
            Seen::Partly,
            Seen::Lowered,
            Seen::Host,
            Seen::NotHeld,
        ]
        .map(|seen| report.count(seen));
        let (has, done) = report.has();
        let row = format!(
            "| {} | {native} | {partly} | {lowered} | {host} | {not_held} | {done} of {has}: {:.1} % |",
            report.backend,
            percent(done, has)
        );
        println!("{row}");
        // GPUs are not everywhere.
        if !report.backend.contains(':') && !README.contains(&row) {
            report.wrong.push("its row in README.md is another".into());
        }
    }
    for report in &reports {
        report.explain();
    }
    let wrong: Vec<&String> = reports.iter().flat_map(|report| &report.wrong).collect();
    for wrong in &wrong {
        println!("wrong: {wrong}");
    }
    ExitCode::from(u8::from(!wrong.is_empty()))
}

impl Report {
    fn of(backend: String) -> Report {
        let device: DynDevice = backend.parse().expect("an available device opens");
        let mut report = Report {
            backend,
            cells: BTreeMap::new(),
            wrong: vec![],
        };
        report.run(&device);
        report.judge();
        report
    }

    /// Runs every op of every element type.
    fn run(&mut self, device: &DynDevice) {
        for &dtype in DType::ALL {
            let ops = SHAPES.iter().flat_map(|&shape| ops(&shape.into(), dtype));
            for (seed, op) in ops.enumerate() {
                let result = op::infer(&op).expect("`ops` leaves out what is refused");
                let (mut empty, mut held) =
                    (result.shape.contains(&0), device.dtypes().contains(&result.dtype));
                op.visit(|x| {
                    empty |= x.shape().contains(&0);
                    held &= device.dtypes().contains(&x.dtype());
                });
                let seen = match held {
                    // Nothing is executed there.
                    _ if empty => continue,
                    true => match route(&op, seed as u64, device) {
                        Ok(Some(Route::Native)) => Seen::Native,
                        Ok(Some(Route::Lowered)) => Seen::Lowered,
                        Ok(Some(Route::Host)) => Seen::Host,
                        Ok(None) => continue,
                        Err(wrong) => {
                            self.wrong
                                .push(format!("{} of {dtype} on {}: {wrong}", leaf(&op), self.backend));
                            continue;
                        }
                    },
                    false => Seen::NotHeld,
                };
                let cell = self.cells.entry((leaf(&op), dtype)).or_insert(seen);
                *cell = cell.and(seen);
            }
        }
    }

    /// Says what is not as it should be.
    fn judge(&mut self) {
        let mut wrong = vec![];
        let seen: BTreeSet<&str> = self.cells.keys().map(|(leaf, _)| *leaf).collect();
        for leaf in leaves().filter(|leaf| !seen.contains(leaf)) {
            wrong.push(format!("{leaf} has not been run on {}", self.backend));
        }
        for (&(leaf, dtype), &seen) in &self.cells {
            if let (Some(why), Seen::Native | Seen::Partly) = (self.lacks(leaf, dtype), seen) {
                wrong.push(format!(
                    "{} executes {leaf} of {dtype}, though: {why}",
                    self.backend
                ));
            }
        }
        for lack in LACKS.iter().filter(|lack| lack.backend == self.backend) {
            for leaf in lack.ops.iter().filter(|leaf| !seen.contains(*leaf)) {
                wrong.push(format!("{} lacks {leaf}, which is no op", self.backend));
            }
        }
        #[cfg(feature = "candle")]
        if self.backend == "candle" {
            for call in lacks::candle_takes_integers() {
                wrong.push(format!("candle has {call} of integers"));
            }
        }
        let (has, native) = self.has();
        if 10 * native < 9 * has {
            wrong.push(format!("{}: only {native} of {has} are native", self.backend));
        }
        self.wrong.extend(wrong);
    }

    /// Prints what is not native, and why where the engine lacks it.
    fn explain(&self) {
        println!("\n{}", self.backend);
        let mut others: BTreeMap<(Seen, &str), Vec<String>> = BTreeMap::new();
        for (&(leaf, dtype), &seen) in &self.cells {
            if !matches!(seen, Seen::Native | Seen::NotHeld) && self.lacks(leaf, dtype).is_none() {
                others.entry((seen, leaf)).or_default().push(dtype.to_string());
            }
        }
        for ((seen, leaf), dtypes) in others {
            println!("  {leaf} ({}): {}", dtypes.join(" "), seen.words());
        }
        for lack in LACKS.iter().filter(|lack| lack.backend == self.backend) {
            println!("  lacks {}: {}", lack.ops.join(", "), lack.why);
        }
    }

    /// Of how many pairs the engine has the op, and how many of these it executes, of all that are run.
    fn has(&self) -> (usize, usize) {
        let has = self
            .cells
            .iter()
            .filter(|((leaf, dtype), seen)| **seen != Seen::NotHeld && self.lacks(leaf, *dtype).is_none());
        let native = has.clone().filter(|(_, seen)| **seen == Seen::Native);
        (has.count(), native.count())
    }

    fn lacks(&self, leaf: &str, dtype: DType) -> Option<&'static str> {
        LACKS
            .iter()
            .find(|lack| lack.backend == self.backend && lack.ops.contains(&leaf) && (lack.of)(dtype))
            .map(|lack| lack.why)
    }

    fn count(&self, seen: Seen) -> usize {
        self.cells.values().filter(|&&cell| cell == seen).count()
    }
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

/// Small shapes: of each rank, and images of one and two axes.
const SHAPES: &[&[usize]] = &[&[6], &[3, 4], &[2, 4, 5], &[1, 2, 4, 5]];

/// By which way an op came to its result; nothing where it has none, and what is wrong with it.
fn route(op: &Op<Operand>, seed: u64, device: &DynDevice) -> Result<Option<Route>, String> {
    let place = |operand: Operand| operand.place::<Dyn>(Layout::Contiguous, seed, device, |x| x);
    let dense =
        |operand: Operand| operand.place::<Reference>(Layout::Contiguous, seed, &Default::default(), |x| x);
    let operands = op
        .clone()
        .try_map(dense)
        .map_err(|error| error.to_string())?
        .map(Raw::into_primitive);
    // A division by zero is an error on every backend.
    let Ok(want) = op::run::<Reference>(operands.clone()) else {
        return Ok(None);
    };
    let op = op.clone().try_map(place).map_err(|error| error.to_string())?;
    let (result, route) = observe(|| Raw::<Dyn>::run(op));
    let got = result
        .and_then(Raw::into_data)
        .map_err(|error| error.to_string())?;
    match difference(&Dyn::name(device), &operands, &want, &got) {
        Some(difference) => Err(difference),
        None => Ok(Some(route)),
    }
}

impl Seen {
    /// What is known of an op of which another case is known.
    fn and(self, other: Seen) -> Seen {
        match (self, other) {
            (a, b) if a == b => a,
            // Another operand or result may be of a type that is held.
            (Seen::NotHeld, known) | (known, Seen::NotHeld) => known,
            (Seen::Native | Seen::Partly, _) | (_, Seen::Native | Seen::Partly) => Seen::Partly,
            (Seen::Lowered | Seen::Host, _) => Seen::Host,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Seen::Native => "native",
            Seen::Partly => "native, but for some operands or options",
            Seen::Lowered => "lowered",
            Seen::Host => "by the host",
            Seen::NotHeld => "not held",
        }
    }
}
