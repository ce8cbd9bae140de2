//! The descriptors of the C ABI, and how they become views.

use crate::error::Error;
use crate::layout::Layout;
use crate::scalar::{DType, Element};
use crate::view::{Index, View, ViewMut};
use core::ffi::c_void;

/// A strided N-d array to read from. It is never written.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct ndblas_view {
    /// The first LOGICAL element (not the lowest address). May be NULL if the view is empty.
    pub data: *const c_void,
    /// ndim extents, each >= 0. May be NULL if ndim is 0.
    pub shape: *const isize,
    /// ndim steps in BYTES, of any sign and size; NULL means dense, row-major.
    pub strides: *const isize,
    /// The rank, 0 .. NDBLAS_MAX_NDIM.
    pub ndim: i32,
    /// NDBLAS_F32 ...
    pub dtype: i32,
}

/// A strided N-d array to write to, in which no two indices may share a byte.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct ndblas_view_mut {
    /// The first LOGICAL element (not the lowest address). May be NULL if the view is empty.
    pub data: *mut c_void,
    /// ndim extents, each >= 0. May be NULL if ndim is 0.
    pub shape: *const isize,
    /// ndim steps in BYTES, of any sign and size; NULL means dense, row-major.
    pub strides: *const isize,
    /// The rank, 0 .. NDBLAS_MAX_NDIM.
    pub ndim: i32,
    /// NDBLAS_F32 ...
    pub dtype: i32,
}

/// A factor, or the result of a reduction. Real dtypes want im to be 0.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(non_camel_case_types)]
pub struct ndblas_scalar {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl ndblas_scalar {
    /// The factor in the element type of the call.
    #[inline(always)]
    pub(super) fn to<T: Element>(self, arg: &'static str) -> Result<T, Error> {
        match T::from_parts(self.re, self.im) {
            Some(factor) => Ok(factor),
            None => Err(self.refused(arg)),
        }
    }

    #[cold]
    fn refused(self, arg: &'static str) -> Error {
        let why = if self.im != 0.0 {
            "it has an imaginary part, but the dtype is not complex"
        } else {
            "the dtype cannot hold it"
        };
        Error::Argument { arg, why }
    }
}

impl From<(f64, f64)> for ndblas_scalar {
    fn from((re, im): (f64, f64)) -> Self {
        ndblas_scalar { re, im }
    }
}

/// A descriptor found good; its element type is not known to the compiler yet.
pub(super) struct Input<'a> {
    arg: &'static str,
    data: *const u8,
    layout: Layout<'a>,
    dtype: DType,
}

/// The same for a mutable one, which does not overlap itself.
pub(super) struct Output<'a>(Input<'a>);

/// Both are made empty and read in place: moving what was just written stalls, and a call is short.
impl<'a> Input<'a> {
    pub const EMPTY: Self =
        Input { arg: "", data: core::ptr::null(), layout: Layout::EMPTY, dtype: DType::F64 };

    /// # Safety
    /// `view` is NULL or points to a descriptor, whose shape and strides are NULL or have ndim
    /// numbers, and whose cells are as [`View::from_raw_parts`] wants them, all for 'a.
    pub unsafe fn read(
        &mut self,
        arg: &'static str,
        view: *const ndblas_view,
    ) -> Result<&Self, Error> {
        // SAFETY: as the caller says.
        let Some(view) = (unsafe { view.as_ref() }) else {
            return Err(Error::Null { arg });
        };
        let Some(dtype) = DType::from_tag(view.dtype) else {
            return Err(Error::UnknownDType { arg, tag: view.dtype });
        };
        if view.ndim < 0 || view.ndim as usize > crate::MAX_NDIM {
            return Err(Error::Rank { arg, ndim: view.ndim as isize });
        }
        let ndim = view.ndim as usize;
        let (shape, strides): (&[isize], _) = if ndim == 0 {
            (&[], None)
        } else if view.shape.is_null() {
            return Err(Error::NullShape { arg });
        } else {
            // SAFETY: as the caller says, both have ndim numbers.
            unsafe {
                let numbers = |p: *const isize| core::slice::from_raw_parts(p, ndim);
                (numbers(view.shape), (!view.strides.is_null()).then(|| numbers(view.strides)))
            }
        };
        let layout = Layout::new(arg, shape, strides, dtype.size())?;
        if view.data.is_null() && !layout.is_empty() {
            return Err(Error::Null { arg });
        }
        *self = Input { arg, data: view.data.cast(), layout, dtype };
        Ok(self)
    }

    pub fn dtype(&self) -> DType {
        self.dtype
    }

    pub fn ndim(&self) -> usize {
        self.layout.ndim()
    }

    /// Refuses another dtype than that of `other`.
    #[inline]
    pub fn same_dtype(&self, other: &Input) -> Result<(), Error> {
        if self.dtype == other.dtype { Ok(()) } else { Err(self.differs(other)) }
    }

    #[cold]
    fn differs(&self, other: &Input) -> Error {
        Error::DTypeMismatch {
            arg: self.arg,
            dtype: self.dtype,
            other: other.arg,
            other_dtype: other.dtype,
        }
    }

    /// The view, whose element type T must be that of the descriptor's dtype.
    #[inline]
    pub fn view<T: Element>(&self) -> View<'_, T> {
        assert!(self.dtype == T::DTYPE);
        // SAFETY: the cells are as `new` demands, and of T.
        unsafe { View::with_layout(self.data, &self.layout) }
    }

    /// The view as one of indices.
    pub fn index(&self) -> Result<Index<'a>, Error> {
        // SAFETY: the cells are as `read` demands.
        unsafe { Index::with_layout(self.arg, self.data, self.layout, self.dtype) }
    }
}

impl<'a> Output<'a> {
    pub const EMPTY: Self = Output(Input::EMPTY);

    /// # Safety
    /// As [`Input::read`], with cells as [`ViewMut::from_raw_parts`] wants them.
    pub unsafe fn read(
        &mut self,
        arg: &'static str,
        view: *const ndblas_view_mut,
    ) -> Result<&mut Self, Error> {
        // SAFETY: the two descriptors differ in the constness of `data` only.
        unsafe { self.0.read(arg, view.cast()) }?;
        self.0.layout.refuse_self_overlap(arg)?;
        Ok(self)
    }

    /// The view, whose element type T must be that of the descriptor's dtype.
    #[inline]
    pub fn view_mut<T: Element>(&mut self) -> ViewMut<'_, T> {
        assert!(self.0.dtype == T::DTYPE);
        // SAFETY: the cells are as `new` demands, and of T.
        unsafe { ViewMut::with_layout(self.0.data.cast_mut(), &self.0.layout) }
    }
}

impl<'a> core::ops::Deref for Output<'a> {
    type Target = Input<'a>;
    fn deref(&self) -> &Input<'a> {
        &self.0
    }
}

/// Where a result goes. It may even lie in an operand, and is written last.
pub(super) struct Slot<R>(*mut R);

impl<R> Slot<R> {
    /// # Safety
    /// `result` is NULL or valid for writing, with any alignment, until [`set`](Self::set).
    pub unsafe fn new(result: *mut R) -> Result<Self, Error> {
        if result.is_null() { Err(Error::Null { arg: "result" }) } else { Ok(Slot(result)) }
    }

    pub fn set(self, value: R) {
        // SAFETY: as `new` demands.
        unsafe { self.0.write_unaligned(value) }
    }
}
