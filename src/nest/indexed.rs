//! Walks with indices: the rows of a table that indices name, and the rows of a grid.
//!
//! A gather and a scatter-add are one walk over a **grid** (what is gathered into, or scattered
//! from) whose partner is the **table**: on an indexed axis the table's position is the index's
//! value, on all others the grid's own. The table has stride 0 on the indexed axes of the plan, and
//! blocks of indices are turned into byte offsets that take its place there. On axes on which no
//! index moves, whole rows do, or the offsets are used again.

use super::{LARGE, Odometer, Walk, nest};
use crate::MAX_NDIM;
use crate::error::Error;
use crate::isa::dispatch;
use crate::kernel::indexed::{
    AHEAD, BLOCK, Distance, HOLE, Indexed, IndexedElements, IndexedRows, MoveRows, Rule, SINGLE,
    Stage, add_offsets, bounds, index_at, to_line, written,
};
use crate::kernel::tiles::bytes::fence;
use crate::kernel::update::{NoArithmetic, OutputRunner, Runner};
use crate::kernel::{LINE, Rows};
use crate::layout::{self, Layout, refuse_overlap};
use crate::ops::Mode;
use crate::plan::{Axis, Plan};
use crate::scalar::{Element, no_arithmetic};
use crate::threads;
use crate::view::{Cells, Index, Operand};
use arrayvec::ArrayVec;
use core::cell::OnceCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;
use std::sync::OnceLock;

/// The operands of a plan. The first is no memory, but the position among the terms of one sum: it
/// holds the indexed axes of a scatter-add in row-major order.
const POSITION: usize = 0;
const GRID: usize = 1;
const TABLE: usize = 2;
const INDEX: usize = 3;

/// The operands of a walk with one index.
const ONE_INDEX: usize = INDEX + 1;
/// The operands of a walk with a few.
const FEW_INDICES: usize = INDEX + 4;
/// The operands of a walk with any number: one for every axis.
const ANY_INDICES: usize = INDEX + MAX_NDIM;

/// Tables of fewer bytes stay in the second cache, where nothing need be asked for early.
const FAR: usize = 2 << 20;

/// Tables of as many bytes are not in the third cache either.
const BEYOND: usize = 256 << 20;

/// An indexed axis of the table.
struct Target<'v> {
    /// Counted from the last.
    axis: usize,
    /// What of, for messages.
    of: &'static str,
    index: &'v Index<'v>,
    rule: Rule,
}

/// Walks `out[x] <- a[y]`, or where ADD, `out[y] += src[x]`, with the kernel that `run` chooses.
///
/// # Errors
/// Those of shapes, axes, overlap and indices; of arithmetic that the type does not have.
pub(crate) fn walk<'v, T: Element, const ADD: bool>(
    out: Operand<'v, T>,
    input: Operand<'v, T>,
    pairs: &'v [(isize, Index<'v>)],
    mode: Mode,
    run: impl Fn(&Run<'_, 'v, T, ADD>) -> Result<(), NoArithmetic>,
) -> Result<(), Error> {
    with_planned(ADD, *out, *input, pairs, mode, &mut |blocks| {
        let runner = Run { blocks, out, error: OnceCell::new() };
        run(&runner).map_err(|_| no_arithmetic(out.name, T::DTYPE))?;
        runner.error.into_inner().map_or(Ok(()), Err)
    })
}

/// Plans with as many operands as there are, and calls `body`.
fn with_planned<'v>(
    add: bool,
    out: Cells<'v>,
    input: Cells<'v>,
    pairs: &'v [(isize, Index<'v>)],
    mode: Mode,
    body: &mut dyn FnMut(&dyn Blocks) -> Result<(), Error>,
) -> Result<(), Error> {
    // The plan is made here and never moved, because it is large.
    macro_rules! of {
        ($N:expr) => {{
            let mut planned = Planned::<$N>::new(out.layout.item());
            planned.plan(add, out, input, pairs, mode)?;
            body(&planned)
        }};
    }
    match pairs.len() {
        0 | 1 => of!(ONE_INDEX),
        2..=4 => of!(FEW_INDICES),
        5..=MAX_NDIM => of!(ANY_INDICES),
        _ => Err(Error::Argument {
            arg: "indices",
            why: "there are more of them than a view has axes",
        }),
    }
}

/// Blocks of offsets, in the order of a plan, whatever the number of indices.
trait Blocks: Sync {
    fn task(&self) -> &Task<'_>;
    /// Whether one block is all.
    fn is_single(&self) -> bool;
    /// How to share the walk in about as many parts, if it can be.
    fn cut(&self, add: bool, parts: usize) -> Option<Cut>;
    /// Calls `body` with each block of a part, where `asks`, with offsets of rows of the next block.
    fn each(
        &self,
        part: &Part,
        asks: bool,
        body: &mut dyn FnMut(&Block) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// What is done by one thread. No two parts write to one cell, and all that is added to a cell is
/// added by one part, in order.
#[derive(Clone)]
enum Part {
    Whole,
    /// A range of an axis of the plan.
    Axis(usize, Range<usize>),
    /// A range of the outermost axis of the rows.
    Row(Range<usize>),
    /// The cells whose distance along the only indexed axis is in a range of bytes: all indices are
    /// looked at, and those elsewhere are holes.
    Cells(Range<isize>),
}

/// How a walk is shared.
enum Cut {
    Axis { axis: usize, len: usize, chunk: usize },
    Row { len: usize, chunk: usize },
    Cells { extent: usize, chunk: usize, stride: isize },
}

impl Cut {
    fn parts(&self) -> usize {
        match *self {
            Cut::Axis { len, chunk, .. } | Cut::Row { len, chunk } => len.div_ceil(chunk),
            Cut::Cells { extent, chunk, .. } => extent.div_ceil(chunk),
        }
    }

    fn part(&self, i: usize) -> Part {
        let range = |len: usize, chunk: usize| i * chunk..len.min((i + 1) * chunk);
        match *self {
            Cut::Axis { axis, len, chunk } => Part::Axis(axis, range(len, chunk)),
            Cut::Row { len, chunk } => Part::Row(range(len, chunk)),
            Cut::Cells { extent, chunk, stride } => {
                let Range { start, end } = range(extent, chunk);
                // Of a valid view, these are offsets of elements.
                let (a, b) = (start as isize * stride, (end as isize - 1) * stride);
                Part::Cells(a.min(b)..a.max(b) + 1)
            }
        }
    }
}

/// A part of a row has so many bytes at least, so that indices are not read again for little.
const PART_OF_ROW: usize = 256;

/// What is planned beside the plan.
struct Task<'v> {
    /// The axes on which no index moves, of grid and table.
    rows: ArrayVec<Axis<2>, MAX_NDIM>,
    targets: ArrayVec<Target<'v>, MAX_NDIM>,
    ndim: usize,
    /// The innermost axis is one on which an index moves.
    by_columns: bool,
    /// The size of an element.
    item: usize,
    /// The elements of the grid.
    len: usize,
    /// The bytes of the table.
    table: usize,
}

/// The plan, which does not know the element type.
struct Planned<'v, const N: usize> {
    task: Task<'v>,
    /// The axes on which an index moves.
    plan: Plan<N>,
    base: [*mut u8; N],
}

// SAFETY: it is a promise about cells that its call has for itself, whichever thread visits them.
unsafe impl<const N: usize> Sync for Planned<'_, N> {}

impl<'v, const N: usize> Planned<'v, N> {
    /// A plan of nothing.
    fn new(item: usize) -> Self {
        let (rows, targets) = (ArrayVec::new(), ArrayVec::new());
        Planned {
            task: Task { rows, targets, ndim: 0, by_columns: false, item, len: 0, table: 0 },
            plan: Plan::new(),
            base: [core::ptr::null_mut(); N],
        }
    }

    /// Plans `out[x] <- input[y]`, or where `add`, `out[y] += input[x]`.
    fn plan(
        &mut self,
        add: bool,
        out: Cells<'v>,
        input: Cells<'v>,
        pairs: &'v [(isize, Index<'v>)],
        mode: Mode,
    ) -> Result<(), Error> {
        let (grid, table) = if add { (&input, &out) } else { (&out, &input) };
        self.bind(grid, table, pairs, mode)?;
        refuse_overlaps(&out, &input, pairs)?;
        let does_not_broadcast = |arg, layout: &Layout| Error::Broadcast {
            arg,
            shape: layout.shape().into(),
            to: grid.name,
            to_shape: grid.layout.shape().into(),
        };
        let mut grid_axes = grid.layout.axes_from_last();
        let mut table_axes = table.layout.axes_from_last();
        let mut index_axes: ArrayVec<_, MAX_NDIM> =
            pairs.iter().map(|(_, index)| index.cells().layout.axes_from_last()).collect();
        // What the table of a scatter-add has to be.
        let mut expected = ArrayVec::<isize, MAX_NDIM>::new();
        let (mut position, mut fits) = (1isize, true);
        for d in 0..self.task.ndim {
            let (mut len, step) = grid_axes.next().unwrap_or((1, 0));
            let mut stride = [0; N];
            if len != 1 {
                stride[GRID] = step;
            }
            for (q, axes) in index_axes.iter_mut().enumerate() {
                let (n, s) = axes.next().unwrap_or((1, 0));
                if n == 1 {
                    continue;
                }
                if add && len == 1 {
                    len = n;
                } else if n != len {
                    return Err(does_not_broadcast("index", &pairs[q].1.cells().layout));
                }
                stride[INDEX + q] = s;
            }
            let (n, s) = table_axes.next().unwrap_or((1, 0));
            if self.task.is_indexed(d) {
                stride[POSITION] = if add { position } else { 0 };
                position = position.saturating_mul(len as isize);
                expected.push(n as isize);
            } else {
                if n == len {
                    stride[TABLE] = s;
                } else if add {
                    fits = false;
                } else if n != 1 {
                    return Err(does_not_broadcast(table.name, &table.layout));
                }
                expected.push(len as isize);
            }
            self.plan.push(len, stride);
        }
        if !fits {
            return Err(Error::Shape {
                arg: table.name,
                shape: table.layout.shape().into(),
                expected: expected.into_iter().rev().collect(),
                why: "the common shape of src and index off the axis",
            });
        }
        self.plan.fuse();
        // Where the table of a scatter-add stands still, one cell is added to again and again, in order.
        self.split(|axis| {
            (!add || axis.stride[TABLE] != 0) && axis.stride[INDEX..].iter().all(|&s| s == 0)
        });
        Ok(())
    }

    /// Resolves the axes, and takes hold of the operands.
    fn bind(
        &mut self,
        grid: &Cells<'v>,
        table: &Cells<'v>,
        pairs: &'v [(isize, Index<'v>)],
        mode: Mode,
    ) -> Result<(), Error> {
        assert!(pairs.len() <= N - INDEX);
        self.plan.reset();
        self.base[GRID] = grid.base;
        self.base[TABLE] = table.base;
        self.task.table = table.layout.len().saturating_mul(self.task.item);
        let ranks = pairs.iter().map(|(_, index)| index.cells().layout.ndim());
        let ranks = ranks.chain([grid.layout.ndim(), table.layout.ndim()]);
        let task = &mut self.task;
        task.ndim = ranks.max().unwrap_or(0);
        for (q, (axis, index)) in pairs.iter().enumerate() {
            let axis = layout::axis(*axis, task.ndim)?;
            let from_last = task.ndim - 1 - axis;
            if task.is_indexed(from_last) {
                return Err(Error::RepeatedAxis { axis, ndim: task.ndim });
            }
            let (n, s) = table.layout.axes_from_last().nth(from_last).unwrap_or((1, 0));
            task.targets.push(Target {
                axis: from_last,
                of: table.name,
                index,
                // The stride of an axis of length 1 is any number.
                rule: Rule { mode, extent: n as isize, stride: if n > 1 { s } else { 0 } },
            });
            self.base[INDEX + q] = index.cells().base;
        }
        Ok(())
    }

    /// Parts the axes of whole rows from those on which an index moves.
    fn split(&mut self, is_row: impl Fn(&Axis<N>) -> bool) {
        let task = &mut self.task;
        let lens = self.plan.axes.iter().map(|axis| axis.len);
        // What repeats a cell may be of any length.
        task.len = if self.plan.empty { 0 } else { lens.fold(1, usize::saturating_mul) };
        task.by_columns = self.plan.axes.first().is_some_and(|axis| !is_row(axis));
        self.plan.axes.retain(|axis| {
            if is_row(axis) {
                let stride = [axis.stride[GRID], axis.stride[TABLE]];
                task.rows.push(Axis { len: axis.len, stride });
            }
            !is_row(axis)
        });
    }
}

/// The output shares nothing with what is read.
fn refuse_overlaps(out: &Cells, input: &Cells, pairs: &[(isize, Index<'_>)]) -> Result<(), Error> {
    refuse_overlap(out, input, false)?;
    pairs.iter().try_for_each(|(_, index)| refuse_overlap(out, index.cells(), false))
}

impl Task<'_> {
    fn is_indexed(&self, from_last: usize) -> bool {
        self.targets.iter().any(|t| t.axis == from_last)
    }

    /// Whether the grid is larger than the caches that it would go to.
    fn is_large(&self) -> bool {
        self.len.saturating_mul(self.item) >= LARGE
    }

    /// Rows of the table seldom are in the second cache when they are needed where there are too many
    /// along an axis, or where those of a line and more, which share none, are used a few times at
    /// most. Of rows of eight lines, the CPU finds most by itself.
    fn distance(&self) -> Distance {
        let along = self.targets.iter().any(|target| target.rule.span() >= FAR);
        let row = self.rows.first().filter(|_| !self.by_columns).map_or(1, |row| row.len);
        let short = (LINE..8 * LINE).contains(&row.saturating_mul(self.item));
        let moved = self.len.saturating_mul(self.item);
        let once = self.table >= FAR && moved / 4 < self.table;
        if !(along || (short && once)) {
            Distance::Near
        } else if self.table < BEYOND {
            Distance::Far
        } else {
            Distance::Beyond
        }
    }

    /// Whether rows are dense in both grid and table.
    fn has_dense_rows(&self) -> bool {
        let dense = |row: &Axis<2>| !self.by_columns && row.stride == [self.item as isize; 2];
        self.rows.first().is_some_and(dense)
    }

    /// Refuses an index out of range where the mode does. The elements of the index views are
    /// looked at, all of them, only where asked; whether the axis has any index is always.
    fn check(&self, look: bool) -> Result<(), Error> {
        for target in &self.targets {
            let rule = &target.rule;
            if rule.mode == Mode::Drop || target.index.cells().layout.is_empty() {
                continue;
            }
            if rule.extent == 0 || (rule.mode == Mode::Raise && look) {
                target.check(self.ndim)?;
            }
        }
        Ok(())
    }
}

impl Target<'_> {
    fn check(&self, ndim: usize) -> Result<(), Error> {
        let dtype = self.index.dtype();
        let mut plan = Plan::<1>::new();
        plan.reset();
        for (n, s) in self.index.cells().layout.axes_from_last() {
            if s != 0 {
                plan.push(n, [s]);
            }
        }
        plan.fuse();
        let row = plan.axes.first().copied().unwrap_or(Axis::ONE);
        let mut good = true;
        let first = [self.index.cells().base.wrapping_offset(plan.offset[0])];
        nest(plan.axes.get(1..).unwrap_or(&[]), first, &mut |[p]| {
            if good {
                // SAFETY: elements of the index view.
                let (low, high) = unsafe { bounds(dtype, row.len, p, row.stride[0]) };
                good = self.rule.admits(low, high);
            }
        });
        if good { Ok(()) } else { self.first_out_of_range(ndim) }
    }

    /// Names the first index, in row-major order, that is out of range. If there is none any more,
    /// somebody is changing them; what is then used is what is then read.
    #[cold]
    fn first_out_of_range(&self, ndim: usize) -> Result<(), Error> {
        let layout = self.index.cells().layout;
        let mut position: ArrayVec<isize, MAX_NDIM> = layout.shape().iter().map(|_| 0).collect();
        loop {
            let offset: isize =
                position.iter().enumerate().map(|(d, &i)| layout.stride(d).wrapping_mul(i)).sum();
            // SAFETY: an element of the index view, which is not empty.
            let value = unsafe {
                index_at(self.index.dtype(), self.index.cells().base.wrapping_offset(offset))
            };
            if !self.rule.admits(value, value) {
                return Err(Error::Index {
                    arg: "index",
                    position: position.as_slice().into(),
                    value,
                    axis: ndim - 1 - self.axis,
                    of: self.of,
                    extent: self.rule.extent as usize,
                });
            }
            let mut d = position.len();
            loop {
                if d == 0 {
                    return Ok(());
                }
                d -= 1;
                position[d] += 1;
                if position[d] < layout.shape()[d] {
                    break;
                }
                position[d] = 0;
            }
        }
    }
}

/// Makes holes of those offsets whose distance from their place, which starts at `from` and moves by
/// `by`, is not in `only`. Returns whether there are any.
fn leave_out(offsets: &mut [isize], (from, by): (isize, isize), only: &Range<isize>) -> bool {
    let (mut holes, mut from) = (false, from);
    for offset in offsets {
        let elsewhere = !only.contains(&offset.wrapping_sub(from));
        holes |= elsewhere;
        *offset = if elsewhere { HOLE } else { *offset };
        from = from.wrapping_add(by);
    }
    holes
}

/// The offsets of a block, and those of another index on their way into the sum.
struct Scratch {
    offsets: [MaybeUninit<isize>; BLOCK],
    more: [MaybeUninit<isize>; BLOCK],
}

impl Scratch {
    fn new() -> Self {
        Scratch {
            offsets: [const { MaybeUninit::uninit() }; BLOCK],
            more: [const { MaybeUninit::uninit() }; BLOCK],
        }
    }
}

/// One block of offsets.
struct Block<'b> {
    /// Grid and table.
    p: [*mut u8; 2],
    offsets: &'b [isize],
    /// How many rows there are; the offsets after theirs are those of the next block too.
    rows: usize,
    /// From one offset's row of the grid to the next.
    grid_step: isize,
    holes: bool,
}

impl<const N: usize> Blocks for Planned<'_, N> {
    fn task(&self) -> &Task<'_> {
        &self.task
    }

    fn is_single(&self) -> bool {
        let axes = &self.plan.axes;
        let len = axes.iter().fold(1, |len: usize, axis| len.saturating_mul(axis.len));
        fused(axes) == axes.len() && len <= SINGLE
    }

    fn cut(&self, add: bool, parts: usize) -> Option<Cut> {
        let axes = &self.plan.axes;
        // The cells of different places of such an axis are different ones.
        let apart = |&d: &usize| !add || axes[d].stride[TABLE] != 0;
        let enough = |&d: &usize| axes[d].len >= 2 * parts;
        let outermost = (0..axes.len()).rev().filter(apart).find(enough);
        let longest = || (0..axes.len()).filter(apart).max_by_key(|&d| axes[d].len);
        let threads = threads::num_threads();
        if let Some(axis) = outermost.or_else(longest).filter(|&d| axes[d].len >= threads) {
            let len = axes[axis].len;
            return Some(Cut::Axis { axis, len, chunk: len.div_ceil(parts) });
        }
        // From here on every part looks at all indices: no more than one a thread.
        if let Some(row) = self.task.rows.last() {
            let step = row.stride.map(isize::unsigned_abs);
            let least = PART_OF_ROW.div_ceil(step[0].min(step[1]).max(1));
            let chunk =
                row.len.div_ceil(threads).max(least).next_multiple_of(LINE / self.task.item);
            if chunk < row.len {
                return Some(Cut::Row { len: row.len, chunk });
            }
        }
        match &self.task.targets[..] {
            [target] if add && target.rule.stride != 0 => {
                let Rule { extent, stride, .. } = target.rule;
                let extent = extent as usize;
                let chunk = extent.div_ceil(threads);
                (chunk < extent).then_some(Cut::Cells { extent, chunk, stride })
            }
            _ => None,
        }
    }

    fn each(
        &self,
        part: &Part,
        asks: bool,
        body: &mut dyn FnMut(&Block) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut p = super::step(self.base, self.plan.offset);
        let mut own = ArrayVec::<_, { MAX_NDIM + 1 }>::new();
        let mut axes = &self.plan.axes[..];
        let mut only = None;
        match part {
            Part::Axis(d, range) => {
                own.extend(axes.iter().copied());
                p = super::step(p, own[*d].stride.map(|s| s.wrapping_mul(range.start as isize)));
                own[*d].len = range.len();
                axes = &own;
            }
            Part::Cells(range) => only = Some(range.clone()),
            Part::Whole | Part::Row(_) => {}
        }
        let mut scratch = Scratch::new();
        let mut sweep = Sweep {
            place: Odometer::new(axes, p, 0),
            targets: &self.task.targets,
            fused: fused(axes),
            only,
            asks,
            kept: 0..0,
            start: p,
            done: self.plan.empty,
        };
        while !sweep.done {
            body(&sweep.block(&mut scratch))?;
        }
        Ok(())
    }
}

/// The innermost axes over which a block may go on: those on which the grid is one run. The table
/// need not be, since the offsets hold its place too.
fn fused<const N: usize>(axes: &[Axis<N>]) -> usize {
    let mut fused = axes.len().min(1);
    while fused < axes.len() {
        let inner = &axes[fused - 1];
        let run = inner.stride[GRID].checked_mul(inner.len as isize);
        if run != Some(axes[fused].stride[GRID]) {
            break;
        }
        fused += 1;
    }
    fused
}

/// The indices, block by block, in the order of the plan.
struct Sweep<'w, 'v, const N: usize> {
    place: Odometer<'w, N>,
    targets: &'w [Target<'v>],
    /// How many of the axes a block may go over.
    fused: usize,
    /// See [`Part::Cells`].
    only: Option<Range<isize>>,
    /// Whether a block ends with offsets that are the first of the next.
    asks: bool,
    /// Which these are, and where the next block starts.
    kept: Range<usize>,
    start: [*mut u8; N],
    /// All offsets are in the last block.
    done: bool,
}

impl<const N: usize> Sweep<'_, '_, N> {
    /// The next block.
    fn block<'s>(&mut self, scratch: &'s mut Scratch) -> Block<'s> {
        let row = self.place.axes.first().copied().unwrap_or(Axis::ONE);
        let mut len = self.kept.len();
        scratch.offsets.copy_within(self.kept.clone(), 0);
        // SAFETY: those of the last block have been written.
        let mut holes = unsafe { written(&mut scratch.offsets[..len]) }.contains(&HOLE);
        if len == 0 {
            self.start = self.place.p;
        }
        let (start, grid_step) = (self.start, row.stride[GRID]);
        let limit = to_line(BLOCK, start[GRID], grid_step);
        let ended = loop {
            let at = self.place.index.first().copied().unwrap_or(0);
            let n = (row.len - at).min(limit - len);
            holes |= self.offsets(start[TABLE], &row, scratch, len..len + n);
            len += n;
            let moved = self.place.advance(n);
            self.done = moved == self.place.axes.len();
            if self.done || moved >= self.fused {
                break true;
            }
            if len == limit {
                break false;
            }
        };
        let rows = if self.asks && !ended { len - AHEAD } else { len };
        self.kept = rows..len;
        self.start[GRID] = start[GRID].wrapping_offset(grid_step.wrapping_mul(rows as isize));
        // SAFETY: as many have been written.
        let offsets = unsafe { written(&mut scratch.offsets[..len]) };
        let p = [start[GRID], start[TABLE]];
        Block { p, offsets, rows, grid_step, holes }
    }

    /// The offsets of a run of the innermost axis.
    fn offsets(
        &self,
        start: *mut u8,
        row: &Axis<N>,
        scratch: &mut Scratch,
        range: core::ops::Range<usize>,
    ) -> bool {
        // Where the table is, from its start on.
        let mut from = self.place.p[TABLE].addr().wrapping_sub(start.addr()) as isize;
        let mut by = row.stride[TABLE];
        let mut holes = false;
        if self.targets.is_empty() {
            for offset in &mut scratch.offsets[range.clone()] {
                offset.write(from);
                from = from.wrapping_add(by);
            }
        }
        for (q, target) in self.targets.iter().enumerate() {
            let (p, step) = (self.place.p[INDEX + q].cast_const(), row.stride[INDEX + q]);
            let to = if q == 0 { &mut scratch.offsets } else { &mut scratch.more };
            let to = &mut to[range.clone()];
            // SAFETY: the walk's plan visits elements of the index view.
            holes |=
                unsafe { target.rule.offsets(target.index.dtype(), (p, step), (from, by), to) };
            if let Some(only) = &self.only {
                // SAFETY: they have been written.
                holes |= leave_out(unsafe { written(to) }, (from, by), only);
            }
            if q > 0 {
                let range = range.clone();
                let sum = &mut scratch.offsets[range.clone()];
                // SAFETY: both have been written.
                unsafe {
                    add_offsets(written(sum), written(&mut scratch.more[range]));
                }
            }
            (from, by) = (0, 0);
        }
        holes
    }
}

/// Runs a kernel over every block, and within it for every index of the axes of the rows but the
/// `inner` ones, which are the kernel's.
fn run_blocks(
    blocks: &dyn Blocks,
    add: bool,
    inner: usize,
    streams: bool,
    kernel: &(dyn Fn(&mut Indexed, &[Axis<2>]) + Sync),
) -> Result<(), Error> {
    let task = blocks.task();
    let distance = task.distance();
    // If all offsets fit one block, that is the check too.
    let single = task.len > 0 && blocks.is_single();
    task.check(!single)?;
    let run = |part: &Part| {
        let mut rows = task.rows.clone();
        let mut shift = [0; 2];
        if let (Part::Row(range), Some(row)) = (part, rows.last_mut()) {
            shift = row.stride.map(|s| s * range.start as isize);
            row.len = range.len();
        }
        let mut stage = Stage::new();
        blocks.each(part, distance != Distance::Near, &mut |block| {
            let &Block { p, offsets, rows: n, grid_step, holes } = block;
            if single && holes {
                task.check(true)?;
            }
            let stage = streams.then_some(&mut stage);
            let mut indexed = Indexed { offsets, rows: n, p, grid_step, holes, distance, stage };
            nest(rows.get(inner..).unwrap_or(&[]), super::step(p, shift), &mut |p| {
                indexed.p = p;
                kernel(&mut indexed, &rows);
            });
            Ok(())
        })?;
        if streams {
            // SAFETY: rows of the grid, which the plan visits.
            unsafe { stage.finish() };
            fence();
        }
        Ok(())
    };
    let parts = threads::parts(task.len.saturating_mul(2 * task.item));
    let cut = if parts > 1 && !single { blocks.cut(add, parts) } else { None };
    let Some(cut) = cut else { return run(&Part::Whole) };
    let failed = OnceLock::new();
    threads::share(cut.parts(), &|i| {
        if let Err(error) = run(&cut.part(i)) {
            let _ = failed.set(error);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

/// Runs the kernels of a walk, and keeps its error.
pub(crate) struct Run<'w, 'v, T, const ADD: bool> {
    blocks: &'w dyn Blocks,
    out: Operand<'v, T>,
    error: OnceCell<Error>,
}

impl<'v, T: Element, const ADD: bool> Run<'_, 'v, T, ADD> {
    fn keep(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            // The first is the one that counts, and there is but one.
            let _ = self.error.set(error);
        }
    }

    /// Runs a kernel over elements of E, which has the size of T.
    fn rows<E, K: Rows<E, 2, 1>>(&self, kernel: K) {
        assert!(size_of::<E>() == size_of::<T>());
        let task = self.blocks.task();
        if K::COPIES && !ADD {
            return self.keep(move_rows(self.blocks));
        }
        let streams = K::WRITES_ONLY && !ADD && task.is_large();
        let by_columns = task.by_columns;
        self.keep(run_blocks(self.blocks, ADD, 2, streams, &|indexed, rows| {
            let elements = PhantomData::<E>;
            let axis = |i: usize| rows.get(i).copied().unwrap_or(Axis::ONE);
            let inner = [axis(0), axis(1)];
            if by_columns {
                let columns = inner;
                dispatch(IndexedElements::<E, K, ADD> { kernel, indexed, columns, elements });
            } else {
                let block = inner;
                dispatch(IndexedRows::<E, K, ADD> { kernel, indexed, block, elements });
            }
        }));
    }

    fn on_output(&self, run: impl FnOnce(&Walk<'v, T, 1, 1>)) {
        let mut walk = Walk::new();
        self.keep(walk.plan([&self.out]));
        run(&walk);
    }
}

/// A gather that only moves.
fn move_rows(blocks: &dyn Blocks) -> Result<(), Error> {
    let task = blocks.task();
    let dense = task.has_dense_rows();
    let inner = usize::from(dense) + 1;
    run_blocks(blocks, false, inner, task.is_large(), &|indexed, rows| {
        let bytes = if dense { rows[0].len * task.item } else { task.item };
        let columns = rows.get(inner - 1).copied().unwrap_or(Axis::ONE);
        dispatch(MoveRows { indexed, bytes, columns });
    })
}

impl<T: Element, const ADD: bool> OutputRunner<T> for &Run<'_, '_, T, ADD> {
    fn run_on_output<K: Rows<T, 1, 1>>(self, kernel: K) {
        self.on_output(|walk| walk.run(kernel));
    }

    fn run_words_on_output<K: Rows<T::Word, 1, 1>>(self, kernel: K) {
        self.on_output(|walk| walk.run_words(kernel));
    }
}

impl<T: Element, const ADD: bool> Runner<T> for &Run<'_, '_, T, ADD> {
    fn run<K: Rows<T, 2, 1>>(self, kernel: K) {
        self.rows::<T, K>(kernel);
    }

    fn run_words<K: Rows<T::Word, 2, 1>>(self, kernel: K) {
        self.rows::<T::Word, K>(kernel);
    }
}
