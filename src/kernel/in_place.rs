//! Transposes of matrices within their own memory.
//!
//! Rectangular ones by the decomposition of Catanzaro, Keller and Garland, "A decomposition for
//! in-place matrix transposition" (PPoPP 2014): the transpose of m x n elements is a rotation of
//! columns, a permutation within each row and a permutation within each column, each of which needs
//! one row or column of scratch. Columns are taken in bands, so that lines are moved whole.

use super::LINE;
use super::tiles::bytes::prefetch_far;
use super::tiles::transpose as transpose_block;
use crate::error::Error;
use crate::isa::{Isa, Kernel, dispatch};
use crate::scalar::{Word, is_word, with_word};
use core::mem::MaybeUninit;
use core::ops::Range;

/// A dense row-major m x n matrix with items of some bytes, m <= n, and the numbers of the paper.
#[derive(Clone, Copy)]
struct Shape {
    m: usize,
    n: usize,
    /// m and n over their greatest common divisor.
    a: usize,
    b: usize,
    item: usize,
}

impl Shape {
    fn new(m: usize, n: usize, item: usize) -> Shape {
        let (mut c, mut r) = (m, n);
        while r != 0 {
            (c, r) = (r, c % r);
        }
        Shape { m, n, a: m / c, b: n / c, item }
    }

    /// Columns moved together.
    fn band(&self) -> usize {
        let line = LINE.div_ceil(self.item);
        (BAND / (self.m * self.item) / line * line).max(line).min(self.n)
    }

    fn scratch(&self) -> usize {
        (self.n * self.item).max(self.m * self.band() * self.item)
    }
}

/// Bytes of scratch that a band of columns may take, if it is not a line wide only.
const BAND: usize = 512 << 10;

/// Rows of a band are asked for so many rows ahead.
const AHEAD: usize = 16;

/// Bytes for what is moved one by one, of one thread.
pub(crate) struct Scratch(Vec<u8>);

impl Scratch {
    /// # Errors
    /// [`Error::Memory`].
    pub fn new(bytes: usize) -> Result<Scratch, Error> {
        let mut v = Vec::new();
        let refused = |_| Error::Memory { what: "the scratch of a permute in place", bytes };
        v.try_reserve_exact(bytes).map_err(refused)?;
        Ok(Scratch(v))
    }
}

/// Moves one item.
///
/// # Safety
/// The items are valid for reading and writing, and do not overlap.
#[inline(always)]
unsafe fn put<const ITEM: usize>(item: usize, to: *mut u8, from: *const u8) {
    // A constant length becomes a load and a store.
    let n = if ITEM > 0 { ITEM } else { item };
    // SAFETY: the caller's items.
    unsafe { core::ptr::copy_nonoverlapping(from, to, n) }
}

/// How a dense row-major rows x cols matrix becomes a dense row-major cols x rows one: passes, each of
/// which permutes the items within units that have nothing to do with one another.
#[derive(Clone, Copy)]
pub(crate) struct Passes {
    shape: Shape,
    /// The inverses of the passes in the inverse order: a matrix with more rows than columns is the
    /// transpose of one with less.
    back: bool,
}

/// One of them.
#[derive(Clone, Copy)]
pub(crate) enum Pass {
    /// Column j is rotated by j/b. A unit is a band of columns, as in the last pass.
    Rotate,
    /// Each row, a unit, is permuted.
    Rows,
    /// Each column is permuted.
    Columns,
}

impl Passes {
    pub fn new(rows: usize, cols: usize, item: usize) -> Passes {
        Passes { shape: Shape::new(rows.min(cols), rows.max(cols), item), back: rows > cols }
    }

    /// The bytes of scratch that [`run`](Self::run) needs.
    pub fn scratch(&self) -> usize {
        self.shape.scratch()
    }

    /// In order.
    pub fn each(&self) -> impl Iterator<Item = Pass> {
        let passes = [Pass::Rotate, Pass::Rows, Pass::Columns];
        let count = passes.len();
        // Without a common divisor there is nothing to rotate.
        let from = if self.shape.b < self.shape.n { 0 } else { 1 };
        let back = self.back;
        (from..count).map(move |i| passes[if back { count - 1 - (i - from) } else { i }])
    }

    /// How many units there are.
    pub fn units(&self, pass: Pass) -> usize {
        match pass {
            Pass::Rows => self.shape.m,
            Pass::Rotate | Pass::Columns => self.shape.n.div_ceil(self.shape.band()),
        }
    }

    /// Runs a pass over some units of the matrix at `p`.
    ///
    /// # Safety
    /// The matrix is valid for reading and writing, and nobody else uses these units.
    pub unsafe fn run(&self, pass: Pass, units: Range<usize>, p: *mut u8, scratch: &mut Scratch) {
        assert!(scratch.0.capacity() >= self.scratch() && units.end <= self.units(pass));
        let tmp = scratch.0.as_mut_ptr();
        // SAFETY: the caller's promise; the scratch is large enough.
        unsafe {
            match self.shape.item {
                1 => self.items::<1>(pass, units, p, tmp),
                2 => self.items::<2>(pass, units, p, tmp),
                4 => self.items::<4>(pass, units, p, tmp),
                8 => self.items::<8>(pass, units, p, tmp),
                16 => self.items::<16>(pass, units, p, tmp),
                _ => self.items::<0>(pass, units, p, tmp),
            }
        }
    }

    /// # Safety
    /// As [`run`](Self::run), with as much scratch as it needs.
    unsafe fn items<const ITEM: usize>(
        &self,
        pass: Pass,
        units: Range<usize>,
        p: *mut u8,
        tmp: *mut u8,
    ) {
        let Passes { shape: s, back } = *self;
        // SAFETY: the caller's promise; each pass permutes its units.
        unsafe {
            match pass {
                Pass::Rotate => columns::<ITEM, true>(s, p, tmp, back, units),
                Pass::Rows => within_rows::<ITEM>(s, p, tmp, back, units),
                Pass::Columns => columns::<ITEM, false>(s, p, tmp, back, units),
            }
        }
    }
}

/// `x mod n` where x < 2n.
#[inline(always)]
fn wrap(x: usize, n: usize) -> usize {
    if x >= n { x - n } else { x }
}

/// Permutes each row: item j of row i goes to `((i + j/b) mod m + j*m) mod n`, or comes from there.
///
/// # Safety
/// As [`Passes::run`].
unsafe fn within_rows<const ITEM: usize>(
    s: Shape,
    p: *mut u8,
    tmp: *mut u8,
    back: bool,
    rows: Range<usize>,
) {
    let step = s.m % s.n;
    for i in rows {
        let row = p.wrapping_add(i * s.n * s.item);
        let (mut first, mut left, mut by) = (i, s.b, 0);
        for j in 0..s.n {
            // first = (i + j/b) mod m, by = j*m mod n
            let k = wrap(wrap(first, s.n) + by, s.n);
            // SAFETY: j and k are within the row and the scratch.
            unsafe {
                if back {
                    put::<ITEM>(s.item, tmp.wrapping_add(j * s.item), row.wrapping_add(k * s.item));
                } else {
                    put::<ITEM>(s.item, tmp.wrapping_add(k * s.item), row.wrapping_add(j * s.item));
                }
            }
            by = wrap(by + step, s.n);
            left -= 1;
            if left == 0 {
                (left, first) = (s.b, wrap(first + 1, s.m));
            }
        }
        // SAFETY: a row of each.
        unsafe { core::ptr::copy_nonoverlapping(tmp, row, s.n * s.item) };
    }
}

/// Permutes each column of some bands: item i of column j comes from row `(r(i) + c(j)) mod m`, or goes
/// there. In the rotation r(i) = i and c(j) = j/b, else r(i) = i*n - i/a and c(j) = j. Both are
/// counted on from one item to the next: a division costs more than a move.
///
/// # Safety
/// As [`Passes::run`].
#[inline(always)]
unsafe fn columns<const ITEM: usize, const ROTATE: bool>(
    s: Shape,
    p: *mut u8,
    tmp: *mut u8,
    back: bool,
    bands: Range<usize>,
) {
    let (band, pitch) = (s.band(), s.n * s.item);
    // From one row to the next, but for every a-th one.
    let down = if ROTATE { 1 } else { s.n % s.m };
    for number in bands {
        let j0 = number * band;
        let width = band.min(s.n - j0);
        let left = p.wrapping_add(j0 * s.item);
        let wide = width * s.item;
        for i in 0..s.m {
            let ahead = left.wrapping_add((i + AHEAD) * pitch);
            for at in (0..wide).step_by(LINE) {
                prefetch_far(ahead.wrapping_add(at));
            }
            // SAFETY: a row of the band, and its place in the scratch.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    left.wrapping_add(i * pitch),
                    tmp.wrapping_add(i * wide),
                    wide,
                );
            }
        }
        let first = if ROTATE { j0 / s.b % s.m } else { j0 % s.m };
        let (mut row, mut until) = (0, s.a);
        for i in 0..s.m {
            let (mut col, mut same) = (first, s.b - j0 % s.b);
            for j in 0..width {
                let k = wrap(row + col, s.m);
                let (from, to) = if back { (i, k) } else { (k, i) };
                // SAFETY: both are within the band.
                unsafe {
                    put::<ITEM>(
                        s.item,
                        left.wrapping_add(to * pitch + j * s.item),
                        tmp.wrapping_add(from * wide + j * s.item),
                    );
                }
                if ROTATE {
                    same -= 1;
                    if same == 0 {
                        (same, col) = (s.b, wrap(col + 1, s.m));
                    }
                } else {
                    col = wrap(col + 1, s.m);
                }
            }
            row = wrap(row + down, s.m);
            until -= 1;
            if until == 0 {
                until = s.a;
                if !ROTATE {
                    row = wrap(row + s.m - 1, s.m);
                }
            }
        }
    }
}

/// The boxes that are exchanged have a side that divides this.
pub(crate) const SIDE: usize = 128;

/// Exchanges (i, j) with (j, i) in a square matrix of side n whose items, of `item` bytes, step by
/// `down` and `right` bytes: the blocks from the diagonal on whose first rows are in `rows`, which
/// starts at a multiple of [`SIDE`] and ends at one or at n.
///
/// # Safety
/// The items are valid for reading and writing and do not overlap.
pub(crate) unsafe fn transpose_square(
    p: *mut u8,
    n: usize,
    item: usize,
    [down, right]: [isize; 2],
    rows: Range<usize>,
) {
    let unit = item as isize;
    if n >= MIN_SIDE && (down == unit || right == unit) && is_word(item) {
        // Either way round it is the same exchange.
        let step = if right == unit { down } else { right };
        return dispatch(Square { item, p, n, step, rows });
    }
    // SAFETY: the caller's promise.
    unsafe { with_word!(item, W => swaps::<W>(p, n, down, right, rows)) }
}

/// [`transpose_square`] in blocks of a line.
///
/// # Safety
/// As [`transpose_square`].
unsafe fn swaps<W: Copy>(p: *mut u8, n: usize, down: isize, right: isize, rows: Range<usize>) {
    let side = LINE / size_of::<W>();
    let at =
        |i: usize, j: usize| p.wrapping_offset(i as isize * down + j as isize * right).cast::<W>();
    for i0 in rows.step_by(side) {
        for j0 in (i0..n).step_by(side) {
            for i in i0..(i0 + side).min(n) {
                for j in j0.max(i + 1)..(j0 + side).min(n) {
                    // SAFETY: i and j are less than n.
                    unsafe {
                        let (a, b) = (at(i, j).read_unaligned(), at(j, i).read_unaligned());
                        at(i, j).write_unaligned(b);
                        at(j, i).write_unaligned(a);
                    }
                }
            }
        }
    }
}

/// Smaller matrices are not worth the buffers.
const MIN_SIDE: usize = 8;

/// A square matrix whose rows are dense and `step` bytes apart, to be exchanged with its transpose.
struct Square {
    item: usize,
    p: *mut u8,
    n: usize,
    step: isize,
    rows: Range<usize>,
}

impl Kernel for Square {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        with_word!(self.item, W => self.words::<I, W>(isa))
    }
}

/// A block of a [`Square`].
#[repr(align(64))]
struct Block(MaybeUninit<[u8; BLOCK]>);

const BLOCK: usize = 16 << 10;

/// The sides of the boxes that are asked for ahead, in bytes.
const BOX: usize = 512;

impl Square {
    /// Block by block, each transposed into a buffer and then stored where the other was. Blocks are
    /// taken box by box, and of the next pair of boxes the rows are asked for meanwhile: the memory
    /// gives long runs sooner than the rows of a block.
    #[inline(always)]
    fn words<I: Isa, W: Word>(self, isa: I) {
        let Square { p, n, step, rows: range, .. } = self;
        let item = size_of::<W>();
        let side = (LINE / item).max(32);
        let wide = (BOX / item).clamp(side, SIDE);
        let mut buffers = [const { Block(MaybeUninit::uninit()) }; 2];
        let buffers = buffers.each_mut().map(|b| (&raw mut b.0).cast::<u8>());
        let at = |i: usize, j: usize| p.wrapping_offset(i as isize * step).wrapping_add(j * item);
        for box_i in range.clone().step_by(wide) {
            for box_j in (box_i..n).step_by(wide) {
                let next = if box_j + wide < n {
                    Some((box_i, box_j + wide))
                } else {
                    (box_i + wide < range.end).then_some((box_i + wide, box_i + wide))
                };
                // Line by line of the rows of one box and of the other; lines a row, rows a box.
                let (lines, tall) = (wide * item / LINE, wide);
                let mut asked = 0;
                let mut ask = || {
                    let Some((i, j)) = next else { return };
                    let row = asked / lines;
                    let (i, j) = if row < tall { (i + row, j) } else { (j + row - tall, i) };
                    prefetch_far(at(i, j).wrapping_add(asked % lines * LINE));
                    asked += 1;
                };
                // Each block stores as many rows as it has, and so do their pairs: that is twice.
                let blocks = (wide / side) * (wide / side);
                let share = (2 * lines * tall).div_ceil(blocks * 2 * side);
                for i0 in (box_i..n.min(box_i + wide)).step_by(side) {
                    let rows = side.min(n - i0);
                    let first = if box_i == box_j { i0 } else { box_j };
                    for j0 in (first..n.min(box_j + wide)).step_by(side) {
                        let cols = side.min(n - j0);
                        // The block at (i0, j0), and the one that it is exchanged with.
                        let blocks = [(i0, j0, rows, cols), (j0, i0, cols, rows)];
                        let blocks = &blocks[..if i0 == j0 { 1 } else { 2 }];
                        for (k, &(i, j, rows, cols)) in blocks.iter().enumerate() {
                            // SAFETY: the caller's matrix; a block of `side` items each way fits a
                            // buffer.
                            unsafe {
                                transpose_block::<I, W>(
                                    isa,
                                    [rows, cols],
                                    |r| at(i + r, j).cast_const(),
                                    |c| buffers[k].wrapping_add(c * rows * item),
                                    &mut [],
                                );
                            }
                        }
                        for (k, &(i, j, rows, cols)) in blocks.iter().enumerate() {
                            for c in 0..cols {
                                (0..share).for_each(|_| ask());
                                let from = buffers[k].wrapping_add(c * rows * item);
                                // SAFETY: a row of the other block, all of which has been read.
                                unsafe {
                                    core::ptr::copy_nonoverlapping(from, at(j + c, i), rows * item);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
