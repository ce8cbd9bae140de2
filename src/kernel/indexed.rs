//! Gather and scatter-add below the plan: indices to byte offsets, and rows moved at offsets.

use super::tiles::bytes::{Bytes, prefetch, prefetch_far};
use super::{LINE, Rows};
use crate::isa::{Isa, Kernel, dispatch};
use crate::ops::Mode;
use crate::plan::Axis;
use crate::scalar::DType;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// The offsets of a block, at most: the work per block is nothing, and the first cache is left to the
/// rows.
pub(crate) const BLOCK: usize = 512;

/// So many offsets fit one block, wherever its rows begin: [`to_line`] takes less than a line's bytes away.
pub(crate) const SINGLE: usize = BLOCK - LINE;

/// Rows are asked for so many rows ahead, at most.
pub(crate) const AHEAD: usize = 32;

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
        let rule = self;
        if step == 8 && matches!(self.mode, Mode::Raise | Mode::Drop) {
            // Those that have the width of offsets.
            match dtype {
                DType::I64 => {
                    let source = Some(p.cast::<i64>());
                    return dispatch(Place { rule, from, by, source, offsets });
                }
                DType::U64 => {
                    let source = Some(p.cast::<u64>());
                    return dispatch(Place { rule, from, by, source, offsets });
                }
                _ => {}
            }
        }
        let modulus = if self.mode == Mode::Wrap { self.extent } else { 0 };
        with_index!(dtype, I => dispatch(Widen::<I> {
            p, step, modulus, to: &mut *offsets, of: PhantomData
        }));
        dispatch(Place { rule, from, by, source: None::<*const i64>, offsets })
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

/// Indices to offsets.
struct Place<'b, W> {
    rule: &'b Rule,
    from: isize,
    by: isize,
    /// The indices, or in place.
    source: Option<*const W>,
    offsets: &'b mut [MaybeUninit<isize>],
}

impl<W: Integer> Kernel for Place<'_, W> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        let n = self.rule.extent;
        let from_end = |v: isize| {
            if wide(isa) {
                (v as usize).min(v.wrapping_add(n) as usize) as isize
            } else {
                v.wrapping_add(n & (v >> (isize::BITS - 1)))
            }
        };
        // SAFETY: where there is no source, the offsets hold the indices.
        let there = |_: usize, to: &MaybeUninit<isize>| unsafe { to.assume_init_read() };
        match (self.rule.mode, self.source) {
            (Mode::Raise | Mode::Drop, None) => self.each(isa, there, from_end),
            (Mode::Raise | Mode::Drop, Some(p)) => {
                // SAFETY: as many are readable as there are offsets.
                let read = |i: usize, _: &_| unsafe { p.wrapping_add(i).read_unaligned() }.widen(0);
                self.each(isa, read, from_end)
            }
            (Mode::Clip, _) => self.each(isa, there, |v| v.max(0).min(n - 1)),
            (Mode::Wrap, _) => {
                // A division takes longer than all the rest, and few indices need one.
                let is_near = |v: isize| (v >= -n) & (v < n);
                if self.offsets.iter().fold(true, |all, to| all & is_near(there(0, to))) {
                    self.each(isa, there, from_end)
                } else {
                    self.each(isa, there, |v| v.checked_rem_euclid(n).unwrap_or(0))
                }
            }
        }
    }
}

/// Whether vectors have unsigned minima, maxima and comparisons of 64 bits, which are several
/// instructions where they have not.
#[inline(always)]
fn wide<I: Isa>(_: I) -> bool {
    <I::Bytes as Bytes<I>>::LANES * 16 == LINE
}

impl<W> Place<'_, W> {
    #[inline(always)]
    fn each<I: Isa>(
        self,
        isa: I,
        load: impl Fn(usize, &MaybeUninit<isize>) -> isize,
        resolve: impl Fn(isize) -> isize,
    ) -> bool {
        // Vectors shift in one step, and take several for a product.
        let stride = self.rule.stride;
        if stride > 0 && stride.count_ones() == 1 {
            let shift = stride.trailing_zeros();
            self.each_by(isa, load, resolve, |v: isize| v.wrapping_shl(shift))
        } else {
            self.each_by(isa, load, resolve, |v: isize| v.wrapping_mul(stride))
        }
    }

    #[inline(always)]
    fn each_by<I: Isa>(
        self,
        isa: I,
        load: impl Fn(usize, &MaybeUninit<isize>) -> isize,
        resolve: impl Fn(isize) -> isize,
        product: impl Fn(isize) -> isize,
    ) -> bool {
        let Place { rule: &Rule { extent, .. }, from, by, offsets, .. } = self;
        let (mut greatest, mut signs, mut from) = (0, 0, from);
        for (i, offset) in offsets.iter_mut().enumerate() {
            let v = resolve(load(i, offset));
            let there = if wide(isa) {
                greatest = (v as usize).max(greatest);
                (v as usize) < extent as usize
            } else {
                // Negative where v is, or is beyond the last: what overflows is negative already.
                let out = v | (extent - 1).wrapping_sub(v);
                signs |= out;
                out >= 0
            };
            let here = product(v).wrapping_add(from);
            offset.write(if there { here } else { HOLE });
            from = from.wrapping_add(by);
        }
        signs < 0 || greatest >= extent as usize
    }
}

/// Adds the offsets of another index; a hole in either is one in the sum.
pub(crate) fn add_offsets(to: &mut [isize], other: &[isize]) {
    for (to, &o) in to.iter_mut().zip(other) {
        *to = if *to == HOLE || o == HOLE { HOLE } else { to.wrapping_add(o) };
    }
}

/// What holes read as, as much as is read of one at once.
static ZEROS: [u64; 16] = [0; 16];

/// Rows of up to as many bytes are put together in registers, not on the stage.
const WORD: usize = 16;

/// Rows of as many bytes may be streamed, whatever lines they share with the next.
const STREAMED: usize = 512;

/// Adjacent rows of as many bytes have lines of their own, which need not go to the stage.
const PASSED: usize = 2 * LINE;

/// So many bytes of rows go to the stage before lines leave it: few, so that loads and stores past
/// the caches take turns quickly.
const PART: usize = 1024;

/// The longest row that goes to the stage.
const ROOM: usize = 4096;

/// Rows of up to as many bytes are asked for whole before they are used; of longer ones the CPU
/// finds the rest by itself.
const ASKED: usize = 4096;

/// Rows of a grid on their way past the caches. They gather here until whole lines can be streamed,
/// wherever rows and lines begin: a line stored in part would have to be fetched first. All rows of one stage
/// have one length, and go by [`room`](Stage::room) and [`push`](Stage::push), or all by
/// [`pass`](Stage::pass).
#[repr(C, align(64))]
pub(crate) struct Stage {
    bytes: [MaybeUninit<u8>; LINE + ROOM],
    /// The line that they lie in elsewhere, or null.
    held: *const u8,
    /// Where the first byte belongs, the first of a line.
    to: *mut u8,
    /// Of the first line, the bytes that are not ours, or are written already.
    skip: usize,
    /// The end of what is there.
    end: usize,
}

impl Stage {
    pub fn new() -> Self {
        let bytes = [const { MaybeUninit::uninit() }; LINE + ROOM];
        Stage { bytes, held: core::ptr::null(), to: core::ptr::null_mut(), skip: 0, end: 0 }
    }

    /// Where to put what belongs at `grid`, up to [`ROOM`] bytes.
    ///
    /// # Safety
    /// What [`push`](Self::push) is told of is valid for writing in the grid.
    #[inline(always)]
    unsafe fn room(&mut self, grid: *mut u8) -> *mut u8 {
        if self.to.wrapping_add(self.end) != grid {
            // SAFETY: the same promise, made before.
            unsafe { self.start(grid) };
        }
        self.bytes.as_mut_ptr().wrapping_add(self.end).cast()
    }

    /// Takes note of n bytes put there, and streams the lines that are whole.
    ///
    /// # Safety
    /// n bytes have been written to the [`room`](Self::room).
    #[inline(always)]
    unsafe fn push<I: Isa>(&mut self, isa: I, n: usize) {
        self.end += n;
        let lines = self.end / LINE;
        if lines == 0 {
            return;
        }
        let (bytes, to) = (self.bytes.as_mut_ptr().cast::<u8>(), self.to);
        // SAFETY: bytes that have been written, and their places in the grid.
        unsafe {
            let first = usize::from(self.skip > 0);
            if first > 0 {
                self.store(self.skip..LINE);
            }
            for line in first..lines {
                let at = line * LINE;
                I::Bytes::stream_line(isa, bytes.wrapping_add(at), to.wrapping_add(at));
            }
            let rest = bytes.wrapping_add(lines * LINE).cast::<[MaybeUninit<u64>; 8]>();
            bytes.cast::<[MaybeUninit<u64>; 8]>().write(rest.read());
        }
        self.to = to.wrapping_add(lines * LINE);
        (self.skip, self.end) = (0, self.end - lines * LINE);
    }

    /// Stores what is left, and begins at another place.
    ///
    /// # Safety
    /// As [`room`](Self::room).
    #[inline(never)]
    unsafe fn start(&mut self, grid: *mut u8) {
        // SAFETY: the same promise.
        unsafe { self.finish() };
        let before = grid.addr() % LINE;
        self.held = core::ptr::null();
        (self.to, self.skip, self.end) = (grid.wrapping_sub(before), before, before);
    }

    /// Streams the lines that a row makes whole. It is not copied: its last bytes stay where they are
    /// until those that follow are known.
    ///
    /// # Safety
    /// n bytes, at least a line, are valid for reading at `from` until the next row has passed or
    /// [`finish`](Self::finish) has been called, and for writing at `grid`.
    #[inline(always)]
    unsafe fn pass<I: Isa>(&mut self, isa: I, n: usize, from: *const u8, grid: *mut u8) {
        // SAFETY: lines of the grid all of whose bytes are those of rows that have been passed; of the
        // others, the bytes that are.
        unsafe {
            if self.to.wrapping_add(self.end) != grid {
                self.start(grid);
            }
            let mut at = (LINE - self.end) % LINE;
            if at > 0 {
                if self.skip > 0 {
                    self.finish();
                    core::ptr::copy_nonoverlapping(from, grid, at);
                } else {
                    debug_assert!(!self.held.is_null());
                    I::Bytes::stream_joined(isa, self.end, self.held, from, self.to);
                }
            }
            let mut to = grid.wrapping_add(at);
            while at + LINE <= n {
                I::Bytes::stream_line(isa, from.wrapping_add(at), to);
                (at, to) = (at + LINE, to.wrapping_add(LINE));
            }
            self.held = from.wrapping_add(at);
            (self.to, self.skip, self.end) = (to, 0, n - at);
        }
    }

    /// Stores what is left, by plain stores.
    ///
    /// # Safety
    /// As [`room`](Self::room).
    pub unsafe fn finish(&mut self) {
        // SAFETY: the same promise.
        unsafe { self.store(self.skip..self.end) };
        self.skip = self.end;
    }

    /// # Safety
    /// The range of bytes has been written, and is valid for writing in the grid.
    unsafe fn store(&self, range: Range<usize>) {
        let own = self.bytes.as_ptr().cast();
        let from = if self.held.is_null() { own } else { self.held };
        let from = from.wrapping_add(range.start);
        // SAFETY: as the caller says; the stage is nobody's grid.
        unsafe {
            core::ptr::copy_nonoverlapping(from, self.to.wrapping_add(range.start), range.len());
        }
    }
}

/// Words of W, which `one` writes from each of a range of offsets, given its number, to a place. Where
/// `lines`, whole lines of the grid come together in registers on their way past the caches.
///
/// # Safety
/// The words are valid for writing at `to` on, with the step, and `one` writes them.
#[inline(always)]
unsafe fn words<I: Isa, W>(
    isa: I,
    offsets: &[isize],
    range: Range<usize>,
    (to, step): (*mut u8, isize),
    lines: bool,
    one: impl Fn(usize, isize, *mut u8),
) {
    let (size, per_line) = (size_of::<W>(), LINE / size_of::<W>());
    let some = |range: Range<usize>, mut to: *mut u8| {
        for (i, &offset) in offsets[range.clone()].iter().enumerate() {
            one(range.start + i, offset, to);
            to = to.wrapping_offset(step);
        }
    };
    let lines = lines && <I::Bytes as Bytes<I>>::LANES > 0 && step == size as isize;
    if !lines || !to.addr().is_multiple_of(size) {
        return some(range, to);
    }
    let head = (to.addr().wrapping_neg() % LINE / size).min(range.len());
    some(range.start..range.start + head, to);
    let (mut first, mut to) = (range.start + head, to.wrapping_add(head * size));
    for offsets in offsets[first..range.end].chunks_exact(per_line) {
        let mut line = [0u64; LINE / 8];
        let words = (&raw mut line).cast::<u8>();
        for (i, &offset) in offsets.iter().enumerate() {
            one(first + i, offset, words.wrapping_add(i * size));
        }
        // SAFETY: a line of our own, and one of the grid.
        unsafe { I::Bytes::stream_line(isa, (&raw const line).cast(), to) };
        (first, to) = (first + per_line, to.wrapping_add(LINE));
    }
    some(first..range.end, to);
}

/// How many rows of a grid from `grid` on to go over, up to `most`, so that the next begins with a
/// line where it can.
#[inline(always)]
pub(crate) fn to_line(most: usize, grid: *mut u8, step: isize) -> usize {
    match usize::try_from(step) {
        Ok(step @ 1..LINE) => most - grid.addr() % LINE / step,
        _ => most,
    }
}

/// Where rows of a table are, most of them, when they are needed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distance {
    /// In the first or the second cache.
    Near,
    /// In the third.
    Far,
    /// In memory.
    Beyond,
}

/// Rows of a table at offsets, and rows of a grid at even distances, one for each offset.
pub(crate) struct Indexed<'b> {
    pub offsets: &'b [isize],
    /// How many rows there are; the offsets after theirs are of rows to ask for early.
    pub rows: usize,
    /// The grid and the table.
    pub p: [*mut u8; 2],
    /// From one row of the grid to the next.
    pub grid_step: isize,
    /// Whether there may be holes.
    pub holes: bool,
    pub distance: Distance,
    /// Where the grid is larger than all of them, and written only.
    pub stage: Option<&'b mut Stage>,
}

impl Indexed<'_> {
    /// The rows in parts: in the grid, or on the stage where rows of `bytes` may go there.
    #[inline(always)]
    fn parts<I: Isa>(&mut self, _: I, bytes: usize) -> Parts<'_> {
        let Indexed { rows, p: [grid, _], grid_step, .. } = *self;
        let adjacent = grid_step == bytes as isize;
        // Words come together in registers, but not where each waits for memory, and its line with it.
        let least = if self.is_near() { WORD + 1 } else { 1 };
        let fits = <I::Bytes as Bytes<I>>::LANES > 0 && (least..=ROOM).contains(&bytes);
        let stage = self.stage.as_deref_mut().filter(|_| fits && (adjacent || bytes >= STREAMED));
        let most = match stage {
            Some(_) if adjacent => (PART / bytes).max(1),
            Some(_) => 1,
            None => rows,
        };
        Parts { stage, rows, bytes, grid, grid_step, most, range: 0..0 }
    }
}

/// See [`Indexed::parts`].
struct Parts<'s> {
    stage: Option<&'s mut Stage>,
    rows: usize,
    bytes: usize,
    /// The rows of a part, at most.
    most: usize,
    grid: *mut u8,
    grid_step: isize,
    /// The last part.
    range: Range<usize>,
}

impl Parts<'_> {
    /// The rows of the next part, the place of the first, and the step from one to the next. The part
    /// before has been written.
    #[inline(always)]
    fn next<I: Isa>(&mut self, isa: I) -> Option<(Range<usize>, *mut u8, isize)> {
        let done = self.range.len();
        if let Some(stage) = &mut self.stage {
            // SAFETY: as many rows have been written to the room for them.
            unsafe { stage.push(isa, done * self.bytes) };
        }
        self.grid = self.grid.wrapping_offset(done as isize * self.grid_step);
        let first = self.range.end;
        if first == self.rows {
            return None;
        }
        self.range = first..self.rows.min(first + self.most);
        let (to, step) = match &mut self.stage {
            // SAFETY: rows of the grid, which are all pushed.
            Some(stage) => (unsafe { stage.room(self.grid) }, self.bytes as isize),
            None => (self.grid, self.grid_step),
        };
        Some((self.range.clone(), to, step))
    }
}

/// Dense rows of a table, copied: a gather that only moves, of which nothing matters but the bytes.
pub(crate) struct MoveRows<'k, 'b> {
    pub indexed: &'k mut Indexed<'b>,
    /// The bytes of a row.
    pub bytes: usize,
    /// The same offsets are used for each of these.
    pub columns: Axis<2>,
}

impl Kernel for MoveRows<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let MoveRows { indexed, bytes, columns } = self;
        for _ in 0..columns.len {
            let Indexed { offsets, p: [_, table], holes, grid_step, .. } = *indexed;
            let lines = indexed.stage.is_some() && indexed.is_near();
            let ask = indexed.ask::<false>(bytes, bytes);
            let simple = ask.is_off() && !holes;
            // Rows that have lines of their own need not be copied to the stage.
            let adjacent = grid_step == bytes as isize;
            let passes = bytes >= STREAMED || (bytes >= PASSED && adjacent);
            let mut stage = None;
            if passes && <I::Bytes as Bytes<I>>::LANES > 0 {
                core::mem::swap(&mut stage, &mut indexed.stage);
            }
            let mut parts = indexed.parts(isa, bytes);
            while let Some((range, to, step)) = parts.next(isa) {
                let moves = Moves { offsets, range, table, simple, ask, bytes, to, step, lines };
                match &mut stage {
                    Some(stage) => moves.pass(isa, stage),
                    None => moves.run(isa),
                }
            }
            if stage.is_some() {
                indexed.stage = stage;
            }
            indexed.p = crate::nest::step(indexed.p, columns.stride);
        }
    }
}

/// Some of the rows of a [`MoveRows`].
struct Moves<'b> {
    offsets: &'b [isize],
    range: Range<usize>,
    table: *mut u8,
    /// There are no holes, and nothing is asked for early.
    simple: bool,
    ask: Ask,
    bytes: usize,
    to: *mut u8,
    step: isize,
    /// Words come together to lines of the grid, which is past the caches.
    lines: bool,
}

impl Moves<'_> {
    #[inline(always)]
    fn run<I: Isa>(&self, isa: I) {
        match self.bytes {
            0 => {}
            1 => self.words::<I, u8>(isa),
            2 => self.words::<I, u16>(isa),
            3 => self.ends::<u16, u16>(),
            4 => self.words::<I, u32>(isa),
            5..8 => self.ends::<u32, u32>(),
            8 => self.words::<I, u64>(isa),
            9..16 => self.ends::<u64, u64>(),
            16 => self.words::<I, [u64; 2]>(isa),
            17..=24 => self.ends::<[u64; 2], u64>(),
            25..=32 => self.ends::<[u64; 2], [u64; 2]>(),
            33..LINE => self.ends::<[u64; 4], [u64; 4]>(),
            LINE => self.words::<I, [u64; 8]>(isa),
            65..=128 => self.ends::<[u64; 8], [u64; 8]>(),
            129..=ROOM => self.lines(),
            _ => self.long(),
        }
    }

    /// Rows of a line and more, past the caches.
    #[inline(always)]
    fn pass<I: Isa>(&self, isa: I, stage: &mut Stage) {
        let mut to = self.to;
        for i in self.range.clone() {
            self.ask.for_later(self.offsets, i, self.table);
            let offset = self.offsets[i];
            // SAFETY: a row of the table, which nobody writes to meanwhile, and one of the grid.
            unsafe {
                if offset == HOLE {
                    to.write_bytes(0, self.bytes);
                } else {
                    stage.pass(isa, self.bytes, self.row(offset), to);
                }
            }
            to = to.wrapping_offset(self.step);
        }
    }

    #[inline(always)]
    fn row(&self, offset: isize) -> *const u8 {
        self.table.wrapping_offset(offset)
    }

    /// Calls `copy` with the source and the target of each row, which may be a hole's. Where SIMPLE,
    /// simple rows have a loop of their own.
    #[inline(always)]
    fn each<const SIMPLE: bool>(&self, hole: *const u8, copy: impl Fn(*const u8, *mut u8)) {
        let mut to = self.to;
        if SIMPLE && self.simple {
            for &offset in &self.offsets[self.range.clone()] {
                copy(self.row(offset), to);
                to = to.wrapping_offset(self.step);
            }
            return;
        }
        for i in self.range.clone() {
            self.ask.for_later(self.offsets, i, self.table);
            let offset = self.offsets[i];
            copy(if offset == HOLE { hole } else { self.row(offset) }, to);
            to = to.wrapping_offset(self.step);
        }
    }

    /// Rows of the size of W.
    #[inline(always)]
    fn words<I: Isa, W: Copy>(&self, isa: I) {
        let copy = |from: *const u8, to: *mut u8| {
            // SAFETY: a row of the table, or zeros, and one of the grid, or of a line.
            unsafe { to.cast::<W>().write_unaligned(from.cast::<W>().read_unaligned()) }
        };
        let (range, to) = (self.range.clone(), (self.to, self.step));
        let lines = self.lines && size_of::<W>() <= WORD;
        let ask = Ask { bytes: size_of::<W>(), ..self.ask };
        // SAFETY: the words of the grid.
        unsafe {
            if self.simple {
                let one = |_, offset, to: *mut u8| copy(self.row(offset), to);
                words::<I, W>(isa, self.offsets, range, to, lines, one);
            } else {
                let one = |i, offset, to: *mut u8| {
                    ask.for_later(self.offsets, i, self.table);
                    copy(if offset == HOLE { zeros() } else { self.row(offset) }, to)
                };
                words::<I, W>(isa, self.offsets, range, to, lines, one);
            }
        }
    }

    /// Rows of a V and up to a W more: both ends, which may overlap.
    #[inline(always)]
    fn ends<V: Copy, W: Copy>(&self) {
        /// Source and target share nothing, so that each end goes its own way.
        ///
        /// # Safety
        /// A W is valid for reading at `from` + `at`, and for writing at `to` + `at`.
        #[inline(always)]
        unsafe fn copy<W: Copy>(from: *const u8, to: *mut u8, at: usize) {
            let (from, to) = (from.wrapping_add(at).cast::<W>(), to.wrapping_add(at).cast::<W>());
            // SAFETY: as the caller says.
            unsafe { to.write_unaligned(from.read_unaligned()) }
        }
        let last = self.bytes - size_of::<W>();
        // SAFETY: within a row of the table, or zeros, and within one of the grid.
        self.each::<true>(zeros(), |from, to| unsafe {
            copy::<V>(from, to, 0);
            copy::<W>(from, to, last);
        });
    }

    /// Rows of some lines.
    #[inline(always)]
    fn lines(&self) {
        let bytes = self.bytes;
        self.each::<true>(core::ptr::null(), |from, to| {
            if from.is_null() {
                // SAFETY: a row of the grid.
                unsafe { to.write_bytes(0, bytes) };
                return;
            }
            let copy = |at: usize| {
                type Line = [u64; 8];
                let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
                // SAFETY: within a row of the table and one of the grid.
                unsafe { to.cast::<Line>().write_unaligned(from.cast::<Line>().read_unaligned()) }
            };
            (0..bytes / LINE).for_each(|i| copy(i * LINE));
            if !bytes.is_multiple_of(LINE) {
                copy(bytes - LINE);
            }
        });
    }

    /// Rows of any length.
    #[inline(always)]
    fn long(&self) {
        self.each::<false>(core::ptr::null(), |from, to| {
            // SAFETY: a row of the table and one of the grid, which share nothing.
            unsafe {
                if from.is_null() {
                    to.write_bytes(0, self.bytes);
                } else {
                    core::ptr::copy_nonoverlapping(from, to, self.bytes);
                }
            }
        });
    }
}

/// Asks for a dense row.
#[inline(always)]
fn ask_for(row: *const u8, bytes: usize, ask: impl Fn(*const u8)) {
    let asked = if bytes <= ASKED { bytes } else { 4 * LINE };
    (0..asked).step_by(LINE).for_each(|at| ask(row.wrapping_add(at)));
    if asked > 8 {
        // The row may begin within a line.
        ask(row.wrapping_add(asked - 1));
    }
}

/// Rows of a table at offsets, and rows of a grid: from the table to the grid, or where ADD, from
/// the grid into the table.
pub(crate) struct IndexedRows<'k, 'b, T, K, const ADD: bool> {
    pub kernel: K,
    pub indexed: &'k mut Indexed<'b>,
    /// A row, and how many there are for each offset.
    pub block: [Axis<2>; 2],
    pub elements: PhantomData<T>,
}

impl<T, K: Rows<T, 2, 1>, const ADD: bool> Kernel for IndexedRows<'_, '_, T, K, ADD> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let (kernel, [row, rows], item) = (self.kernel, self.block, size_of::<T>());
        let elements = self.elements;
        let dense = row.stride == [item as isize; 2];
        if ADD || rows.len > 1 || row.stride[0] != item as isize {
            // What is not written only, or is no run of the grid.
            self.indexed.stage = None;
        }
        let bytes = row.len * item;
        let ask = self.indexed.ask::<ADD>(bytes, if dense { bytes } else { 1 });
        let Indexed { offsets, p: [_, table], holes, .. } = *self.indexed;
        let mut parts = self.indexed.parts(isa, bytes);
        while let Some((range, to, step)) = parts.next(isa) {
            let parcel = Parcel { kernel, offsets, range, table, ask, to, step };
            if !(dense && rows.len == 1) || (holes && !ADD) {
                parcel.rows::<I, T, ADD>(isa, [row, rows]);
                continue;
            }
            match row.len {
                2 => dispatch(Dense::<K, T, ADD, 2> { parcel, n: 2, elements }),
                3 => dispatch(Dense::<K, T, ADD, 3> { parcel, n: 3, elements }),
                4 => dispatch(Dense::<K, T, ADD, 4> { parcel, n: 4, elements }),
                n => dispatch(Dense::<K, T, ADD, 0> { parcel, n, elements }),
            }
        }
    }
}

/// Some of the rows of an [`IndexedRows`].
struct Parcel<'b, K> {
    kernel: K,
    offsets: &'b [isize],
    range: Range<usize>,
    table: *mut u8,
    ask: Ask,
    to: *mut u8,
    step: isize,
}

impl<K: Copy> Parcel<'_, K> {
    /// Any rows.
    #[inline(always)]
    fn rows<I: Isa, T, const ADD: bool>(&self, isa: I, [line, lines]: [Axis<2>; 2])
    where
        K: Rows<T, 2, 1>,
    {
        let mut grid = self.to;
        for i in self.range.clone() {
            self.ask.for_later(self.offsets, i, self.table);
            // The table's rows and their steps, or zeros.
            let offset = self.offsets[i];
            let (mut t, [along, down]) = if offset == HOLE {
                (zeros(), [0; 2])
            } else {
                (self.table.wrapping_offset(offset), [line.stride[1], lines.stride[1]])
            };
            let mut g = grid;
            let count = if ADD && offset == HOLE { 0 } else { lines.len };
            for _ in 0..count {
                let steps = [line.stride[0], along];
                row::<I, T, K, ADD>(self.kernel, isa, line.len, [g, t], steps);
                (g, t) = (g.wrapping_offset(lines.stride[0]), t.wrapping_offset(down));
            }
            grid = grid.wrapping_offset(self.step);
        }
    }
}

/// Rows of n elements, dense in both, without holes unless they are added. Of FEW elements, each for
/// itself: part of a vector reaches into the next line, which may be far away. A kernel of its own, so
/// that its loops have the registers for themselves.
struct Dense<'b, K, T, const ADD: bool, const FEW: usize> {
    parcel: Parcel<'b, K>,
    n: usize,
    elements: PhantomData<T>,
}

impl<K: Rows<T, 2, 1>, T, const ADD: bool, const FEW: usize> Kernel for Dense<'_, K, T, ADD, FEW> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        if FEW > 0 && self.parcel.ask.is_off() {
            self.each::<I, false>(isa);
        } else {
            self.each::<I, true>(isa);
        }
    }
}

impl<K: Rows<T, 2, 1>, T, const ADD: bool, const FEW: usize> Dense<'_, K, T, ADD, FEW> {
    #[inline(always)]
    fn each<I: Isa, const ASK: bool>(&self, isa: I) {
        let &Parcel { kernel, offsets, ref range, table, ask, to: mut grid, step } = &self.parcel;
        let item = size_of::<T>();
        for (i, &offset) in range.clone().zip(&offsets[range.clone()]) {
            if ASK {
                ask.for_later(offsets, i, table);
            }
            if !(ADD && offset == HOLE) {
                let p = [grid, table.wrapping_offset(offset)];
                for e in 0..FEW {
                    let p = p.map(|p| p.wrapping_add(e * item));
                    row::<I, T, K, ADD>(kernel, isa, 1, p, ONE_BY_ONE);
                }
                if FEW == 0 {
                    row::<I, T, K, ADD>(kernel, isa, self.n, p, [item as isize; 2]);
                }
            }
            grid = grid.wrapping_offset(step);
        }
    }
}

/// Single elements of a table at offsets, and of a grid. A kernel of its own, so that its loops have
/// the registers for themselves.
pub(crate) struct IndexedElements<'k, 'b, T, K, const ADD: bool> {
    pub kernel: K,
    pub indexed: &'k mut Indexed<'b>,
    /// All offsets are gone through for each of these.
    pub columns: [Axis<2>; 2],
    pub elements: PhantomData<T>,
}

impl<T, K: Rows<T, 2, 1>, const ADD: bool> Kernel for IndexedElements<'_, '_, T, K, ADD> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let [inner, outer] = self.columns;
        let Indexed { offsets, rows, grid_step, .. } = *self.indexed;
        // Where runs are long on the average. It is asked once a block, since a branch for each offset
        // would be mispredicted where two take turns at random.
        let runs = ADD && is_of_runs(&offsets[..rows]);
        let ask = self.indexed.ask::<ADD>(size_of::<T>(), size_of::<T>());
        let streams = self.indexed.stage.is_some();
        let mut p = self.indexed.p;
        for _ in 0..outer.len {
            self.indexed.p = p;
            for _ in 0..inner.len {
                let [grid, table] = self.indexed.p;
                let grid = (grid, grid_step);
                let elements = Elements { kernel: self.kernel, offsets, rows, table, grid, ask };
                if runs {
                    elements.runs::<I, T, ADD>(isa);
                } else {
                    elements.run::<I, T, ADD>(isa, self.indexed.holes, streams);
                }
                self.indexed.p = crate::nest::step(self.indexed.p, inner.stride);
            }
            p = crate::nest::step(p, outer.stride);
        }
    }
}

/// Whether runs of equal offsets are long on the average.
#[inline(always)]
fn is_of_runs(offsets: &[isize]) -> bool {
    let after = offsets.get(1..).unwrap_or(&[]);
    let equal: usize = offsets.iter().zip(after).map(|(a, b)| usize::from(a == b)).sum();
    equal >= RUN * (offsets.len() - equal)
}

/// The elements of an [`IndexedElements`] for one of its columns.
struct Elements<'b, K> {
    kernel: K,
    offsets: &'b [isize],
    rows: usize,
    table: *mut u8,
    /// Where the first is, and the step from one to the next.
    grid: (*mut u8, isize),
    ask: Ask,
}

impl<K: Copy> Elements<'_, K> {
    #[inline(always)]
    fn run<I: Isa, T, const ADD: bool>(&self, isa: I, holes: bool, streams: bool)
    where
        K: Rows<T, 2, 1>,
    {
        let Elements { kernel, offsets, rows, table, grid, ask } = *self;
        let one = |_, offset: isize, grid: *mut u8| {
            let p = [grid, table.wrapping_offset(offset)];
            row::<I, T, K, ADD>(kernel, isa, 1, p, ONE_BY_ONE);
        };
        let any = |i, offset: isize, grid: *mut u8| {
            if !ADD {
                ask.for_later(offsets, i, table);
            }
            if offset != HOLE {
                one(i, offset, grid);
            } else if !ADD {
                row::<I, T, K, ADD>(kernel, isa, 1, [grid, zeros()], ONE_BY_ONE);
            }
        };
        // SAFETY: elements of the grid, and where they are streamed, they are written only.
        unsafe {
            // Sums are not asked for: as many are on their way by themselves as there can be.
            if holes || !(ADD || ask.is_off()) {
                words::<I, T>(isa, offsets, 0..rows, grid, streams, any);
            } else {
                words::<I, T>(isa, offsets, 0..rows, grid, streams, one);
            }
        }
    }

    /// A run of equal offsets summed in a register: sums into one cell wait for each other, and
    /// longer still for each to come back from memory.
    #[inline(always)]
    fn runs<I: Isa, T, const ADD: bool>(&self, isa: I)
    where
        K: Rows<T, 2, 1>,
    {
        let (mut grid, step) = self.grid;
        for run in self.offsets[..self.rows].chunk_by(|a, b| a == b) {
            if run[0] == HOLE {
                grid = grid.wrapping_offset(step.wrapping_mul(run.len() as isize));
                continue;
            }
            let cell = self.table.wrapping_offset(run[0]).cast::<T>();
            // SAFETY: a cell of the table, and nobody else's meanwhile.
            unsafe {
                let mut sum = cell.read_unaligned();
                for _ in run {
                    let p = [grid, (&raw mut sum).cast()];
                    row::<I, T, K, ADD>(self.kernel, isa, 1, p, ONE_BY_ONE);
                    grid = grid.wrapping_offset(step);
                }
                cell.write_unaligned(sum);
            }
        }
    }
}

/// Runs of equal offsets are summed in a register from this length on. The CPU goes through several
/// shorter ones at once, each waiting for its own memory.
const RUN: usize = 32;

/// The steps of a single element, which matter only in that they are no vector's: part of a vector is
/// stored in another way than an element, and what is stored so comes back late.
const ONE_BY_ONE: [isize; 2] = [0; 2];

/// How rows of the table are asked for early.
#[derive(Clone, Copy)]
struct Ask {
    /// How many rows ahead; beyond any where they are near.
    ahead: usize,
    /// Of each row, how many bytes.
    bytes: usize,
    /// Into the first cache, not the second.
    first: bool,
}

impl Indexed<'_> {
    #[inline(always)]
    fn is_near(&self) -> bool {
        self.distance == Distance::Near
    }

    /// Asks for `asked` bytes of rows of `bytes`.
    #[inline(always)]
    fn ask<const ADD: bool>(&self, bytes: usize, asked: usize) -> Ask {
        let (reach, first) = match self.distance {
            Distance::Near => return Ask { ahead: Ask::OFF, bytes: asked, first: true },
            // The third cache answers soon, and rows that are written to are best in the first.
            Distance::Far if ADD => (8 << 10, true),
            // What memory takes to answer is worth some ten thousand bytes of rows, and more lines can
            // be on their way to the second cache than to the first.
            _ => (64 << 10, bytes <= LINE),
        };
        let ahead = (reach / bytes.max(1)).clamp(2, AHEAD);
        Ask { ahead, bytes: asked, first }
    }
}

impl Ask {
    /// No offsets reach as far.
    const OFF: usize = usize::MAX / 2;

    #[inline(always)]
    fn is_off(self) -> bool {
        self.ahead == Self::OFF
    }

    /// Asks for the row that comes some rows after row i.
    #[inline(always)]
    fn for_later(self, offsets: &[isize], i: usize, table: *mut u8) {
        if let Some(&later) = offsets.get(i + self.ahead) {
            let later = table.wrapping_offset(later).cast_const();
            if self.first {
                ask_for(later, self.bytes, prefetch);
            } else {
                ask_for(later, self.bytes, prefetch_far);
            }
        }
    }
}

#[inline(always)]
fn zeros() -> *mut u8 {
    (&raw const ZEROS).cast_mut().cast()
}

/// A row of the grid and one of the table.
#[inline(always)]
fn row<I: Isa, T, K: Rows<T, 2, 1>, const ADD: bool>(
    kernel: K,
    isa: I,
    n: usize,
    [grid, table]: [*mut u8; 2],
    [g, t]: [isize; 2],
) {
    // SAFETY: made by a walk, over elements that its plan visits and offsets made by a rule.
    unsafe {
        if ADD {
            kernel.row(isa, n, [table, grid], [t, g]);
        } else {
            kernel.row(isa, n, [grid, table], [g, t]);
        }
    }
}
