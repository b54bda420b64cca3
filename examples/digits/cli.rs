//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use keyway::DynDevice;
use lexopt::prelude::*;

use crate::train::Settings;

pub(crate) const HELP: &str = "\
Trains a small CNN on handwritten digits, data-parallel.

Usage: digits [OPTIONS]

  --replicas N     replicas, each on a thread of its own; 1 trains without a group [default: 2]
  --backend NAME   flex, ndarray, candle or tch [default: flex]
  --device TEXT    both in one: flex, mesh:flex:2 and so on
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
    /// A device for each replica, by rank.
    pub(crate) devices: Vec<DynDevice>,
    pub(crate) settings: Settings,
    pub(crate) save: Option<PathBuf>,
    pub(crate) data: PathBuf,
}

impl Options {
    /// Reads the arguments after the program's name; `None` if they ask for help.
    pub(crate) fn parse(
        args: impl IntoIterator<Item: Into<OsString>>,
    ) -> Result<Option<Self>, lexopt::Error> {
        let mut settings = Settings {
            epochs: 20,
            batch: 64,
            seed: 0,
            max_steps: usize::MAX,
        };
        let (mut replicas, mut backend, mut device) = (None, None, None);
        let (mut save, mut data) = (None, DATA.into());
        let mut parser = lexopt::Parser::from_args(args.into_iter().map(Into::into));
        while let Some(arg) = parser.next()? {
            match arg {
                Long("replicas") => replicas = Some(parser.value()?.parse()?),
                Long("backend") => backend = Some(parser.value()?.string()?),
                Long("device") => device = Some(parser.value()?.string()?),
                Long("epochs") => settings.epochs = parser.value()?.parse()?,
                Long("batch") => settings.batch = parser.value()?.parse()?,
                Long("seed") => settings.seed = parser.value()?.parse()?,
                Long("max-steps") => settings.max_steps = parser.value()?.parse()?,
                Long("save") => save = Some(parser.value()?.into()),
                Long("data") => data = parser.value()?.into(),
                Long("help") | Short('h') => return Ok(None),
                _ => return Err(arg.unexpected()),
            }
        }
        let devices = DynDevice::open(&device_text(replicas, backend, device)?);
        let devices = devices.map_err(|error| lexopt::Error::Custom(error.into()))?;
        if settings.batch == 0 || !settings.batch.is_multiple_of(devices.len()) {
            let (batch, replicas) = (settings.batch, devices.len());
            return Err(
                format!("--batch must be a multiple of --replicas: {batch} is none of {replicas}").into(),
            );
        }
        Ok(Some(Options {
            devices,
            settings,
            save,
            data,
        }))
    }
}

/// The device that `--replicas` and `--backend` name, or `--device` instead.
fn device_text(
    replicas: Option<usize>,
    backend: Option<String>,
    device: Option<String>,
) -> Result<String, lexopt::Error> {
    match (device, replicas, backend) {
        (Some(device), None, None) => Ok(device),
        (Some(_), ..) => Err("--device says what --replicas and --backend do; give it alone".into()),
        (None, Some(0), _) => Err("--replicas must be 1 or more".into()),
        (None, replicas, backend) => {
            let backend = backend.unwrap_or_else(|| "flex".into());
            Ok(match replicas.unwrap_or(2) {
                1 => backend,
                replicas => format!("mesh:{backend}:{replicas}"),
            })
        }
    }
}
