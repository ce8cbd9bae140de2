//! Asking for lines of memory while other work goes on.

use super::bytes::prefetch_far;
use crate::kernel::LINE;

/// Runs of one length, whose lines are asked for as work goes on, so that there are always some on
/// their way and never too many.
pub(crate) struct Ahead<'r> {
    p: *const u8,
    /// The byte offset of each run.
    starts: &'r [isize],
    bytes: usize,
    /// Where it has got to in the first of them.
    at: usize,
    /// Lines for a byte of work, in parts of [`ONE`].
    rate: usize,
    /// Lines that are due, in the same parts.
    due: usize,
}

/// A line.
const ONE: usize = 1 << 16;

impl<'r> Ahead<'r> {
    /// Nothing to ask for.
    pub const NONE: Self =
        Ahead { p: core::ptr::null(), starts: &[], bytes: 0, at: 0, rate: 0, due: 0 };

    /// Runs of `len` items `step` bytes apart, over so many bytes of work. What steps backwards or by more
    /// than a line is left to itself.
    pub fn new(
        p: *const u8,
        starts: &'r [isize],
        len: usize,
        step: isize,
        item: usize,
        work: usize,
    ) -> Self {
        if !(0..=LINE as isize).contains(&step) {
            return Self::NONE;
        }
        let bytes = (len - 1) * step as usize + item;
        let lines = starts.len() * bytes.div_ceil(LINE);
        Ahead { p, starts, bytes, at: 0, rate: (lines * ONE).div_ceil(work), due: 0 }
    }

    /// Asks for what is due after so many bytes of work.
    #[inline(always)]
    pub fn ask(&mut self, work: usize) {
        self.due += work * self.rate;
        while self.due >= ONE {
            self.due -= ONE;
            let Some((&start, rest)) = self.starts.split_first() else { return };
            prefetch_far(self.p.wrapping_offset(start).wrapping_add(self.at));
            self.at += LINE;
            if self.at >= self.bytes {
                (self.starts, self.at) = (rest, 0);
            }
        }
    }
}

/// [`Ahead::ask`] of all.
#[inline(always)]
pub(crate) fn ask(ahead: &mut [Ahead], work: usize) {
    for runs in ahead {
        runs.ask(work);
    }
}
