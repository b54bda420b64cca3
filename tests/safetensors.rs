//! Models in safetensors files: there and back, files of PyTorch, and files that are not what they should be.

use std::fs;
use std::path::PathBuf;

use keyway::nn::*;
use keyway::prelude::*;
use keyway::{FlexDevice, bf16, f16};

/// The model of `tests/reference/pytorch.py`.
#[derive(Clone, Debug)]
struct Net<B: Backend> {
    conv: Conv2d<B>,
    norm: BatchNorm<B>,
    linear: Linear<B>,
    layer_norm: LayerNorm<B>,
    half: Linear<B, bf16>,
    embedding: Embedding<B, f16>,
}
module!(Net {
    conv,
    norm,
    linear,
    layer_norm,
    half,
    embedding
});

impl<B: Backend + Supports<f16> + Supports<bf16>> Net<B> {
    fn new(device: &B::Device) -> Self {
        let conv = Conv2dConfig::new([2, 4], [3, 3]).with_stride([2, 2]);
        Net {
            conv: conv.with_padding(PaddingConfig2d::Explicit(1, 1)).init(device),
            norm: BatchNormConfig::new(4).init(device),
            linear: LinearConfig::new(16, 3).init(device),
            layer_norm: LayerNormConfig::new(3).init(device),
            half: LinearConfig::new(3, 2).init(device),
            embedding: EmbeddingConfig::new(5, 2).init(device),
        }
    }

    fn forward(&self, x: Tensor<B, 4>) -> Tensor<B, 2> {
        let x = activation::relu(self.norm.forward(self.conv.forward(x)));
        self.layer_norm.forward(self.linear.forward(x.flatten(1, 3)))
    }
}

/// The tensors of `tests/reference/pytorch_io.safetensors`.
struct Io<B: Backend> {
    x: Param<B, 4>,
    train: Param<B, 2>,
    valid: Param<B, 2>,
}
module!(Io { x, train, valid });

fn reference(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/reference", name]
        .iter()
        .collect()
}

/// A file that is gone when this is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Scratch(std::env::temp_dir().join(format!("keyway-{}-{name}.safetensors", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn assert_close(got: Vec<f32>, expected: Vec<f32>) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(&expected) {
        assert!((g - e).abs() < 1e-5, "{got:?} is not {expected:?}");
    }
}

#[test]
fn a_model_of_pytorch_gives_what_it_gives_there() {
    let device = FlexDevice::new(7);
    let mut net = Net::<Autodiff<Flex>>::new(&device);
    net.load_as(reference("pytorch.safetensors"), Format::PyTorch)
        .unwrap();
    let zeros = |shape| Param::new(Tensor::zeros(shape, &device));
    let mut io = Io::<Flex> {
        x: Param::new(Tensor::zeros([3, 2, 4, 4], &device)),
        train: zeros([3, 3]),
        valid: zeros([3, 3]),
    };
    io.load(reference("pytorch_io.safetensors")).unwrap();
    let valid = net.valid().forward(io.x.val());
    assert_close(valid.into_vec().unwrap(), io.valid.val().into_vec().unwrap());
    let train = net.forward(Tensor::from_inner(io.x.val()));
    assert_close(train.into_vec().unwrap(), io.train.val().into_vec().unwrap());
}

#[test]
fn what_is_saved_for_pytorch_is_what_pytorch_saved() {
    let mut net = Net::<Flex>::new(&FlexDevice::new(7));
    net.load_as(reference("pytorch.safetensors"), Format::PyTorch)
        .unwrap();
    let file = Scratch::new("pytorch");
    net.save_as(&file.0, Format::PyTorch).unwrap();
    let (theirs, ours) = (
        fs::read(reference("pytorch.safetensors")).unwrap(),
        fs::read(&file.0).unwrap(),
    );
    let theirs = safetensors::SafeTensors::deserialize(&theirs).unwrap();
    let ours = safetensors::SafeTensors::deserialize(&ours).unwrap();
    assert_eq!(ours.len(), theirs.len() - 1, "all but `norm.num_batches_tracked`");
    for (name, ours) in ours.iter() {
        let theirs = theirs.tensor(name).unwrap();
        assert_eq!(
            (ours.dtype(), ours.shape(), ours.data()),
            (theirs.dtype(), theirs.shape(), theirs.data())
        );
    }
}

#[test]
fn a_saved_model_comes_back_bit_for_bit() {
    let net = Net::<Autodiff<Flex>>::new(&FlexDevice::new(1));
    let file = Scratch::new("round");
    net.save(&file.0).unwrap();
    let mut other = Net::<Autodiff<Flex>>::new(&FlexDevice::new(2));
    assert_ne!(other.record().unwrap(), net.record().unwrap());
    other.load(&file.0).unwrap();
    let bytes = |net: &Net<_>| {
        net.record()
            .unwrap()
            .into_values()
            .map(|x| x.to_le_bytes())
            .collect::<Vec<_>>()
    };
    assert_eq!(bytes(&other), bytes(&net));
    let gradients = other
        .linear
        .forward(Tensor::ones([1, 16], &FlexDevice::new(0)))
        .sum()
        .backward();
    assert!(
        other.linear.weight.grad(&gradients).is_some(),
        "what is loaded is trained"
    );
}

#[test]
fn a_record_comes_back() {
    let net = Net::<Flex>::new(&FlexDevice::new(1));
    let mut other = Net::<Flex>::new(&FlexDevice::new(2));
    let mut record = net.record().unwrap();
    other.load_record(record.clone()).unwrap();
    assert_eq!(other.record().unwrap(), record);
    record.remove("linear.bias");
    let error = other.load_record(record).unwrap_err();
    assert_eq!(error.to_string(), "load_record: `linear.bias` is missing");
}

/// Loads a file into a linear layer, which must stay as it is; gives the error without the path.
fn refused(bytes: &[u8], name: &str) -> String {
    let file = Scratch::new(name);
    fs::write(&file.0, bytes).unwrap();
    let mut model: Linear<Flex> = LinearConfig::new(2, 3).init(&FlexDevice::new(0));
    let before = model.record().unwrap();
    let error = model.load(&file.0).unwrap_err();
    assert_eq!(model.record().unwrap(), before, "{name}");
    assert!(matches!(error, Error::File { .. }), "{error:?}");
    let path = format!("{}: ", file.0.display());
    error
        .to_string()
        .strip_prefix(&path)
        .expect("the path comes first")
        .to_owned()
}

fn saved<M: Module<Flex>>(model: M, name: &str) -> Vec<u8> {
    let file = Scratch::new(name);
    model.save(&file.0).unwrap();
    fs::read(&file.0).unwrap()
}

#[test]
fn files_that_do_not_fit_are_refused_and_change_nothing() {
    let device = FlexDevice::new(1);
    let good: Linear<Flex> = LinearConfig::new(2, 3).init(&device);
    let bytes = saved(good, "good");

    let no_bias: Linear<Flex> = LinearConfig::new(2, 3).with_bias(false).init(&device);
    assert_eq!(
        refused(&saved(no_bias, "missing"), "missing2"),
        "`bias` is missing"
    );

    let other: Linear<Flex> = LinearConfig::new(3, 3).init(&device);
    assert_eq!(
        refused(&saved(other, "shape"), "shape2"),
        "`weight` is [3, 3] of f32, expected [2, 3] of f32"
    );

    let other: Linear<Flex, f64> = LinearConfig::new(2, 3).init(&device);
    assert_eq!(
        refused(&saved(other, "dtype"), "dtype2"),
        "`weight` is [2, 3] of f64, expected [2, 3] of f32; `bias` is [3] of f64, expected [3] of f32"
    );

    let norm: BatchNorm<Flex> = BatchNormConfig::new(3).init(&device);
    let text = refused(&saved(norm, "extra"), "extra2");
    assert_eq!(
        text,
        "`weight` is [3] of f32, expected [2, 3] of f32; the model has no `running_mean`; the model has no `running_var`"
    );

    for len in [0, 4, 20, bytes.len() / 2, bytes.len() - 1] {
        let text = refused(&bytes[..len], &format!("truncated-{len}"));
        assert!(text.starts_with("not a safetensors file: "), "{text}");
    }
    let text = refused(b"PK\x03\x04 not this at all", "zip");
    assert!(text.starts_with("not a safetensors file: "), "{text}");
    let mut huge = bytes.clone();
    huge[..8].fill(0xff);
    assert!(refused(&huge, "header").starts_with("not a safetensors file: "));
}

#[test]
fn element_types_that_no_tensor_holds_are_refused() {
    let view =
        safetensors::tensor::TensorView::new(safetensors::Dtype::F8_E4M3, vec![2, 3], &[0; 6]).unwrap();
    let bytes = safetensors::serialize([("weight", view)], None).unwrap();
    assert_eq!(
        refused(&bytes, "f8"),
        "`weight` holds F8_E4M3 elements, which no tensor here does"
    );
}

#[test]
fn missing_files_and_folders_are_errors() {
    let mut model: Linear<Flex> = LinearConfig::new(2, 3).init(&FlexDevice::new(0));
    let path = std::env::temp_dir()
        .join("keyway-no-such-folder")
        .join("model.safetensors");
    for error in [model.load(&path).unwrap_err(), model.save(&path).unwrap_err()] {
        assert!(matches!(error, Error::File { .. }), "{error:?}");
        assert!(error.to_string().contains("keyway-no-such-folder"), "{error}");
    }
}

#[test]
fn a_failed_save_keeps_the_file_that_was_there() {
    let model: Linear<Flex> = LinearConfig::new(2, 3).init(&FlexDevice::new(0));
    let file = Scratch::new("kept");
    model.save(&file.0).unwrap();
    let before = fs::read(&file.0).unwrap();
    // A folder where the partial file would go.
    let blocker = PathBuf::from(format!("{}.partial", file.0.display()));
    fs::create_dir(&blocker).unwrap();
    let result = model.save(&file.0);
    fs::remove_dir(&blocker).unwrap();
    assert!(result.is_err());
    assert_eq!(fs::read(&file.0).unwrap(), before);
}
