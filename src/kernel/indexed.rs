//! Gather and scatter-add below the plan: indices to byte offsets, and rows moved at offsets.

use super::Rows;
use super::tiles::bytes::{Bytes, prefetch};
use crate::isa::{Isa, Kernel, dispatch};
use crate::ops::Mode;
use crate::plan::Axis;
use crate::scalar::DType;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

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
    /// The bytes of the table along the axis.
    pub fn span(&self) -> usize {
        self.stride.unsigned_abs().saturating_mul(self.extent as usize)
    }

    /// Whether all indices in `low..=high` are in range.
    pub fn admits(&self, low: i128, high: i128) -> bool {
        let n = self.extent as i128;
        match self.mode {
            Mode::Raise => low >= -n && high < n,
            Mode::Wrap | Mode::Clip => n > 0,
            Mode::Drop => true,
        }
    }

    /// Fills `offsets` from as many indices, `step` bytes apart, each counted from a place that
    /// starts at `from` and moves by `by` bytes from one to the next. Returns whether there are
    /// holes: out of range is one where the mode is to drop, and also where it is to raise, so that
    /// no index is ever used as it was when somebody looked at it before.
    ///
    /// # Safety
    /// The indices are valid for reading elements of dtype, which is an integer type.
    pub unsafe fn offsets(
        &self,
        dtype: DType,
        (p, step): (*const u8, isize),
        (from, by): (isize, isize),
        offsets: &mut [MaybeUninit<isize>],
    ) -> bool {
        let modulus = if self.mode == Mode::Wrap { self.extent } else { 0 };
        with_index!(dtype, I => dispatch(Widen::<I> {
            p, step, modulus, to: &mut *offsets, of: PhantomData
        }));
        if step == dtype.size() as isize {
            // The next block's indices come while this one's are used.
            let bytes = offsets.len() * dtype.size();
            let next = p.wrapping_add(bytes);
            (0..bytes).step_by(LINE).for_each(|at| prefetch(next.wrapping_add(at)));
        }
        // SAFETY: all have been written.
        let offsets = unsafe { written(offsets) };
        dispatch(Place { rule: *self, from, by, offsets })
    }
}

/// A slice whose elements are all there.
///
/// # Safety
/// They have been written.
pub(crate) unsafe fn written(slice: &mut [MaybeUninit<isize>]) -> &mut [isize] {
    // SAFETY: as the caller says; the layouts are the same.
    unsafe { &mut *(core::ptr::from_mut(slice) as *mut [isize]) }
}

/// Indices at their own width to `isize`.
struct Widen<'b, I> {
    p: *const u8,
    step: isize,
    modulus: isize,
    to: &'b mut [MaybeUninit<isize>],
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
                to.write(load(self.p.wrapping_add(i * size_of::<I>()), 0));
            }
        } else {
            let mut p = self.p;
            for to in self.to {
                to.write(load(p, self.modulus));
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
        let (mut holes, mut from) = (0, from);
        for offset in offsets {
            let v = resolve(*offset);
            // Negative where v is, or is beyond the last: what overflows is negative already.
            let out = v | (extent - 1).wrapping_sub(v);
            holes |= out;
            let here = product(v, stride).wrapping_add(from);
            *offset = if out < 0 { HOLE } else { here };
            from = from.wrapping_add(by);
        }
        holes < 0
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

/// Rows of as many bytes may be streamed, whatever lines they share with the next.
const STREAMED: usize = 512;

/// A line of the caches, in bytes.
const LINE: usize = 64;

/// Rows of up to as many bytes are asked for whole before they are used; of longer ones the CPU
/// finds the rest by itself.
const PREFETCHED: usize = 4096;

/// How many rows ahead: what memory takes to answer is worth some thousand bytes of rows.
#[inline(always)]
fn ahead(bytes: usize) -> usize {
    (8192 / bytes.max(1)).clamp(2, 32)
}

/// Dense rows of a table at offsets, copied to a grid, at even distances: a gather that only moves,
/// of which nothing matters but the bytes.
pub(crate) struct CopyRows<'b> {
    /// Without holes.
    pub offsets: &'b [isize],
    /// The grid and the table.
    pub p: [*mut u8; 2],
    /// From one row of the grid to the next.
    pub grid_step: isize,
    /// The bytes of a row.
    pub bytes: usize,
    /// The same offsets are used for each of these.
    pub columns: Axis<2>,
    /// The table is larger than the near caches.
    pub far: bool,
    /// The grid is larger than all of them.
    pub stream: bool,
}

impl Kernel for CopyRows<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        for _ in 0..self.columns.len {
            self.column(isa);
            self.p = crate::nest::step(self.p, self.columns.stride);
        }
    }
}

impl CopyRows<'_> {
    #[inline(always)]
    fn column<I: Isa>(&self, isa: I) {
        match self.bytes {
            0 => {}
            1 => self.words::<u8>(),
            2 => self.words::<u16>(),
            3 => self.ends::<u16>(),
            4 => self.words::<u32>(),
            5..8 => self.ends::<u32>(),
            8 => self.words::<u64>(),
            9..16 => self.ends::<u64>(),
            16 => self.words::<[u64; 2]>(),
            17..=32 => self.ends::<[u64; 2]>(),
            33..LINE => self.ends::<[u64; 4]>(),
            STREAMED.. if self.stream => self.lines::<I, true>(isa),
            _ => self.lines::<I, false>(isa),
        }
    }

    /// Calls `copy` with the source and the target of each row.
    #[inline(always)]
    fn each(&self, copy: impl Fn(*const u8, *mut u8)) {
        let [mut to, table] = self.p;
        let from = |offset: isize| table.wrapping_offset(offset).cast_const();
        let mut last = self.offsets;
        if self.far {
            let later = self.offsets.get(ahead(self.bytes)..).unwrap_or(&[]);
            for (&offset, &later) in self.offsets.iter().zip(later) {
                prefetch(from(later));
                copy(from(offset), to);
                to = to.wrapping_offset(self.grid_step);
            }
            last = &self.offsets[later.len()..];
        }
        for &offset in last {
            copy(from(offset), to);
            to = to.wrapping_offset(self.grid_step);
        }
    }

    /// Rows of the size of W.
    #[inline(always)]
    fn words<W: Copy>(&self) {
        self.each(|from, to| {
            // SAFETY: a row of the table and one of the grid.
            unsafe { to.cast::<W>().write_unaligned(from.cast::<W>().read_unaligned()) }
        });
    }

    /// Rows of the size of W to that of two: both ends, which may overlap.
    #[inline(always)]
    fn ends<W: Copy>(&self) {
        let last = self.bytes - size_of::<W>();
        self.each(|from, to| {
            // SAFETY: within a row of the table and one of the grid.
            unsafe {
                let head = from.cast::<W>().read_unaligned();
                let tail = from.wrapping_add(last).cast::<W>().read_unaligned();
                to.cast::<W>().write_unaligned(head);
                to.wrapping_add(last).cast::<W>().write_unaligned(tail);
            }
        });
    }

    /// Rows of a line and more.
    #[inline(always)]
    fn lines<I: Isa, const STREAM: bool>(&self, isa: I) {
        let bytes = self.bytes;
        let [mut to, table] = self.p;
        let row = |offset: isize| table.wrapping_offset(offset).cast_const();
        for (i, &offset) in self.offsets.iter().enumerate() {
            let from = row(offset);
            let later = self.offsets.get(i + ahead(bytes)).filter(|_| self.far);
            // SAFETY: a row of the table and one of the grid, which share nothing.
            unsafe {
                match later {
                    Some(&later) if bytes <= PREFETCHED => {
                        let later = row(later);
                        copy_lines::<I, STREAM>(isa, bytes, from, to, |at| {
                            prefetch(later.wrapping_add(at));
                        });
                    }
                    Some(&later) => {
                        (0..4).for_each(|i| prefetch(row(later).wrapping_add(i * LINE)));
                        copy_lines::<I, STREAM>(isa, bytes, from, to, |_| {});
                    }
                    None => copy_lines::<I, STREAM>(isa, bytes, from, to, |_| {}),
                }
            }
            to = to.wrapping_offset(self.grid_step);
        }
    }
}

/// Copies a row, and calls `meanwhile` with the position of each line.
///
/// # Safety
/// `bytes`, a line at least, are valid for reading at `from` and for writing at `to`, and do not
/// overlap.
#[inline(always)]
unsafe fn copy_lines<I: Isa, const STREAM: bool>(
    isa: I,
    bytes: usize,
    from: *const u8,
    to: *mut u8,
    meanwhile: impl Fn(usize),
) {
    // A line that is streamed must not be stored to in part, and so brought to a cache.
    let head = if STREAM { to.addr().wrapping_neg() % LINE } else { 0 };
    let mut at = head;
    // SAFETY: the caller's bytes.
    unsafe {
        if head > 0 {
            core::ptr::copy_nonoverlapping(from, to, head);
        }
        while at + LINE <= bytes {
            meanwhile(at);
            let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
            if STREAM {
                I::Bytes::stream_line(isa, from, to);
            } else {
                to.cast::<[u64; 8]>().write_unaligned(from.cast::<[u64; 8]>().read_unaligned());
            }
            at += LINE;
        }
        if at < bytes {
            meanwhile(bytes - 1);
            if STREAM {
                let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
                core::ptr::copy_nonoverlapping(from, to, bytes - at);
            } else {
                let (from, to) = (from.wrapping_add(bytes - LINE), to.wrapping_add(bytes - LINE));
                to.cast::<[u64; 8]>().write_unaligned(from.cast::<[u64; 8]>().read_unaligned());
            }
        }
    }
}

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
    /// The table is larger than the near caches.
    pub far: bool,
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
        let item = size_of::<T>() as isize;
        if rows.len == 1 && row.stride == [item; 2] {
            // A length that the compiler knows is a row without loops.
            match row.len {
                2 => self.dense_rows(isa, 2),
                3 => self.dense_rows(isa, 3),
                4 => self.dense_rows(isa, 4),
                n => self.dense_rows(isa, n),
            }
            return;
        }
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

    /// Rows of n elements, dense in grid and table.
    #[inline(always)]
    fn dense_rows<I: Isa>(&self, isa: I, n: usize) {
        let item = size_of::<T>() as isize;
        let bytes = n * size_of::<T>();
        let ahead = ahead(bytes);
        let asked = if bytes <= PREFETCHED { bytes } else { 4 * LINE };
        let [mut grid, table] = self.p;
        for (i, &offset) in self.offsets.iter().enumerate() {
            if self.far
                && let Some(&later) = self.offsets.get(i + ahead)
            {
                for at in (0..asked).step_by(LINE) {
                    prefetch(table.wrapping_offset(later).wrapping_add(at));
                }
            }
            if let Some((t, [step, _])) = self.table(table, offset, [item, 0]) {
                if step == item {
                    self.row(isa, n, [grid, t], [item; 2]);
                } else {
                    self.row(isa, n, [grid, t], [item, step]);
                }
            }
            grid = grid.wrapping_offset(self.grid_step);
        }
    }

    #[inline(always)]
    fn columns<I: Isa>(&self, isa: I) {
        let [row, rows] = self.block;
        let mut outer = self.p;
        let runs = ADD && !self.holes && self.is_of_runs();
        for _ in 0..rows.len {
            let mut p = outer;
            for _ in 0..row.len {
                if self.holes {
                    self.column_with_holes(isa, p);
                } else if runs {
                    self.column_of_runs(isa, p);
                } else {
                    self.column(isa, p);
                }
                p = crate::nest::step(p, row.stride);
            }
            outer = crate::nest::step(outer, rows.stride);
        }
    }

    /// One element for each offset.
    #[inline(always)]
    fn column_with_holes<I: Isa>(&self, isa: I, [mut grid, table]: [*mut u8; 2]) {
        let item = size_of::<T>() as isize;
        for &offset in self.offsets {
            if let Some((t, _)) = self.table(table, offset, [item; 2]) {
                self.row(isa, 1, [grid, t], [item; 2]);
            }
            grid = grid.wrapping_offset(self.grid_step);
        }
    }

    #[inline(always)]
    fn column<I: Isa>(&self, isa: I, [mut grid, table]: [*mut u8; 2]) {
        let item = size_of::<T>() as isize;
        let at = |offset: isize| table.wrapping_offset(offset);
        let mut last = self.offsets;
        if self.far {
            let later = self.offsets.get(ahead(size_of::<T>())..).unwrap_or(&[]);
            for (&offset, &later) in self.offsets.iter().zip(later) {
                prefetch(at(later));
                self.row(isa, 1, [grid, at(offset)], [item; 2]);
                grid = grid.wrapping_offset(self.grid_step);
            }
            last = &self.offsets[later.len()..];
        }
        for &offset in last {
            self.row(isa, 1, [grid, at(offset)], [item; 2]);
            grid = grid.wrapping_offset(self.grid_step);
        }
    }

    /// Whether most offsets are those before them. It is asked once a block, since a branch for each
    /// offset would be mispredicted where two take turns at random.
    #[inline(always)]
    fn is_of_runs(&self) -> bool {
        let after = self.offsets.get(1..).unwrap_or(&[]);
        let equal: usize = self.offsets.iter().zip(after).map(|(a, b)| usize::from(a == b)).sum();
        4 * equal > 3 * self.offsets.len()
    }

    /// One element for each offset, a run of equal ones summed in a register: sums into one cell
    /// wait for each other, and longer still for each to come back from memory.
    #[inline(always)]
    fn column_of_runs<I: Isa>(&self, isa: I, [mut grid, table]: [*mut u8; 2]) {
        let item = size_of::<T>() as isize;
        for run in self.offsets.chunk_by(|a, b| a == b) {
            let cell = table.wrapping_offset(run[0]).cast::<T>();
            // SAFETY: a cell of the table, without holes, and nobody else's meanwhile.
            unsafe {
                let mut sum = cell.read_unaligned();
                for _ in run {
                    self.row(isa, 1, [grid, (&raw mut sum).cast()], [item; 2]);
                    grid = grid.wrapping_offset(self.grid_step);
                }
                cell.write_unaligned(sum);
            }
        }
    }
}
