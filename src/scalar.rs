//! The element types, and the one table from dtype numbers to types.

use crate::error::Error;
use crate::isa::{Cplx, Isa, Real, Vector};
use crate::kernel::blas::{Moves, Routines};
use crate::kernel::update::{self, NoArithmetic, Runner};
use num_complex::Complex;

/// The type of a view's elements, under the number it has in the C ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum DType {
    F32 = 1,
    F64 = 2,
    Complex64 = 3,
    Complex128 = 4,
    I8 = 5,
    I16 = 6,
    I32 = 7,
    I64 = 8,
    U8 = 9,
    U16 = 10,
    U32 = 11,
    U64 = 12,
}

impl DType {
    /// The dtype of a number from the C ABI.
    pub const fn from_tag(tag: i32) -> Option<DType> {
        use DType::*;
        const TABLE: [DType; 12] =
            [F32, F64, Complex64, Complex128, I8, I16, I32, I64, U8, U16, U32, U64];
        if tag >= 1 && tag <= TABLE.len() as i32 { Some(TABLE[tag as usize - 1]) } else { None }
    }

    /// The size of one element in bytes.
    pub const fn size(self) -> usize {
        use DType::*;
        match self {
            I8 | U8 => 1,
            I16 | U16 => 2,
            F32 | I32 | U32 => 4,
            F64 | Complex64 | I64 | U64 => 8,
            Complex128 => 16,
        }
    }

    /// Whether it is one of the eight integer types.
    pub const fn is_integer(self) -> bool {
        self as i32 >= DType::I8 as i32
    }

    /// The name NumPy gives it.
    pub const fn name(self) -> &'static str {
        use DType::*;
        match self {
            F32 => "float32",
            F64 => "float64",
            Complex64 => "complex64",
            Complex128 => "complex128",
            I8 => "int8",
            I16 => "int16",
            I32 => "int32",
            I64 => "int64",
            U8 => "uint8",
            U16 => "uint16",
            U32 => "uint32",
            U64 => "uint64",
        }
    }
}

impl core::fmt::Display for DType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What a view can hold: the twelve types of [`DType`].
pub trait Element:
    sealed::Sealed + Copy + PartialEq + Send + Sync + core::fmt::Debug + 'static
{
    /// This type's number.
    const DTYPE: DType;
    /// The plain word of the same size, by which elements are moved.
    #[doc(hidden)]
    type Word: Word;
    /// The value `re + i*im` in this type, where it can be held: integers exactly, real types
    /// without an imaginary part, floating point rounded to the nearest.
    #[doc(hidden)]
    fn from_parts(re: f64, im: f64) -> Option<Self>;
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// Runs the kernel of `out <- beta*out + alpha*in`, if the type has it.
    #[doc(hidden)]
    #[allow(private_interfaces, private_bounds)]
    fn update<R: Runner<Self>>(alpha: Self, beta: Self, run: R) -> Result<(), NoArithmetic>;
    /// Runs the kernel of `out <- out + alpha*in`, if the type has it.
    #[doc(hidden)]
    #[allow(private_interfaces, private_bounds)]
    fn accumulate_scaled<R: Runner<Self>>(alpha: Self, run: R) -> Result<(), NoArithmetic>;
}

/// What arithmetic is defined for: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
pub trait Scalar:
    Element + Routines + core::ops::Add<Output = Self> + core::ops::Mul<Output = Self>
{
    #[doc(hidden)]
    type Real: Real;
    #[doc(hidden)]
    type Vec<I: Isa>: Vector<Elem = Self, Isa = I>;
    /// One element, computed as a lane of [`Self::Vec`] is.
    #[doc(hidden)]
    type Lane<I: Isa>: Vector<Elem = Self, Isa = I>;
    /// The real and the imaginary part.
    fn parts(self) -> (f64, f64);
    /// The nearest value to `re + i*im`; a real type drops `im`.
    fn rounded(re: f64, im: f64) -> Self;
}

/// An unsigned word that elements of its size are moved as.
pub trait Word: sealed::Sealed + Moves + Copy + Send + Sync + 'static {
    /// `self + other`, which wraps; of two words, each for itself.
    fn plus(self, other: Self) -> Self;
}

macro_rules! real {
    ($t:ty, $dtype:ident, $word:ty, $assoc:ident) => {
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Word = $word;
            #[inline(always)]
            fn from_parts(re: f64, im: f64) -> Option<Self> {
                (im == 0.0).then_some(re as $t)
            }
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            #[allow(private_interfaces, private_bounds)]
            fn update<R: Runner<Self>>(
                alpha: Self,
                beta: Self,
                run: R,
            ) -> Result<(), NoArithmetic> {
                update::scalars(alpha, beta, run);
                Ok(())
            }
            #[inline(always)]
            #[allow(private_interfaces, private_bounds)]
            fn accumulate_scaled<R: Runner<Self>>(alpha: Self, run: R) -> Result<(), NoArithmetic> {
                update::adds(alpha, run);
                Ok(())
            }
        }
        impl Scalar for $t {
            type Real = $t;
            type Vec<I: Isa> = I::$assoc;
            type Lane<I: Isa> = crate::isa::Array<I, $t, 1>;
            #[inline(always)]
            fn parts(self) -> (f64, f64) {
                (self as f64, 0.0)
            }
            #[inline(always)]
            fn rounded(re: f64, _im: f64) -> Self {
                re as $t
            }
        }
        impl Element for Complex<$t> {
            const DTYPE: DType = match DType::$dtype {
                DType::F32 => DType::Complex64,
                _ => DType::Complex128,
            };
            type Word = [$word; 2];
            #[inline(always)]
            fn from_parts(re: f64, im: f64) -> Option<Self> {
                Some(Self::rounded(re, im))
            }
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            #[inline(always)]
            #[allow(private_interfaces, private_bounds)]
            fn update<R: Runner<Self>>(
                alpha: Self,
                beta: Self,
                run: R,
            ) -> Result<(), NoArithmetic> {
                update::scalars(alpha, beta, run);
                Ok(())
            }
            #[inline(always)]
            #[allow(private_interfaces, private_bounds)]
            fn accumulate_scaled<R: Runner<Self>>(alpha: Self, run: R) -> Result<(), NoArithmetic> {
                update::adds(alpha, run);
                Ok(())
            }
        }
        impl Scalar for Complex<$t> {
            type Real = $t;
            type Vec<I: Isa> = Cplx<I::$assoc>;
            type Lane<I: Isa> = Cplx<crate::isa::Array<I, $t, 2>>;
            #[inline(always)]
            fn parts(self) -> (f64, f64) {
                (self.re as f64, self.im as f64)
            }
            #[inline(always)]
            fn rounded(re: f64, im: f64) -> Self {
                Complex::new(re as $t, im as $t)
            }
        }
        impl sealed::Sealed for $t {}
        impl sealed::Sealed for Complex<$t> {}
    };
}
real!(f32, F32, u32, F32);
real!(f64, F64, u64, F64);

macro_rules! integer {
    ($($t:ty: $dtype:ident as $word:ty),*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$dtype;
            type Word = $word;
            #[inline(always)]
            fn from_parts(re: f64, im: f64) -> Option<Self> {
                // A cast saturates, so what comes back equal lies in range, but for 2^63 and
                // 2^64, which come back from the largest value.
                let v = re as $t;
                let exact = v as f64 == re && !(v == <$t>::MAX && size_of::<$t>() == 8);
                (im == 0.0 && exact).then_some(v)
            }
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            #[allow(private_interfaces, private_bounds)]
            fn update<R: Runner<Self>>(alpha: Self, beta: Self, run: R) -> Result<(), NoArithmetic> {
                update::moves(alpha, beta, run)
            }
            #[inline(always)]
            #[allow(private_interfaces, private_bounds)]
            fn accumulate_scaled<R: Runner<Self>>(alpha: Self, run: R) -> Result<(), NoArithmetic> {
                update::sums(alpha, run)
            }
        }
        impl sealed::Sealed for $t {}
    )*};
}
integer!(i8: I8 as u8, i16: I16 as u16, i32: I32 as u32, i64: I64 as u64,
         u8: U8 as u8, u16: U16 as u16, u32: U32 as u32, u64: U64 as u64);

macro_rules! word {
    ($($t:ty),*) => {$(
        impl Word for $t {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}
word!(u8, u16, u32, u64);

macro_rules! words {
    ($($t:ty),*) => {$(
        impl Word for [$t; 2] {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                [self[0].wrapping_add(other[0]), self[1].wrapping_add(other[1])]
            }
        }
    )*};
}
words!(u32, u64);
impl sealed::Sealed for [u32; 2] {}
impl sealed::Sealed for [u64; 2] {}

/// Runs `$body` with `$T` the type that belongs to the pattern of `$value`, or `$rest`.
macro_rules! with_type {
    ($value:expr, $T:ident => $body:expr, {
        $($pattern:pat => $type:ty,)*
        $(; $other:ident => $rest:expr)?
    }) => {
        match $value {
            $($pattern => {
                type $T = $type;
                $body
            })*
            $($other => $rest,)?
        }
    };
}

/// Runs `$body` with `$T` the type of a [`DType`] that has arithmetic; the error names `$arg`.
macro_rules! with_scalar {
    ($dtype:expr, $arg:expr, $T:ident => $body:expr) => {
        $crate::scalar::with_type!($dtype, $T => $body, {
            $crate::DType::F32 => f32,
            $crate::DType::F64 => f64,
            $crate::DType::Complex64 => num_complex::Complex<f32>,
            $crate::DType::Complex128 => num_complex::Complex<f64>,
            ; other => Err($crate::scalar::no_arithmetic($arg, other))
        })
    };
}

/// Whether so many bytes are a word's.
#[inline(always)]
pub(crate) fn is_word(item: usize) -> bool {
    matches!(item, 1 | 2 | 4 | 8 | 16)
}

/// Runs `$body` with `$W` the word of an item's size in bytes, which is one of a word.
macro_rules! with_word {
    ($item:expr, $W:ident => $body:expr) => {
        $crate::scalar::with_type!($item, $W => $body, {
            1 => u8,
            2 => u16,
            4 => u32,
            8 => u64,
            _ => [u64; 2],
        })
    };
}

/// Runs `$body` with `$T` the type of a [`DType`].
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::scalar::with_type!($dtype, $T => $body, {
            $crate::DType::F32 => f32,
            $crate::DType::F64 => f64,
            $crate::DType::Complex64 => num_complex::Complex<f32>,
            $crate::DType::Complex128 => num_complex::Complex<f64>,
            $crate::DType::I8 => i8,
            $crate::DType::I16 => i16,
            $crate::DType::I32 => i32,
            $crate::DType::I64 => i64,
            $crate::DType::U8 => u8,
            $crate::DType::U16 => u16,
            $crate::DType::U32 => u32,
            $crate::DType::U64 => u64,
        })
    };
}
pub(crate) use {with_element, with_scalar, with_type, with_word};

#[cold]
pub(crate) fn no_arithmetic(arg: &'static str, dtype: DType) -> Error {
    Error::NoArithmetic { arg, dtype }
}
