//! The routines: check, plan, run. Safe functions over views; the C layer adds nothing to them.

mod fused;
mod indexed;
mod level1;
mod permute;

pub use fused::mul_add;
pub use indexed::{Mode, gather, gather_nd, scatter_add, scatter_add_nd};
pub use level1::{
    asum, axpby, axpy, copy, dotc, dotu, dsdot, fill, iamax, nrm2, rot, scal, scal_real, swap,
};
pub use permute::{permute, permute_in_place};
