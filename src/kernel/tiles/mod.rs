//! Transposes of small matrices, in registers.
//!
//! A register of bytes is taken as lanes of 16. With n = 16 / word size, each of n registers is
//! loaded with 16 bytes of as many rows as it has lanes, n rows apart; log2(n) rounds of "zip the
//! first half of the registers with the second" then leave in register c the words of column c.
//! Only the zip is an instruction of the CPU; the network is the same for every word and register.

pub(crate) mod ahead;
pub(crate) mod bytes;
pub(crate) mod few;
pub(crate) mod strip;

use super::LINE;
use crate::isa::{Isa, Kernel};
use crate::scalar::{Word, is_word, with_word};
use ahead::{Ahead, ask};
use bytes::{Bytes, prefetch};

/// Transposes `W`s: word c of row i goes to word i of column c.
///
/// # Safety
/// `row(i)` for i < rows is valid for reading `cols` words, `column(c)` for c < cols for writing
/// `rows` of them; columns share no byte with rows or one another.
#[inline(always)]
pub(crate) unsafe fn transpose<I: Isa, W: Word>(
    isa: I,
    [rows, cols]: [usize; 2],
    row: impl Fn(usize) -> *const u8 + Copy,
    column: impl Fn(usize) -> *mut u8 + Copy,
    ahead: &mut [Ahead],
) {
    let n = 16 / size_of::<W>();
    // SAFETY: the caller's promise, and the shapes that the callee needs.
    unsafe {
        if I::Bytes::LANES > 0 && cols >= n && rows >= n * I::Bytes::LANES {
            squares::<I, I::Bytes, W>(isa, [rows, cols], row, column, ahead);
        } else if I::Bytes::LANES > 0 && cols >= n && rows >= n {
            squares::<I, I::Lane, W>(isa, [rows, cols], row, column, ahead);
        } else {
            ask(ahead, rows * cols * size_of::<W>());
            words::<W>([rows, cols], row, column);
        }
    }
}

/// After so many bytes it is time to ask for more.
const WORK: usize = 256;

/// Lines at multiples of this are in few sets of the first cache.
const FEW_SETS: usize = 1024;

/// [`transpose`] by registers of V: squares of one cache line each way, so that each line is
/// touched once. The last of each kind overlaps the one before.
///
/// Where squares do not begin with lines, two that follow one another share a line. If few sets
/// hold the lines of all columns, or of all rows, it would be gone before the second comes: there the
/// first square ends where a line does.
///
/// # Safety
/// As [`transpose`], and a register's worth of rows and of columns.
#[inline(always)]
unsafe fn squares<I: Isa, V: Bytes<I>, W: Word>(
    isa: I,
    [rows, cols]: [usize; 2],
    row: impl Fn(usize) -> *const u8 + Copy,
    column: impl Fn(usize) -> *mut u8 + Copy,
    ahead: &mut [Ahead],
) {
    let item = size_of::<W>();
    let (n, tall, line) = (16 / item, 16 / item * V::LANES, LINE / item);
    let mut done = 0;
    let first = |p: *const u8, next: *const u8| match p.addr().wrapping_neg() % LINE / item {
        end @ 1.. if next.addr().wrapping_sub(p.addr()).is_multiple_of(FEW_SETS) => end,
        _ => line,
    };
    // One more square of rows is work for all columns.
    let high = if cols > 1 && rows >= 4 * line { first(column(0), column(1)) } else { line };
    let wide = if rows > 1 && cols >= 2 * line { first(row(0), row(1)) } else { line };
    let (mut c0, mut c1) = (0, wide.min(cols));
    while c0 < cols {
        let (mut i0, mut i1) = (0, high.min(rows));
        while i0 < rows {
            // A store that misses holds up those behind it.
            let last = (i1 + line).min(rows);
            if i1 < last {
                for c in c0..c1 {
                    prefetch(column(c).wrapping_add(last * item - 1));
                }
            }
            let mut i = i0;
            while i < i1 {
                let at = i.min(rows - tall);
                let mut c = c0;
                while c < c1 {
                    done += tall * 16;
                    if done >= WORK {
                        ask(ahead, done);
                        done = 0;
                    }
                    let from = c.min(cols - n);
                    // SAFETY: `tall` rows from `at` on and n columns from `from` on exist.
                    unsafe {
                        square::<I, V, W>(
                            isa,
                            |i| row(at + i).wrapping_add(from * item),
                            |c| column(from + c).wrapping_add(at * item),
                        );
                    }
                    c += n;
                }
                i += tall;
            }
            (i0, i1) = (i1, (i1 + line).min(rows));
        }
        (c0, c1) = (c1, (c1 + line).min(cols));
    }
}

/// n columns of `n * V::LANES` rows.
///
/// # Safety
/// Each row is valid for reading n words, each column for writing a register.
#[inline(always)]
unsafe fn square<I: Isa, V: Bytes<I>, W: Word>(
    isa: I,
    row: impl Fn(usize) -> *const u8,
    column: impl Fn(usize) -> *mut u8,
) {
    // SAFETY: the caller's rows and columns.
    unsafe {
        let columns = columns::<I, V, W>(isa, row);
        for c in 0..16 / size_of::<W>() {
            columns[c].store(column(c));
        }
    }
}

/// n columns of `n * V::LANES` rows, in the first n registers.
///
/// # Safety
/// Each row is valid for reading n words.
#[inline(always)]
unsafe fn columns<I: Isa, V: Bytes<I>, W: Word>(
    isa: I,
    row: impl Fn(usize) -> *const u8,
) -> [V; 16] {
    // SAFETY: the caller's rows.
    let load =
        |i: usize| unsafe { V::load_lanes(isa, |lane| row(lane * (16 / size_of::<W>()) + i)) };
    /// n registers after as many rounds as there are tokens at the end; of the sixteen, the others are
    /// copies that the compiler drops. Every index is a literal: registers in an array that a loop
    /// goes over stay in memory.
    macro_rules! network {
        ([$($i:literal)*] $pairs:tt $($round:tt)*) => {{
            let a = [$(load($i)),*];
            $(let a = network!(@$round a $pairs);)*
            let mut all = [a[0]; 16];
            $(all[$i] = a[$i];)*
            all
        }};
        (@round $a:ident [$($low:literal $high:literal)*]) => {
            [$($a[$low].zip_low::<W>($a[$high]), $a[$low].zip_high::<W>($a[$high])),*]
        };
    }
    match 16 / size_of::<W>() {
        16 => network!(
            [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]
            [0 8 1 9 2 10 3 11 4 12 5 13 6 14 7 15]
            round round round round
        ),
        8 => network!([0 1 2 3 4 5 6 7] [0 4 1 5 2 6 3 7] round round round),
        4 => network!([0 1 2 3] [0 2 1 3] round round),
        2 => network!([0 1] [0 1] round),
        _ => [load(0); 16],
    }
}

/// [`transpose`] word by word, down the columns of a line of each row.
///
/// # Safety
/// As [`transpose`].
#[inline(always)]
unsafe fn words<W: Word>(
    [rows, cols]: [usize; 2],
    row: impl Fn(usize) -> *const u8,
    column: impl Fn(usize) -> *mut u8,
) {
    let line = LINE / size_of::<W>();
    for c0 in (0..cols).step_by(line) {
        for i in 0..rows {
            for c in c0..(c0 + line).min(cols) {
                // SAFETY: the caller's words.
                unsafe {
                    let word = row(i).cast::<W>().wrapping_add(c).read_unaligned();
                    column(c).cast::<W>().wrapping_add(i).write_unaligned(word);
                }
            }
        }
    }
}

/// A matrix transposed to another.
pub(crate) struct Matrix<'t, 'r> {
    /// The bytes of an element.
    pub item: usize,
    /// The numbers of rows and of columns.
    pub shape: [usize; 2],
    pub source: *const u8,
    pub target: *mut u8,
    /// The byte step from row to row in the source.
    pub row_step: isize,
    /// The byte step from column to column in the target.
    pub column_step: isize,
    /// What is asked for meanwhile.
    pub ahead: &'t mut [Ahead<'r>],
}

impl Kernel for Matrix<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Matrix { item, shape: [rows, cols], source, target, .. } = self;
        let row = |i: usize| source.wrapping_offset(self.row_step.wrapping_mul(i as isize));
        let column = |c: usize| target.wrapping_offset(self.column_step.wrapping_mul(c as isize));
        let is_step = |step: isize, n: usize| step == n.wrapping_mul(item) as isize;
        // SAFETY: a walk made this of two operands of this shape.
        unsafe {
            if is_step(self.row_step, cols) && few::is_apt::<I>(item, [rows, cols], true) {
                let dense = source.cast_mut();
                few::transpose::<I, true>(isa, item, [rows, cols], dense, column);
            } else if is_step(self.column_step, rows) && few::is_apt::<I>(item, [cols, rows], false)
            {
                let row = |i| row(i).cast_mut();
                few::transpose::<I, false>(isa, item, [cols, rows], target, row);
            } else {
                with_word!(item, W => transpose::<I, W>(isa, [rows, cols], row, column, self.ahead))
            }
        }
    }
}

/// A box of a source, brought to where its matrices stand transposed.
pub(crate) struct Bring<'t, 'r> {
    /// Bytes that move as one.
    pub item: usize,
    pub source: *const u8,
    pub target: *mut u8,
    /// The byte offset of each row in the source.
    pub rows: &'t [isize],
    /// The byte offset of each column in the target.
    pub columns: &'t [isize],
    /// The byte step from one column to the next in the source.
    pub step: isize,
    /// Length and byte steps, in source and target, of the axes along which matrices are layered.
    pub layers: &'t [(usize, isize, isize)],
    /// What is asked for meanwhile.
    pub ahead: &'t mut [Ahead<'r>],
}

impl Kernel for Bring<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let (item, ahead) = (self.item, core::mem::take(&mut self.ahead));
        match item {
            n if is_word(n) => with_word!(n, W => self.words::<I, W>(isa, ahead)),
            n if n < LINE => with_end!(item, T => self.runs(ahead, |from, to| {
                // SAFETY: an item of the box, and its place.
                unsafe { both_ends::<T>(item, from, to) }
            })),
            _ => self.runs(ahead, |from, to| {
                // SAFETY: as above.
                unsafe { run(item, from, to) }
            }),
        }
    }
}

impl Bring<'_, '_> {
    /// Items that are no words.
    #[inline(always)]
    fn runs(&self, ahead: &mut [Ahead], copy: impl Fn(*const u8, *mut u8)) {
        for (source, target) in self.layers() {
            for (i, &row) in self.rows.iter().enumerate() {
                ask(ahead, self.columns.len() * self.item);
                let mut from = source.wrapping_offset(row);
                for &column in self.columns {
                    copy(from, target.wrapping_offset(column).wrapping_add(i * self.item));
                    from = from.wrapping_offset(self.step);
                }
            }
        }
    }

    #[inline(always)]
    fn words<I: Isa, W: Word>(&self, isa: I, ahead: &mut [Ahead]) {
        let shape = [self.rows.len(), self.columns.len()];
        for (source, target) in self.layers() {
            let row = |i: usize| {
                // SAFETY: called for the rows of the matrix.
                source.wrapping_offset(*unsafe { self.rows.get_unchecked(i) })
            };
            let column = |c: usize| {
                // SAFETY: called for the columns of the matrix.
                target.wrapping_offset(*unsafe { self.columns.get_unchecked(c) })
            };
            // SAFETY: a walk made this of a source and a target with these rows and columns.
            unsafe {
                if self.step == size_of::<W>() as isize {
                    transpose::<I, W>(isa, shape, row, column, ahead);
                } else {
                    for c in 0..shape[1] {
                        ask(ahead, shape[0] * size_of::<W>());
                        let skip = self.step.wrapping_mul(c as isize);
                        words::<W>([shape[0], 1], |i| row(i).wrapping_offset(skip), |_| column(c));
                    }
                }
            }
        }
    }

    /// The source and target of each layer. To be gone over by a loop, whose body is compiled for the
    /// instruction set of the function that it is in: that of a closure, unless inlined, is not.
    #[inline(always)]
    fn layers(&self) -> impl Iterator<Item = (*const u8, *mut u8)> {
        let count: usize = self.layers.iter().map(|l| l.0).product();
        (0..count).map(|number| {
            let (mut rest, mut source, mut target) = (number, self.source, self.target);
            for &(len, from, to) in self.layers {
                let i = (rest % len) as isize;
                source = source.wrapping_offset(i * from);
                target = target.wrapping_offset(i * to);
                rest /= len;
            }
            (source, target)
        })
    }
}

/// Evaluates an expression with the type whose first and last value are all of `$n` bytes, of which there are
/// less than a line. To be asked outside of loops.
macro_rules! with_end {
    ($n:expr, $T:ident => $body:expr) => {
        $crate::scalar::with_type!($n, $T => $body, {
            1 => u8,
            2..4 => u16,
            4..8 => u32,
            8..16 => u64,
            16..32 => [u64; 2],
            _ => [u64; 4],
        })
    };
}
use with_end;

/// Copies the first and the last `T` of n bytes, which may overlap.
///
/// # Safety
/// `n` bytes, at least a `T`, are valid for reading at `from`, for writing at `to`; they do not overlap.
#[inline(always)]
unsafe fn both_ends<T: Copy>(n: usize, from: *const u8, to: *mut u8) {
    let last = n - size_of::<T>();
    // SAFETY: the caller's bytes.
    unsafe {
        let a = from.cast::<T>().read_unaligned();
        let b = from.wrapping_add(last).cast::<T>().read_unaligned();
        to.cast::<T>().write_unaligned(a);
        to.wrapping_add(last).cast::<T>().write_unaligned(b);
    }
}

/// Copies a short run.
///
/// # Safety
/// `n` bytes are valid for reading at `from`, for writing at `to`; they do not overlap.
#[inline(always)]
unsafe fn run(n: usize, from: *const u8, to: *mut u8) {
    let mut at = 0;
    // SAFETY: all within n bytes.
    unsafe {
        while at + LINE <= n {
            both_ends::<[u64; 4]>(LINE, from.wrapping_add(at), to.wrapping_add(at));
            at += LINE;
        }
        if at < n {
            let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
            with_end!(n - at, T => both_ends::<T>(n - at, from, to));
        }
    }
}

/// Copies a run past the caches: whole lines by non-temporal stores, the ends by plain ones.
/// [`bytes::fence`] comes before anyone is told.
///
/// # Safety
/// `n` bytes are valid for reading at `from`, for writing at `to`; they do not overlap.
#[inline(always)]
pub(crate) unsafe fn stream<I: Isa>(isa: I, n: usize, from: *const u8, to: *mut u8) {
    let head = to.addr().wrapping_neg() % LINE;
    if n < head + LINE {
        // SAFETY: the caller's bytes.
        return unsafe { run(n, from, to) };
    }
    // SAFETY: `head < n`; then as many whole lines as lie within; then the rest.
    unsafe {
        run(head, from, to);
        let mut at = head;
        while at + LINE <= n {
            I::Bytes::stream_line(isa, from.wrapping_add(at), to.wrapping_add(at));
            at += LINE;
        }
        run(n - at, from.wrapping_add(at), to.wrapping_add(at));
    }
}
