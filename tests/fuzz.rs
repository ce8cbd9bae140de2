//! The fuzz targets' harness on their corpus and on some thousand seeded inputs, without a fuzzer.

mod common;
#[path = "../fuzz/harness/mod.rs"]
mod harness;

use common::{Numbers, rerun_under_overrides};
use std::path::Path;

/// Every input of the corpus, which has some for each target.
#[test]
fn corpus() {
    for (name, target) in harness::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        let inputs = std::fs::read_dir(&folder).expect("the target's corpus");
        let mut count = 0;
        for input in inputs {
            let path = input.expect("an entry").path();
            let bytes = std::fs::read(&path).expect("an input");
            run(target, &bytes, &path.display().to_string());
            count += 1;
        }
        assert!(count > 0, "no inputs in {}", folder.display());
    }
}

/// Names the input of a failure, as a line for a shell.
fn run(target: harness::Target, bytes: &[u8], name: &str) {
    if let Err(panic) = std::panic::catch_unwind(|| target(bytes)) {
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        eprintln!("the input was {name}: xxd -r -p <<<{hex}");
        std::panic::resume_unwind(panic);
    }
}

fn seeded(k: usize) {
    let (name, target) = harness::TARGETS[k];
    let inputs = std::env::var("NDBLAS_FUZZ_INPUTS").ok().and_then(|v| v.parse().ok());
    let rerun = std::env::var_os("NDBLAS_TEST_RERUN").is_some();
    for seed in 0..inputs.unwrap_or(if rerun { 2_000 } else { 5_000u64 }) {
        let mut numbers = Numbers { state: seed << 8 | k as u64, exact: true };
        let len = 16 + numbers.bits() % 100;
        let bytes: Vec<u8> = (0..len).map(|_| numbers.bits() as u8).collect();
        run(target, &bytes, &format!("{name} {seed}"));
    }
}

#[test]
fn level1() {
    seeded(0);
}

#[test]
fn permute() {
    seeded(1);
}

#[test]
fn indexed() {
    seeded(2);
}

#[test]
fn blas() {
    seeded(3);
}

#[test]
fn under_every_override() {
    rerun_under_overrides("under_every_override");
}
