//! The backends that keyway knows: one row each.

use std::fmt;

use super::{Arm, Custom};
#[cfg(feature = "candle")]
use crate::backend::candle::CandleDevice;
use crate::backend::flex::FlexDevice;
#[cfg(feature = "ndarray")]
use crate::backend::ndarray::NdArrayDevice;
#[cfg(feature = "tch")]
use crate::backend::tch::LibTorchDevice;
use crate::backend::{Backend, BackendTypes, Device, LocalBackend};
use crate::collective::{GroupOptions, Mesh, MeshDevice};
use crate::error::Error;

/// A backend by its name in the text of a device.
pub(super) struct Row {
    pub(super) name: &'static str,
    /// The feature that brings it; none brings the default.
    pub(super) feature: &'static str,
    /// What opens its devices, where it is compiled in.
    pub(super) opener: Option<Opener>,
}

#[derive(Clone, Copy)]
pub(super) struct Opener {
    /// The device in a place, if the backend's places are named like this.
    pub(super) device: fn(&str) -> Option<Result<DynDevice, Error>>,
    /// The places beside the usual one that there are on this machine.
    pub(super) places: fn() -> Vec<String>,
    /// Joins devices of this backend into a group; the odd one out comes back with its rank.
    pub(super) mesh: fn(&[DynDevice], &GroupOptions) -> Result<Vec<DynDevice>, Error>,
}

/// A device by its place, which stands after the backend's name in the text that opens it. The usual place has an empty
/// text, and most backends have no other.
trait Placed: Device {
    /// A device in the usual place, with a random stream of its own: what one part of a program draws is not what another
    /// leaves.
    fn usual() -> Self;

    /// The device in a place, with a random stream of its own.
    fn at(place: &str) -> Option<Result<Self, Error>> {
        place.is_empty().then(|| Ok(Self::usual()))
    }

    fn place(&self) -> String {
        String::new()
    }

    fn places() -> Vec<String> {
        vec![]
    }
}

impl Placed for FlexDevice {
    fn usual() -> Self {
        Self::new(0)
    }
}

#[cfg(feature = "candle")]
impl Placed for CandleDevice {
    fn usual() -> Self {
        Self::new(0)
    }
}

#[cfg(feature = "ndarray")]
impl Placed for NdArrayDevice {
    fn usual() -> Self {
        Self::new(0)
    }
}

#[cfg(feature = "tch")]
impl Placed for LibTorchDevice {
    fn usual() -> Self {
        Self::new(0)
    }
    fn at(place: &str) -> Option<Result<Self, Error>> {
        if place.is_empty() {
            return Some(Ok(Self::usual()));
        }
        let index = place.strip_prefix("cuda:")?.parse().ok()?;
        Some(Self::cuda(index))
    }
    fn place(&self) -> String {
        self.index()
            .map_or_else(String::new, |index| format!("cuda:{index}"))
    }
    fn places() -> Vec<String> {
        let found = (0..).map_while(|index| Self::cuda(index).ok());
        found.map(|device| device.place()).collect()
    }
}

/// The text of a place, after the name of its backend.
fn after_name(device: &impl Placed) -> String {
    match device.place() {
        place if place.is_empty() => place,
        place => format!(":{place}"),
    }
}

/// Makes of the table: the backend `Dyn` with its device and its tensor; the names of devices; and a macro per row by
/// which [`dispatch!`](crate::dispatch) collects its arms.
///
/// Those macros are what lets `dispatch!` follow keyway's features where it expands in another crate, whose features a
/// `#[cfg]` in its own text would ask: each is defined twice, under keyway's `cfg`, and either adds its arms or passes on
/// to the next row. `$` is passed in, since it cannot be written in the text of a macro that defines macros.
macro_rules! registry {
    (
        ($d:tt)
        $( $row:ident then $next:ident: $name:literal, $Backend:ident as $Arm:ident, $Mesh:ident $(, feature $feature:literal)?; )+
    ) => {
        crate::backends! {
            /// The backend whose device is chosen at run time, among those that keyway was compiled with.
            pub struct Dyn;
            /// A device of any backend that keyway was compiled with. [`DynDevice::open`] opens one by its name.
            #[non_exhaustive]
            pub enum DynDevice;
            /// A tensor of any backend that keyway was compiled with.
            #[non_exhaustive]
            pub enum DynPrimitive;
            $(
                $(#[cfg(feature = $feature)])? $Arm(crate::$Backend),
                $(#[cfg(feature = $feature)])? $Mesh(Mesh<crate::$Backend>),
            )+
            Custom(Custom),
        }

        pub(super) const ROWS: &[Row] = &[ $(
            $(#[cfg(feature = $feature)])?
            Row {
                name: $name,
                feature: concat!($($feature)?),
                opener: Some(Opener {
                    device: |place| {
                        let device = <<crate::$Backend as BackendTypes>::Device>::at(place)?;
                        Some(device.map(DynDevice::$Arm))
                    },
                    places: <<crate::$Backend as BackendTypes>::Device>::places,
                    mesh: mesh::<crate::$Backend>,
                }),
            },
            $(
                #[cfg(not(feature = $feature))]
                Row { name: $name, feature: $feature, opener: None },
            )?
        )+ ];

        /// The text that opens the device, or the group that it is a member of.
        impl fmt::Display for DynDevice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(
                        $(#[cfg(feature = $feature)])?
                        DynDevice::$Arm(device) => write!(f, concat!($name, "{}"), after_name(device)),
                        $(#[cfg(feature = $feature)])?
                        DynDevice::$Mesh(device) => {
                            write!(f, concat!("mesh:", $name, "{}:{}"), after_name(device.inner()), device.size())
                        }
                    )+
                    DynDevice::Custom(device) => write!(f, "custom:{}", Custom::name(device)),
                }
            }
        }

        $(
            #[doc(hidden)]
            #[macro_export]
            $(#[cfg(feature = $feature)])?
            macro_rules! $row {
                (all { $d($d arms:tt)* } $d dev:expr, $d B:ident, $d device:ident, $d body:expr) => {
                    $d crate::$next!(all {
                        $d($d arms)*
                        $d crate::DynDevice::$Arm($d device) => {
                            #[allow(dead_code)]
                            type $d B = $d crate::$Backend;
                            $d body
                        }
                        $d crate::DynDevice::$Mesh($d device) => {
                            #[allow(dead_code)]
                            type $d B = $d crate::Mesh<$d crate::$Backend>;
                            $d body
                        }
                    } $d dev, $d B, $d device, $d body)
                };
                (collective { $d($d arms:tt)* } $d dev:expr, $d B:ident, $d device:ident, $d body:expr) => {
                    $d crate::$next!(collective {
                        $d($d arms)*
                        $d crate::DynDevice::$Mesh($d device) => {
                            #[allow(dead_code)]
                            type $d B = $d crate::Mesh<$d crate::$Backend>;
                            Ok($d body)
                        }
                    } $d dev, $d B, $d device, $d body)
                };
            }
            $(
                #[doc(hidden)]
                #[macro_export]
                #[cfg(not(feature = $feature))]
                macro_rules! $row {
                    ($d($d rest:tt)*) => { $d crate::$next!($d($d rest)*) };
                }
            )?
        )+
    };
}

registry! {
    ($)
    __keyway_flex then __keyway_ndarray: "flex", Flex as Flex, MeshFlex;
    __keyway_ndarray then __keyway_candle: "ndarray", NdArray as NdArray, MeshNdArray, feature "ndarray";
    __keyway_candle then __keyway_tch: "candle", Candle as Candle, MeshCandle, feature "candle";
    __keyway_tch then __keyway_end: "tch", LibTorch as LibTorch, MeshLibTorch, feature "tch";
}

/// The end of the rows: what has no arm of its own stays a `Dyn`, or is in no group.
#[doc(hidden)]
#[macro_export]
macro_rules! __keyway_end {
    (all { $($arms:tt)* } $dev:expr, $B:ident, $device:ident, $body:expr) => {
        match $dev {
            $($arms)*
            $device => {
                #[allow(dead_code)]
                type $B = $crate::Dyn;
                $body
            }
        }
    };
    (collective { $($arms:tt)* } $dev:expr, $B:ident, $device:ident, $body:expr) => {
        match $dev {
            $($arms)*
            device => Err($crate::dynamic::DynDevice::not_collective(&device)),
        }
    };
}

fn mesh<B: LocalBackend<Device: Default> + Arm<Dyn>>(
    devices: &[DynDevice],
    options: &GroupOptions,
) -> Result<Vec<DynDevice>, Error>
where
    Mesh<B>: Arm<Dyn> + Backend<Device = MeshDevice<B>>,
{
    let own = devices.iter().enumerate().map(|(rank, device)| {
        B::device_from_dyn(device.clone()).map_err(|odd| {
            let first = &devices[0];
            let message = format!(
                "rank 0 is on `{first}`, rank {rank} on `{odd}`; a group joins local devices of one backend"
            );
            Error::argument("mesh", message)
        })
    });
    let own: Vec<_> = own.collect::<Result<_, _>>()?;
    let members = match &own[..] {
        [device] => vec![MeshDevice::alone(device.clone())],
        _ => Mesh::<B>::open_on(own, options)?,
    };
    Ok(members
        .into_iter()
        .map(<Mesh<B> as Arm<Dyn>>::device_into_dyn)
        .collect())
}
