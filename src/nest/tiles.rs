//! Walks by tiles: operands whose elements lie in different orders.

use super::{Block, Walk, step};
use crate::MAX_NDIM;
use crate::isa::dispatch;
use crate::kernel::tiles::bytes::{fence, prefetch, prefetch_far};
use crate::kernel::tiles::strip::{Runs, Strip};
use crate::kernel::tiles::{Bring, Matrix};
use crate::kernel::{LINE, Rows};
use crate::plan::{Axis, Plan};
use crate::strips::{self, End, Group, MAX_ROWS, ROWS, STRETCH, Strips};
use crate::tiling::{Aim, Crossing, Loop, MAX_SIDE, Role, Side, Tiling, is_nearer};
use arrayvec::ArrayVec;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

impl<T, const N: usize, const OUT: usize> Walk<'_, T, N, OUT> {
    /// Runs a kernel over operands whose elements lie in different orders.
    #[inline(never)]
    pub(super) fn run_by_tiles<K: Rows<T, N, OUT>>(&self, kernel: K, crossing: Crossing) {
        let axes = &self.plan.axes[..];
        let first = self.first();
        let (large, item) = (K::STREAMS && self.is_large(), size_of::<T>());
        let in_place = K::COPIES && !large;
        let k = crossing.operand;
        if in_place
            && let [a, b] = axes
            && (a.stride[0], b.stride[k]) == (item as isize, item as isize)
        {
            let (source, target) = (first[k].cast_const(), first[0]);
            let (row_step, column_step) = (a.stride[k], b.stride[0]);
            let shape = [a.len, b.len];
            return dispatch(Matrix { item, shape, source, target, row_step, column_step });
        }
        if K::COPIES && large {
            let pairs: ArrayVec<Axis<2>, { MAX_NDIM + 1 }> = axes[crossing.shared..]
                .iter()
                .map(|a| Axis { len: a.len, stride: [a.stride[0], a.stride[k]] })
                .collect();
            if let Some(strips) = Strips::new(&pairs, crossing.item, first[0].addr()) {
                copy_by_strips(&strips, crossing.item, first[0], first[k]);
                return fence();
            }
        }
        if crossing.shared > 0 && crossing.item >= LINE {
            self.run_by_runs(kernel, &crossing, first, large);
        } else if self.run_by_columns(kernel, &crossing, first) {
        } else {
            self.run_by_boxes(kernel, &crossing, first, large);
        }
        if large {
            fence();
        }
    }

    /// Runs that all operands share, in the order of operand k but for stretches of the output.
    #[inline(never)]
    fn run_by_runs<K: Rows<T, N, OUT>>(
        &self,
        kernel: K,
        crossing: &Crossing,
        first: [*mut u8; N],
        large: bool,
    ) {
        let axes = &self.plan.axes[..];
        let extent = (STRETCH / crossing.item).max(2);
        let loops = by_input(axes, 1, crossing.operand, None, [extent; 2]);
        let bytes = extent * crossing.item;
        let mut ahead = Ahead::<_, _, 6>::new(|(p, runs): ([*mut u8; N], usize)| {
            let block = [axes[0], Axis { len: runs, ..axes[1] }];
            dispatch(Block { kernel, block, p, large, elements: PhantomData });
        });
        boxes(&loops, first, axes, &mut [extent], &mut |p, extents| {
            if !large {
                prefetch_lines(prefetch, p[0], bytes);
                for k in OUT..N {
                    for i in 0..extents[0] as isize {
                        let run = p[k].wrapping_offset(i * axes[1].stride[k]);
                        prefetch_lines(prefetch, run, crossing.item);
                    }
                }
            }
            ahead.push((p, extents[0]));
        });
        ahead.finish();
    }

    /// Strips of a few lines of the output, as [`Strips`] are, but anywhere and by plain stores. Of
    /// inputs in another order, a part is brought to a buffer in the output's order. Returns whether
    /// this can be done: the output and each input are dense along an axis each, the inputs that
    /// cross along the same.
    #[inline(never)]
    fn run_by_columns<K: Rows<T, N, OUT>>(
        &self,
        kernel: K,
        crossing: &Crossing,
        first: [*mut u8; N],
    ) -> bool {
        let axes = &self.plan.axes[..];
        let Crossing { operand: k, item, shared } = *crossing;
        let unit = item as isize;
        let Some((&along, rest)) = axes[shared..].split_first() else { return false };
        let Some(at) = rest.iter().position(|a| a.stride[k] == unit) else { return false };
        let across = rest[at];
        let crosses: [bool; N] = core::array::from_fn(|j| j >= OUT && crossing.crosses(axes, j));
        if ![1, 2, 4, 8, 16].contains(&item)
            || along.stride[0] != unit
            || along.len * item < LINE
            || across.len * item < LINE
            || (0..N).any(|j| crosses[j] && across.stride[j] != unit)
        {
            return false;
        }
        let extent = ROWS.max(LINE / item);
        let to_line = (first[0].addr().wrapping_neg() % LINE) / item;
        let extents = [if to_line > 0 { to_line } else { extent }, extent];
        let loops = by_input(axes, shared, k, Some(shared + 1 + at), extents);
        let mut buffers = [const { Buffer64([MaybeUninit::uninit(); AIM.volume]) }; N];
        let buffers = buffers.each_mut().map(|b| (&raw mut b.0).cast::<u8>());
        let width = (BLOCK / (extent * item)).max(LINE / item);
        let mut ahead =
            Ahead::<_, _, 4>::new(|(p, [rows, columns]): ([*mut u8; N], [usize; 2])| {
                let pitch = rows * item;
                let (mut q, mut block) = (p, [along, across]);
                block[0].len = rows * item / size_of::<T>();
                block[1].len = columns;
                if shared > 0 {
                    block[0].stride = [size_of::<T>() as isize; N];
                }
                for j in OUT..N {
                    if crosses[j] {
                        dispatch(Matrix {
                            item,
                            shape: [rows, columns],
                            source: p[j],
                            target: buffers[j],
                            row_step: along.stride[j],
                            column_step: pitch as isize,
                        });
                        q[j] = buffers[j];
                        block[0].stride[j] = size_of::<T>() as isize;
                        block[1].stride[j] = pitch as isize;
                    }
                }
                dispatch(Block { kernel, block, p: q, large: false, elements: PhantomData });
            });
        boxes(&loops, first, axes, &mut [extent], &mut |p, extents| {
            let rows = extents[0];
            if K::COPIES {
                let (row_step, column_step) = (along.stride[k], across.stride[0]);
                let (shape, source, target) = ([rows, across.len], p[k].cast_const(), p[0]);
                return dispatch(Matrix { item, shape, source, target, row_step, column_step });
            }
            let mut done = 0;
            while done < across.len {
                let columns = width.min(across.len - done);
                let from = step(p, across.stride.map(|s| s * done as isize));
                for c in 0..columns as isize {
                    let column = from[0].wrapping_offset(c * across.stride[0]);
                    prefetch_lines(prefetch_far, column, rows * item);
                }
                for j in OUT..N {
                    if crosses[j] {
                        for i in 0..rows as isize {
                            let row = from[j].wrapping_offset(i * along.stride[j]);
                            prefetch_lines(prefetch_far, row, columns * item);
                        }
                    }
                }
                ahead.push((from, [rows, columns]));
                done += columns;
            }
        });
        ahead.finish();
        true
    }

    /// Boxes of any axes, brought to a buffer in the output's order; a copy that stays in the caches
    /// is brought to where it belongs at once.
    #[inline(never)]
    fn run_by_boxes<K: Rows<T, N, OUT>>(
        &self,
        kernel: K,
        crossing: &Crossing,
        first: [*mut u8; N],
        large: bool,
    ) {
        let axes = &self.plan.axes[..];
        let (k, item) = (crossing.operand, size_of::<T>());
        let in_place = K::COPIES && !large;
        let tiling = Tiling::new(axes, k, crossing.item, crossing.shared, AIM);
        let dense_rows = tiling.matrix(Role::Row).all(|s| axes[s.axis].stride[0] == s.step);
        let in_place = in_place && dense_rows;
        let columns = Table::new(&tiling, Role::Column, |side| {
            if in_place { axes[side.axis].stride[0] } else { side.step }
        });
        let sources: [Option<Source>; N] = core::array::from_fn(|k| {
            (k >= OUT && crossing.crosses(axes, k)).then(|| Source::new(&tiling, axes, k))?
        });
        let mut buffers = [const { Buffer64([MaybeUninit::uninit(); AIM.volume]) }; N];
        let buffers = buffers.each_mut().map(|b| (&raw mut b.0).cast::<u8>());
        let mut extents: ArrayVec<usize, { MAX_NDIM + 1 }> =
            tiling.sides.iter().map(|s| s.extent).collect();
        boxes(&tiling.loops, first, axes, &mut extents, &mut |p, extents| {
            let mut from = p;
            for k in OUT..N {
                let Some(source) = &sources[k] else { continue };
                from[k] = buffers[k];
                let side_of = |role| tiling.count(extents, role);
                let layers: ArrayVec<_, { MAX_NDIM + 1 }> = tiling
                    .sides
                    .iter()
                    .zip(extents)
                    .filter(|(side, _)| side.role == Role::Layer)
                    .map(|(side, &extent)| {
                        let stride = axes[side.axis].stride;
                        (extent, stride[k], if in_place { stride[0] } else { side.step })
                    })
                    .collect();
                dispatch(Bring {
                    item: crossing.item,
                    source: p[k],
                    target: if in_place { p[0] } else { buffers[k] },
                    rows: &source.rows.0[..side_of(Role::Row)],
                    columns: &columns.0[..side_of(Role::Column)],
                    step: source.step,
                    layers: &layers,
                });
            }
            if in_place {
                return;
            }
            let mut rows: Plan<N> = Plan::new();
            if crossing.shared > 0 {
                rows.axes.push(Axis { len: crossing.item / item, stride: [item as isize; N] });
            }
            for (side, &extent) in tiling.sides.iter().zip(extents) {
                let mut axis = Axis { len: extent, ..axes[side.axis] };
                for k in OUT..N {
                    if sources[k].is_some() {
                        axis.stride[k] = side.step;
                    }
                }
                rows.axes.push(axis);
            }
            rows.fuse();
            self.run_rows(kernel, &rows.axes, from, large);
        });
    }
}

/// Outputs of so many bytes go past the caches.
pub(super) const LARGE: usize = 6 << 20;

/// Boxes that fit an L1 cache, with whole lines on the input's side and runs on the output's.
const AIM: Aim = Aim { run: 512, line: 256, volume: 16 << 10 };

/// A block of [`Walk::run_by_columns`], if it is not a line of columns by some rows.
const BLOCK: usize = 2 << 10;

/// Work that is done a little later than it comes up, when its lines have been fetched.
struct Ahead<W, F, const DISTANCE: usize> {
    queue: ArrayVec<W, DISTANCE>,
    at: usize,
    body: F,
}

impl<W: Copy, F: FnMut(W), const DISTANCE: usize> Ahead<W, F, DISTANCE> {
    fn new(body: F) -> Self {
        Ahead { queue: ArrayVec::new(), at: 0, body }
    }

    fn push(&mut self, work: W) {
        if self.queue.len() < DISTANCE {
            self.queue.push(work);
        } else {
            let oldest = core::mem::replace(&mut self.queue[self.at], work);
            self.at = (self.at + 1) % DISTANCE;
            (self.body)(oldest);
        }
    }

    fn finish(mut self) {
        for i in 0..self.queue.len() {
            (self.body)(self.queue[(self.at + i) % self.queue.len()]);
        }
    }
}

/// Asks for the lines of `n` bytes by `prefetch`.
#[inline(always)]
fn prefetch_lines(prefetch: impl Fn(*const u8), p: *const u8, n: usize) {
    let before = p.addr() % LINE;
    let mut at = 0;
    while at < before + n {
        prefetch(p.wrapping_add(at).wrapping_sub(before));
        at += LINE;
    }
}

/// Loops over boxes of `extents` (the first and the others) of the axis at `shared`, and over the
/// other axes but one, in the order of operand k.
fn by_input<const N: usize>(
    axes: &[Axis<N>],
    shared: usize,
    k: usize,
    without: Option<usize>,
    extents: [usize; 2],
) -> ArrayVec<Loop, { MAX_NDIM + 1 }> {
    let mut loops = ArrayVec::<Loop, _>::new();
    for (axis, a) in axes.iter().enumerate().skip(shared) {
        if Some(axis) == without {
            continue;
        }
        let ([first, extent], side) =
            if axis == shared { (extents, Some(0)) } else { ([1, 1], None) };
        let rank = |l: &Loop| axes[l.axis].stride[k].saturating_mul(l.extent as isize);
        let new = Loop { axis, len: a.len, extent, first, side };
        let mut at = loops.len();
        while at > 0 && is_nearer(rank(&new), rank(&loops[at - 1])) {
            at -= 1;
        }
        loops.insert(at, new);
    }
    loops
}

/// Copies by [`Strips`].
fn copy_by_strips(strips: &Strips, item: usize, target: *mut u8, source: *mut u8) {
    let columns = strips.columns;
    let [column_step, step] = columns.stride;
    let runs = item >= LINE;
    // The offsets of the positions that bytes of a period lie in.
    let rows = |start: usize, bytes: usize| -> ArrayVec<isize, MAX_ROWS> {
        (start / item..(start + bytes).div_ceil(item)).map(|i| strips.offset(i)).collect()
    };
    let start = At { p: [target, source], group: 0, turn: 0, first: true, last: true };
    along_strips(&strips.loops, start, &mut |at| {
        let [target, source] = at.p;
        let Group { start, lines, short } = strips.group(at.group, at.last);
        let ends = strips.ends(at.group, at.first, at.last);
        // Of single columns, a strip copies the ends along.
        let single = |end: &Option<End>| !runs && end.is_some_and(|e| e.columns == 1);
        let alone = |end: &Option<End>| match end {
            Some(e) if lines > 0 && single(end) => rows(e.start, e.bytes),
            _ => ArrayVec::new(),
        };
        let [head, tail] = [alone(&ends[0]), alone(&ends[1])];
        if lines > 0 {
            let rows = &rows(start, lines * LINE)[..];
            let (target, cols) = (target.wrapping_add(start), columns.len);
            let source = source.cast_const();
            if runs {
                let skip = start % item;
                dispatch(Runs {
                    item,
                    source,
                    target,
                    rows,
                    skip,
                    lines,
                    cols,
                    step,
                    column_step,
                    short,
                });
            } else {
                let ends = [&head[..], &tail[..]];
                dispatch(Strip {
                    item,
                    source,
                    target,
                    rows,
                    cols,
                    column_step,
                    short,
                    ends,
                    next: strips.next_block(at.turn),
                });
            }
        }
        for end in ends {
            if let Some(e) = end
                && !(lines > 0 && single(&end))
            {
                copy_end(&e, &columns, item, runs, [target, source], &rows(e.start, e.bytes));
            }
        }
    });
}

/// Copies an [`End`], of which the first bytes are in the first of `rows`.
fn copy_end(
    end: &End,
    columns: &Axis<2>,
    item: usize,
    runs: bool,
    p: [*mut u8; 2],
    rows: &[isize],
) {
    let mut done = end.column;
    while done < end.column + end.columns {
        let count = LINE.min(end.column + end.columns - done);
        let [to, from] = step(p, columns.stride.map(|s| s * done as isize));
        let offsets: ArrayVec<isize, LINE> =
            (0..count as isize).map(|c| c * columns.stride[0]).collect();
        let bring = |item, rows, skip: usize, start: usize| {
            dispatch(Bring {
                item,
                source: from.wrapping_add(skip),
                target: to.wrapping_add(start),
                rows,
                columns: &offsets,
                step: columns.stride[1],
                layers: &[],
            });
        };
        if runs {
            let mut start = end.start;
            for row in rows {
                let skip = start % item;
                let bytes = (item - skip).min(end.start + end.bytes - start);
                bring(bytes, core::slice::from_ref(row), skip, start);
                start += bytes;
            }
        } else {
            bring(item, rows, 0, end.start);
        }
        done += count;
    }
}

/// Where a walk along strips has got to.
#[derive(Clone, Copy)]
struct At {
    p: [*mut u8; 2],
    group: usize,
    /// The index of the innermost loop.
    turn: usize,
    /// In the first and in the last of the periods that follow one another.
    first: bool,
    last: bool,
}

/// Calls `body` for every index of `loops`.
fn along_strips(loops: &[strips::Loop], mut at: At, body: &mut dyn FnMut(At)) {
    let [inner @ .., outer] = loops else { return body(at) };
    for i in 0..outer.len {
        at.turn = i;
        if outer.to_next {
            (at.first, at.last) = (i == 0, i + 1 == outer.len);
        }
        along_strips(inner, at, body);
        at.p = step(at.p, outer.stride);
        at.group += outer.groups;
    }
}

/// A box of an operand in the output's order.
#[repr(align(64))]
struct Buffer64([MaybeUninit<u8>; AIM.volume]);

/// The byte offsets of a matrix's rows or columns.
struct Table(ArrayVec<isize, MAX_SIDE>);

impl Table {
    fn new(tiling: &Tiling, role: Role, stride: impl Fn(&Side) -> isize) -> Table {
        let mut table = ArrayVec::new();
        table.push(0);
        for side in tiling.matrix(role) {
            let inner = table.len();
            for i in 1..side.extent {
                for j in 0..inner {
                    table.push(table[j] + i as isize * stride(side));
                }
            }
        }
        Table(table)
    }
}

/// An operand that is brought to a buffer.
struct Source {
    rows: Table,
    /// From one column to the next.
    step: isize,
}

impl Source {
    /// `None` where the columns have no even step.
    fn new<const N: usize>(tiling: &Tiling, axes: &[Axis<N>], k: usize) -> Option<Source> {
        let mut run = Axis::<N>::ONE;
        for side in tiling.matrix(Role::Column) {
            let a = Axis { len: side.extent, ..axes[side.axis] };
            if run.len == 1 {
                run = a;
            } else if run.stride[k].checked_mul(run.len as isize) == Some(a.stride[k]) {
                run.len *= a.len;
            } else {
                return None;
            }
        }
        let rows = Table::new(tiling, Role::Row, |side| axes[side.axis].stride[k]);
        Some(Source { rows, step: run.stride[k] })
    }
}

/// Calls `body` with the pointers and extents of every box.
fn boxes<const N: usize>(
    loops: &[Loop],
    mut p: [*mut u8; N],
    axes: &[Axis<N>],
    extents: &mut [usize],
    body: &mut dyn FnMut([*mut u8; N], &[usize]),
) {
    let [inner @ .., outer] = loops else { return body(p, extents) };
    let mut left = outer.len;
    let mut extent = outer.first;
    while left > 0 {
        extent = extent.min(left);
        if let Some(side) = outer.side {
            extents[side] = extent;
        }
        boxes(inner, p, axes, extents, body);
        p = step(p, axes[outer.axis].stride.map(|s| s * extent as isize));
        left -= extent;
        extent = outer.extent;
    }
}
