//! The numbers of the C ABI, written out for the header and held to the types they stand for.

use crate::error::Status;
use crate::ops::Mode;
use crate::scalar::DType;

/// The greatest rank of a view.
pub const NDBLAS_MAX_NDIM: i32 = 64;

/// Elements are float.
pub const NDBLAS_F32: i32 = 1;
/// Elements are double.
pub const NDBLAS_F64: i32 = 2;
/// Elements are two floats.
pub const NDBLAS_COMPLEX64: i32 = 3;
/// Elements are two doubles.
pub const NDBLAS_COMPLEX128: i32 = 4;
/// Elements are int8_t.
pub const NDBLAS_I8: i32 = 5;
/// Elements are int16_t.
pub const NDBLAS_I16: i32 = 6;
/// Elements are int32_t.
pub const NDBLAS_I32: i32 = 7;
/// Elements are int64_t.
pub const NDBLAS_I64: i32 = 8;
/// Elements are uint8_t.
pub const NDBLAS_U8: i32 = 9;
/// Elements are uint16_t.
pub const NDBLAS_U16: i32 = 10;
/// Elements are uint32_t.
pub const NDBLAS_U32: i32 = 11;
/// Elements are uint64_t.
pub const NDBLAS_U64: i32 = 12;

/// Success.
pub const NDBLAS_OK: i32 = 0;
/// A required pointer is NULL.
pub const NDBLAS_ERR_NULL: i32 = 1;
/// Shapes do not fit, or are none.
pub const NDBLAS_ERR_SHAPE: i32 = 2;
/// A dtype is unknown, differs from the others, or lacks the operation.
pub const NDBLAS_ERR_DTYPE: i32 = 3;
/// An axis is out of range, or perm is no permutation.
pub const NDBLAS_ERR_AXIS: i32 = 4;
/// An output overlaps itself or another operand.
pub const NDBLAS_ERR_OVERLAP: i32 = 5;
/// An index is out of range.
pub const NDBLAS_ERR_INDEX: i32 = 6;
/// Strides do not fit the operation.
pub const NDBLAS_ERR_LAYOUT: i32 = 7;
/// Another argument is wrong.
pub const NDBLAS_ERR_ARGUMENT: i32 = 8;
/// Memory could not be had.
pub const NDBLAS_ERR_MEMORY: i32 = 9;
/// A fault of the library.
pub const NDBLAS_ERR_INTERNAL: i32 = 10;

/// Negative indices count from the end; one out of range is an error, found before anything is written.
pub const NDBLAS_RAISE: i32 = 0;
/// Indices are taken modulo the extent.
pub const NDBLAS_WRAP: i32 = 1;
/// Indices are taken to the nearest in range.
pub const NDBLAS_CLIP: i32 = 2;
/// Negative indices count from the end; one out of range reads as zero and adds nothing.
pub const NDBLAS_DROP: i32 = 3;

const _: () = {
    assert!(NDBLAS_MAX_NDIM as usize == crate::MAX_NDIM);
    assert!(NDBLAS_F32 == DType::F32 as i32);
    assert!(NDBLAS_F64 == DType::F64 as i32);
    assert!(NDBLAS_COMPLEX64 == DType::Complex64 as i32);
    assert!(NDBLAS_COMPLEX128 == DType::Complex128 as i32);
    assert!(NDBLAS_I8 == DType::I8 as i32);
    assert!(NDBLAS_I16 == DType::I16 as i32);
    assert!(NDBLAS_I32 == DType::I32 as i32);
    assert!(NDBLAS_I64 == DType::I64 as i32);
    assert!(NDBLAS_U8 == DType::U8 as i32);
    assert!(NDBLAS_U16 == DType::U16 as i32);
    assert!(NDBLAS_U32 == DType::U32 as i32);
    assert!(NDBLAS_U64 == DType::U64 as i32);
    assert!(NDBLAS_OK == Status::Ok as i32);
    assert!(NDBLAS_ERR_NULL == Status::Null as i32);
    assert!(NDBLAS_ERR_SHAPE == Status::Shape as i32);
    assert!(NDBLAS_ERR_DTYPE == Status::DType as i32);
    assert!(NDBLAS_ERR_AXIS == Status::Axis as i32);
    assert!(NDBLAS_ERR_OVERLAP == Status::Overlap as i32);
    assert!(NDBLAS_ERR_INDEX == Status::Index as i32);
    assert!(NDBLAS_ERR_LAYOUT == Status::Layout as i32);
    assert!(NDBLAS_ERR_ARGUMENT == Status::Argument as i32);
    assert!(NDBLAS_ERR_MEMORY == Status::Memory as i32);
    assert!(NDBLAS_ERR_INTERNAL == Status::Internal as i32);
    assert!(NDBLAS_RAISE == Mode::Raise as i32);
    assert!(NDBLAS_WRAP == Mode::Wrap as i32);
    assert!(NDBLAS_CLIP == Mode::Clip as i32);
    assert!(NDBLAS_DROP == Mode::Drop as i32);
};
