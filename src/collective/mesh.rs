//! `Mesh`: joins replicas of a local backend into a collective one.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::transport::{Carries, Entry, Header};
use super::{
    CollectiveBackend, CollectiveOp, GroupOptions, InProcess, Member, ParamId, Pending, ReduceKind, host,
};
use crate::backend::{
    Backend, BackendTypes, Collective, Device, LocalBackend, PlainBackend, Readable, Supports,
};
use crate::data::{Buffer, TensorData};
use crate::element::{DType, Element};
use crate::error::{Error, Name};
use crate::op::random::KeySource;
use crate::op::{CreateOp, HasMeta, Meta, Op};
use crate::raw::Raw;
use crate::shape::Shape;

/// Joins replicas of the local backend `B` into groups, over the transport `T`. What `B` computes, `Mesh<B>` computes;
/// its devices are members of a group besides.
///
/// ```
/// use keyway::prelude::*;
/// let replicas = Mesh::<Flex>::open(2)?.into_iter().map(|device| std::thread::spawn(move || {
///     let x = Tensor::<Mesh<Flex>, 1>::full([2], device.rank() as f32, &device);
///     x.broadcast(1)?.into_vec()
/// }));
/// for replica in replicas.collect::<Vec<_>>() {
///     assert_eq!(replica.join().unwrap()?, [1.0, 1.0]);
/// }
/// # Ok::<(), keyway::Error>(())
/// ```
pub struct Mesh<B, T = InProcess>(PhantomData<fn() -> (B, T)>);

/// A device of `B` that is a member of a group. Two are equal if the devices are equal and the memberships are the same;
/// devices that were never joined to others ([`MeshDevice::alone`], `default`) are groups of one, all alike.
pub struct MeshDevice<B: BackendTypes, T = InProcess> {
    inner: B::Device,
    member: Place,
    transport: PhantomData<fn() -> T>,
}

/// A tensor of `B` on a member's device.
pub struct MeshTensor<B: BackendTypes, T = InProcess> {
    inner: B::Primitive,
    member: Place,
    transport: PhantomData<fn() -> T>,
}

/// A membership, by identity.
#[derive(Clone)]
struct Place(Arc<Member>);

impl<B: BackendTypes> Mesh<B, InProcess> {
    /// A group of `size` members in this process, all on the default device of `B`; gives a device for each, by rank.
    ///
    /// # Errors
    /// If `size` is 0.
    pub fn open(size: usize) -> Result<Vec<MeshDevice<B>>, Error>
    where
        B: LocalBackend,
        B::Device: Default,
    {
        Self::open_on(vec![B::Device::default(); size], &GroupOptions::default())
    }

    /// A group in this process with one member on each of the devices; gives them joined, by rank.
    ///
    /// # Errors
    /// If there is no device.
    pub fn open_on(devices: Vec<B::Device>, options: &GroupOptions) -> Result<Vec<MeshDevice<B>>, Error>
    where
        B: LocalBackend,
    {
        if devices.is_empty() {
            return Err(Error::argument("open", "a group has at least one member"));
        }
        let ends = InProcess::open(devices.len());
        Ok(devices
            .into_iter()
            .zip(ends)
            .map(|(device, end)| MeshDevice::join(device, end, options))
            .collect())
    }
}

impl<B: LocalBackend, T: Carries<B>> MeshDevice<B, T> {
    /// A device that takes the place in a group that a transport has.
    pub fn join(device: B::Device, transport: T, options: &GroupOptions) -> Self {
        MeshDevice {
            inner: device,
            member: Place(Arc::new(Member::new(transport, options))),
            transport: PhantomData,
        }
    }

    /// The device of `B`.
    pub fn inner(&self) -> &B::Device {
        &self.inner
    }

    /// The place in the group.
    pub fn member(&self) -> &Arc<Member> {
        &self.member.0
    }

    /// This member's place among the members.
    pub fn rank(&self) -> usize {
        self.member().rank()
    }

    /// The number of members.
    pub fn size(&self) -> usize {
        self.member().size()
    }

    /// Waits until every member is here.
    ///
    /// # Errors
    /// If a member is missing, or does something else.
    pub fn barrier(&self) -> Result<(), Error> {
        self.member().barrier()
    }
}

impl<B: LocalBackend> MeshDevice<B> {
    /// A device as a group of one.
    pub fn alone(device: B::Device) -> Self {
        MeshDevice {
            inner: device,
            member: Place(Arc::new(Member::alone())),
            transport: PhantomData,
        }
    }
}

/// The default device of `B` as a group of one.
impl<B: LocalBackend<Device: Default>> Default for MeshDevice<B> {
    fn default() -> Self {
        MeshDevice::alone(B::Device::default())
    }
}

/// Each rank has a random stream of its own; `seed` goes to that of the seed and the rank.
impl<B: BackendTypes + 'static, T: 'static> Device for MeshDevice<B, T> {
    fn keys(&self) -> &KeySource {
        self.member.0.keys().unwrap_or_else(|| self.inner.keys())
    }
    fn seed(&self, seed: u64) {
        self.keys().reseed(self.member.0.stream(seed));
    }
}

impl<B: BackendTypes + 'static, T: 'static> BackendTypes for Mesh<B, T> {
    type Device = MeshDevice<B, T>;
    type Primitive = MeshTensor<B, T>;
}

impl<B: Supports<E>, E: Element, T> Supports<E> for Mesh<B, T> {}

impl<B: LocalBackend, T: Carries<B>> PlainBackend for Mesh<B, T> {}

impl<B: LocalBackend, T: Carries<B>> Backend for Mesh<B, T> {
    type Plain = Self;
    type Reach = Collective;

    fn name(device: &MeshDevice<B, T>) -> Name {
        format!("Mesh<{}>", B::name(&device.inner)).into()
    }
    fn dtypes(device: &MeshDevice<B, T>) -> &[DType] {
        B::dtypes(&device.inner)
    }
    fn device(x: &MeshTensor<B, T>) -> MeshDevice<B, T> {
        MeshDevice {
            inner: B::device(&x.inner),
            member: x.member.clone(),
            transport: PhantomData,
        }
    }
    fn same_device(a: &MeshTensor<B, T>, b: &MeshTensor<B, T>) -> bool {
        a.member == b.member && B::same_device(&a.inner, &b.inner)
    }
    fn create(op: CreateOp, meta: &Meta, device: &MeshDevice<B, T>) -> Result<MeshTensor<B, T>, Error> {
        let inner = B::create(op, meta, &device.inner)?;
        Ok(MeshTensor::new(inner, device.member.clone()))
    }
    fn upload(data: TensorData, device: &MeshDevice<B, T>) -> Result<MeshTensor<B, T>, Error> {
        let inner = B::upload(data, &device.inner)?;
        Ok(MeshTensor::new(inner, device.member.clone()))
    }
    fn execute(op: Op<MeshTensor<B, T>>, meta: &Meta) -> Result<MeshTensor<B, T>, Error> {
        let mut member = None;
        let op = op.map(|x| {
            member.get_or_insert(x.member);
            x.inner
        });
        let inner = B::execute(op, meta)?;
        Ok(MeshTensor::new(
            inner,
            member.expect("`infer` accepts no op without a tensor"),
        ))
    }
    fn to_device(x: MeshTensor<B, T>, device: &MeshDevice<B, T>) -> Result<MeshTensor<B, T>, Error> {
        let inner = B::to_device(x.inner, &device.inner)?;
        Ok(MeshTensor::new(inner, device.member.clone()))
    }
    fn sync(device: &MeshDevice<B, T>) -> Result<(), Error> {
        B::sync(&device.inner)
    }
}

impl<B: LocalBackend, T: Carries<B>> Readable for Mesh<B, T> {
    fn into_data(x: MeshTensor<B, T>) -> Result<TensorData, Error> {
        B::into_data(x.inner)
    }
}

impl<B: LocalBackend, T: Carries<B>> CollectiveBackend for Mesh<B, T> {
    fn member(device: &MeshDevice<B, T>) -> &Arc<Member> {
        device.member()
    }

    fn start(op: CollectiveOp, x: MeshTensor<B, T>, meta: &Meta) -> Result<Pending<MeshTensor<B, T>>, Error> {
        let (size, rank) = (x.member.0.size(), x.member.0.rank());
        if size == 1 {
            return Ok(Pending::new(|| Ok(x)));
        }
        let MeshTensor { inner: x, member, .. } = x;
        let header = Header {
            op: op.describe(),
            entries: vec![Entry {
                param: None,
                meta: x.meta(),
            }],
        };
        let device = B::device(&x);
        let pending = match op {
            CollectiveOp::AllReduce(kind) => {
                host::all_reduce(&member.0, kind, header, vec![buffer::<B>(x)?])?
            }
            CollectiveOp::Broadcast { root } => {
                let own = (root == rank).then(|| buffer::<B>(x.clone())).transpose()?;
                let pending = host::broadcast(&member.0, root, header, own)?;
                if root == rank {
                    return Ok(pending.and_then(move |_| Ok(MeshTensor::new(x, member))));
                }
                pending
            }
            CollectiveOp::AllGather { axis } => {
                let outer = x.shape()[..axis].iter().product();
                host::all_gather(&member.0, header, buffer::<B>(x)?, outer)?
            }
            CollectiveOp::ReduceScatter { kind, axis } => {
                host::reduce_scatter(&member.0, kind, header, parts::<B>(x, axis, size)?)?
            }
            CollectiveOp::AllToAll { split, concat } => {
                let outer = x.shape().clone().with(split, x.shape()[split] / size)[..concat]
                    .iter()
                    .product();
                host::all_to_all(&member.0, header, parts::<B>(x, split, size)?, outer)?
            }
        };
        let shape = meta.shape.clone();
        Ok(pending.and_then(move |buffers| {
            let buffer = buffers.into_iter().next().expect("one tensor in, one out");
            let inner = B::upload(TensorData::from_buffer(buffer, shape)?, &device)?;
            Ok(MeshTensor::new(inner, member))
        }))
    }

    fn start_all_reduce(
        kind: ReduceKind,
        xs: Vec<(ParamId, MeshTensor<B, T>)>,
        device: &MeshDevice<B, T>,
    ) -> Result<Pending<Vec<MeshTensor<B, T>>>, Error> {
        let MeshDevice { inner, member, .. } = device.clone();
        if member.0.size() == 1 {
            return Ok(Pending::new(|| Ok(xs.into_iter().map(|(_, x)| x).collect())));
        }
        let entry = |(id, x): &(ParamId, MeshTensor<B, T>)| Entry {
            param: Some(id.clone()),
            meta: x.meta(),
        };
        let header = Header {
            op: CollectiveOp::AllReduce(kind).describe(),
            entries: xs.iter().map(entry).collect(),
        };
        let shapes: Vec<Shape> = xs.iter().map(|(_, x)| x.shape().clone()).collect();
        let buffers = xs.into_iter().map(|(_, x)| buffer::<B>(x.inner));
        let pending = host::all_reduce(&member.0, kind, header, buffers.collect::<Result<_, _>>()?)?;
        Ok(pending.and_then(move |buffers| {
            let upload = |(buffer, shape)| {
                let inner = B::upload(TensorData::from_buffer(buffer, shape)?, &inner)?;
                Ok(MeshTensor::new(inner, member.clone()))
            };
            buffers.into_iter().zip(shapes).map(upload).collect()
        }))
    }
}

fn buffer<B: Readable>(x: B::Primitive) -> Result<Buffer, Error> {
    B::into_data(x).map(|data| data.into_parts().0)
}

/// The equal parts of an axis, for the members in the order of ranks.
fn parts<B: Readable>(x: B::Primitive, axis: usize, size: usize) -> Result<Vec<Buffer>, Error> {
    let len = x.shape()[axis] / size;
    let part = |rank| Raw::<B>::new(x.clone()).narrow(axis, rank * len, len);
    (0..size)
        .map(|rank| buffer::<B>(part(rank)?.into_primitive()))
        .collect()
}

impl<B: BackendTypes, T> MeshTensor<B, T> {
    fn new(inner: B::Primitive, member: Place) -> Self {
        MeshTensor {
            inner,
            member,
            transport: PhantomData,
        }
    }
}

impl<B: BackendTypes, T> HasMeta for MeshTensor<B, T> {
    fn shape(&self) -> &Shape {
        self.inner.shape()
    }
    fn dtype(&self) -> DType {
        self.inner.dtype()
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.is_alone() && other.0.is_alone()
    }
}

impl<B: BackendTypes, T> PartialEq for MeshDevice<B, T> {
    fn eq(&self, other: &Self) -> bool {
        self.member == other.member && self.inner == other.inner
    }
}

impl<B, T> Clone for Mesh<B, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B, T> Copy for Mesh<B, T> {}
impl<B, T> fmt::Debug for Mesh<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mesh")
    }
}

impl<B: BackendTypes, T> Clone for MeshDevice<B, T> {
    fn clone(&self) -> Self {
        MeshDevice {
            inner: self.inner.clone(),
            member: self.member.clone(),
            transport: PhantomData,
        }
    }
}
impl<B: BackendTypes, T> fmt::Debug for MeshDevice<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({:?})", self.inner, self.member.0)
    }
}

impl<B: BackendTypes, T> Clone for MeshTensor<B, T> {
    fn clone(&self) -> Self {
        MeshTensor::new(self.inner.clone(), self.member.clone())
    }
}
impl<B: BackendTypes, T> fmt::Debug for MeshTensor<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({:?})", self.inner, self.member.0)
    }
}
