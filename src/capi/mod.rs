//! The C ABI: descriptors to views, one thin function an export, no logic of its own.
//!
//! The same functions can be called from Rust, as the tests do; their documentation is that of the
//! C header, which is generated from here.

// The text is the C header's, where brackets index arrays.
#![allow(rustdoc::broken_intra_doc_links)]
#![allow(clippy::missing_safety_doc)] // each function takes what its C prototype says

pub mod blas;
pub mod fused;
pub mod indexed;
pub mod level1;
pub mod numbers;
pub mod permute;
pub mod runtime;
pub mod types;

mod guard;
