//! Level-1 BLAS, fused multiply-add, permute, gather and scatter-add where **every operand is a
//! strided N-d view**: a transpose, a slice, a reversed or a broadcast array is never copied first.
//!
//! Each routine is one pass, `out <- beta*out + alpha*f(inputs)`, over [`View`]s and [`ViewMut`]s.
//!
//! ```
//! use ndblas::{View, ViewMut, mul_add};
//! // c += a*b without a temporary; b broadcasts along the rows.
//! let a = [1.0, 2.0, 3.0, 4.0];
//! let b = [10.0, 100.0];
//! let mut c = [0.5; 4];
//! mul_add(
//!     1.0,
//!     &View::from_slice(&a, &[2, 2])?,
//!     &View::from_slice(&b, &[2])?,
//!     1.0,
//!     &mut ViewMut::from_slice(&mut c, &[2, 2])?,
//! )?;
//! assert_eq!(c, [10.5, 200.5, 30.5, 400.5]);
//! # Ok::<(), ndblas::Error>(())
//! ```
//!
//! # The way of a call
//!
//! `capi -> ops -> layout, plan -> nest -> kernel`: the C layer turns descriptors into views; a
//! routine checks its operands and plans a walk over them (broadcast, drop, flip, order, fuse);
//! the nest runs the loops of the plan; a kernel, compiled for each instruction set, runs the rows.

#![deny(unsafe_op_in_unsafe_fn, missing_docs, clippy::undocumented_unsafe_blocks)]

pub mod capi;
mod error;
mod isa;
mod kernel;
mod layout;
#[cfg(feature = "ndarray")]
mod ndarray;
mod nest;
mod ops;
mod plan;
mod scalar;
mod strips;
mod threads;
mod tiling;
mod view;

pub use error::{Error, Status, Tuple};
pub use ops::*;
pub use scalar::{DType, Element, Scalar};
pub use threads::{num_threads, set_num_threads, set_num_threads_local, shutdown};
pub use view::{Index, View, ViewMut};

/// The greatest rank of a view.
pub const MAX_NDIM: usize = 64;

/// One line: the version, the BLAS behind it (name, version, core), the instruction set in use.
pub fn config() -> String {
    let (version, blas) = (env!("CARGO_PKG_VERSION"), kernel::blas::description());
    format!("ndblas {version}; BLAS: {blas}; instruction set: {}", isa::level().name())
}
