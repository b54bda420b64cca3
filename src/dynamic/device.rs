//! Devices by name.

use std::env;
use std::str::FromStr;
use std::sync::Arc;

use super::registry::{Opener, ROWS};
use super::{CustomDevice, Dyn, DynDevice};
use crate::backend::{Backend, DynBackend, PlainBackend, Readable, not_collective};
use crate::collective::{GroupOptions, Member};
use crate::element::DType;
use crate::error::Error;

/// The environment variable that [`DynDevice::from_env`] reads.
const VARIABLE: &str = "KEYWAY_DEVICE";

/// What can be opened on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Available {
    /// The text that opens it.
    pub text: String,
    /// Whether it is a group, of as many members as wished.
    pub collective: bool,
    /// The element types that it holds.
    pub dtypes: Vec<DType>,
}

impl DynDevice {
    /// Opens what a text names, and gives a device for each member, by rank: `flex`, `ndarray`, `candle`, `tch` and
    /// `tch:cuda:0` have one, `mesh:flex:2` is a group of two. The random streams start at seed 0, and no other handle
    /// shares them.
    ///
    /// ```
    /// use keyway::DynDevice;
    /// assert_eq!(DynDevice::open("flex")?.len(), 1);
    /// let members = DynDevice::open("mesh:flex:2")?;
    /// assert_eq!((members.len(), members[1].to_string()), (2, "mesh:flex:2".to_owned()));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// `NoDevice` if the text names nothing, with what it may name; `NotCompiledIn` with the feature that is missing;
    /// `Argument` if the size of a group is none.
    pub fn open(text: &str) -> Result<Vec<DynDevice>, Error> {
        Self::open_with(text, &GroupOptions::default())
    }

    /// [`DynDevice::open`] with options for the group.
    ///
    /// ```
    /// use std::time::Duration;
    /// use keyway::{DynDevice, GroupOptions};
    /// let options = GroupOptions { timeout: Duration::from_secs(5), ..Default::default() };
    /// assert_eq!(DynDevice::open_with("mesh:flex:3", &options)?.len(), 3);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As `open`.
    pub fn open_with(text: &str, options: &GroupOptions) -> Result<Vec<DynDevice>, Error> {
        let name = text.trim().to_ascii_lowercase();
        let Some(group) = name.strip_prefix("mesh:") else {
            let (name, place) = match name.split_once(':') {
                Some((_, "")) => return Err(unknown(text)),
                Some(parts) => parts,
                None => (&*name, ""),
            };
            let device = (opener(text, name)?.device)(place).unwrap_or_else(|| Err(unknown(text)));
            return Ok(vec![device?]);
        };
        let (name, rest) = group.split_once(':').unwrap_or((group, "1"));
        let opener = opener(text, name)?;
        let (first, size) = rest
            .rsplit_once(':')
            .filter(|(place, _)| !place.is_empty())
            .and_then(|(place, size)| Some(((opener.device)(place)?, size)))
            .or_else(|| Some(((opener.device)(rest).filter(|_| !rest.is_empty())?, "1")))
            .or_else(|| Some(((opener.device)("")?, rest)))
            .ok_or_else(|| unknown(text))?;
        let first = first?;
        let size = match size.parse() {
            Ok(size @ 1..=MOST_MEMBERS) => size,
            _ => {
                let message =
                    format!("`{size}` is no size of a group; `mesh:{first}:2` opens one of two members");
                return Err(no_device(text, message));
            }
        };
        (opener.mesh)(&vec![first; size], options)
    }

    /// Opens what the environment variable `KEYWAY_DEVICE` names, or `flex` where it is not set.
    ///
    /// ```
    /// use keyway::DynDevice;
    /// let devices = DynDevice::from_env()?; // `KEYWAY_DEVICE=mesh:flex:2 cargo run` opens two
    /// assert!(!devices.is_empty());
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`DynDevice::open`].
    pub fn from_env() -> Result<Vec<DynDevice>, Error> {
        match env::var(VARIABLE) {
            Ok(text) => Self::open(&text),
            Err(env::VarError::NotPresent) => Ok(vec![Self::default()]),
            Err(env::VarError::NotUnicode(text)) => Err(no_device(
                &text.to_string_lossy(),
                format!("{VARIABLE} is not unicode"),
            )),
        }
    }

    /// Joins local devices of one backend into a group, by rank.
    ///
    /// ```
    /// use keyway::{DynDevice, GroupOptions};
    /// let devices = DynDevice::mesh(&[DynDevice::default(), DynDevice::default()], &GroupOptions::default())?;
    /// assert_eq!(devices[1].to_string(), "mesh:flex:2");
    /// assert!(DynDevice::mesh(&devices, &GroupOptions::default()).is_err()); // members already
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is none, or one is of another backend, or is a member of a group; the error names it.
    pub fn mesh(devices: &[DynDevice], options: &GroupOptions) -> Result<Vec<DynDevice>, Error> {
        let Some(first) = devices.first() else {
            return Err(Error::argument("mesh", "a group has at least one member"));
        };
        let text = first.to_string();
        let name = text.split(':').next();
        match ROWS
            .iter()
            .find(|row| Some(row.name) == name)
            .and_then(|row| row.opener)
        {
            Some(opener) => (opener.mesh)(devices, options),
            None => {
                let message = format!("rank 0 is on `{first}`; a group joins local devices, such as `flex`");
                Err(Error::argument("mesh", message))
            }
        }
    }

    /// The device of a third party's backend, whose type is erased.
    ///
    /// ```
    /// use keyway::{Dyn, DynDevice, Flex, Tensor};
    /// let device = DynDevice::custom::<Flex>(Default::default());
    /// assert_eq!(Tensor::<Dyn, 1>::ones([3], &device).sum().into_scalar()?, 3.0);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn custom<B: PlainBackend + Readable>(device: B::Device) -> Self {
        DynDevice::Custom(CustomDevice::new::<B>(device))
    }

    /// Everything that [`DynDevice::open`] opens.
    ///
    /// ```
    /// use keyway::DynDevice;
    /// assert!(DynDevice::available().iter().any(|device| device.text == "flex" && !device.collective));
    /// ```
    pub fn available() -> Vec<Available> {
        let opened = ROWS.iter().filter_map(|row| row.opener);
        let devices = opened.flat_map(|opener| {
            let places = [String::new()].into_iter().chain((opener.places)());
            places.filter_map(move |place| (opener.device)(&place)?.ok())
        });
        let each = devices.flat_map(|device| {
            [(format!("{device}"), false), (format!("mesh:{device}:2"), true)].map(|(text, collective)| {
                Available {
                    text,
                    collective,
                    dtypes: device.dtypes().to_vec(),
                }
            })
        });
        each.collect()
    }

    /// The element types that the device holds.
    ///
    /// ```
    /// use keyway::{DType, DynDevice};
    /// assert!(DynDevice::default().dtypes().contains(&DType::F32));
    /// ```
    pub fn dtypes(&self) -> &[DType] {
        Dyn::dtypes(self)
    }

    /// The device's place in its group, if it is in one.
    ///
    /// ```
    /// use keyway::DynDevice;
    /// let members = DynDevice::open("mesh:flex:2")?;
    /// assert_eq!(members[1].member().unwrap().rank(), 1);
    /// assert!(DynDevice::default().member().is_none());
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn member(&self) -> Option<&Arc<Member>> {
        <Dyn as DynBackend>::member(self)
    }

    /// Whether the device is a member of a group, so that collective operations work on it.
    ///
    /// ```
    /// use keyway::DynDevice;
    /// assert!(!DynDevice::default().is_collective());
    /// assert!(DynDevice::open("mesh:flex:2")?[0].is_collective());
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn is_collective(&self) -> bool {
        self.member().is_some()
    }

    #[doc(hidden)]
    pub fn not_collective(&self) -> Error {
        not_collective::<Dyn>(self)
    }
}

/// `flex`.
impl Default for DynDevice {
    fn default() -> Self {
        DynDevice::Flex(Default::default())
    }
}

/// One device, by the text of [`DynDevice::open`].
impl FromStr for DynDevice {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut devices = Self::open(text)?;
        match devices.len() {
            1 => Ok(devices.remove(0)),
            size => {
                let message =
                    format!("it names a group of {size} devices; `DynDevice::open` gives all of them");
                Err(no_device(text, message))
            }
        }
    }
}

/// Each member of a group usually has a thread of its own: more of them than this is a mistake.
const MOST_MEMBERS: usize = 1024;

fn opener(text: &str, name: &str) -> Result<Opener, Error> {
    let Some(row) = ROWS.iter().find(|row| row.name == name) else {
        return Err(unknown(text));
    };
    row.opener.ok_or_else(|| Error::NotCompiledIn {
        backend: row.name.into(),
        feature: row.feature.into(),
        compiled_in: compiled_in(),
    })
}

/// The error of a text that names nothing.
fn unknown(text: &str) -> Error {
    let absent = ROWS.iter().filter(|row| row.opener.is_none());
    let absent = absent.map(|row| format!("; feature `{}` adds `{}`", row.feature, row.name));
    no_device(
        text,
        format!("expected {}{}", compiled_in(), absent.collect::<String>()),
    )
}

/// What can be opened.
fn compiled_in() -> String {
    let rows = ROWS.iter().filter(|row| row.opener.is_some());
    let each: Vec<_> = rows.map(|row| format!("`{0}`, `mesh:{0}:2`", row.name)).collect();
    each.join(", ")
}

fn no_device(device: &str, message: String) -> Error {
    Error::NoDevice {
        device: device.to_owned(),
        message,
    }
}
