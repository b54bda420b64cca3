//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::prelude::*;

use crate::train::Settings;

pub(crate) const HELP: &str = "\
Trains a small CNN on handwritten digits, data-parallel.

Usage: digits [OPTIONS]

  --replicas N     replicas, each on a thread of its own; 1 trains without a group [default: 2]
  --backend NAME   flex or ndarray [default: flex]
  --epochs N       passes over the training images [default: 20]
  --batch N        images in a step, over all replicas; a multiple of their number [default: 64]
  --seed N         decides initial values and the order of images [default: 0]
  --max-steps N    stops after so many steps
  --save FILE      writes the trained model as safetensors
  --data FILE      reads the images from there
  --help           prints this
";

/// Where the example finds its data if nothing else is said.
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits.csv");

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) replicas: usize,
    pub(crate) backend: BackendName,
    pub(crate) settings: Settings,
    pub(crate) save: Option<PathBuf>,
    pub(crate) data: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackendName {
    Flex,
    NdArray,
}

impl Options {
    /// Reads the arguments after the program's name; `None` if they ask for help.
    pub(crate) fn parse(
        args: impl IntoIterator<Item: Into<OsString>>,
    ) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Options {
            replicas: 2,
            backend: BackendName::Flex,
            settings: Settings {
                epochs: 20,
                batch: 64,
                seed: 0,
                max_steps: usize::MAX,
            },
            save: None,
            data: DATA.into(),
        };
        let mut parser = lexopt::Parser::from_args(args.into_iter().map(Into::into));
        while let Some(arg) = parser.next()? {
            match arg {
                Long("replicas") => options.replicas = parser.value()?.parse()?,
                Long("backend") => options.backend = parser.value()?.parse_with(backend)?,
                Long("epochs") => options.settings.epochs = parser.value()?.parse()?,
                Long("batch") => options.settings.batch = parser.value()?.parse()?,
                Long("seed") => options.settings.seed = parser.value()?.parse()?,
                Long("max-steps") => options.settings.max_steps = parser.value()?.parse()?,
                Long("save") => options.save = Some(parser.value()?.into()),
                Long("data") => options.data = parser.value()?.into(),
                Long("help") | Short('h') => return Ok(None),
                _ => return Err(arg.unexpected()),
            }
        }
        options.check()?;
        Ok(Some(options))
    }

    fn check(&self) -> Result<(), lexopt::Error> {
        let (replicas, batch) = (self.replicas, self.settings.batch);
        if replicas == 0 {
            return Err("--replicas must be 1 or more".into());
        }
        if batch == 0 || !batch.is_multiple_of(replicas) {
            return Err(
                format!("--batch must be a multiple of --replicas: {batch} is none of {replicas}").into(),
            );
        }
        Ok(())
    }
}

fn backend(name: &str) -> Result<BackendName, String> {
    match name {
        "flex" => Ok(BackendName::Flex),
        "ndarray" if cfg!(feature = "ndarray") => Ok(BackendName::NdArray),
        "ndarray" => Err(
            "this build is without the backend `ndarray`; add `--features ndarray` to the cargo command"
                .into(),
        ),
        _ => Err("the backends are `flex` and `ndarray`".into()),
    }
}
