//! Gather and scatter-add below the plan: indices to byte offsets, and rows moved at offsets.

use super::Rows;
use crate::isa::{Isa, Kernel, dispatch};
use crate::ops::Mode;
use crate::plan::Axis;
use crate::scalar::DType;
use core::marker::PhantomData;

/// Indices that become offsets at once: enough that the work per block is nothing, few enough that
/// their offsets and the rows' heads stay in the first cache.
pub(crate) const BLOCK: usize = 1024;

/// The offset of a row that is not there: reads as zeros, and is not added to. No offset within an
/// allocation is as low.
pub(crate) const HOLE: isize = isize::MIN;

/// An index type, read at its own width.
trait Integer: Copy + Ord + Into<i128> {
    const LEAST: Self;
    const GREATEST: Self;
    /// The index, or where it is greater than any extent, another such; but with a modulus that is
    /// not 0, one that is congruent.
    fn widen(self, modulus: isize) -> isize;
}

macro_rules! integer {
    ($($t:ty: $widen:expr),*) => {$(
        impl Integer for $t {
            const LEAST: Self = <$t>::MIN;
            const GREATEST: Self = <$t>::MAX;
            #[inline(always)]
            fn widen(self, modulus: isize) -> isize {
                let widen: fn($t, isize) -> isize = $widen;
                widen(self, modulus)
            }
        }
    )*};
}
integer! {
    i8: |v, _| v as isize,
    i16: |v, _| v as isize,
    i32: |v, _| v as isize,
    i64: |v, _| v as isize,
    u8: |v, _| v as isize,
    u16: |v, _| v as isize,
    u32: |v, _| v as isize,
    u64: |v, modulus| match modulus {
        0 => v.min(i64::MAX as u64) as isize,
        n => if v > i64::MAX as u64 { (v % n as u64) as isize } else { v as isize },
    }
}

/// Runs `$body` with `$I` the type of an index dtype.
macro_rules! with_index {
    ($dtype:expr, $I:ident => $body:expr) => {{
        macro_rules! of {
            ($t:ty) => {{
                type $I = $t;
                $body
            }};
        }
        match $dtype {
            DType::I8 => of!(i8),
            DType::I16 => of!(i16),
            DType::I32 => of!(i32),
            DType::I64 => of!(i64),
            DType::U8 => of!(u8),
            DType::U16 => of!(u16),
            DType::U32 => of!(u32),
            DType::U64 => of!(u64),
            _ => unreachable!("an index is of an integer type"),
        }
    }};
}

/// One index.
///
/// # Safety
/// p is valid for reading an element of dtype, which is an integer type.
pub(crate) unsafe fn index_at(dtype: DType, p: *const u8) -> i128 {
    // SAFETY: as the caller says.
    with_index!(dtype, I => unsafe { p.cast::<I>().read_unaligned() }.into())
}

/// The least and the greatest of n indices `step` bytes apart; n > 0.
///
/// # Safety
/// They are valid for reading elements of dtype, which is an integer type.
pub(crate) unsafe fn bounds(dtype: DType, n: usize, p: *const u8, step: isize) -> (i128, i128) {
    struct Bounds<I> {
        n: usize,
        p: *const u8,
        step: isize,
        of: PhantomData<I>,
    }
    impl<I: Integer> Kernel for Bounds<I> {
        type Output = (i128, i128);
        #[inline(always)]
        fn run<S: Isa>(self, _: S) -> (i128, i128) {
            let (mut low, mut high) = (I::GREATEST, I::LEAST);
            let mut see = |p: *const u8| {
                // SAFETY: as the caller of `bounds` says.
                let v = unsafe { p.cast::<I>().read_unaligned() };
                (low, high) = (low.min(v), high.max(v));
            };
            if self.step == size_of::<I>() as isize {
                (0..self.n).for_each(|i| see(self.p.wrapping_add(i * size_of::<I>())));
            } else {
                let mut p = self.p;
                for _ in 0..self.n {
                    see(p);
                    p = p.wrapping_offset(self.step);
                }
            }
            (low.into(), high.into())
        }
    }
    with_index!(dtype, I => dispatch(Bounds::<I> { n, p, step, of: PhantomData }))
}

/// What an index on an axis means in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub mode: Mode,
    /// The extent of the axis, 0 only where every index is out of range.
    pub extent: isize,
    /// The bytes from one index to the next.
    pub stride: isize,
}

impl Rule {
    /// Whether all indices in `low..=high` are in range.
    pub fn admits(&self, low: i128, high: i128) -> bool {
        let n = self.extent as i128;
        match self.mode {
            Mode::Raise => low >= -n && high < n,
            Mode::Wrap | Mode::Clip => n > 0,
            Mode::Drop => true,
        }
    }

    /// Turns n indices, `step` bytes apart, into offsets from a place that moves by `by` bytes from
    /// one to the next and starts at `from`. Returns whether there are holes: out of range is one
    /// where the mode is to drop, and also where it is to raise, so that no index is ever used as
    /// it was when somebody looked at it before.
    ///
    /// # Safety
    /// The indices are valid for reading elements of dtype, which is an integer type, and there are
    /// no more than `offsets` has room for.
    pub unsafe fn offsets(
        &self,
        dtype: DType,
        (p, step): (*const u8, isize),
        (from, by): (isize, isize),
        offsets: &mut [isize],
    ) -> bool {
        let modulus = if self.mode == Mode::Wrap { self.extent } else { 0 };
        with_index!(dtype, I => dispatch(Widen::<I> {
            p, step, modulus, to: offsets, of: PhantomData
        }));
        dispatch(Place { rule: *self, from, by, offsets })
    }
}

/// Indices at their own width to `isize`.
struct Widen<'b, I> {
    p: *const u8,
    step: isize,
    modulus: isize,
    to: &'b mut [isize],
    of: PhantomData<I>,
}

impl<I: Integer> Kernel for Widen<'_, I> {
    type Output = ();
    #[inline(always)]
    fn run<S: Isa>(self, _: S) {
        let load = |p: *const u8, modulus| {
            // SAFETY: as the caller of `Rule::offsets` says.
            unsafe { p.cast::<I>().read_unaligned() }.widen(modulus)
        };
        if self.step == size_of::<I>() as isize && self.modulus == 0 {
            for (i, to) in self.to.iter_mut().enumerate() {
                *to = load(self.p.wrapping_add(i * size_of::<I>()), 0);
            }
        } else {
            let mut p = self.p;
            for to in self.to {
                *to = load(p, self.modulus);
                p = p.wrapping_offset(self.step);
            }
        }
    }
}

/// Indices to offsets, in place.
struct Place<'b> {
    rule: Rule,
    from: isize,
    by: isize,
    offsets: &'b mut [isize],
}

impl Kernel for Place<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<S: Isa>(self, _: S) -> bool {
        let n = self.rule.extent;
        match self.rule.mode {
            Mode::Raise | Mode::Drop => self.each(|v| v.wrapping_add(n & (v >> (isize::BITS - 1)))),
            Mode::Clip => self.each(|v| v.max(0).min(n - 1)),
            Mode::Wrap => {
                // A division takes longer than all the rest, and few indices need one.
                let near = self.offsets.iter().fold(true, |all, &v| all & (v >= -n) & (v < n));
                if near {
                    self.each(|v| v.wrapping_add(n & (v >> (isize::BITS - 1))))
                } else {
                    self.each(|v| v.checked_rem_euclid(n).unwrap_or(0))
                }
            }
        }
    }
}

impl Place<'_> {
    #[inline(always)]
    fn each(self, resolve: impl Fn(isize) -> isize) -> bool {
        // Both factors fit 32 bits: vectors have that product, but not the one of 64 bits.
        if self.rule.extent >> 32 == 0 && self.rule.stride >> 32 == 0 {
            self.each_by(resolve, |v, stride| (v as u32 as u64 * stride as u32 as u64) as isize)
        } else {
            self.each_by(resolve, isize::wrapping_mul)
        }
    }

    #[inline(always)]
    fn each_by(
        self,
        resolve: impl Fn(isize) -> isize,
        product: impl Fn(isize, isize) -> isize,
    ) -> bool {
        let Place { rule: Rule { extent, stride, .. }, from, by, offsets } = self;
        let (mut holes, mut from) = (false, from);
        for offset in offsets {
            let v = resolve(*offset);
            let hole = v as usize >= extent as usize;
            holes |= hole;
            *offset = if hole { HOLE } else { product(v, stride).wrapping_add(from) };
            from = from.wrapping_add(by);
        }
        holes
    }
}

/// Adds the offsets of another index; a hole in either is one in the sum.
pub(crate) fn add_offsets(to: &mut [isize], other: &[isize]) {
    for (to, &o) in to.iter_mut().zip(other) {
        *to = if *to == HOLE || o == HOLE { HOLE } else { to.wrapping_add(o) };
    }
}

/// What holes read as.
static ZERO: [u64; 2] = [0; 2];

/// Rows of a table at offsets, and rows of a grid at even distances, one for each offset: from the
/// table to the grid, or where ADD, from the grid into the table.
pub(crate) struct IndexedRows<'b, T, K, const ADD: bool> {
    pub kernel: K,
    pub offsets: &'b [isize],
    /// Whether there may be holes.
    pub holes: bool,
    /// The grid and the table.
    pub p: [*mut u8; 2],
    /// From one row of the grid to the next.
    pub grid_step: isize,
    /// A row, and how many there are for each offset.
    pub block: [Axis<2>; 2],
    /// Whether to go through all offsets for one element of a row before the next element.
    pub by_columns: bool,
    pub elements: PhantomData<T>,
}

impl<T, K: Rows<T, 2, 1>, const ADD: bool> Kernel for IndexedRows<'_, T, K, ADD> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        if self.by_columns { self.columns(isa) } else { self.rows(isa) }
    }
}

impl<T, K: Rows<T, 2, 1>, const ADD: bool> IndexedRows<'_, T, K, ADD> {
    /// The table's rows at an offset and their steps, or zeros; `None` where there is nothing to do.
    #[inline(always)]
    fn table(
        &self,
        table: *mut u8,
        offset: isize,
        steps: [isize; 2],
    ) -> Option<(*mut u8, [isize; 2])> {
        if self.holes && offset == HOLE {
            return if ADD { None } else { Some(((&raw const ZERO).cast_mut().cast(), [0; 2])) };
        }
        Some((table.wrapping_offset(offset), steps))
    }

    #[inline(always)]
    fn row<I: Isa>(&self, isa: I, n: usize, [grid, table]: [*mut u8; 2], [g, t]: [isize; 2]) {
        // SAFETY: made by a walk, over elements that its plan visits and offsets made by a rule.
        unsafe {
            if ADD {
                self.kernel.row(isa, n, [table, grid], [t, g]);
            } else {
                self.kernel.row(isa, n, [grid, table], [g, t]);
            }
        }
    }

    #[inline(always)]
    fn rows<I: Isa>(&self, isa: I) {
        let [row, rows] = self.block;
        let [mut grid, table] = self.p;
        for &offset in self.offsets {
            let steps = [row.stride[1], rows.stride[1]];
            if let Some((mut t, [step, down])) = self.table(table, offset, steps) {
                let mut g = grid;
                for _ in 0..rows.len {
                    self.row(isa, row.len, [g, t], [row.stride[0], step]);
                    (g, t) = (g.wrapping_offset(rows.stride[0]), t.wrapping_offset(down));
                }
            }
            grid = grid.wrapping_offset(self.grid_step);
        }
    }

    #[inline(always)]
    fn columns<I: Isa>(&self, isa: I) {
        let item = size_of::<T>() as isize;
        let [row, rows] = self.block;
        let mut outer = self.p;
        for _ in 0..rows.len {
            let mut p = outer;
            for _ in 0..row.len {
                let mut grid = p[0];
                for &offset in self.offsets {
                    if let Some((t, _)) = self.table(p[1], offset, [item; 2]) {
                        self.row(isa, 1, [grid, t], [item; 2]);
                    }
                    grid = grid.wrapping_offset(self.grid_step);
                }
                p = crate::nest::step(p, row.stride);
            }
            outer = crate::nest::step(outer, rows.stride);
        }
    }
}
