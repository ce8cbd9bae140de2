//! The errors, their frozen status numbers, their messages.

use crate::scalar::DType;
use core::fmt;

/// The numbers of the C ABI. They never change; new ones are added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Status {
    Ok = 0,
    Null = 1,
    Shape = 2,
    DType = 3,
    Axis = 4,
    Overlap = 5,
    Index = 6,
    Layout = 7,
    Argument = 8,
    Memory = 9,
    Internal = 10,
}

/// Extents, strides, a position or a permutation, displayed as a tuple: `(2, 3)`.
#[derive(Clone, PartialEq, Eq)]
pub struct Tuple(Box<[isize]>);

impl Tuple {
    /// The numbers.
    pub fn as_slice(&self) -> &[isize] {
        &self.0
    }
}

impl From<&[isize]> for Tuple {
    fn from(v: &[isize]) -> Self {
        Tuple(v.into())
    }
}

impl FromIterator<isize> for Tuple {
    fn from_iter<I: IntoIterator<Item = isize>>(iter: I) -> Self {
        Tuple(iter.into_iter().collect())
    }
}

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, v) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            write!(f, "{v}")?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

impl fmt::Debug for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why a call did nothing. Whatever the error, nothing has been written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // each message says what its fields are
pub enum Error {
    #[error("{arg} is NULL")]
    Null { arg: &'static str },
    #[error("the shape of {arg} is NULL")]
    NullShape { arg: &'static str },
    #[error("{arg} has rank {ndim}: a rank is 0 to {max}", max = crate::MAX_NDIM)]
    Rank { arg: &'static str, ndim: isize },
    #[error("{arg} has shape {shape}: {why}")]
    Extents { arg: &'static str, shape: Tuple, why: &'static str },
    #[error("{arg} of shape {shape} does not broadcast to the shape {to_shape} of {to}")]
    Broadcast { arg: &'static str, shape: Tuple, to: &'static str, to_shape: Tuple },
    #[error("{arg} has shape {shape}, but {expected} is needed, {why}")]
    Shape { arg: &'static str, shape: Tuple, expected: Tuple, why: &'static str },
    #[error("{arg} has dtype number {tag}, which is none")]
    UnknownDType { arg: &'static str, tag: i32 },
    #[error("{arg} has dtype {dtype}, but {other} has dtype {other_dtype}")]
    DTypeMismatch { arg: &'static str, dtype: DType, other: &'static str, other_dtype: DType },
    #[error("{arg} has dtype {dtype}, which has no arithmetic here")]
    NoArithmetic { arg: &'static str, dtype: DType },
    #[error("{arg} has dtype {dtype}, but an index is of an integer type")]
    IndexDType { arg: &'static str, dtype: DType },
    #[error("axis {axis} is out of range for rank {ndim}")]
    Axis { axis: isize, ndim: usize },
    #[error("axis {axis} of {ndim} is indexed twice")]
    RepeatedAxis { axis: usize, ndim: usize },
    #[error("perm {perm} is no permutation of the {ndim} axes of {arg}")]
    Permutation { arg: &'static str, perm: Tuple, ndim: usize },
    #[error("{arg} of shape {shape} and byte strides {strides} overlaps itself")]
    SelfOverlap { arg: &'static str, shape: Tuple, strides: Tuple },
    #[error(
        "{arg} of shape {shape} overlaps {other} of shape {other_shape} without being the same view"
    )]
    Overlap { arg: &'static str, shape: Tuple, other: &'static str, other_shape: Tuple },
    #[error(
        "{arg}{position} is {value}, out of range for axis {axis} of {of}, whose extent is {extent}"
    )]
    Index {
        arg: &'static str,
        position: Tuple,
        value: i128,
        axis: usize,
        of: &'static str,
        extent: usize,
    },
    #[error("{arg} of shape {shape} and byte strides {strides}: {why}")]
    Layout { arg: &'static str, shape: Tuple, strides: Tuple, why: &'static str },
    #[error("{arg}: {why}")]
    Argument { arg: &'static str, why: &'static str },
    #[error("out of memory: {bytes} bytes for {what}")]
    Memory { what: &'static str, bytes: usize },
    #[error("internal error: {what}")]
    Internal { what: String },
}

impl Error {
    /// The number this error has in the C ABI.
    pub fn status(&self) -> Status {
        use Error as E;
        match self {
            E::Null { .. } | E::NullShape { .. } => Status::Null,
            E::Rank { .. } | E::Extents { .. } | E::Broadcast { .. } | E::Shape { .. } => {
                Status::Shape
            }
            E::UnknownDType { .. }
            | E::DTypeMismatch { .. }
            | E::NoArithmetic { .. }
            | E::IndexDType { .. } => Status::DType,
            E::Axis { .. } | E::RepeatedAxis { .. } | E::Permutation { .. } => Status::Axis,
            E::SelfOverlap { .. } | E::Overlap { .. } => Status::Overlap,
            E::Index { .. } => Status::Index,
            E::Layout { .. } => Status::Layout,
            E::Argument { .. } => Status::Argument,
            E::Memory { .. } => Status::Memory,
            E::Internal { .. } => Status::Internal,
        }
    }
}

impl Status {
    /// A few words for each number; the text of `ndblas_status_str`.
    pub const fn text(self) -> &'static core::ffi::CStr {
        match self {
            Status::Ok => c"success",
            Status::Null => c"a required pointer is NULL",
            Status::Shape => c"shapes do not fit",
            Status::DType => c"dtype unknown, mismatched, or without this operation",
            Status::Axis => c"bad axis or permutation",
            Status::Overlap => c"an output overlaps itself or another operand",
            Status::Index => c"index out of range",
            Status::Layout => c"strides do not fit the operation",
            Status::Argument => c"bad argument",
            Status::Memory => c"out of memory",
            Status::Internal => c"internal error",
        }
    }

    /// The status of a number.
    pub const fn from_number(n: i32) -> Option<Status> {
        use Status::*;
        const TABLE: [Status; 11] =
            [Ok, Null, Shape, DType, Axis, Overlap, Index, Layout, Argument, Memory, Internal];
        if n >= 0 && n < TABLE.len() as i32 { Some(TABLE[n as usize]) } else { None }
    }
}
