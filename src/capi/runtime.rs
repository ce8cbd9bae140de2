//! Status texts, messages, threads, identity.

use super::guard::with_last_message;
use crate::error::Status;
use core::ffi::{CStr, c_char};
use std::sync::OnceLock;

/// Static text for any status number.
#[unsafe(no_mangle)]
pub extern "C" fn ndblas_status_str(status: i32) -> *const c_char {
    Status::from_number(status).map_or(c"unknown status", Status::text).as_ptr()
}

/// The calling thread's last error message, NUL-terminated and cut to len bytes. Returns the length
/// of the whole message without the NUL. It names the argument, the shapes, the axis, and for an
/// index its position, value and extent. buf may be NULL if len is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ndblas_last_error(buf: *mut c_char, len: usize) -> usize {
    with_last_message(|message| {
        if !buf.is_null() && len > 0 {
            let mut n = message.len().min(len - 1);
            while !message.is_char_boundary(n) {
                n -= 1;
            }
            // SAFETY: the caller's buffer has room for len bytes.
            unsafe {
                core::ptr::copy_nonoverlapping(message.as_ptr(), buf.cast(), n);
                buf.add(n).write(0);
            }
        }
        message.len()
    })
}

/// The version, as text: "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn ndblas_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no NUL"),
        };
    VERSION.as_ptr()
}

/// One line: version, the BLAS behind it (name, version, core), the instruction set in use.
#[unsafe(no_mangle)]
pub extern "C" fn ndblas_config() -> *const c_char {
    static CONFIG: OnceLock<std::ffi::CString> = OnceLock::new();
    CONFIG.get_or_init(|| std::ffi::CString::new(crate::config()).unwrap_or_default()).as_ptr()
}

/// Sets the number of threads for the whole process; less than 1 takes the default back. Results do
/// not depend on it. 1 starts no thread, nor does small work. No more run than this process has CPUs.
#[unsafe(no_mangle)]
pub extern "C" fn ndblas_set_num_threads(n: i32) {
    crate::set_num_threads(usize::try_from(n).unwrap_or(0));
}

/// Sets the number of threads for calls from the calling thread only; less than 1 takes it back.
#[unsafe(no_mangle)]
pub extern "C" fn ndblas_set_num_threads_local(n: i32) {
    crate::set_num_threads_local(usize::try_from(n).unwrap_or(0));
}

/// The number of threads that a call from the calling thread may use. Default:
/// NDBLAS_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs this process may use.
#[unsafe(no_mangle)]
pub extern "C" fn ndblas_get_num_threads() -> i32 {
    i32::try_from(crate::num_threads()).unwrap_or(i32::MAX)
}

/// Joins the threads of the library, after the call that may be using them; a later call starts them
/// again. Before dlclose.
#[unsafe(no_mangle)]
pub extern "C" fn ndblas_shutdown() {
    crate::shutdown();
}
