//! Walks by tiles: operands whose elements lie in different orders.

use super::{Walk, nest, step};
use crate::MAX_NDIM;
use crate::isa::dispatch;
use crate::kernel::Rows;
use crate::kernel::tiles::bytes::fence;
use crate::kernel::tiles::{Bring, Matrix, Strip};
use crate::plan::{Axis, Plan};
use crate::tiling::{Aim, Crossing, Loop, MAX_SIDE, Role, Side, Tiling};
use arrayvec::ArrayVec;
use core::mem::MaybeUninit;

impl<T, const N: usize, const OUT: usize> Walk<'_, T, N, OUT> {
    /// Runs a kernel box by box. The part in the box of an operand whose elements lie in another
    /// order than the output's is brought to a buffer in the output's order first; a copy that
    /// stays in the caches is brought to where it belongs at once.
    #[inline(never)]
    pub(super) fn run_by_tiles<K: Rows<T, N, OUT>>(&self, kernel: K, crossing: Crossing) {
        let axes = &self.plan.axes[..];
        let first = step(self.base, self.plan.offset);
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
        if K::COPIES && large && crossing.shared > 0 && crossing.item >= LONG_RUN {
            // Long runs are read in the order in which they lie.
            let mut axes: ArrayVec<Axis<N>, { MAX_NDIM + 1 }> = axes.iter().copied().collect();
            axes[1..].sort_unstable_by_key(|a| a.stride[k].unsigned_abs());
            self.run_rows(kernel, &axes, first, large);
            return fence();
        }
        if K::COPIES && large && copy_by_strips(axes, &crossing, first) {
            return fence();
        }
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
        if large {
            fence();
        }
    }
}

/// Outputs of so many bytes go past the caches.
pub(super) const LARGE: usize = 6 << 20;

/// Boxes that fit an L1 cache, with whole lines on the input's side and runs on the output's.
const AIM: Aim = Aim { run: 512, line: 256, volume: 16 << 10 };

/// Shared runs of so many bytes are copied past the caches one by one.
const LONG_RUN: usize = 192;

/// Rows of so many bytes are streams that the CPU's prefetcher follows.
const LONG_ROW: usize = 1024;

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

/// Copies operand k to the output by [`Strip`]s, if every line of the output along the input's unit
/// axis is one of elements of the output's unit axis, which needs all of the output's steps but one
/// to be whole lines. Returns whether it has.
fn copy_by_strips<const N: usize>(
    axes: &[Axis<N>],
    crossing: &Crossing,
    first: [*mut u8; N],
) -> bool {
    let Crossing { operand: k, item, shared } = *crossing;
    let unit = item as isize;
    if ![4, 8, 16].contains(&item) {
        return false;
    }
    let mut around: ArrayVec<Axis<2>, { MAX_NDIM + 1 }> = axes[shared..]
        .iter()
        .map(|a| Axis { len: a.len, stride: [a.stride[0], a.stride[k]] })
        .collect();
    let line = 64 / item;
    let p = [first[0], first[k]];
    let row = around.remove(0);
    let Some(column) = around.iter().position(|a| a.stride[1] == unit) else { return false };
    let next = around.first().filter(|a| column != 0 && a.stride[0] == row.len as isize * unit);
    let next = next.copied().filter(|_| row.len.is_multiple_of(line));
    let column = around.remove(column);
    let aligned = |stride: isize| stride % 64 == 0;
    if row.stride[0] != unit
        || row.len < 2 * line
        || column.len * item < 16
        || !aligned(column.stride[0])
        || !around.iter().all(|a| aligned(a.stride[0]))
        || !p[0].addr().is_multiple_of(item)
    {
        return false;
    }
    let at = |i: usize| row.stride.map(|s| s * i as isize);
    let strips = |around: &[Axis<2>], start: [isize; 2], rows: &[isize]| {
        let long = column.len * item >= LONG_ROW;
        let ahead = if long { 0 } else { around.first().map_or(0, |a| a.stride[1]) };
        nest(around, step(p, start), &mut |[target, source]| {
            dispatch(Strip {
                ahead,
                item,
                source,
                target,
                rows,
                cols: column.len,
                column_step: column.stride[0],
            });
        });
    };
    let edge = |around: &[Axis<2>], start: [isize; 2], len: usize| {
        if len > 0 {
            nest(around, step(p, start), &mut |[target, source]| {
                let (row_step, column_step) = (row.stride[1], column.stride[0]);
                let shape = [len, column.len];
                dispatch(Matrix { item, shape, source, target, row_step, column_step });
            });
        }
    };
    let head = (p[0].addr().wrapping_neg() % 64) / item;
    let whole = (row.len - head) / line;
    let tail = row.len - head - whole * line;
    let rows: ArrayVec<isize, 16> = (0..line).map(|i| at(i)[1]).collect();
    // The loops go along the input, so that its streams go on.
    let by_input = |axes: &mut [Axis<2>]| {
        axes.sort_unstable_by_key(|a| (a.stride[1] == 0, a.stride[1].unsigned_abs()));
    };
    let mut inner = around.clone();
    inner.push(Axis { len: whole, stride: at(line) });
    by_input(&mut inner);
    strips(&inner, at(head), &rows);
    if head + tail == 0 {
        return true;
    }
    // Lines across the ends of rows that follow one another.
    if let Some(next) = next {
        let tail_start = at(row.len - tail);
        let rows: ArrayVec<isize, 16> = (0..line)
            .map(|i| match i.checked_sub(tail) {
                None => at(i)[1],
                Some(i) => next.stride[1] + at(i)[1] - tail_start[1],
            })
            .collect();
        let last = next.stride.map(|s| s * (next.len as isize - 1));
        let mut across = around.clone();
        across[0].len -= 1;
        by_input(&mut across);
        strips(&across, tail_start, &rows);
        around.remove(0);
        by_input(&mut around);
        edge(&around, [0, 0], head);
        edge(&around, [tail_start[0] + last[0], tail_start[1] + last[1]], tail);
    } else {
        by_input(&mut around);
        edge(&around, [0, 0], head);
        edge(&around, at(row.len - tail), tail);
    }
    true
}
