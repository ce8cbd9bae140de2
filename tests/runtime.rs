//! Status texts, messages, threads, identity.

mod common;

use common::{Array, NULL, OK, last_error};
use ndblas::capi::level1::ndblas_copy;
use ndblas::capi::runtime::*;
use std::collections::HashSet;
use std::ffi::{CStr, c_char};
use std::ptr::{null, null_mut};

fn text(p: *const c_char) -> String {
    // SAFETY: the library's static text.
    unsafe { CStr::from_ptr(p) }.to_str().expect("UTF-8").to_owned()
}

#[test]
fn every_number_has_a_text() {
    let texts: HashSet<_> = (0..=10).map(|n| text(ndblas_status_str(n))).collect();
    assert_eq!(texts.len(), 11);
    for n in [-1, 11, 99, i32::MIN, i32::MAX] {
        assert_eq!(text(ndblas_status_str(n)), "unknown status");
    }
}

/// Makes a call that fails with this message.
fn fail() -> &'static str {
    // SAFETY: NULL is refused.
    assert_eq!(unsafe { ndblas_copy(null(), null_mut()) }, NULL);
    "x is NULL"
}

#[test]
fn messages_are_cut_to_the_buffer() {
    let message = fail();
    for len in 0..message.len() + 3 {
        let mut buffer = [0x7F; 20];
        // SAFETY: the buffer has room for more than `len` bytes.
        let full = unsafe { ndblas_last_error(buffer.as_mut_ptr().cast(), len) };
        assert_eq!(full, message.len());
        let kept = message.len().min(len.saturating_sub(1));
        assert_eq!(&buffer[..kept], &message.as_bytes()[..kept]);
        assert!(len == 0 || buffer[kept] == 0, "no NUL");
        let written = if len == 0 { 0 } else { kept + 1 };
        assert!(buffer[written..].iter().all(|&b| b == 0x7F), "wrote past the NUL");
    }
    // SAFETY: NULL gets nothing, whatever the length.
    assert_eq!(unsafe { ndblas_last_error(null_mut(), 0) }, message.len());
    // SAFETY: as above.
    assert_eq!(unsafe { ndblas_last_error(null_mut(), 100) }, message.len());
}

#[test]
fn the_last_message_stays_until_the_next() {
    let message = fail();
    let (x, mut y) = (Array::from_values(&[1], &[1.0]), Array::from_values(&[1], &[2.0]));
    // SAFETY: the views lie in their arrays.
    assert_eq!(unsafe { ndblas_copy(&x.view(), &mut y.view_mut()) }, OK);
    assert_eq!(last_error(), message);
}

#[test]
fn each_thread_has_its_own_message() {
    fail();
    std::thread::spawn(|| assert_eq!(last_error(), "")).join().unwrap();
}

#[test]
fn identity() {
    assert_eq!(text(ndblas_version()), env!("CARGO_PKG_VERSION"));
    let config = text(ndblas_config());
    assert!(config.contains(env!("CARGO_PKG_VERSION")) && !config.contains('\n'), "{config}");
    if std::env::var("NDBLAS_ISA").is_ok_and(|v| v == "portable") {
        assert!(config.ends_with("portable"), "{config}");
    }
    assert_eq!(config.contains("BLAS: none"), !cfg!(feature = "blas"), "{config}");
    assert_eq!(config, ndblas::config());
}

/// Numbers of threads: for the process, for one thread over that, and back to the default.
#[test]
fn thread_counts() {
    let default = ndblas_get_num_threads();
    assert!(default >= 1);
    ndblas_set_num_threads(5);
    assert_eq!(ndblas_get_num_threads(), 5);
    ndblas_set_num_threads_local(2);
    assert_eq!(ndblas_get_num_threads(), 2);
    assert_eq!(std::thread::spawn(|| ndblas_get_num_threads()).join().unwrap(), 5);
    ndblas_set_num_threads_local(0);
    assert_eq!(ndblas_get_num_threads(), 5);
    for none in [0, -3] {
        ndblas_set_num_threads(none);
        assert_eq!(ndblas_get_num_threads(), default);
    }
    ndblas_shutdown();
    ndblas_shutdown();
    assert_eq!(ndblas_get_num_threads(), default);
}

/// The default comes from the environment.
#[test]
fn thread_counts_of_the_environment() {
    if let Ok(want) = std::env::var("NDBLAS_TEST_THREADS") {
        assert_eq!(ndblas_get_num_threads().to_string(), want);
        return;
    }
    for (own, omp, want) in [("3", "5", "3"), ("", "5", "5"), ("x", "6,2", "6"), ("0", "4", "4")] {
        let run = std::process::Command::new(std::env::current_exe().expect("its own path"))
            .args(["--exact", "thread_counts_of_the_environment"])
            .env("NDBLAS_NUM_THREADS", own)
            .env("OMP_NUM_THREADS", omp)
            .env("NDBLAS_TEST_THREADS", want)
            .output()
            .expect("it runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    }
}
