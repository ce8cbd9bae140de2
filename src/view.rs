//! [`View`] and [`ViewMut`]: strided N-d arrays that belong to someone else.

use crate::error::Error;
use crate::layout::{self, Dims, DimsBuf, Layout};
use crate::scalar::{DType, Element};
use core::marker::PhantomData;

/// A strided N-d array to read from.
///
/// Strides are in bytes and may be anything: negative, zero, no multiple of the element size. The
/// elements need no alignment. Rank is 0 (one element) to [`MAX_NDIM`](crate::MAX_NDIM); up to six
/// axes a view allocates nothing.
///
/// ```
/// use ndblas::View;
/// let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let a = View::from_slice(&data, &[2, 3])?;
/// let t = a.permuted(&[1, 0])?; // shape (3, 2), the same cells
/// assert_eq!(t.shape(), [3, 2]);
/// assert_eq!(t.get(&[2, 0]), Some(3.0));
/// # Ok::<(), ndblas::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct View<'a, T> {
    base: *const u8,
    layout: Layout<'a>,
    cells: PhantomData<&'a [T]>,
}

/// A strided N-d array to write to: a [`View`] in which no two indices share a byte.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    base: *mut u8,
    layout: Layout<'a>,
    cells: PhantomData<&'a mut [T]>,
}

// SAFETY: a view gives what a shared slice of its elements gives, and Element is Send and Sync.
unsafe impl<T: Element> Send for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for View<'_, T> {}
// SAFETY: a mutable view is the only way to its cells, as a mutable slice is.
unsafe impl<T: Element> Send for ViewMut<'_, T> {}
// SAFETY: a shared reference to a mutable view only reads.
unsafe impl<T: Element> Sync for ViewMut<'_, T> {}

/// A view on its way into a routine, under its name there. Only views make operands, so an operand
/// promises what its view promised.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'v, T> {
    pub name: &'static str,
    pub base: *mut u8,
    pub layout: &'v Layout<'v>,
    pub writable: bool,
    cells: PhantomData<&'v T>,
}

impl<'v, T> Operand<'v, T> {
    /// The same cells in another arrangement, which must be one of the view's own.
    pub fn with_layout<'w>(self, layout: &'w Layout<'w>) -> Operand<'w, T>
    where
        'v: 'w,
    {
        Operand { layout, ..self }
    }

    /// What the overlap rules look at.
    pub fn cells(&self) -> (&'static str, usize, &'v Layout<'v>) {
        (self.name, self.base.addr(), self.layout)
    }
}

fn extents(dims: &[usize]) -> Result<Dims<'static>, Error> {
    let signed = dims.iter().map(|&n| isize::try_from(n).unwrap_or(-1)).collect();
    Ok(signed)
}

/// The layout of a view over a slice of `len` elements, and the byte offset of its first element:
/// strides in elements, `offset` the first logical element.
fn layout_in_slice<T>(
    len: usize,
    shape: &[usize],
    strides: Option<&[isize]>,
    offset: usize,
) -> Result<Layout<'static>, Error> {
    const ARG: &str = "view";
    let item = size_of::<T>();
    let strides = match strides {
        None => None,
        Some(s) if s.len() != shape.len() => {
            return Err(Error::Argument {
                arg: "strides",
                why: "their number is not that of the extents",
            });
        }
        Some(s) => Some(
            s.iter()
                .zip(shape)
                // The stride of a length-1 axis is never used, whatever it is.
                .map(|(&s, &n)| if n == 1 { Some(0) } else { s.checked_mul(item as isize) })
                .collect::<Option<Dims>>()
                .ok_or(Error::Argument { arg: "strides", why: "a stride overflows" })?,
        ),
    };
    let layout = Layout::new(ARG, extents(shape)?, strides, item)?;
    if !layout.is_empty() {
        // Offsets of a valid layout fit, and a slice's byte length fits isize.
        let reach = layout.addresses(offset.saturating_mul(item));
        if offset >= len || reach.start > reach.end || reach.end > len * item {
            return Err(Error::Layout {
                arg: ARG,
                shape: layout.shape().into(),
                strides: layout.strides(),
                why: "it reaches outside the slice",
            });
        }
    }
    Ok(layout)
}

impl<'a, T: Element> View<'a, T> {
    /// The slice as a dense row-major array; it may be longer than the array.
    ///
    /// # Errors
    /// [`Error::Layout`] if the slice is too short, [`Error::Rank`] or [`Error::Extents`] if there
    /// is no such shape.
    pub fn from_slice(data: &'a [T], shape: &[usize]) -> Result<Self, Error> {
        let layout = layout_in_slice::<T>(data.len(), shape, None, 0)?;
        Ok(View { base: data.as_ptr().cast(), layout, cells: PhantomData })
    }

    /// A view into the slice, whose first logical element is `data[offset]`; strides in elements.
    ///
    /// # Errors
    /// As [`from_slice`](Self::from_slice); every cell must lie in the slice.
    pub fn from_slice_strided(
        data: &'a [T],
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        let layout = layout_in_slice::<T>(data.len(), shape, Some(strides), offset)?;
        let offset = if layout.is_empty() { 0 } else { offset };
        let base = data.as_ptr().wrapping_add(offset).cast();
        Ok(View { base, layout, cells: PhantomData })
    }

    /// One element, which broadcasts to any shape.
    pub fn from_ref(value: &'a T) -> Self {
        let (base, shape) = (core::ptr::from_ref(value).cast(), Dims::Borrowed(&[]));
        let layout = Layout::new("view", shape, None, size_of::<T>()).expect("rank 0 is valid");
        View { base, layout, cells: PhantomData }
    }

    /// A view from its first logical element, extents and strides in bytes.
    ///
    /// # Safety
    /// Every cell of the view is valid for reading a `T` for the lifetime `'a`, and nobody writes
    /// to it but through an alias that a routine's documentation allows. Alignment is not needed.
    ///
    /// # Errors
    /// [`Error::Rank`], [`Error::Extents`] if there is no such view.
    pub unsafe fn from_raw_parts(
        data: *const T,
        shape: &[usize],
        byte_strides: &[isize],
    ) -> Result<Self, Error> {
        let strides = byte_strides.iter().copied().collect();
        let layout = raw_layout::<T>(shape, strides)?;
        Ok(View { base: data.cast(), layout, cells: PhantomData })
    }

    pub(crate) fn from_parts(base: *const u8, layout: Layout<'a>) -> Self {
        View { base, layout, cells: PhantomData }
    }

    pub(crate) fn operand(&self, name: &'static str) -> Operand<'_, T> {
        let base = self.base.cast_mut();
        Operand { name, base, layout: &self.layout, writable: false, cells: PhantomData }
    }

    /// The element at an index, if there is one.
    pub fn get(&self, index: &[usize]) -> Option<T> {
        let offset = offset_of(&self.layout, index)?;
        // SAFETY: the index is within the extents, so the cell is one of the view's.
        Some(unsafe { self.base.wrapping_offset(offset).cast::<T>().read_unaligned() })
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// The slice as a dense row-major array; it may be longer than the array.
    ///
    /// # Errors
    /// As [`View::from_slice`].
    pub fn from_slice(data: &'a mut [T], shape: &[usize]) -> Result<Self, Error> {
        let layout = layout_in_slice::<T>(data.len(), shape, None, 0)?;
        Ok(ViewMut { base: data.as_mut_ptr().cast(), layout, cells: PhantomData })
    }

    /// A view into the slice, whose first logical element is `data[offset]`; strides in elements.
    ///
    /// # Errors
    /// As [`View::from_slice_strided`], and [`Error::SelfOverlap`].
    pub fn from_slice_strided(
        data: &'a mut [T],
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        let layout = layout_in_slice::<T>(data.len(), shape, Some(strides), offset)?;
        layout.refuse_self_overlap("view")?;
        let offset = if layout.is_empty() { 0 } else { offset };
        let base = data.as_mut_ptr().wrapping_add(offset).cast();
        Ok(ViewMut { base, layout, cells: PhantomData })
    }

    /// One element.
    pub fn from_mut(value: &'a mut T) -> Self {
        let (base, shape) = (core::ptr::from_mut(value).cast(), Dims::Borrowed(&[]));
        let layout = Layout::new("view", shape, None, size_of::<T>()).expect("rank 0 is valid");
        ViewMut { base, layout, cells: PhantomData }
    }

    /// A view from its first logical element, extents and strides in bytes.
    ///
    /// # Safety
    /// Every cell of the view is valid for reading and writing a `T` for the lifetime `'a`, and
    /// nobody else uses it but through an alias that a routine's documentation allows. Alignment
    /// is not needed.
    ///
    /// # Errors
    /// [`Error::Rank`], [`Error::Extents`], [`Error::SelfOverlap`].
    pub unsafe fn from_raw_parts(
        data: *mut T,
        shape: &[usize],
        byte_strides: &[isize],
    ) -> Result<Self, Error> {
        let strides = byte_strides.iter().copied().collect();
        let layout = raw_layout::<T>(shape, strides)?;
        Self::from_parts("view", data.cast(), layout)
    }

    pub(crate) fn from_parts(
        arg: &'static str,
        base: *mut u8,
        layout: Layout<'a>,
    ) -> Result<Self, Error> {
        layout.refuse_self_overlap(arg)?;
        Ok(ViewMut { base, layout, cells: PhantomData })
    }

    pub(crate) fn operand(&mut self, name: &'static str) -> Operand<'_, T> {
        let base = self.base;
        Operand { name, base, layout: &self.layout, writable: true, cells: PhantomData }
    }

    /// The element at an index, if there is one.
    pub fn get(&self, index: &[usize]) -> Option<T> {
        self.as_view().get(index)
    }

    /// The same cells, to read.
    pub fn as_view(&self) -> View<'_, T> {
        View { base: self.base, layout: self.layout.reborrow(), cells: PhantomData }
    }

    /// The same view for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        ViewMut { base: self.base, layout: self.layout.reborrow(), cells: PhantomData }
    }

    /// The parts before and from `index` on along an axis.
    ///
    /// # Errors
    /// [`Error::Axis`]; [`Error::Argument`] if `index` is greater than the extent.
    pub fn split_at(self, axis: isize, index: usize) -> Result<(Self, Self), Error> {
        let extent = self.extent(axis)?;
        // SAFETY: the second half is made over the cells that the first leaves out.
        let twin = ViewMut { base: self.base, layout: self.layout.clone(), cells: PhantomData };
        Ok((self.sliced(axis, 0..index)?, twin.sliced(axis, index..extent.max(index))?))
    }
}

fn raw_layout<T>(shape: &[usize], strides: Dims<'static>) -> Result<Layout<'static>, Error> {
    if strides.len() != shape.len() {
        return Err(Error::Argument {
            arg: "strides",
            why: "their number is not that of the extents",
        });
    }
    Layout::new("view", extents(shape)?, Some(strides), size_of::<T>())
}

fn offset_of(layout: &Layout, index: &[usize]) -> Option<isize> {
    if index.len() != layout.ndim() {
        return None;
    }
    layout
        .axes_from_last()
        .zip(index.iter().rev())
        .try_fold(0, |offset, ((n, s), &i)| (i < n).then(|| offset + i as isize * s))
}

/// The methods that only rearrange cells are the same for both kinds of view.
macro_rules! rearrange {
    ($view:ident) => {
        impl<'a, T: Element> $view<'a, T> {
            /// The extents.
            pub fn shape(&self) -> Vec<usize> {
                self.layout.shape().iter().map(|&n| n as usize).collect()
            }

            /// The number of axes.
            pub fn ndim(&self) -> usize {
                self.layout.ndim()
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                self.layout.len()
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.layout.is_empty()
            }

            /// The steps from one index to the next on each axis, in bytes.
            pub fn byte_strides(&self) -> Vec<isize> {
                (0..self.ndim()).map(|d| self.layout.stride(d)).collect()
            }

            fn extent(&self, axis: isize) -> Result<usize, Error> {
                let axis = layout::axis(axis, self.ndim())?;
                Ok(self.layout.shape()[axis] as usize)
            }

            fn with_dims(self, base_offset: isize, shape: Dims<'a>, strides: Dims<'a>) -> Self {
                let layout = Layout::new("view", shape, Some(strides), size_of::<T>())
                    .expect("a part of a valid view is valid");
                let base =
                    self.base.wrapping_offset(if layout.is_empty() { 0 } else { base_offset });
                $view { base, layout, cells: PhantomData }
            }

            /// The transpose: axis d is axis `perm[d]` of this view.
            ///
            /// # Errors
            /// [`Error::Permutation`].
            pub fn permuted(self, perm: &[usize]) -> Result<Self, Error> {
                let perm = layout::permutation("view", self.ndim(), Some(perm))?;
                let (mut shape, mut strides) = (DimsBuf::new(), DimsBuf::new());
                self.layout.permuted(&perm, &mut shape, &mut strides);
                Ok(self.with_dims(0, shape.into_iter().collect(), strides.into_iter().collect()))
            }

            /// The indices of `range` on an axis (negative counts from the end).
            ///
            /// # Errors
            /// [`Error::Axis`]; [`Error::Argument`] if the range leaves the extent.
            pub fn sliced(
                self,
                axis: isize,
                range: core::ops::Range<usize>,
            ) -> Result<Self, Error> {
                let extent = self.extent(axis)?;
                if range.start > range.end || range.end > extent {
                    return Err(Error::Argument { arg: "range", why: "it leaves the extent" });
                }
                let axis = layout::axis(axis, self.ndim())?;
                let stride = self.layout.stride(axis);
                let shape = self.layout.shape().iter().enumerate();
                let shape = shape.map(|(d, &n)| if d == axis { range.len() as isize } else { n });
                let shape = shape.collect();
                let strides = (0..self.ndim()).map(|d| self.layout.stride(d)).collect();
                Ok(self.with_dims((range.start as isize).wrapping_mul(stride), shape, strides))
            }

            /// An axis (negative counts from the end) in reverse order.
            ///
            /// # Errors
            /// [`Error::Axis`].
            pub fn reversed(self, axis: isize) -> Result<Self, Error> {
                let last = self.extent(axis)? as isize - 1;
                let axis = layout::axis(axis, self.ndim())?;
                let stride = self.layout.stride(axis);
                let shape = self.layout.shape().iter().copied().collect();
                let strides = (0..self.ndim()).map(|d| self.layout.stride(d));
                let strides = strides.enumerate();
                let strides =
                    strides.map(|(d, s)| if d == axis { s.wrapping_neg() } else { s }).collect();
                let offset = if last < 1 { 0 } else { last.wrapping_mul(stride) };
                Ok(self.with_dims(offset, shape, strides))
            }
        }
    };
}
rearrange!(View);
rearrange!(ViewMut);

/// A view of indices, of any of the eight integer types.
///
/// ```
/// use ndblas::{Index, View};
/// let rows = [2u8, 0, 1];
/// let rows = View::from_slice(&rows, &[3, 1])?;
/// let index = Index::from(&rows);
/// assert_eq!(index.dtype(), ndblas::DType::U8);
/// # Ok::<(), ndblas::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Index<'a> {
    base: *const u8,
    layout: Layout<'a>,
    dtype: DType,
}

// SAFETY: an index gives what a shared slice of integers gives.
unsafe impl Send for Index<'_> {}
// SAFETY: as above.
unsafe impl Sync for Index<'_> {}

impl<'a> Index<'a> {
    /// The type of the indices.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The same view for a shorter time.
    pub fn reborrow(&self) -> Index<'_> {
        Index { base: self.base, layout: self.layout.reborrow(), dtype: self.dtype }
    }

    /// # Errors
    /// [`Error::IndexDType`].
    pub(crate) fn from_parts(
        arg: &'static str,
        base: *const u8,
        layout: Layout<'a>,
        dtype: DType,
    ) -> Result<Self, Error> {
        if !dtype.is_integer() {
            return Err(Error::IndexDType { arg, dtype });
        }
        Ok(Index { base, layout, dtype })
    }

    pub(crate) fn base(&self) -> *mut u8 {
        self.base.cast_mut()
    }

    pub(crate) fn layout(&self) -> &Layout<'a> {
        &self.layout
    }

    /// What the overlap rules look at.
    pub(crate) fn cells(&self) -> (&'static str, usize, &Layout<'a>) {
        ("index", self.base.addr(), &self.layout)
    }
}

macro_rules! index {
    ($($t:ty),*) => {$(
        impl<'a> From<&'a View<'_, $t>> for Index<'a> {
            fn from(view: &'a View<'_, $t>) -> Self {
                let (base, layout) = (view.base, view.layout.reborrow());
                Index { base, layout, dtype: <$t>::DTYPE }
            }
        }
    )*};
}
index!(i8, i16, i32, i64, u8, u16, u32, u64);
