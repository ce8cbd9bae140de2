//! Level 1 against the naive oracle, over random layouts.

mod common;

use common::*;
use ndblas::capi::level1::*;
use ndblas::capi::types::ndblas_scalar;
use ndblas::{Element, with_each_element};
use num_complex::Complex;
use proptest::prelude::*;
