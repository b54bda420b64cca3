use std::collections::BTreeMap;
use std::path::Path;

use super::distribute::distribute;
use super::file::{self, Format};
use crate::autodiff::AutodiffBackend;
use crate::backend::{Backend, DynBackend, Readable};
use crate::collective::CollectiveBackend;
use crate::data::TensorData;
use crate::error::Error;
use crate::raw::Raw;
use crate::tensor::ok;

/// A model or a part of one: something that holds parameters and buffers on backend `B`.
///
/// [`module!`](crate::module!) writes the implementation for a struct; by hand it is a line per field and method:
///
/// ```
/// use keyway::nn::{Linear, LinearConfig, Mapper, Module, Visitor};
/// use keyway::prelude::*;
///
/// struct Net<B: Backend> { hidden: Linear<B>, output: Linear<B> }
///
/// impl<B: Backend> Module<B> for Net<B> {
///     type On<B2: Backend> = Net<B2>;
///     fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error> {
///         visitor.field("hidden", &mut self.hidden)?;
///         visitor.field("output", &mut self.output)
///     }
///     fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Net<B2>, Error> {
///         Ok(Net { hidden: mapper.field("hidden", &self.hidden)?, output: mapper.field("output", &self.output)? })
///     }
/// }
///
/// let device = Default::default();
/// let net = Net::<Autodiff<Flex>> { hidden: LinearConfig::new(2, 3).init(&device), output: LinearConfig::new(3, 1).init(&device) };
/// assert_eq!(net.num_params(), 2 * 3 + 3 + 3 + 1);
/// let paths: Vec<String> = net.valid().record()?.into_keys().collect();
/// assert_eq!(paths, ["hidden.bias", "hidden.weight", "output.bias", "output.weight"]);
/// # Ok::<(), keyway::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module",
    label = "no parameters or buffers are known of it",
    note = "`keyway::module!` implements `Module` for a struct; what is not a module is named after `const`"
)]
pub trait Module<B: Backend>: Sized {
    /// The same model on another backend.
    type On<B2: Backend>: Module<B2>;

    /// Hands every parameter and buffer to the visitor, which may give it a new value.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Visitor};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let mut linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// linear.visit(&mut Visitor::new(&mut |_, x| x.zeros_like().map(Some)))?;
    /// assert_eq!(linear.weight.val().into_vec()?, [0.0, 0.0]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first that the visitor returns.
    fn visit(&mut self, visitor: &mut Visitor<'_, B>) -> Result<(), Error>;

    /// The same model with what the mapper makes of every parameter and buffer, in the order of [`Module::visit`].
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Mapper};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let doubled: Linear<Flex> = linear.map(&mut Mapper::new(&mut |_, x| x.clone().mul(2)))?;
    /// assert_eq!(doubled.weight.val().into_vec()?, (linear.weight.val() * 2.0).into_vec()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first that the mapper returns.
    fn map<B2: Backend>(&self, mapper: &mut Mapper<'_, B, B2>) -> Result<Self::On<B2>, Error>;

    /// Looks at every parameter and buffer, in the order of [`Module::visit`].
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let mut sizes = vec![];
    /// linear.for_each(|slot, x| {
    ///     sizes.push((slot.path.to_owned(), x.shape().to_vec()));
    ///     Ok(())
    /// })?;
    /// assert_eq!(sizes, [("weight".to_owned(), vec![2, 1]), ("bias".to_owned(), vec![1])]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first that `f` returns.
    fn for_each(&self, mut f: impl FnMut(&Slot<'_>, &Raw<B>) -> Result<(), Error>) -> Result<(), Error> {
        let same = self.map::<B>(&mut Mapper::new(&mut |slot, x| {
            f(slot, x)?;
            Ok(x.clone())
        }));
        same.map(drop)
    }

    /// The number of trained values; buffers do not count.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// assert_eq!(linear.num_params(), 3); // two weights, one bias
    /// ```
    fn num_params(&self) -> usize {
        let mut total = 0;
        ok(self.for_each(|slot, x| {
            if slot.kind == Kind::Param {
                total += x.shape().num_elements();
            }
            Ok(())
        }));
        total
    }

    /// The values of every parameter and buffer, by path.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let record = linear.record()?;
    /// assert_eq!(record["weight"], linear.weight.val().into_data()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the device failed.
    fn record(&self) -> Result<Record, Error>
    where
        B: Readable,
    {
        let mut record = Record::new();
        self.for_each(|slot, x| {
            record.insert(slot.path.to_owned(), x.clone().into_data()?);
            Ok(())
        })?;
        Ok(record)
    }

    /// Takes over the values of a record.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let mut other: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// other.load_record(linear.record()?)?;
    /// assert_eq!(other.record()?, linear.record()?);
    /// assert!(other.load_record(Default::default()).is_err()); // nothing in it
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Argument` if a tensor is missing, is not the model's, or has another shape or element type, or if the device fails;
    /// the model is then unchanged.
    fn load_record(&mut self, record: Record) -> Result<(), Error> {
        file::assign(self, record, Format::Keyway, |message| {
            Error::argument("load_record", message)
        })
    }

    /// Saves parameters and buffers under their paths in a safetensors file.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let path = std::env::temp_dir().join(format!("keyway-doc-save-{}.safetensors", std::process::id()));
    /// linear.save(&path)?;
    /// let mut other: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// other.load(&path)?;
    /// assert_eq!(other.record()?, linear.record()?);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// `File` if the file cannot be written (one that was there stays then), or if the device failed.
    fn save(&self, path: impl AsRef<Path>) -> Result<(), Error>
    where
        B: Readable,
    {
        self.save_as(path, Format::Keyway)
    }

    /// [`Module::save`] in another format.
    ///
    /// ```
    /// use keyway::nn::{Format, Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(3, 2).init(&device);
    /// let path = std::env::temp_dir().join(format!("keyway-doc-{}.safetensors", std::process::id()));
    /// linear.save_as(&path, Format::PyTorch)?;
    /// let mut copy: Linear<Flex> = LinearConfig::new(3, 2).init(&device);
    /// copy.load_as(&path, Format::PyTorch)?;
    /// assert_eq!(copy.record()?, linear.record()?);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Module::save`].
    fn save_as(&self, path: impl AsRef<Path>, format: Format) -> Result<(), Error>
    where
        B: Readable,
    {
        file::save(self, path.as_ref(), format)
    }

    /// Loads every parameter and buffer from a safetensors file.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let path = std::env::temp_dir().join(format!("keyway-doc-load-{}.safetensors", std::process::id()));
    /// linear.save(&path)?;
    /// let mut other: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// other.load(&path)?;
    /// assert_eq!(other.record()?, linear.record()?);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// `File` if the file cannot be read or is not whole, or if a tensor is missing in it, is not the model's, or has
    /// another shape or element type; or if the device fails. The model is then unchanged.
    fn load(&mut self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.load_as(path, Format::Keyway)
    }

    /// [`Module::load`] of another format.
    ///
    /// ```
    /// use keyway::nn::{Format, Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let path = std::env::temp_dir().join(format!("keyway-doc-load-as-{}.safetensors", std::process::id()));
    /// linear.save_as(&path, Format::PyTorch)?;
    /// let mut other: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// other.load_as(&path, Format::PyTorch)?;
    /// assert_eq!(other.record()?, linear.record()?);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Module::load`].
    fn load_as(&mut self, path: impl AsRef<Path>, format: Format) -> Result<(), Error> {
        file::load(self, path.as_ref(), format)
    }

    /// The model on the plain backend, for use without training. It shares the parameters' memory.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Autodiff<Flex>> = LinearConfig::new(2, 1).init(&device);
    /// let plain: Linear<Flex> = linear.valid();
    /// assert_eq!(plain.record()?, linear.record()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    fn valid(&self) -> Self::On<B::Plain>
    where
        B: AutodiffBackend,
    {
        ok(self.map(&mut Mapper::new(&mut |_, x| {
            Ok(Raw::new(B::inner(x.clone().into_primitive())))
        })))
    }

    /// Makes the model one that the members of its device's group train together: members compare their parameters and
    /// buffers, each gets the values of rank 0, and every parameter is marked with
    /// [`set_distributed_params`](crate::Tensor::set_distributed_params) under its path. Every member calls this, on a thread
    /// of its own; without it, `sync` averages nothing, and an optimizer refuses to step.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let replicas = Mesh::<Flex>::open(2)?.into_iter().map(|device| std::thread::spawn(move || {
    ///     let own: Linear<Autodiff<Mesh<Flex>>> = LinearConfig::new(2, 1).init(&device);
    ///     own.distribute()?.record()
    /// }));
    /// let records: Vec<_> = replicas.collect::<Vec<_>>().into_iter().map(|replica| replica.join().unwrap()).collect();
    /// assert_eq!(records[0], records[1]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Collective` if a member is missing, or its model has other paths, shapes or element types.
    fn distribute(self) -> Result<Self, Error>
    where
        B: AutodiffBackend + CollectiveBackend,
    {
        distribute(self)
    }

    /// [`Module::distribute`], where only the device knows whether it is in a group.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::{Dyn, DynDevice};
    /// use keyway::prelude::*;
    /// let device: DynDevice = "flex".parse()?;
    /// let linear: Linear<Autodiff<Dyn>> = LinearConfig::new(2, 1).init(&device);
    /// assert!(matches!(linear.try_distribute(), Err(Error::NotCollective { .. })));
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// As `distribute`, and `NotCollective` if the device is in no group.
    fn try_distribute(self) -> Result<Self, Error>
    where
        B: AutodiffBackend<Plain: DynBackend>,
    {
        distribute(self)
    }

    /// Moves every parameter and buffer to another device of the backend.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let (a, b) = (FlexDevice::default(), FlexDevice::default());
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&a);
    /// assert_eq!(linear.to_device(&b)?.weight.val().device(), b);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a device fails.
    fn to_device(mut self, device: &B::Device) -> Result<Self, Error> {
        self.visit(&mut Visitor::new(&mut |_, x| {
            x.clone().to_device(device).map(Some)
        }))?;
        Ok(self)
    }

    /// Copies the model to another backend, through the host. The copy's parameters are not distributed.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let tracked: Linear<Autodiff<Flex>> = linear.to_backend(&device)?;
    /// assert_eq!(tracked.record()?, linear.record()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// If either device fails, or the other does not hold an element type of the model.
    fn to_backend<B2: Backend>(&self, device: &B2::Device) -> Result<Self::On<B2>, Error>
    where
        B: Readable,
    {
        self.map(&mut Mapper::new(&mut |_, x| {
            Raw::from_data(x.clone().into_data()?, device)
        }))
    }
}

/// The values of a model's parameters and buffers, by path.
pub type Record = BTreeMap<String, TensorData>;

/// Whether a tensor of a model is trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Trained.
    Param,
    /// Kept with the model, but not trained.
    Buffer,
}

/// Where a tensor is in its model.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a> {
    /// The path in the model, such as `conv1.weight`.
    pub path: &'a str,
    /// Whether it is trained.
    pub kind: Kind,
    /// Whether PyTorch holds its transpose: so it is with the weight of a linear layer.
    pub transposed_in_pytorch: bool,
}

/// Goes through a model's tensors and may change them; see [`Module::visit`].
pub struct Visitor<'a, B: Backend> {
    place: Place,
    f: &'a mut VisitFn<'a, B>,
}

/// What a visitor does with a tensor: the new value, if any, has the shape and the element type of the old one.
type VisitFn<'a, B> = dyn FnMut(&Slot<'_>, &Raw<B>) -> Result<Option<Raw<B>>, Error> + 'a;

impl<'a, B: Backend> Visitor<'a, B> {
    /// A visitor that does this with every tensor: the new value, if any, must have the shape and the element type of the
    /// old one.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Visitor};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let mut linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let mut paths = vec![];
    /// linear.visit(&mut Visitor::new(&mut |slot, _| {
    ///     paths.push(slot.path.to_owned());
    ///     Ok(None)
    /// }))?;
    /// assert_eq!(paths, ["weight", "bias"]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn new(f: &'a mut VisitFn<'a, B>) -> Self {
        let place = Place::default();
        Visitor { place, f }
    }

    /// Visits a field of a model under its name, which every path in it then begins with.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Visitor};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let mut linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let mut paths = vec![];
    /// let mut collect = |slot: &keyway::nn::Slot<'_>, _: &keyway::raw::Raw<Flex>| {
    ///     paths.push(slot.path.to_owned());
    ///     Ok(None)
    /// };
    /// Visitor::new(&mut collect).field("hidden", &mut linear)?;
    /// assert_eq!(paths, ["hidden.weight", "hidden.bias"]);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first that the visitor returns.
    pub fn field<M: Module<B>>(&mut self, name: impl AsRef<str>, field: &mut M) -> Result<(), Error> {
        let end = self.place.enter(name.as_ref());
        field.visit(self)?;
        self.place.path.truncate(end);
        Ok(())
    }

    /// [`Visitor::field`] of a tensor whose transpose PyTorch holds.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Visitor};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let mut linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let mut transposed = vec![];
    /// linear.visit(&mut Visitor::new(&mut |slot, _| {
    ///     transposed.push(slot.transposed_in_pytorch);
    ///     Ok(None)
    /// }))?;
    /// assert_eq!(transposed, [true, false]); // a layer visits its weight by this, its bias by `field`
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first that the visitor returns.
    pub fn transposed_field<M: Module<B>>(
        &mut self,
        name: impl AsRef<str>,
        field: &mut M,
    ) -> Result<(), Error> {
        self.place.transposed = true;
        self.field(name, field)?;
        self.place.transposed = false;
        Ok(())
    }

    /// The new value of the tensor at the current path, if it gets one.
    pub(super) fn tensor(&mut self, kind: Kind, old: &Raw<B>) -> Result<Option<Raw<B>>, Error> {
        let new = (self.f)(&self.place.slot(kind), old)?;
        let same = |new: &Raw<B>| new.shape() == old.shape() && new.dtype() == old.dtype();
        match new {
            Some(new) if !same(&new) => {
                let message = format!(
                    "`{}` is {} of {}, its new value is {} of {}",
                    self.place.path,
                    old.shape(),
                    old.dtype(),
                    new.shape(),
                    new.dtype()
                );
                Err(Error::argument("visit", message))
            }
            new => Ok(new),
        }
    }
}

/// Makes a model on `B2` of one on `B`; see [`Module::map`].
pub struct Mapper<'a, B: Backend, B2: Backend> {
    place: Place,
    f: &'a mut MapFn<'a, B, B2>,
}

/// What a mapper makes of a tensor: one of the same shape and element type.
type MapFn<'a, B, B2> = dyn FnMut(&Slot<'_>, &Raw<B>) -> Result<Raw<B2>, Error> + 'a;

impl<'a, B: Backend, B2: Backend> Mapper<'a, B, B2> {
    /// A mapper that makes this of every tensor; it must have the same rank and element type.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Mapper};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let copy: Linear<Flex> = linear.map(&mut Mapper::new(&mut |_, x| Ok(x.clone())))?;
    /// assert_eq!(copy.record()?, linear.record()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    pub fn new(f: &'a mut MapFn<'a, B, B2>) -> Self {
        let place = Place::default();
        Mapper { place, f }
    }

    /// Maps a field of a model under its name, which every path in it then begins with.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Mapper};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let mut negate = |_: &keyway::nn::Slot<'_>, x: &keyway::raw::Raw<Flex>| x.clone().neg();
    /// let negated: Linear<Flex> = Mapper::new(&mut negate).field("hidden", &linear)?;
    /// assert_eq!(negated.weight.val().into_vec()?, (-linear.weight.val()).into_vec()?);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first that the mapper returns.
    pub fn field<M: Module<B>>(&mut self, name: impl AsRef<str>, field: &M) -> Result<M::On<B2>, Error> {
        let end = self.place.enter(name.as_ref());
        let mapped = field.map(self)?;
        self.place.path.truncate(end);
        Ok(mapped)
    }

    /// [`Mapper::field`] of a tensor whose transpose PyTorch holds.
    ///
    /// ```
    /// use keyway::nn::{Linear, LinearConfig, Mapper};
    /// use keyway::prelude::*;
    /// let device = Default::default();
    /// let linear: Linear<Flex> = LinearConfig::new(2, 1).init(&device);
    /// let mut transposed = vec![];
    /// let copy: Linear<Flex> = linear.map(&mut Mapper::new(&mut |slot, x| {
    ///     transposed.push(slot.transposed_in_pytorch);
    ///     Ok(x.clone())
    /// }))?;
    /// assert_eq!(transposed, [true, false]); // a layer maps its weight by this, its bias by `field`
    /// # drop(copy);
    /// # Ok::<(), keyway::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first that the mapper returns.
    pub fn transposed_field<M: Module<B>>(
        &mut self,
        name: impl AsRef<str>,
        field: &M,
    ) -> Result<M::On<B2>, Error> {
        self.place.transposed = true;
        let mapped = self.field(name, field)?;
        self.place.transposed = false;
        Ok(mapped)
    }

    pub(super) fn tensor(&mut self, kind: Kind, x: &Raw<B>) -> Result<Raw<B2>, Error> {
        (self.f)(&self.place.slot(kind), x)
    }
}

/// The place in a model that a traversal has come to.
#[derive(Default)]
struct Place {
    path: String,
    transposed: bool,
}

impl Place {
    /// Steps into a field; gives the length of the path before.
    fn enter(&mut self, name: &str) -> usize {
        let end = self.path.len();
        if end > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        end
    }

    fn slot(&self, kind: Kind) -> Slot<'_> {
        Slot {
            path: &self.path,
            kind,
            transposed_in_pytorch: self.transposed,
        }
    }
}
