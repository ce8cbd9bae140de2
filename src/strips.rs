//! Strips: how to copy between two orders of elements past the caches, whole lines at a time.
//!
//! The output is taken as *periods*: the longest stretch of its first axes that lies densely, up to
//! the axis along which the input is dense, the *columns*. A period is cut into groups of a few
//! lines; a strip is one group by all columns. Its input is as many rows as the group has elements,
//! each read from end to end, and of its output every line is written once. Strips follow one
//! another in the input's order, so that the rows of one go on where those of the last ended.
//!
//! Where the output does not start on a line, the lines of a period are shifted, and the last ones
//! reach into the next period. What lies before the first line and after the last is left over:
//! the *ends*.
//!
//! Nothing here touches memory.

use crate::MAX_NDIM;
use crate::kernel::LINE;
use crate::plan::Axis;
use crate::scalar::is_word;
use crate::tiling::is_nearer;
use arrayvec::ArrayVec;

/// More rows than this are not followed by the CPU's prefetchers.
pub(crate) const ROWS: usize = 32;

/// Groups of runs, and slices: stretches of the output of so many bytes.
pub(crate) const STRETCH: usize = 512;

/// Rows that start no farther from one another are several to a page, in all but a few.
const NEAR: isize = 4096;

/// No strip has more rows.
pub(crate) const MAX_ROWS: usize = 128;

/// A period whose lines are whole gets another axis only up to so many elements.
const SHORT_PERIOD: usize = 512;

/// A period whose lines are not, where rows are shorter than [`LONG_ROW`].
const MAX_PERIOD: usize = 2048;

/// Rows of so many bytes are read well one by one, wherever they are.
const LONG_ROW: usize = 256;

/// Room for the axes of a plan.
type Axes<A> = ArrayVec<A, { MAX_NDIM + 2 }>;

/// One loop over strips.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loop {
    pub len: usize,
    /// The byte steps of output and input; a loop over groups has none.
    pub stride: [isize; 2],
    /// How many groups it steps over.
    pub groups: usize,
    /// It goes from one period to the next.
    pub to_next: bool,
    /// The input's step, by which loops are ordered.
    rank: isize,
}

/// From one period to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The next period is elsewhere.
    None,
    /// Along the columns.
    Column,
    /// Along one of the loops.
    Loop,
}

/// A copy by strips.
#[derive(Debug)]
pub(crate) struct Strips {
    /// Bytes that move as one.
    item: usize,
    /// They are runs of several words, and so not transposed but copied.
    pub runs: bool,
    /// The axes of a period, with the input's steps.
    axes: Axes<Axis<1>>,
    /// The positions of a period.
    period: usize,
    /// The input's step to the next period.
    next_step: isize,
    next: Next,
    /// The bytes before the first line.
    head: usize,
    /// Lines from there on, those that reach into the next period included.
    lines: usize,
    /// Lines that do not.
    whole: usize,
    groups: usize,
    /// Their steps in output and input.
    pub columns: Axis<2>,
    /// The innermost first.
    pub loops: Axes<Loop>,
}

/// A part of the output's lines in a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    /// The bytes from the start of the period.
    pub start: usize,
    pub lines: usize,
    /// How many of the lines, the last ones, are not there in the last column.
    pub short: usize,
}

/// Lines that come after those of a strip, of a stretch of k rows: from the first row's start on by
/// `jump + (k-1) * turn` bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextBlock {
    pub jump: isize,
    pub turn: isize,
    /// The rows that lie in one stretch; the others are another.
    pub within: usize,
}

/// Bytes of a period that no line covers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// From the start of the period.
    pub start: usize,
    pub bytes: usize,
    /// The first column that has them, and how many have.
    pub column: usize,
    pub columns: usize,
}

impl Strips {
    /// Strips over `axes` of output and input, the output's order, if all lines of the output begin
    /// where `start`, its address, tells. `item` bytes move as one, which the axes do not contain.
    pub fn new(axes: &[Axis<2>], item: usize, start: usize) -> Option<Strips> {
        let runs = !is_word(item);
        let (&first, rest) = axes.split_first()?;
        if rest.is_empty() || first.stride[0] != item as isize {
            return None;
        }
        // The columns: the axis along which the input is dense, or nearest to it.
        let mut at = 0;
        for (i, axis) in rest.iter().enumerate() {
            if is_nearer(axis.stride[1], rest[at].stride[1]) {
                at = i;
            }
        }
        let columns = rest[at];
        // Boxes read what is shorter in longer pieces.
        let words = columns.len * item > 16
            && columns.stride[1] == item as isize
            && start.is_multiple_of(item);
        if !runs && !words {
            return None;
        }
        // Bursts of two lines are written faster than single ones, if they are where the memory
        // has them together.
        let lines_of_rows = if runs && item < LINE {
            (ROWS * item).div_ceil(2 * LINE) * 2
        } else if runs {
            let stretch = (4 * item).clamp(STRETCH, (2 * item).max(4 * STRETCH));
            stretch.div_ceil(LINE)
        } else {
            // More rows than that for a burst, at most twice as many, but for rows that follow one another.
            let follow = first.stride[1] == (columns.len * item) as isize;
            let lines = ROWS * item / LINE;
            if follow && first.stride[1] <= NEAR {
                lines.max(2)
            } else {
                lines.max((2 * ROWS * item / LINE).clamp(1, 2))
            }
        };
        let (mut period, mut merged) = (first.len, 0);
        let head_to = |period: usize| {
            let pairs = (period * item).is_multiple_of(2 * LINE) && period * item >= 4 * LINE;
            let unit = if pairs && lines_of_rows > 1 { 2 } else { 1 };
            start.wrapping_neg() % (unit * LINE)
        };
        // To get whole lines, or if it is soon done, fewer ends.
        let room = |period: usize| {
            if !(period * item).is_multiple_of(LINE) {
                if columns.len * item < LONG_ROW { MAX_PERIOD } else { usize::MAX }
            } else if head_to(period) != 0 {
                SHORT_PERIOD
            } else {
                0
            }
        };
        while merged < at
            && rest[merged].stride[0] == (period * item) as isize
            && period * rest[merged].len <= room(period)
        {
            period *= rest[merged].len;
            merged += 1;
        }
        let bytes = period * item;
        let others = rest[merged..].iter().all(|a| a.stride[0] % LINE as isize == 0);
        if !bytes.is_multiple_of(LINE) || !others {
            return None;
        }
        let head = head_to(period);
        let dense_next = rest.get(merged).filter(|a| head > 0 && a.stride[0] == bytes as isize);
        let next = match dense_next {
            None => Next::None,
            Some(_) if merged == at => Next::Column,
            Some(_) => Next::Loop,
        };
        let whole = (bytes - head.min(bytes)) / LINE;
        let lines = if next == Next::None { whole } else { bytes / LINE };
        if lines == 0 {
            return None;
        }
        // With no more rows than that, unless the bursts would be single lines.
        let most = lines.div_ceil(lines_of_rows);
        let groups = if lines >= 2 * most { most } else { (lines / lines_of_rows).max(1) };
        // Runs may reach into a group and out of it.
        let most = if runs { MAX_ROWS - 2 } else { MAX_ROWS };
        let groups = groups.max((lines * LINE).div_ceil(most * item));
        let mut strips = Strips {
            item,
            runs,
            axes: axes[..=merged]
                .iter()
                .map(|a| Axis { len: a.len, stride: [a.stride[1]] })
                .collect(),
            period,
            next_step: dense_next.map_or(0, |a| a.stride[1]),
            next,
            head,
            lines,
            whole,
            groups,
            columns,
            loops: Axes::new(),
        };
        // Groups that lie along several axes are loops of their own, if they can be.
        let along = first.len * item / LINE / lines_of_rows;
        let even = merged > 0
            && along * lines_of_rows * LINE == first.len * item
            && groups == along * (period / first.len);
        let mut add = |len, stride: [isize; 2], groups, to_next, rank: isize| {
            let mut at = strips.loops.len();
            while at > 0 && is_nearer(rank, strips.loops[at - 1].rank) {
                at -= 1;
            }
            if len > 1 {
                strips.loops.insert(at, Loop { len, stride, groups, to_next, rank });
            }
        };
        let to_next_group = first.stride[1] * (first.len.min(period / groups)) as isize;
        if even {
            add(along, [0; 2], 1, false, to_next_group);
            add(groups / along, [0; 2], along, false, rest[0].stride[1]);
        } else {
            let by_second = merged > 0 && first.len <= ROWS;
            let rank = if by_second { rest[0].stride[1] } else { to_next_group };
            add(groups, [0; 2], 1, false, rank);
        }
        for (i, a) in rest.iter().enumerate().skip(merged) {
            if i != at {
                add(a.len, a.stride, 0, next == Next::Loop && i == merged, a.stride[1]);
            }
        }
        Some(strips)
    }

    /// The input's byte offsets at the positions that `bytes` of a period from `start` on lie in.
    pub fn rows(&self, start: usize, bytes: usize) -> impl Iterator<Item = isize> {
        let positions = start / self.item..(start + bytes).div_ceil(self.item);
        let mut at = Position::new(self, positions.start);
        positions.map(move |_| at.step())
    }

    /// Where the CPU is to be asked for lines during a strip, if the input of several strips is dense as
    /// a whole: several rows to a page, which the CPU's prefetchers take for one stream, and lose.
    /// `turn` is the index of the innermost loop.
    #[inline]
    pub fn next_block(&self, group: &Group, turn: usize) -> Option<NextBlock> {
        let row = (self.columns.len * self.item) as isize;
        let (rows, turn) = match self.loops.first() {
            _ if self.axes.len() > 1 => return None,
            Some(l) if l.groups == 0 && l.stride[1] == row => (l.len as isize, turn as isize),
            _ => (1, 0),
        };
        // As much of the next group's rows, in the order in which they lie.
        let step = self.axes[0].stride[0];
        let close = step == rows * row && step <= NEAR;
        let of_group = (self.lines * LINE / self.item / self.groups) as isize;
        // What reaches into the next column lies in the rows of the next strip.
        let within = match self.next {
            Next::Column => usize::MAX,
            _ => self.period - group.start / self.item,
        };
        close.then_some(NextBlock { jump: of_group * step, turn: turn * row, within })
    }

    /// The lines of a group; `last`: of the last of those periods that follow one another.
    #[inline]
    pub fn group(&self, number: usize, last: bool) -> Group {
        let at = |i: usize| i * self.lines / self.groups;
        let (from, to) = (at(number), at(number + 1));
        let whole = self.whole.clamp(from, to);
        let (to, short) = match self.next {
            Next::Loop if last => (whole, 0),
            Next::Column => (to, to - whole),
            _ => (to, 0),
        };
        Group { start: self.head + from * LINE, lines: to - from, short }
    }

    /// What no line covers, before and after the lines of a group; `first` and `last`: of those
    /// periods that follow one another.
    #[inline]
    pub fn ends(&self, number: usize, first: bool, last: bool) -> [Option<End>; 2] {
        let all = self.columns.len;
        let [head, tail] = match self.next {
            Next::None => [(0, all); 2],
            Next::Column => [(0, 1), (all - 1, 1)],
            Next::Loop => [(0, if first { all } else { 0 }), (0, if last { all } else { 0 })],
        };
        let end = |start, bytes, (column, columns)| {
            (bytes * columns > 0).then_some(End { start, bytes, column, columns })
        };
        let after = self.head + self.whole * LINE;
        let bytes = self.period * self.item - after;
        [
            if number == 0 { end(0, self.head, head) } else { None },
            if number + 1 == self.groups { end(after, bytes, tail) } else { None },
        ]
    }
}

/// A position of a period, or of the next one.
struct Position<'s> {
    strips: &'s Strips,
    index: Axes<usize>,
    /// The byte offset in the input.
    offset: isize,
}

impl<'s> Position<'s> {
    fn new(strips: &'s Strips, position: usize) -> Self {
        let next = if position < strips.period { 0 } else { strips.next_step };
        let mut at = Position { strips, index: Axes::new(), offset: next };
        let mut rest = position % strips.period;
        for axis in &strips.axes {
            at.index.push(rest % axis.len);
            at.offset += axis.stride[0] * (rest % axis.len) as isize;
            rest /= axis.len;
        }
        at
    }

    /// The input's byte offset here; steps on.
    #[inline]
    fn step(&mut self) -> isize {
        let here = self.offset;
        for (axis, i) in self.strips.axes.iter().zip(&mut self.index) {
            *i += 1;
            self.offset += axis.stride[0];
            if *i < axis.len {
                return here;
            }
            *i = 0;
            self.offset -= axis.stride[0] * axis.len as isize;
        }
        self.offset += self.strips.next_step;
        here
    }
}
