//! Strips: whole lines of the output, written past the caches.

use super::bytes::{Bytes, prefetch, prefetch_far};
use super::{both_ends, columns, with_end, words};
use crate::isa::{Isa, Kernel};
use crate::kernel::LINE;
use crate::scalar::{Word, with_word};
use crate::strips::{MAX_ROWS, NextBlock};
use core::mem::MaybeUninit;

/// A strip of words: a transpose of rows that are read from end to end to columns of a few lines.
pub(crate) struct Strip<'r> {
    /// The bytes of a word.
    pub item: usize,
    pub source: *const u8,
    /// The start of a line.
    pub target: *mut u8,
    /// The byte offset of each row in the source; as many rows as words fill whole lines.
    pub rows: &'r [isize],
    /// The number of columns, more than 16 bytes of a row.
    pub cols: usize,
    /// The byte step from column to column in the target, a multiple of a line.
    pub column_step: isize,
    /// How many lines, the last ones, are not there in the last column.
    pub short: usize,
    /// Rows of which the words before the lines of the first column are, and those after the lines
    /// of the last.
    pub ends: [&'r [isize]; 2],
    /// Where to go on asking for lines; without it, each row goes on where it ends.
    pub next: Option<NextBlock>,
}

/// The bytes of a row that are transposed at a time.
const SQUARE: usize = 16;

/// Lines of a row that are asked for together.
const BURST: usize = 4;

impl Kernel for Strip<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        assert!((self.rows.len() * self.item).is_multiple_of(LINE) && self.rows.len() <= MAX_ROWS);
        assert!(self.cols * self.item > SQUARE);
        with_word!(self.item, W => self.words::<I, W>(isa))
    }
}

impl Strip<'_> {
    #[inline(always)]
    fn words<I: Isa, W: Word>(self, isa: I) {
        let (item, lanes) = (size_of::<W>(), I::Bytes::LANES);
        let (tall, few) = (LINE / item, SQUARE / item);
        let lines = self.rows.len() / tall;
        let block = |line: usize| {
            let rows = &self.rows[line * tall..][..tall];
            let target = self.target.wrapping_add(line * LINE);
            Block { strip: &self, rows, target }
        };
        // The ends are stored to last.
        let last = self.cols - 1;
        let after = (lines - self.short) * LINE;
        if !self.ends[0].is_empty() {
            prefetch(self.target.wrapping_sub(1));
        }
        if !self.ends[1].is_empty() {
            let column = self.column_step.wrapping_mul(last as isize);
            prefetch(self.target.wrapping_offset(column).wrapping_add(after));
        }
        let cols_of = |line: usize| self.cols - usize::from(line + self.short >= lines);
        if lanes > 0 {
            let (mut c, mut next) = (0, self.stretches());
            while c < self.cols {
                self.prefetch(c * item, &mut next);
                for line in 0..lines {
                    // The last square overlaps the one before.
                    let from = c.min(cols_of(line) - few);
                    // SAFETY: as above; the columns are there.
                    unsafe { block(line).lanes::<I, W>(isa, from) };
                }
                c += few;
            }
        } else {
            for line in 0..lines {
                // SAFETY: as above.
                unsafe { block(line).each::<W>(0, cols_of(line)) };
            }
        }
        let before = (self.ends[0].len() * item).wrapping_neg();
        for (rows, column, at) in [(self.ends[0], 0, before), (self.ends[1], last, after)] {
            let target = self.target.wrapping_add(at);
            let block = Block { strip: &self, rows, target };
            // SAFETY: as above.
            unsafe { block.each::<W>(column, column + usize::from(!rows.is_empty())) };
        }
    }

    /// Asks for as much as the squares at `at` are of what comes after the strip, or for what is to be
    /// asked for instead. Many requests at once would hold up the work.
    #[inline(always)]
    fn prefetch(&self, at: usize, next: &mut Option<Stretches>) {
        let count = self.rows.len();
        if let Some(next) = next {
            for _ in 0..count * SQUARE / LINE {
                next.prefetch();
            }
            return;
        }
        // Some lines of one row, then of another, which the memory gives sooner than a line of each. Whose
        // turn it is the address tells, so that it goes on from strip to strip.
        let turns = BURST * LINE / SQUARE;
        let first = self.source.wrapping_offset(self.rows[0]).wrapping_add(at);
        let turn = first.addr() / SQUARE % turns;
        for &row in &self.rows[count * turn / turns..count * (turn + 1) / turns] {
            let next = self.source.wrapping_offset(row).wrapping_add(at + (turns - turn) * SQUARE);
            for i in 0..BURST {
                prefetch_far(next.wrapping_add(i * LINE));
            }
        }
    }

    /// What is to be asked for instead of what comes after the strip.
    fn stretches(&self) -> Option<Stretches> {
        let NextBlock { jump, turn, within } = self.next?;
        let start = |rows: &[isize]| {
            let first = rows[0] + jump + (rows.len() as isize - 1) * turn;
            self.source.wrapping_offset(first)
        };
        Some(match self.rows.split_at_checked(within) {
            Some((one, other)) if !one.is_empty() && !other.is_empty() => {
                let lines = (one.len() * self.cols * self.item).div_ceil(LINE);
                Stretches { next: start(one), left: lines, other: start(other) }
            }
            _ => {
                let next = start(self.rows);
                Stretches { next, left: usize::MAX, other: next }
            }
        })
    }
}

/// The lines of one stretch, then of another.
struct Stretches {
    next: *const u8,
    /// Lines of the first.
    left: usize,
    other: *const u8,
}

impl Stretches {
    #[inline(always)]
    fn prefetch(&mut self) {
        if self.left == 0 {
            (self.next, self.left) = (self.other, usize::MAX);
        }
        prefetch_far(self.next);
        self.next = self.next.wrapping_add(LINE);
        self.left -= 1;
    }
}

/// One line of a strip.
struct Block<'s, 'r> {
    strip: &'s Strip<'r>,
    rows: &'r [isize],
    target: *mut u8,
}

impl Block<'_, '_> {
    #[inline(always)]
    fn row(&self, i: usize) -> *const u8 {
        self.strip.source.wrapping_offset(self.rows[i])
    }

    #[inline(always)]
    fn column(&self, c: usize) -> *mut u8 {
        self.target.wrapping_offset(self.strip.column_step.wrapping_mul(c as isize))
    }

    /// Columns from `from` on, as many as 16 bytes hold.
    ///
    /// # Safety
    /// The columns are there, and there are registers.
    #[inline(always)]
    unsafe fn lanes<I: Isa, W: Word>(&self, isa: I, from: usize) {
        let (n, lanes) = (16 / size_of::<W>(), I::Bytes::LANES);
        // SAFETY: the caller's columns.
        unsafe {
            let part = |h: usize| {
                columns::<I, I::Bytes, W>(isa, |i| {
                    self.row(h * lanes * n + i).wrapping_add(from * size_of::<W>())
                })
            };
            // A line is one, two or four registers.
            let mut line = [part(0); 4];
            for h in 1..4 / lanes {
                line[h] = part(h);
            }
            for k in 0..n {
                for h in 0..4 / lanes {
                    line[h][k].stream(self.column(from + k).wrapping_add(h * lanes * 16));
                }
            }
        }
    }

    /// Word by word.
    ///
    /// # Safety
    /// The columns are there.
    #[inline(always)]
    unsafe fn each<W: Word>(&self, from: usize, to: usize) {
        if from < to {
            let skip = from * size_of::<W>();
            // SAFETY: the caller's columns.
            unsafe {
                words::<W>(
                    [self.rows.len(), to - from],
                    |i| self.row(i).wrapping_add(skip),
                    |c| self.column(from + c),
                );
            }
        }
    }
}

/// A strip of runs, which are copied as they are.
pub(crate) struct Runs<'r> {
    /// The bytes of a run.
    pub item: usize,
    pub source: *const u8,
    /// The start of a line.
    pub target: *mut u8,
    /// The byte offset in the source of the runs that follow one another in the target.
    pub rows: &'r [isize],
    /// How much of the first run is left out.
    pub skip: usize,
    pub lines: usize,
    pub cols: usize,
    /// The byte steps from column to column in source and target; the latter is a multiple of a
    /// line.
    pub step: isize,
    pub column_step: isize,
    /// How many lines, the last ones, are not there in the last column.
    pub short: usize,
}

impl Kernel for Runs<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Runs { item, rows, .. } = self;
        assert!(self.skip < item);
        assert!((self.skip + self.lines * LINE).div_ceil(item) <= rows.len());
        if item < LINE {
            return with_end!(item, T => self.together::<I, T>(isa));
        }
        let (mut source, mut target) = (self.source, self.target);
        for c in 0..self.cols {
            let lines = self.lines - if c + 1 == self.cols { self.short } else { 0 };
            let (mut run, mut at) = (0, self.skip);
            for line in 0..lines {
                let from = source.wrapping_offset(rows[run]).wrapping_add(at);
                let to = target.wrapping_add(line * LINE);
                // The same line of the next column.
                prefetch(from.wrapping_offset(self.step));
                at += LINE;
                // SAFETY: a walk made this of runs that are there.
                unsafe {
                    if at <= item {
                        I::Bytes::stream_line(isa, from, to);
                    } else {
                        // The rest of a run and the start of the next.
                        at -= item;
                        run += 1;
                        let next = source.wrapping_offset(rows[run]);
                        I::Bytes::stream_joined(isa, LINE - at, from, next, to);
                    }
                }
                if at == item {
                    (run, at) = (run + 1, 0);
                }
            }
            source = source.wrapping_offset(self.step);
            target = target.wrapping_offset(self.column_step);
        }
    }
}

impl Runs<'_> {
    /// Runs shorter than a line, of which lines are put together on the stack.
    #[inline(always)]
    fn together<I: Isa, T: Copy>(self, isa: I) {
        let mut buffer = ShortRuns([MaybeUninit::uninit(); MAX_ROWS * LINE]);
        let buffer = (&raw mut buffer.0).cast::<u8>();
        assert!(self.rows.len() <= MAX_ROWS);
        let (mut source, mut target) = (self.source, self.target);
        // The line after, wherever that is.
        let ahead = self.step.signum() * LINE as isize;
        for c in 0..self.cols {
            let lines = self.lines - if c + 1 == self.cols { self.short } else { 0 };
            // No run of lines that are not there, which may not be there either.
            let count = (self.skip + lines * LINE).div_ceil(self.item);
            for (i, &row) in self.rows[..count].iter().enumerate() {
                let from = source.wrapping_offset(row);
                prefetch(from.wrapping_offset(ahead));
                // SAFETY: a run of the source, and room for as many of less than a line.
                unsafe { both_ends::<T>(self.item, from, buffer.wrapping_add(i * self.item)) };
            }
            for line in 0..lines {
                let from = buffer.wrapping_add(self.skip + line * LINE);
                // SAFETY: within these runs, and a line of the target.
                unsafe { I::Bytes::stream_line(isa, from, target.wrapping_add(line * LINE)) };
            }
            source = source.wrapping_offset(self.step);
            target = target.wrapping_offset(self.column_step);
        }
    }
}

/// The runs of a strip.
#[repr(align(64))]
struct ShortRuns([MaybeUninit<u8>; MAX_ROWS * LINE]);
