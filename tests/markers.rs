//! What each backend can do and what it must not be able to do, what may go to another thread, and sizes that matter: all
//! of it checked by the compiler. A new backend or decorator is one row of `markers!` and one of `elements!`.

use std::collections::BTreeSet;
use std::fs;
use std::mem::size_of;
use std::path::Path;

use keyway::autodiff::{GradientSet, LeafId, Strategy, Tracked};
use keyway::backend::InGroup;
use keyway::backend::flex::FlexTensor;
use keyway::collective::{
    Carries, CollectiveOp, Entry, Header, Member, MeshTensor, Message, Part, Transport,
};
use keyway::dynamic::{
    Available, ConversionError, Custom, CustomDevice, CustomTensor, DynGradients, DynPrimitive,
};
use keyway::nn::{self, *};
use keyway::op::random::{Key, KeySource};
use keyway::op::{self, *};
use keyway::optim::{AdamW, AdamWConfig, Sgd, SgdConfig};
use keyway::prelude::*;
use keyway::raw::{self, Norm, Raw};
use keyway::*;
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, assert_type_eq_all};

#[path = "../ui-tests/support/recorder.rs"]
mod recorder;
use recorder::Recorder;

macro_rules! check {
    (yes $T:ty: $Trait:path) => { assert_impl_all!($T: $Trait); };
    (no $T:ty: $Trait:path) => { assert_not_impl_any!($T: $Trait); };
}

macro_rules! markers {
    ($($B:ty: $Reach:ident $plain:ident $autodiff:ident $collective:ident $local:ident $readable:ident;)*) => { $(
        assert_impl_all!($B: Backend);
        assert_type_eq_all!(<$B as Backend>::Reach, $Reach);
        check!($plain $B: PlainBackend);
        check!($autodiff $B: AutodiffBackend);
        check!($collective $B: CollectiveBackend);
        check!($local $B: LocalBackend);
        check!($readable $B: Readable);
    )* };
}

// The last rows are of a backend that only records (`ui-tests/support/recorder.rs`).
#[rustfmt::skip]
markers! {
    //                                           Reach      Plain Autodiff Collective Local Readable
    Flex:                                        Local      yes   no       no         yes   yes;
    Mesh<Flex>:                                  Collective yes   no       yes        no    yes;
    Autodiff<Flex>:                              Local      no    yes      no         no    yes;
    Autodiff<Flex, BalancedCheckpointing>:       Local      no    yes      no         no    yes;
    Autodiff<Mesh<Flex>>:                        Collective no    yes      yes        no    yes;
    Autodiff<Mesh<Flex>, BalancedCheckpointing>: Collective no    yes      yes        no    yes;
    Dyn:                                         Unproven   yes   no       no         no    yes;
    Autodiff<Dyn>:                               Unproven   no    yes      no         no    yes;
    Custom:                                      Unproven   yes   no       no         no    yes;
    Recorder:                                    Local      yes   no       no         no    no;
    Autodiff<Recorder>:                          Local      no    yes      no         no    no;
}
#[cfg(feature = "ndarray")]
#[rustfmt::skip]
markers! {
    NdArray:                                     Local      yes   no       no         yes   yes;
    Mesh<NdArray>:                               Collective yes   no       yes        no    yes;
    Autodiff<NdArray>:                           Local      no    yes      no         no    yes;
    Autodiff<Mesh<NdArray>>:                     Collective no    yes      yes        no    yes;
}

#[cfg(feature = "candle")]
#[rustfmt::skip]
markers! {
    Candle:                                      Local      yes   no       no         yes   yes;
    Mesh<Candle>:                                Collective yes   no       yes        no    yes;
    Autodiff<Candle>:                            Local      no    yes      no         no    yes;
    Autodiff<Mesh<Candle>>:                      Collective no    yes      yes        no    yes;
}

#[cfg(feature = "tch")]
#[rustfmt::skip]
markers! {
    LibTorch:                                    Local      yes   no       no         yes   yes;
    Mesh<LibTorch>:                              Collective yes   no       yes        no    yes;
    Autodiff<LibTorch>:                          Local      no    yes      no         no    yes;
    Autodiff<Mesh<LibTorch>>:                    Collective no    yes      yes        no    yes;
}

// What looks like a backend and is none.
assert_not_impl_any!(Mesh<Mesh<Flex>>: Backend);
assert_not_impl_any!(Mesh<Autodiff<Flex>>: Backend);
assert_not_impl_any!(Mesh<Recorder>: Backend);
assert_not_impl_any!(Mesh<Dyn>: Backend);
assert_not_impl_any!(Mesh<Flex, ()>: Backend);

macro_rules! elements {
    ($($B:ty: $f64:ident $f32:ident $f16:ident $bf16:ident $i64:ident $i32:ident $i16:ident $i8:ident
        $u64:ident $u32:ident $u16:ident $u8:ident $bool:ident;)*) => { $(
        check!($f64 $B: Supports<f64>);
        check!($f32 $B: Supports<f32>);
        check!($f16 $B: Supports<f16>);
        check!($bf16 $B: Supports<bf16>);
        check!($i64 $B: Supports<i64>);
        check!($i32 $B: Supports<i32>);
        check!($i16 $B: Supports<i16>);
        check!($i8 $B: Supports<i8>);
        check!($u64 $B: Supports<u64>);
        check!($u32 $B: Supports<u32>);
        check!($u16 $B: Supports<u16>);
        check!($u8 $B: Supports<u8>);
        check!($bool $B: Supports<bool>);
        check!(no $B: Supports<String>);
    )* };
}

#[rustfmt::skip]
elements! {
    //                                     f64 f32 f16 bf16 i64 i32 i16 i8  u64 u32 u16 u8  bool
    Flex:                                  yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Mesh<Flex>:                            yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Autodiff<Flex>:                        yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Autodiff<Flex, BalancedCheckpointing>: yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Autodiff<Mesh<Flex>>:                  yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Dyn:                                   yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Autodiff<Dyn>:                         yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Custom:                                yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Recorder:                              no  yes no  no   no  yes no  no  no  no  no  no  yes;
    Autodiff<Recorder>:                    no  yes no  no   no  yes no  no  no  no  no  no  yes;
}
#[cfg(feature = "ndarray")]
#[rustfmt::skip]
elements! {
    NdArray:                               yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Mesh<NdArray>:                         yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Autodiff<NdArray>:                     yes yes yes yes  yes yes yes yes yes yes yes yes yes;
    Autodiff<Mesh<NdArray>>:               yes yes yes yes  yes yes yes yes yes yes yes yes yes;
}

#[cfg(feature = "candle")]
#[rustfmt::skip]
elements! {
    Candle:                                yes yes yes yes  yes yes yes no  no  yes no  yes yes;
    Mesh<Candle>:                          yes yes yes yes  yes yes yes no  no  yes no  yes yes;
    Autodiff<Candle>:                      yes yes yes yes  yes yes yes no  no  yes no  yes yes;
    Autodiff<Mesh<Candle>>:                yes yes yes yes  yes yes yes no  no  yes no  yes yes;
}

#[cfg(feature = "tch")]
#[rustfmt::skip]
elements! {
    LibTorch:                              yes yes yes yes  yes yes yes yes no  no  no  yes yes;
    Mesh<LibTorch>:                        yes yes yes yes  yes yes yes yes no  no  no  yes yes;
    Autodiff<LibTorch>:                    yes yes yes yes  yes yes yes yes no  no  no  yes yes;
    Autodiff<Mesh<LibTorch>>:              yes yes yes yes  yes yes yes yes no  no  no  yes yes;
}

macro_rules! kinds {
    ($($E:ty: $numeric:ident $float:ident $int:ident $bit:ident;)*) => { $(
        assert_impl_all!($E: Element);
        check!($numeric $E: NumericElement);
        check!($float $E: FloatElement);
        check!($int $E: IntElement);
        check!($bit $E: BitElement);
    )* };
}

#[rustfmt::skip]
kinds! {
    //    Numeric Float Int Bit
    f64:  yes     yes   no  no;
    f32:  yes     yes   no  no;
    f16:  yes     yes   no  no;
    bf16: yes     yes   no  no;
    i64:  yes     no    yes yes;
    i32:  yes     no    yes yes;
    i16:  yes     no    yes yes;
    i8:   yes     no    yes yes;
    u64:  yes     no    yes yes;
    u32:  yes     no    yes yes;
    u16:  yes     no    yes yes;
    u8:   yes     no    yes yes;
    bool: no      no    no  yes;
}

// Transports, and what they carry: values of a plain backend, never a graph.
assert_impl_all!(InProcess: Transport, Carries<Flex>);
#[cfg(feature = "candle")]
assert_impl_all!(InProcess: Carries<Candle>);
#[cfg(feature = "ndarray")]
assert_impl_all!(InProcess: Carries<NdArray>);
#[cfg(feature = "tch")]
assert_impl_all!(InProcess: Carries<LibTorch>);
assert_not_impl_any!(InProcess: Carries<Autodiff<Flex>>, Carries<Autodiff<Mesh<Flex>>>);
assert_not_impl_any!(FlexDevice: Transport, Carries<Flex>);

// Reach: which marker is a group's, what leaves `backward`, and what an optimizer takes.
assert_impl_all!(Collective: InGroup<Mesh<Flex>>);
assert_not_impl_any!(Collective: InGroup<Flex>);
assert_not_impl_any!(Local: InGroup<Flex>, InGroup<Mesh<Flex>>);
assert_not_impl_any!(Unproven: InGroup<Flex>, InGroup<Mesh<Flex>>);
assert_type_eq_all!(autodiff::AfterBackward<Autodiff<Flex>>, Synced);
assert_type_eq_all!(autodiff::AfterBackward<Autodiff<Mesh<Flex>>>, Unsynced);
assert_type_eq_all!(autodiff::AfterBackward<Autodiff<Dyn>>, Unsynced);
assert_impl_all!(Synced: ReadyToStep);
assert_not_impl_any!(Unsynced: ReadyToStep);
assert_impl_all!(NoCheckpointing: Strategy);
assert_impl_all!(BalancedCheckpointing: Strategy);
assert_not_impl_any!(Flex: Strategy);

/// Generic code knows too that a collective backend leaves gradients unsynchronised.
#[allow(dead_code)]
fn of_a_group<B: PlainBackend + CollectiveBackend>(loss: Tensor<Autodiff<B>, 1>) -> Gradients<B, Unsynced> {
    loss.backward()
}

/// A function generic over operands can use operators.
#[allow(dead_code)]
fn doubled_sum<E: NumericElement>(
    x: Tensor<Flex, 1, E>,
    y: impl Operand<Flex, 1, E, Element = E>,
) -> Tensor<Flex, 1, E> {
    (x + y) * 2
}

macro_rules! threads {
    ($($send:ident $sync:ident: $($T:ty),* ;)*) => { $( $(
        check!($send $T: Send);
        check!($sync $T: Sync);
    )* )* };
}

/// The backend with the most in it: what can go to a thread here can everywhere.
type B = Autodiff<Mesh<Flex>>;
type P = Mesh<Flex>;

// Send Sync: every public type.
threads! {
    yes yes: Tensor<B, 2>, Tensor<B, 2, i32>, Tensor<Flex, 2>, Raw<B>, TensorData, keyway::Buffer, Shape, DType, Scalar,
        Slice, Distribution, Norm, Error, keyway::Transaction<B>, keyway::PrintOptions;
    yes yes: Flex, FlexDevice, FlexTensor, Mesh<Flex>, MeshDevice<Flex>, MeshTensor<Flex>, B, Tracked<P>,
        NoCheckpointing, BalancedCheckpointing, Local, Collective, Unproven, Synced, Unsynced, backend::Route;
    yes yes: Dyn, DynDevice, DynPrimitive, DynTensor, DynGradients, Custom, CustomDevice, CustomTensor, Available,
        ConversionError<DynTensor>;
    yes yes: Gradients<P, Synced>, Gradients<P, Unsynced>, GradientSet<P>, LeafId;
    yes yes: InProcess, Member, GroupOptions, GradientReduction, ReduceKind, CollectiveOp, ParamId, Message, Header,
        Entry, Part;
    // The closure within is called once.
    yes no: Pending<Tensor<B, 2>>;
    yes yes: Op<FlexTensor>, Arg<FlexTensor>, Meta, CreateOp, UnaryOp, BinaryOp, CompareOp, ReduceOp, ScanOp,
        IndexOp<FlexTensor>, ScatterMode, MoveOp, SliceRange, PadMode, ConvOp<FlexTensor>, op::ConvOptions, PoolOp,
        PoolOptions, FusedOp<FlexTensor>, Key, KeySource;
    yes yes: Linear<B>, LinearConfig, Conv2d<B>, Conv2dConfig, PaddingConfig2d, Embedding<B>, EmbeddingConfig,
        LayerNorm<B>, LayerNormConfig, BatchNorm<B>, BatchNormConfig, Dropout, DropoutConfig, MaxPool2d,
        MaxPool2dConfig, AvgPool2d, AvgPool2dConfig, Param<B, 2>, nn::Buffer<B, 1>, Initializer, Format, Kind,
        Slot<'static>;
    // They borrow a closure of the caller's, which may be bound to a thread.
    no no: Visitor<'static, B>, Mapper<'static, B, Flex>;
    yes yes: Sgd<P>, SgdConfig, AdamW<P>, AdamWConfig;
    yes yes: module::ConvOptions<2>, module::ConvTransposeOptions<2>, module::DeformConvOptions<2>,
        module::MaxPoolOptions<2>, module::AvgPoolOptions<2>, module::UnfoldOptions, module::InterpolateOptions,
        module::AttentionModuleOptions, module::BatchNormTrainOutput<B, 2>, raw::PoolOptions, raw::ConvTransposeOptions,
        module::CausalAlignment, module::InterpolateMode, module::CoordinateTransformMode,
        module::NearestRoundingMode, module::CubicOptions, grid::GridOptions, grid::GridIndexing, grid::GridSparsity,
        grid::GridSampleOptions, grid::GridSamplePaddingMode, grid::IndexPos, signal::StftOptions, loss::Mean,
        loss::Sum, loss::Unreduced;
}
#[cfg(feature = "ndarray")]
threads! {
    yes yes: NdArray, NdArrayDevice, backend::ndarray::NdArrayTensor;
}

#[cfg(feature = "candle")]
threads! {
    yes yes: Candle, CandleDevice, backend::candle::CandleTensor;
}

#[cfg(feature = "tch")]
threads! {
    yes yes: LibTorch, LibTorchDevice, backend::tch::LibTorchTensor, Op<backend::tch::LibTorchTensor>;
}

// Markers, decorators and the types of a tensor add nothing to it.
assert_eq_size!(Tensor<Flex, 2>, Tensor<Flex, 6, bool>, Raw<Flex>, FlexTensor);
assert_eq_size!(
    Tensor<Autodiff<Flex>, 2>,
    Tensor<Autodiff<Flex, BalancedCheckpointing>, 2>,
    Tracked<Flex>
);
assert_eq_size!(Gradients<P, Synced>, Gradients<P, Unsynced>, GradientSet<P>);
assert_eq_size!((), B, Flex, NoCheckpointing, BalancedCheckpointing);
assert_eq_size!(u8, DType, UnaryOp, BinaryOp);

/// The most bytes of what is moved often.
#[test]
fn what_is_moved_often_is_small() {
    let word = size_of::<usize>();
    let sizes = [
        ("Op<FlexTensor>", size_of::<Op<FlexTensor>>(), 256),
        ("Tensor<Flex, 2>", size_of::<Tensor<Flex, 2>>(), 128),
        (
            "a tracked tensor, over its value",
            size_of::<Tensor<Autodiff<Flex>, 2>>() - size_of::<FlexTensor>(),
            word,
        ),
        (
            "a member's tensor, over its value",
            size_of::<MeshTensor<Flex>>() - size_of::<FlexTensor>(),
            word,
        ),
        (
            "Result<Tensor<Flex, 2>, Error>",
            size_of::<Result<Tensor<Flex, 2>, Error>>(),
            128,
        ),
        ("Error", size_of::<Error>(), 96),
        ("Scalar", size_of::<Scalar>(), 16),
        ("FlexDevice", size_of::<FlexDevice>(), word),
    ];
    for (what, bytes, most) in sizes {
        assert!(bytes <= most, "{what}: {bytes} bytes, at most {most}");
    }
}

/// The table above names every public type, so that none is forgotten.
#[test]
fn every_public_type_is_in_the_table() {
    let mut types = BTreeSet::new();
    public_types(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut types);
    assert!(types.len() > 90, "found only {types:?}");
    let table = include_str!("markers.rs")
        .split(|c: char| !c.is_alphanumeric())
        .collect::<BTreeSet<_>>();
    let missing: Vec<_> = types
        .iter()
        .filter(|name| !table.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "not in `threads!`: {missing:?}");
}

/// Public items stand at the start of a line; those of `leaf_ops!`, in `op`, two steps in and without `pub`.
fn public_types(folder: &Path, types: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            public_types(&path, types);
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            let name = ["pub struct ", "pub enum "]
                .iter()
                .find_map(|start| line.strip_prefix(start));
            let leaf = line.strip_prefix("    ").filter(|rest| rest.ends_with("Op {"));
            if let Some(rest) = name.or(leaf) {
                types.insert(
                    rest.split(|c: char| !c.is_alphanumeric())
                        .next()
                        .unwrap()
                        .to_string(),
                );
            }
        }
    }
}
