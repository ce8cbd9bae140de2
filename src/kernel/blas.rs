//! Level-1 runs for the BLAS behind this crate.

use crate::scalar::Scalar;

pub(super) unsafe fn scal<T: Scalar>(
    _n: usize,
    _alpha: T,
    _p: [*mut u8; 1],
    _step: [isize; 1],
) -> bool {
    false
}
pub(super) unsafe fn axpy<T: Scalar>(
    _n: usize,
    _alpha: T,
    _p: [*mut u8; 2],
    _step: [isize; 2],
) -> bool {
    false
}
pub(super) unsafe fn axpby<T: Scalar>(
    _n: usize,
    _alpha: T,
    _beta: T,
    _p: [*mut u8; 2],
    _step: [isize; 2],
) -> bool {
    false
}
pub(super) unsafe fn rot<T: Scalar>(
    _n: usize,
    _c: T,
    _s: T,
    _p: [*mut u8; 2],
    _step: [isize; 2],
) -> bool {
    false
}

pub(crate) fn description() -> String {
    "none".into()
}
