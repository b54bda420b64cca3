//! With the feature `tch`: finds libtorch where the crate `torch-sys` will look for it, says what to do where it is not, and
//! has tests, examples and benches find it when they run. This comes first: it needs nothing to be built.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the crate `tch` is made for.
const VERSION: &str = "2.13.0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_TCH").is_none() || env::var_os("DOCS_RS").is_some() {
        return;
    }
    match libtorch() {
        Ok(lib) if env::var_os("CARGO_CFG_UNIX").is_some() => {
            println!("cargo::rustc-link-arg=-Wl,-rpath,{}", lib.display());
        }
        Ok(_) => {}
        Err(found) => {
            println!("cargo::error=the feature `tch` needs libtorch {VERSION}: {found}");
            println!(
                "cargo::error=`eval \"$(scripts/libtorch)\"` in keyway's repository installs it for the CPU and sets LIBTORCH;"
            );
            println!(
                "cargo::error=else set LIBTORCH to its folder, or LIBTORCH_USE_PYTORCH=1 where python3 has torch=={VERSION}"
            );
        }
    }
}

/// The folder of its shared libraries.
///
/// # Errors
/// What there is instead.
fn libtorch() -> Result<PathBuf, String> {
    if variable("LIBTORCH_USE_PYTORCH").is_some() {
        return of_python();
    }
    let (folder, origin) = match variable("LIBTORCH") {
        Some(folder) => (PathBuf::from(folder), "LIBTORCH"),
        None if Path::new("/usr/lib/libtorch.so").exists() => (PathBuf::from("/usr"), "/usr/lib/libtorch.so"),
        None => return Err("LIBTORCH is not set".into()),
    };
    let lib = variable("LIBTORCH_LIB")
        .map_or_else(|| folder.clone(), PathBuf::from)
        .join("lib");
    println!("cargo::rerun-if-changed={}", lib.display());
    let shared = format!("{}torch_cpu{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    if !lib.join(&shared).exists() {
        return Err(format!(
            "{origin} leads to {}, where there is no {shared}",
            lib.display()
        ));
    }
    // Where it is of a package of the system, nothing says its version.
    if let Ok(version) = fs::read_to_string(folder.join("build-version")) {
        checked(&version, &format!("{origin} leads to libtorch"))?;
    }
    lib.canonicalize()
        .map_err(|error| format!("{}: {error}", lib.display()))
}

fn of_python() -> Result<PathBuf, String> {
    const SCRIPT: &str = "import torch, os; print(torch.__version__); print(os.path.join(os.path.dirname(torch.__file__), 'lib'))";
    let python = if variable("VIRTUAL_ENV").is_some() {
        "python"
    } else {
        "python3"
    };
    let output = Command::new(python).args(["-c", SCRIPT]).output();
    let output = output.map_err(|error| format!("{python} does not run ({error})"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let (Some(version), Some(lib)) = (lines.next(), lines.next()) else {
        return Err(format!("{python} has no torch"));
    };
    checked(version, &format!("{python} has torch"))?;
    Ok(lib.into())
}

/// # Errors
/// If it is another version.
fn checked(version: &str, found: &str) -> Result<(), String> {
    let version = version.trim();
    // `2.13.0+cpu` is one of them.
    if version.split('+').next() == Some(VERSION) || variable("LIBTORCH_BYPASS_VERSION_CHECK").is_some() {
        return Ok(());
    }
    Err(format!("{found} {version}"))
}

fn variable(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok()
}
