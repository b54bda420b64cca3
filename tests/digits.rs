//! The parts of `examples/digits`, and what its command line refuses.

#[path = "../examples/digits/cli.rs"]
#[allow(dead_code)]
mod cli;
#[path = "../examples/digits/data.rs"]
mod data;
#[path = "support/example.rs"]
mod example;
#[path = "../examples/digits/model.rs"]
mod model;
#[path = "../examples/digits/train.rs"]
mod train;

use std::path::Path;

use cli::Options;
use data::{Digits, shuffled};
use example::example;
use keyway::nn::Record;
use keyway::prelude::*;
use keyway::{DynDevice, FlexDevice};
use train::{Settings, bit_identical};

fn digits() -> (Digits, Digits) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/digits.csv");
    Digits::read(&path).unwrap().split()
}

fn settings(max_steps: usize) -> Settings {
    Settings {
        epochs: 2,
        batch: 32,
        seed: 1,
        max_steps,
    }
}

#[test]
fn one_and_two_replicas_learn_to_read() {
    let (train, test) = digits();
    let settings = Options::parse([""; 0]).unwrap().unwrap().settings;
    let outcome = |text| train::replicas(&DynDevice::open(text).unwrap(), &train, &test, &settings, || ());
    let (alone, together) = (outcome("flex").unwrap(), outcome("mesh:flex:2").unwrap());
    assert!(together.accuracy >= 0.97, "{together}");
    assert!(
        (alone.accuracy - together.accuracy).abs() <= 0.005,
        "{alone}; {together}"
    );
    assert!(
        together.to_string().contains("\nreplicas bit-identical: yes\n"),
        "{together}"
    );
}

#[test]
fn the_report_has_its_form() {
    let record = |x: f32| Record::from([("w".to_owned(), TensorData::new(vec![x], [1]).unwrap())]);
    let report = |b: f32| {
        let outcome = train::Outcome {
            accuracy: 0.98123,
            replicas: vec![record(0.0), record(b)],
            images: 24690,
            elapsed: std::time::Duration::from_secs(2),
        };
        outcome.to_string()
    };
    assert_eq!(
        report(0.0),
        "test accuracy: 98.1 %\nreplicas bit-identical: yes\nimages/s: 12345"
    );
    assert_eq!(
        report(-0.0),
        "test accuracy: 98.1 %\nreplicas bit-identical: no\nimages/s: 12345"
    );
}

fn records(device: &str, steps: usize) -> Vec<Record> {
    let (train, test) = digits();
    let devices = DynDevice::open(device).unwrap();
    let outcome = train::replicas(&devices, &train, &test, &settings(steps), || ()).unwrap();
    assert_eq!(outcome.images, steps * 32);
    outcome.replicas
}

fn assert_close(a: &Record, b: &Record) {
    assert!(a.keys().eq(b.keys()));
    for (path, a) in a {
        let (a, b) = (a.as_slice::<f32>().unwrap(), b[path].as_slice::<f32>().unwrap());
        let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst <= 1e-5, "{path} differs by {worst}");
    }
}

#[test]
fn two_replicas_end_where_one_does() {
    let alone = records("flex", 20);
    let together = records("mesh:flex:2", 20);
    assert!(bit_identical(&together));
    assert_close(&alone[0], &together[0]);
    assert_ne!(
        alone[0],
        records("flex", 1)[0],
        "20 steps lead elsewhere than one"
    );
}

#[cfg(feature = "candle")]
#[test]
fn candle_ends_where_flex_does() {
    ends_where_flex_does("mesh:candle:2");
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_ends_where_flex_does() {
    ends_where_flex_does("mesh:ndarray:2");
}

#[cfg(feature = "tch")]
#[test]
fn tch_ends_where_flex_does() {
    ends_where_flex_does("mesh:tch:2");
}

#[cfg(any(feature = "ndarray", feature = "candle", feature = "tch"))]
fn ends_where_flex_does(device: &str) {
    let flex = records("flex", 3);
    let others = records(device, 3);
    assert!(bit_identical(&others));
    assert_close(&flex[0], &others[0]);
}

#[test]
fn a_perturbed_replica_is_seen() {
    let replicas = records("mesh:flex:2", 1);
    assert!(bit_identical(&replicas));
    for path in replicas[1].keys() {
        let mut perturbed = replicas.clone();
        let data = perturbed
            .get_mut(1)
            .and_then(|record| record.get_mut(path))
            .unwrap();
        let mut values = data.clone().into_vec::<f32>().unwrap();
        values[0] = f32::from_bits(values[0].to_bits() ^ 1);
        *data = TensorData::new(values, data.shape().clone()).unwrap();
        assert!(!bit_identical(&perturbed), "the last bit of {path}");
    }
    let mut shorter = replicas.clone();
    shorter[1].pop_first();
    assert!(!bit_identical(&shorter));
    assert!(bit_identical(&replicas[..1]));
}

#[test]
fn a_fifth_is_held_out() {
    let (train, test) = digits();
    assert_eq!((train.len(), test.len()), (1438, 359));
    let (images, labels) = train.batch::<Flex>(&[0, 4], &FlexDevice::new(0));
    assert_eq!(images.dims(), [2, 1, 8, 8]);
    assert_eq!(
        labels.into_vec().unwrap(),
        [0, 5],
        "the fifth image is not one to train with"
    );
    let row = images.into_vec().unwrap()[..8].to_vec();
    assert_eq!(row, [0.0, 0.0, 0.3125, 0.8125, 0.5625, 0.0625, 0.0, 0.0]);
}

#[test]
fn every_epoch_has_an_order_of_its_own() {
    let order = shuffled(100, 3, 0);
    let mut sorted = order.clone();
    sorted.sort();
    assert!(sorted.into_iter().eq(0..100));
    assert_eq!(order, shuffled(100, 3, 0));
    assert_ne!(order, shuffled(100, 3, 1));
    assert_ne!(order, shuffled(100, 4, 0));
}

#[test]
fn steps_are_of_whole_batches() {
    assert_eq!(settings(usize::MAX).steps(100), 2 * 3);
    assert_eq!(settings(5).steps(100), 5);
    assert_eq!(settings(5).steps(31), 0);
    let error = settings(5).check(31).unwrap_err().to_string();
    assert_eq!(error, "--batch: 32 is more than the 31 images to train with");
    assert!(settings(5).check(32).is_ok());
}

#[test]
fn broken_data_is_refused_with_its_place() {
    let folder = std::env::temp_dir();
    let read = |name: &str, text: &[u8]| {
        let path = folder.join(format!("keyway-digits-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let error = Digits::read(&path).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        let path = format!("{}: ", path.display());
        error
            .to_string()
            .strip_prefix(&path)
            .expect("the path comes first")
            .to_owned()
    };
    let line = |last: &str| format!("{}{last}\n", "0,".repeat(64));
    let good = line("7").repeat(5);
    assert_eq!(
        read("empty", b""),
        "0 images; a fifth is held out, so there must be 5 or more"
    );
    assert_eq!(
        read("short", format!("{good}1,2,3\n").as_bytes()),
        "line 6: expected 64 pixels and a digit, got 3 numbers"
    );
    assert_eq!(
        read("text", format!("{good}{}", line("seven")).as_bytes()),
        "line 6: `seven` is not a number from 0 to 16"
    );
    assert_eq!(
        read("label", line("10").as_bytes()),
        "line 1: `10` is not a digit"
    );
    assert_eq!(
        read("pixel", format!("17,{}7\n", "0,".repeat(63)).as_bytes()),
        "line 1: `17` is not a number from 0 to 16"
    );
    assert!(read("binary", &[0xff, 0xfe]).contains("UTF-8"));
    let error = Digits::read(&folder.join("keyway-no-such-file.csv"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("keyway-no-such-file.csv: ") && error.contains("No such file"),
        "{error}"
    );
}

#[test]
fn the_command_line_takes_its_flags() {
    let parse = |text: &str| Options::parse(text.split_whitespace());
    let options =
        parse("--replicas 4 --backend flex --epochs 3 --batch 8 --seed 9 --max-steps 7 --save a --data b");
    let options = options.unwrap().unwrap();
    assert_eq!((options.settings.epochs, options.settings.batch), (3, 8));
    let devices = |text: &str| -> Vec<_> {
        let devices = parse(text).unwrap().unwrap().devices;
        devices.iter().map(DynDevice::to_string).collect()
    };
    assert_eq!(devices(""), ["mesh:flex:2"; 2]);
    assert_eq!(devices("--replicas 4 --backend flex"), ["mesh:flex:4"; 4]);
    assert_eq!(devices("--replicas 1"), ["flex"]);
    assert_eq!(devices("--device mesh:flex:2"), ["mesh:flex:2"; 2]);
    assert_eq!(devices("--device flex"), ["flex"]);
    assert_eq!((options.settings.seed, options.settings.max_steps), (9, 7));
    assert_eq!((options.save, options.data), (Some("a".into()), "b".into()));
    assert!(parse("--help").unwrap().is_none());
}

#[test]
fn the_command_line_refuses_what_it_does_not_know() {
    let refused = |text: &str| Options::parse(text.split_whitespace()).unwrap_err().to_string();
    assert_eq!(refused("--replica 2"), "invalid option '--replica'");
    assert_eq!(refused("--replicas 0"), "--replicas must be 1 or more");
    assert_eq!(
        refused("--replicas 3"),
        "--batch must be a multiple of --replicas: 64 is none of 3"
    );
    assert_eq!(
        refused("--batch 0"),
        "--batch must be a multiple of --replicas: 0 is none of 2"
    );
    assert!(
        refused("--epochs many").contains("many"),
        "{}",
        refused("--epochs many")
    );
    assert!(refused("--save").contains("--save"));
    assert!(refused("file.csv").contains("file.csv"));
    assert!(refused("--backend tpu").starts_with("no device `mesh:tpu:2`: expected `flex`"));
    assert!(refused("--device mesh:flex:x").contains("`x` is no size of a group"));
    assert_eq!(
        refused("--device flex --replicas 2"),
        "--device says what --replicas and --backend do; give it alone"
    );
    #[cfg(not(feature = "ndarray"))]
    assert!(refused("--backend ndarray").contains("feature `ndarray`"));
}

/// The program itself: what is wrong is said on standard error, and the exit code tells.
#[test]
fn the_program_fails_with_a_message() {
    let run = |args: &[&str]| example("digits", args, &[]);
    let (code, stdout, stderr) = run(&["--max-steps", "1"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout.lines().nth_back(1), Some("replicas bit-identical: yes"));
    let refused: [(&[&str], &str); 4] = [
        (&["--epoch", "3"], "error: invalid option '--epoch'\n"),
        (
            &["--data", "no-such.csv"],
            "error: no-such.csv: No such file or directory",
        ),
        (
            &["--data", "Cargo.toml"],
            "error: Cargo.toml: line 1: `[package]` is not a number",
        ),
        (
            &["--max-steps", "1", "--save", "no/such/folder/file"],
            "error: no/such/folder/file: ",
        ),
    ];
    for (args, message) in refused {
        let (code, _, stderr) = run(args);
        assert_eq!(code, Some(1), "{args:?}: {stderr}");
        assert!(stderr.starts_with(message), "{args:?}: {stderr}");
    }
}
