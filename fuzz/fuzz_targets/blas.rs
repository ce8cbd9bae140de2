#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../harness/mod.rs"]
mod harness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| harness::blas::run(bytes));
