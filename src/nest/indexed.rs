//! Walks with indices: the rows of a table that indices name, and the rows of a grid.
//!
//! A gather and a scatter-add are one walk over a **grid** (what is gathered into, or scattered
//! from) whose partner is the **table**: on an indexed axis the table's position is the index's
//! value, on all others the grid's own. The table has stride 0 on the indexed axes of the plan, and
//! blocks of indices are turned into byte offsets that take its place there. On axes on which no
//! index moves, whole rows do, or the offsets are used again.

use super::{LARGE, Walk, nest};
use crate::MAX_NDIM;
use crate::error::Error;
use crate::isa::dispatch;
use crate::kernel::Rows;
use crate::kernel::indexed::{
    BLOCK, CopyRows, IndexedRows, Rule, add_offsets, bounds, index_at, written,
};
use crate::kernel::tiles::bytes::fence;
use crate::kernel::update::{OutputRunner, Runner};
use crate::layout::{self, refuse_overlap};
use crate::ops::Mode;
use crate::plan::{Axis, Plan};
use crate::scalar::Element;
use crate::view::{Cells, Index, Operand};
use arrayvec::ArrayVec;
use core::cell::RefCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// The operands of a plan. The first is no memory, but the position among the terms of one sum: it
/// holds the indexed axes of a scatter-add in row-major order.
const POSITION: usize = 0;
const GRID: usize = 1;
const TABLE: usize = 2;
const INDEX: usize = 3;

/// The operands of a walk with one index.
pub(crate) const ONE_INDEX: usize = INDEX + 1;
/// The operands of a walk with a few.
pub(crate) const FEW_INDICES: usize = INDEX + 4;
/// The operands of a walk with any number: one for every axis.
pub(crate) const ANY_INDICES: usize = INDEX + MAX_NDIM;

/// Tables of up to as many bytes stay in the near caches, where nothing need be asked for early.
const NEAR: usize = 256 << 10;

/// An indexed axis of the table.
struct Target<'v> {
    /// Counted from the last.
    axis: usize,
    /// What of, for messages.
    of: &'static str,
    index: &'v Index<'v>,
    rule: Rule,
}

/// A gather or scatter-add whose N operands are planned.
pub(crate) struct IndexedWalk<'v, T, const N: usize> {
    planned: Planned<'v, N>,
    elements: PhantomData<Operand<'v, T>>,
}

impl<'v, T: Element, const N: usize> IndexedWalk<'v, T, N> {
    /// A walk over nothing.
    pub fn new() -> Self {
        let planned = Planned {
            plan: Plan::new(),
            rows: ArrayVec::new(),
            base: [core::ptr::null_mut(); N],
            targets: ArrayVec::new(),
            ndim: 0,
            by_columns: false,
            item: size_of::<T>(),
            out: None,
        };
        IndexedWalk { planned, elements: PhantomData }
    }

    /// Plans `out[x] <- a[y]`.
    ///
    /// # Errors
    /// Those of shapes, axes and overlap.
    pub fn gather(
        &mut self,
        out: Operand<'v, T>,
        a: Operand<'v, T>,
        pairs: &'v [(isize, Index<'v>)],
        mode: Mode,
    ) -> Result<(), Error> {
        self.planned.gather(*out, *a, pairs, mode)
    }

    /// Plans `out[y] += src[x]`.
    ///
    /// # Errors
    /// Those of shapes, axes and overlap.
    pub fn scatter(
        &mut self,
        out: Operand<'v, T>,
        src: Operand<'v, T>,
        pairs: &'v [(isize, Index<'v>)],
        mode: Mode,
    ) -> Result<(), Error> {
        self.planned.scatter(*out, *src, pairs, mode)
    }

    /// A runner of the kernels of a gather.
    pub fn gathering(&self) -> Run<'_, 'v, T, N, false> {
        Run { walk: self, error: RefCell::new(None) }
    }

    /// A runner of the kernels of a scatter-add.
    pub fn adding(&self) -> Run<'_, 'v, T, N, true> {
        Run { walk: self, error: RefCell::new(None) }
    }
}

/// The plan, which does not know the element type.
struct Planned<'v, const N: usize> {
    /// The axes on which an index moves.
    plan: Plan<N>,
    /// The others, of grid and table.
    rows: ArrayVec<Axis<2>, MAX_NDIM>,
    base: [*mut u8; N],
    targets: ArrayVec<Target<'v>, MAX_NDIM>,
    ndim: usize,
    /// The innermost axis is one on which an index moves.
    by_columns: bool,
    /// The size of an element.
    item: usize,
    out: Option<Cells<'v>>,
}

impl<'v, const N: usize> Planned<'v, N> {
    /// See [`IndexedWalk::gather`].
    fn gather(
        &mut self,
        out: Cells<'v>,
        a: Cells<'v>,
        pairs: &'v [(isize, Index<'v>)],
        mode: Mode,
    ) -> Result<(), Error> {
        self.bind(&out, &a, pairs, mode)?;
        self.out = Some(out);
        refuse_overlap(&out, &a, false)?;
        for (_, index) in pairs {
            refuse_overlap(&out, index.cells(), false)?;
        }
        let does_not_broadcast = |arg, shape: &[isize]| Error::Broadcast {
            arg,
            shape: shape.into(),
            to: out.name,
            to_shape: out.layout.shape().into(),
        };
        let mut grid = out.layout.axes_from_last();
        let mut table = a.layout.axes_from_last();
        let mut indices: ArrayVec<_, MAX_NDIM> =
            pairs.iter().map(|(_, index)| index.cells().layout.axes_from_last()).collect();
        for d in 0..self.ndim {
            let (len, step) = grid.next().unwrap_or((1, 0));
            let mut axis = Axis { len, stride: [0; N] };
            axis.stride[GRID] = step;
            match table.next() {
                Some(_) if self.is_indexed(d) => {}
                Some((n, s)) if n == len => axis.stride[TABLE] = s,
                None | Some((1, _)) => {}
                Some(_) => return Err(does_not_broadcast(a.name, a.layout.shape())),
            }
            for (q, index) in indices.iter_mut().enumerate() {
                match index.next() {
                    Some((n, s)) if n == len => axis.stride[INDEX + q] = s,
                    None | Some((1, _)) => {}
                    Some(_) => {
                        return Err(does_not_broadcast("index", pairs[q].1.cells().layout.shape()));
                    }
                }
            }
            self.plan.push(axis.len, axis.stride);
        }
        self.plan.fuse();
        self.split(|axis| axis.stride[INDEX..].iter().all(|&s| s == 0));
        Ok(())
    }

    /// See [`IndexedWalk::scatter`].
    fn scatter(
        &mut self,
        out: Cells<'v>,
        src: Cells<'v>,
        pairs: &'v [(isize, Index<'v>)],
        mode: Mode,
    ) -> Result<(), Error> {
        self.bind(&src, &out, pairs, mode)?;
        self.out = Some(out);
        refuse_overlap(&out, &src, false)?;
        for (_, index) in pairs {
            refuse_overlap(&out, index.cells(), false)?;
        }
        let mut grid = src.layout.axes_from_last();
        let mut table = out.layout.axes_from_last();
        let mut indices: ArrayVec<_, MAX_NDIM> =
            pairs.iter().map(|(_, index)| index.cells().layout.axes_from_last()).collect();
        let (mut position, mut fits) = (1isize, true);
        let mut extents = ArrayVec::<isize, MAX_NDIM>::new();
        for d in 0..self.ndim {
            let (mut len, step) = grid.next().unwrap_or((1, 0));
            let mut axis = Axis { len, stride: [0; N] };
            if len != 1 {
                axis.stride[GRID] = step;
            }
            for (q, index) in indices.iter_mut().enumerate() {
                let (n, s) = index.next().unwrap_or((1, 0));
                if n != 1 {
                    if len != 1 && n != len {
                        return Err(Error::Broadcast {
                            arg: "index",
                            shape: pairs[q].1.cells().layout.shape().into(),
                            to: src.name,
                            to_shape: src.layout.shape().into(),
                        });
                    }
                    len = n;
                    axis.stride[INDEX + q] = s;
                }
            }
            axis.len = len;
            let (n, s) = table.next().unwrap_or((1, 0));
            if self.is_indexed(d) {
                axis.stride[POSITION] = position;
                position = position.saturating_mul(len as isize);
                extents.push(n as isize);
            } else {
                fits &= n == len;
                axis.stride[TABLE] = if n == len { s } else { 0 };
                extents.push(len as isize);
            }
            self.plan.push(axis.len, axis.stride);
        }
        if !fits {
            return Err(Error::Shape {
                arg: out.name,
                shape: out.layout.shape().into(),
                expected: extents.into_iter().rev().collect(),
                why: "the common shape of src and index off the axis",
            });
        }
        self.plan.fuse();
        // Where the table stands still, one cell is added to again and again, in order.
        self.split(|axis| axis.stride[TABLE] != 0 && axis.stride[INDEX..].iter().all(|&s| s == 0));
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
        assert!(pairs.len() <= N - INDEX && pairs.len() <= MAX_NDIM);
        self.plan.reset();
        self.rows.clear();
        self.targets.clear();
        let ranks = pairs.iter().map(|(_, index)| index.cells().layout.ndim());
        self.ndim = ranks.chain([grid.layout.ndim(), table.layout.ndim()]).max().unwrap_or(0);
        self.base[GRID] = grid.base;
        self.base[TABLE] = table.base;
        for (q, (axis, index)) in pairs.iter().enumerate() {
            let axis = layout::axis(*axis, self.ndim)?;
            let from_last = self.ndim - 1 - axis;
            if self.is_indexed(from_last) {
                return Err(Error::RepeatedAxis { axis, ndim: self.ndim });
            }
            let (n, s) = table.layout.axes_from_last().nth(from_last).unwrap_or((1, 0));
            self.targets.push(Target {
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

    fn is_indexed(&self, from_last: usize) -> bool {
        self.targets.iter().any(|t| t.axis == from_last)
    }

    /// Parts the axes of whole rows from those on which an index moves.
    fn split(&mut self, is_row: impl Fn(&Axis<N>) -> bool) {
        self.by_columns = self.plan.axes.first().is_some_and(|axis| !is_row(axis));
        let rows = &mut self.rows;
        self.plan.axes.retain(|axis| {
            if is_row(axis) {
                let stride = [axis.stride[GRID], axis.stride[TABLE]];
                rows.push(Axis { len: axis.len, stride });
            }
            !is_row(axis)
        });
    }

    /// Runs a kernel over elements of E, which has the size of the operands'.
    fn run<E, K: Rows<E, 2, 1>, const ADD: bool>(&self, kernel: K) -> Result<(), Error> {
        assert_eq!(size_of::<E>(), self.item);
        let mut blocks = Blocks::new(self);
        // All offsets fit one block: it is the check too.
        let single = !self.plan.empty && blocks.is_single();
        self.check(!single)?;
        if self.plan.empty {
            return Ok(());
        }
        let [row, rows] = [0, 1].map(|i| self.rows.get(i).copied().unwrap_or(Axis::ONE));
        let around = self.rows.get(2..).unwrap_or(&[]);
        let far = self.targets.iter().any(|target| target.rule.span() > NEAR);
        let copies = if K::COPIES && !ADD { self.row_bytes() } else { None };
        let stream = copies.is_some() && self.grid_bytes() >= LARGE;
        let mut scratch = Scratch::new();
        while let Some(block) = blocks.next(&mut scratch) {
            if single && block.holes {
                self.check(true)?;
            }
            // SAFETY: the block has been written.
            let offsets = unsafe { written(&mut scratch.offsets[..block.len]) };
            if let Some((bytes, axes)) = copies
                && !block.holes
            {
                let rows = axes.first().copied().unwrap_or(Axis::ONE);
                nest(axes.get(1..).unwrap_or(&[]), block.p, &mut |p| {
                    let grid_step = block.grid_step;
                    dispatch(CopyRows { offsets, p, grid_step, bytes, columns: rows, far, stream });
                });
                continue;
            }
            nest(around, block.p, &mut |p| {
                dispatch(IndexedRows::<E, K, ADD> {
                    kernel,
                    offsets,
                    holes: block.holes,
                    p,
                    grid_step: block.grid_step,
                    block: [row, rows],
                    by_columns: self.by_columns,
                    far,
                    elements: PhantomData,
                });
            });
        }
        if stream {
            fence();
        }
        Ok(())
    }

    /// The bytes of a row that is dense in both grid and table, and the axes around it: perhaps of
    /// a single element.
    fn row_bytes(&self) -> Option<(usize, &[Axis<2>])> {
        let item = self.item;
        match self.rows.first() {
            Some(row) if !self.by_columns => {
                let dense = row.stride == [item as isize; 2];
                dense.then(|| (row.len * item, &self.rows[1..]))
            }
            _ => Some((item, &self.rows)),
        }
    }

    fn grid_bytes(&self) -> usize {
        let lens = self.plan.axes.iter().map(|axis| axis.len);
        lens.chain(self.rows.iter().map(|axis| axis.len)).product::<usize>() * self.item
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
struct Block {
    /// Grid and table.
    p: [*mut u8; 2],
    len: usize,
    /// From one offset's row of the grid to the next.
    grid_step: isize,
    holes: bool,
}

/// The indices, block by block, in the order of the plan. A block goes on over the axes on which
/// the grid is one run; the table need not be, since the offsets hold its place too.
struct Blocks<'w, 'v, const N: usize> {
    axes: &'w [Axis<N>],
    targets: &'w [Target<'v>],
    /// How many of the axes a block may go over.
    fused: usize,
    position: ArrayVec<usize, { MAX_NDIM + 1 }>,
    p: [*mut u8; N],
    done: bool,
}

impl<'w, 'v, const N: usize> Blocks<'w, 'v, N> {
    fn new(walk: &'w Planned<'v, N>) -> Self {
        let axes = &walk.plan.axes[..];
        let mut fused = axes.len().min(1);
        while fused < axes.len() {
            let inner = &axes[fused - 1];
            let run = inner.stride[GRID].checked_mul(inner.len as isize);
            if run != Some(axes[fused].stride[GRID]) {
                break;
            }
            fused += 1;
        }
        Blocks {
            axes,
            targets: &walk.targets,
            fused,
            position: axes.iter().map(|_| 0).collect(),
            p: super::step(walk.base, walk.plan.offset),
            done: false,
        }
    }

    /// Whether there is one block only.
    fn is_single(&self) -> bool {
        let len = self.axes.iter().fold(1, |len: usize, axis| len.saturating_mul(axis.len));
        self.fused == self.axes.len() && len <= BLOCK
    }

    fn next(&mut self, scratch: &mut Scratch) -> Option<Block> {
        if self.done {
            return None;
        }
        let start = self.p;
        let row = self.axes.first().copied().unwrap_or(Axis::ONE);
        let (mut len, mut holes) = (0, false);
        loop {
            let at = self.position.first().copied().unwrap_or(0);
            let n = (row.len - at).min(BLOCK - len);
            holes |= self.offsets(start[TABLE], &row, scratch, len..len + n);
            len += n;
            self.p = super::step(self.p, row.stride.map(|s| s.wrapping_mul(n as isize)));
            let on = self.advance(n);
            if !on || len == BLOCK {
                break;
            }
        }
        let p = [start[GRID], start[TABLE]];
        Some(Block { p, len, grid_step: row.stride[GRID], holes })
    }

    /// The offsets of a run of the innermost axis.
    fn offsets(
        &self,
        start: *mut u8,
        row: &Axis<N>,
        scratch: &mut Scratch,
        range: core::ops::Range<usize>,
    ) -> bool {
        let mut from = self.p[TABLE].addr().wrapping_sub(start.addr()) as isize;
        let mut by = row.stride[TABLE];
        let mut holes = false;
        if self.targets.is_empty() {
            for offset in &mut scratch.offsets[range.clone()] {
                offset.write(from);
                from = from.wrapping_add(by);
            }
        }
        for (q, target) in self.targets.iter().enumerate() {
            let (p, step) = (self.p[INDEX + q].cast_const(), row.stride[INDEX + q]);
            let to = if q == 0 { &mut scratch.offsets } else { &mut scratch.more };
            let to = &mut to[range.clone()];
            // SAFETY: the walk's plan visits elements of the index view.
            holes |=
                unsafe { target.rule.offsets(target.index.dtype(), (p, step), (from, by), to) };
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

    /// Moves on by n along the innermost axis, which may end there. Returns whether what comes next
    /// belongs to the same block.
    fn advance(&mut self, n: usize) -> bool {
        for (d, axis) in self.axes.iter().enumerate() {
            if d > 0 {
                self.p = super::step(self.p, axis.stride);
            }
            self.position[d] += if d == 0 { n } else { 1 };
            if self.position[d] < axis.len {
                return d < self.fused;
            }
            self.position[d] = 0;
            self.p = super::step(
                self.p,
                axis.stride.map(|s| s.wrapping_mul(axis.len as isize).wrapping_neg()),
            );
        }
        self.done = true;
        false
    }
}

/// Runs the kernels of a walk, and keeps its error.
pub(crate) struct Run<'w, 'v, T, const N: usize, const ADD: bool> {
    walk: &'w IndexedWalk<'v, T, N>,
    error: RefCell<Option<Error>>,
}

impl<T, const N: usize, const ADD: bool> Run<'_, '_, T, N, ADD> {
    /// What went wrong.
    pub fn finish(self) -> Result<(), Error> {
        self.error.into_inner().map_or(Ok(()), Err)
    }
}

impl<'v, T: Element, const N: usize, const ADD: bool> Run<'_, 'v, T, N, ADD> {
    fn keep(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            *self.error.borrow_mut() = Some(error);
        }
    }

    fn on_output(&self, run: impl FnOnce(&Walk<'v, T, 1, 1>)) {
        let mut walk = Walk::new();
        if let Some(out) = &self.walk.planned.out {
            self.keep(super::prepare(&mut walk.plan, 1, &[out]));
            walk.base = [out.base];
        }
        run(&walk);
    }
}

impl<T: Element, const N: usize, const ADD: bool> OutputRunner<T> for &Run<'_, '_, T, N, ADD> {
    fn run_on_output<K: Rows<T, 1, 1>>(self, kernel: K) {
        self.on_output(|walk| walk.run(kernel));
    }

    fn run_words_on_output<K: Rows<T::Word, 1, 1>>(self, kernel: K) {
        self.on_output(|walk| walk.run_words(kernel));
    }
}

impl<T: Element, const N: usize, const ADD: bool> Runner<T> for &Run<'_, '_, T, N, ADD> {
    fn run<K: Rows<T, 2, 1>>(self, kernel: K) {
        self.keep(self.walk.planned.run::<T, K, ADD>(kernel));
    }

    fn run_words<K: Rows<T::Word, 2, 1>>(self, kernel: K) {
        self.keep(self.walk.planned.run::<T::Word, K, ADD>(kernel));
    }
}
