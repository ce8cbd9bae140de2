//! [`View`] and [`ViewMut`]: strided N-d arrays that belong to someone else.

use crate::error::Error;
use crate::layout::{self, Arrangement, Dims, DimsBuf, Layout, Lent, Order};
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
    arrangement: Arrangement<'a>,
    elements: PhantomData<&'a [T]>,
}

/// A strided N-d array to write to: a [`View`] in which no two indices share a byte.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    base: *mut u8,
    arrangement: Arrangement<'a>,
    elements: PhantomData<&'a mut [T]>,
}

// SAFETY: a view gives what a shared slice of its elements gives, and Element is Send and Sync.
unsafe impl<T: Element> Send for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for View<'_, T> {}
// SAFETY: a mutable view is the only way to its cells, as a mutable slice is.
unsafe impl<T: Element> Send for ViewMut<'_, T> {}
// SAFETY: a shared reference to a mutable view only reads.
unsafe impl<T: Element> Sync for ViewMut<'_, T> {}

/// The cells of a view on their way into a routine, under its name there; of what type, nobody who
/// plans has to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells<'v> {
    pub name: &'static str,
    pub base: *mut u8,
    pub layout: Lent<'v>,
    pub writable: bool,
}

/// Cells with their type. Only views make operands, so an operand promises what its view promised.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'v, T> {
    cells: Cells<'v>,
    elements: PhantomData<&'v T>,
}

impl<'v> Cells<'v> {
    #[inline]
    pub fn new(name: &'static str, base: *mut u8, layout: &'v Layout<'v>, writable: bool) -> Self {
        Cells { name, base, layout: Lent::There(layout), writable }
    }
}

impl<'v, T> Operand<'v, T> {
    /// The same cells in another arrangement, which must be one of the view's own.
    pub fn with_layout<'w>(self, layout: &'w Layout<'w>) -> Operand<'w, T>
    where
        'v: 'w,
    {
        let layout = Lent::There(layout);
        Operand { cells: Cells { layout, ..self.cells }, elements: PhantomData }
    }
}

impl<'v, T> core::ops::Deref for Operand<'v, T> {
    type Target = Cells<'v>;
    #[inline]
    fn deref(&self) -> &Cells<'v> {
        &self.cells
    }
}

/// Extents and byte strides as we keep them; an extent beyond isize becomes a negative one, which is
/// refused as well.
fn own<T>(shape: &[usize], byte_strides: &[isize]) -> Result<Arrangement<'static>, Error> {
    if byte_strides.len() != shape.len() {
        return Err(Error::Argument {
            arg: "strides",
            why: "their number is not that of the extents",
        });
    }
    let shape = shape.iter().map(|&n| isize::try_from(n).unwrap_or(-1)).collect();
    Arrangement::own(shape, byte_strides.into(), size_of::<T>())
}

/// The arrangement of a view over a slice of `len` elements: strides in elements, dense if there
/// are none, `offset` the first logical element.
fn in_slice<T>(
    len: usize,
    shape: &[usize],
    strides: Option<&[isize]>,
    offset: usize,
) -> Result<Arrangement<'static>, Error> {
    let item = size_of::<T>() as isize;
    let byte_strides = match strides {
        None => {
            let mut dense = item;
            let mut from_last: Dims = shape
                .iter()
                .rev()
                .map(|&n| {
                    let stride = dense;
                    // Where this overflows, so does the size of the view, which is refused.
                    dense = dense.wrapping_mul(n as isize);
                    stride
                })
                .collect();
            from_last.reverse();
            from_last
        }
        Some(strides) => strides
            .iter()
            .zip(shape.iter().chain(core::iter::repeat(&0)))
            // The stride of an axis of length 1 is never used, whatever it is.
            .map(|(&s, &n)| if n == 1 { Some(0) } else { s.checked_mul(item) })
            .collect::<Option<Dims>>()
            .ok_or(Error::Argument { arg: "strides", why: "a stride overflows" })?,
    };
    let arrangement = own::<T>(shape, &byte_strides)?;
    let layout = arrangement.lend();
    if !layout.is_empty() {
        // Offsets of a valid layout fit, and a slice's byte length fits isize.
        let reach = layout.addresses(offset.saturating_mul(item as usize));
        if offset >= len || reach.start > reach.end || reach.end > len * item as usize {
            return Err(Error::Layout {
                arg: "view",
                shape: layout.shape().into(),
                strides: layout.strides(),
                why: "it reaches outside the slice",
            });
        }
    }
    Ok(arrangement)
}

impl<'a, T: Element> View<'a, T> {
    /// The slice as a dense row-major array; it may be longer than the array.
    ///
    /// # Errors
    /// [`Error::Layout`] if the slice is too short, [`Error::Rank`] or [`Error::Extents`] if there
    /// is no such shape.
    pub fn from_slice(data: &'a [T], shape: &[usize]) -> Result<Self, Error> {
        let arrangement = in_slice::<T>(data.len(), shape, None, 0)?;
        Ok(View::new(data.as_ptr().cast(), arrangement))
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
        let arrangement = in_slice::<T>(data.len(), shape, Some(strides), offset)?;
        let offset = if arrangement.lend().is_empty() { 0 } else { offset };
        Ok(View::new(data.as_ptr().wrapping_add(offset).cast(), arrangement))
    }

    /// One element, which broadcasts to any shape.
    pub fn from_ref(value: &'a T) -> Self {
        let arrangement = own::<T>(&[], &[]).expect("rank 0 is valid");
        View::new(core::ptr::from_ref(value).cast(), arrangement)
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
        Ok(View::new(data.cast(), own::<T>(shape, byte_strides)?))
    }

    #[inline]
    fn new(base: *const u8, arrangement: Arrangement<'a>) -> Self {
        View { base, arrangement, elements: PhantomData }
    }

    /// A view whose cells the caller vouches for.
    ///
    /// # Safety
    /// As [`from_raw_parts`](Self::from_raw_parts), for a layout of elements of T.
    #[inline]
    pub(crate) unsafe fn with_layout(base: *const u8, layout: &'a Layout<'a>) -> Self {
        View::new(base, Arrangement::Lent(Lent::There(layout)))
    }

    #[inline]
    pub(crate) fn operand(&self, name: &'static str) -> Operand<'_, T> {
        let (base, layout) = (self.base.cast_mut(), self.layout());
        let cells = Cells { name, base, layout, writable: false };
        Operand { cells, elements: PhantomData }
    }

    /// The first logical element, which need not exist or be aligned.
    pub fn as_ptr(&self) -> *const T {
        self.base.cast()
    }

    /// The element at an index, if there is one.
    pub fn get(&self, index: &[usize]) -> Option<T> {
        let offset = offset_of(&self.layout(), index)?;
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
        let arrangement = in_slice::<T>(data.len(), shape, None, 0)?;
        Ok(ViewMut::new(data.as_mut_ptr().cast(), arrangement))
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
        let arrangement = in_slice::<T>(data.len(), shape, Some(strides), offset)?;
        arrangement.lend().refuse_self_overlap("view")?;
        let offset = if arrangement.lend().is_empty() { 0 } else { offset };
        Ok(ViewMut::new(data.as_mut_ptr().wrapping_add(offset).cast(), arrangement))
    }

    /// One element.
    pub fn from_mut(value: &'a mut T) -> Self {
        let arrangement = own::<T>(&[], &[]).expect("rank 0 is valid");
        ViewMut::new(core::ptr::from_mut(value).cast(), arrangement)
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
        let arrangement = own::<T>(shape, byte_strides)?;
        arrangement.lend().refuse_self_overlap("view")?;
        Ok(ViewMut::new(data.cast(), arrangement))
    }

    #[inline]
    fn new(base: *mut u8, arrangement: Arrangement<'a>) -> Self {
        ViewMut { base, arrangement, elements: PhantomData }
    }

    /// A view whose cells the caller vouches for.
    ///
    /// # Safety
    /// As [`from_raw_parts`](Self::from_raw_parts), for a layout of elements of T that does not
    /// overlap itself.
    #[inline]
    pub(crate) unsafe fn with_layout(base: *mut u8, layout: &'a Layout<'a>) -> Self {
        ViewMut::new(base, Arrangement::Lent(Lent::There(layout)))
    }

    #[inline]
    pub(crate) fn operand(&mut self, name: &'static str) -> Operand<'_, T> {
        let (base, layout) = (self.base, self.layout());
        let cells = Cells { name, base, layout, writable: true };
        Operand { cells, elements: PhantomData }
    }

    /// The first logical element, which need not exist or be aligned.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.base.cast()
    }

    /// The element at an index, if there is one.
    pub fn get(&self, index: &[usize]) -> Option<T> {
        self.as_view().get(index)
    }

    /// The same cells, to read.
    pub fn as_view(&self) -> View<'_, T> {
        View::new(self.base, Arrangement::Lent(self.layout()))
    }

    /// The same view for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        ViewMut::new(self.base, Arrangement::Lent(self.layout()))
    }

    /// The parts before and from `index` on along an axis.
    ///
    /// # Errors
    /// [`Error::Axis`]; [`Error::Argument`] if `index` is greater than the extent.
    pub fn split_at(self, axis: isize, index: usize) -> Result<(Self, Self), Error> {
        let extent = self.extent(axis)?;
        // The second half is made of the cells that the first leaves out.
        let twin = ViewMut::new(self.base, self.arrangement.clone());
        Ok((self.sliced(axis, 0..index)?, twin.sliced(axis, index..extent.max(index))?))
    }
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
                self.layout().shape().iter().map(|&n| n as usize).collect()
            }

            /// The number of axes.
            pub fn ndim(&self) -> usize {
                self.layout().ndim()
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                self.layout().len()
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.layout().is_empty()
            }

            /// The steps from one index to the next on each axis, in bytes.
            pub fn byte_strides(&self) -> Vec<isize> {
                (0..self.ndim()).map(|d| self.layout().stride(d)).collect()
            }

            #[inline]
            fn layout(&self) -> Lent<'_> {
                self.arrangement.lend()
            }

            fn extent(&self, axis: isize) -> Result<usize, Error> {
                let axis = layout::axis(axis, self.ndim())?;
                Ok(self.layout().shape()[axis] as usize)
            }

            /// A part of this view, given by its own dims.
            fn part(self, base_offset: isize, shape: &[isize], strides: &[isize]) -> Self {
                let arrangement = Arrangement::own(shape.into(), strides.into(), size_of::<T>())
                    .expect("a part of a valid view is valid");
                let offset = if arrangement.lend().is_empty() { 0 } else { base_offset };
                $view::new(self.base.wrapping_offset(offset), arrangement)
            }

            /// The extents and byte strides, to change.
            fn dims(&self) -> (DimsBuf, DimsBuf) {
                let layout = self.layout();
                let strides = (0..layout.ndim()).map(|d| layout.stride(d)).collect();
                (layout.shape().iter().copied().collect(), strides)
            }

            /// The transpose: axis d is axis `perm[d]` of this view.
            ///
            /// # Errors
            /// [`Error::Permutation`].
            pub fn permuted(self, perm: &[usize]) -> Result<Self, Error> {
                let mut order = Order::new();
                layout::permutation("view", self.ndim(), Some(perm), &mut order)?;
                let (mut shape, mut strides) = (DimsBuf::new(), DimsBuf::new());
                self.layout().permuted(&order, &mut shape, &mut strides);
                Ok(self.part(0, &shape, &strides))
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
                let (mut shape, strides) = self.dims();
                shape[axis] = range.len() as isize;
                let offset = (range.start as isize).wrapping_mul(strides[axis]);
                Ok(self.part(offset, &shape, &strides))
            }

            /// An axis (negative counts from the end) in reverse order.
            ///
            /// # Errors
            /// [`Error::Axis`].
            pub fn reversed(self, axis: isize) -> Result<Self, Error> {
                let last = self.extent(axis)? as isize - 1;
                let axis = layout::axis(axis, self.ndim())?;
                let (shape, mut strides) = self.dims();
                let offset = if last > 0 { last * strides[axis] } else { 0 };
                strides[axis] = strides[axis].wrapping_neg();
                Ok(self.part(offset, &shape, &strides))
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
    cells: Cells<'a>,
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

    /// A view whose cells the caller vouches for.
    ///
    /// # Safety
    /// As [`View::from_raw_parts`], for elements of `dtype`.
    ///
    /// # Errors
    /// [`Error::IndexDType`].
    pub(crate) unsafe fn with_layout(
        name: &'static str,
        base: *const u8,
        layout: Layout<'a>,
        dtype: DType,
    ) -> Result<Self, Error> {
        if !dtype.is_integer() {
            return Err(Error::IndexDType { arg: name, dtype });
        }
        let (base, layout) = (base.cast_mut(), Lent::Made(layout));
        Ok(Index { cells: Cells { name, base, layout, writable: false }, dtype })
    }

    pub(crate) fn cells(&self) -> &Cells<'a> {
        &self.cells
    }
}

macro_rules! index {
    ($($t:ty),*) => {$(
        impl<'a> From<&'a View<'_, $t>> for Index<'a> {
            fn from(view: &'a View<'_, $t>) -> Self {
                Index { cells: view.operand("index").cells, dtype: <$t>::DTYPE }
            }
        }
    )*};
}
index!(i8, i16, i32, i64, u8, u16, u32, u64);
