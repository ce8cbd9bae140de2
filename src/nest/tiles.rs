//! Walks by tiles: operands whose elements lie in different orders.

use super::{Block, Walk, step};
use crate::MAX_NDIM;
use crate::isa::{Isa, Kernel, dispatch};
use crate::kernel::tiles::ahead::{Ahead, ask};
use crate::kernel::tiles::bytes::{fence, prefetch};
use crate::kernel::tiles::few::FEW;
use crate::kernel::tiles::strip::{Runs, Strip};
use crate::kernel::tiles::{Bring, Matrix};
use crate::kernel::{LINE, Rows};
use crate::plan::{Axis, Plan};
use crate::scalar::is_word;
use crate::strips::{self, End, Group, MAX_ROWS, STRETCH, Strips};
use crate::tiling::{Aim, Crossing, Loop, MAX_SIDE, Role, Side, Tiling, is_nearer};
use arrayvec::ArrayVec;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

impl<T, const N: usize, const OUT: usize> Walk<'_, T, N, OUT> {
    /// Runs a kernel over operands whose elements lie in different orders.
    #[inline(never)]
    pub(super) fn run_by_tiles<K: Rows<T, N, OUT>>(&self, kernel: K, crossing: Crossing) {
        let axes = &self.plan.axes[..];
        let first = self.first();
        let (mut large, item) = (K::STREAMS && self.is_large(), size_of::<T>());
        let k = crossing.operand;
        if K::COPIES && large && !crossing.is_of_few(axes) {
            let pairs: ArrayVec<Axis<2>, { MAX_NDIM + 1 }> = axes[crossing.shared..]
                .iter()
                .map(|a| Axis { len: a.len, stride: [a.stride[0], a.stride[k]] })
                .collect();
            if let Some(strips) = Strips::new(&pairs, crossing.item, first[0].addr()) {
                copy_by_strips(&strips, crossing.item, first[0], first[k]);
                return fence();
            }
            large = crossing.shared > 0 || self.output_bytes() >= LARGER;
        }
        if K::COPIES
            && !large
            && let [a, b] = axes
            && (a.stride[0], b.stride[k]) == (item as isize, item as isize)
        {
            let (source, target) = (first[k].cast_const(), first[0]);
            let (row_step, column_step) = (a.stride[k], b.stride[0]);
            let shape = [a.len, b.len];
            let ahead = &mut [];
            return dispatch(Matrix { item, shape, source, target, row_step, column_step, ahead });
        }
        if crossing.shared > 0 && crossing.item >= LINE {
            self.run_by_runs(kernel, &crossing, first, large);
        } else if !self.run_by_slices(kernel, &crossing, first, large) {
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
        let loops = by_input(axes, 1, crossing.operand, extent);
        let bytes = extent * crossing.item;
        let mut later = Later::<_, _, 6>::new(|(p, runs): ([*mut u8; N], usize)| {
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
            later.push((p, extents[0]));
        });
        later.finish();
    }

    /// Boxes worked on slice by slice: of the inputs in another order, a slice is brought to a
    /// buffer in the output's order, and the kernel runs over its columns. Meanwhile the next box is
    /// asked for, run by run: the memory gives runs sooner than the pieces of lines that a transpose
    /// takes them by. Returns whether this can be done: the rows of a box are even in every operand.
    #[inline(never)]
    fn run_by_slices<K: Rows<T, N, OUT>>(
        &self,
        kernel: K,
        crossing: &Crossing,
        first: [*mut u8; N],
        large: bool,
    ) -> bool {
        if K::COPIES && !large {
            return false;
        }
        let axes = &self.plan.axes[..];
        let Crossing { operand: k, item, shared } = *crossing;
        let few = crossing.is_of_few(axes);
        let aim = if few { FAR_OF_FEW } else { FAR };
        let mut tiling = Tiling::new(axes, k, item, shared, aim);
        let sources = Source::each::<N, OUT>(&tiling, axes, crossing);
        let Some(row) = even_row::<T, N>(&tiling, axes, crossing, &sources) else { return false };
        // Slices end where lines of the output do.
        let to_line = |p: *mut u8| p.addr().wrapping_neg() % LINE / item;
        let dense = row.stride[0] == size_of::<T>() as isize;
        let columns: [Table; N] = core::array::from_fn(|j| {
            Table::new(&tiling, Role::Column, |side| axes[side.axis].stride[j])
        });
        let height = row.len * size_of::<T>();
        let follow = |j: usize| {
            let even = row.stride[j] == size_of::<T>() as isize;
            sources[j].is_some() || (even && columns[j].step() == Some(height as isize))
        };
        let one_run = large && (0..N).all(follow);
        let Slices { tall, wide, flat } = Slices::new(height, item, one_run, large, few);
        if flat {
            // From where a line starts, if there is a column that starts one.
            let start = |c: &usize| (first[0].addr() + c * height).is_multiple_of(LINE);
            let column = tiling.matrix(Role::Column).next().map(|side| side.axis);
            if let (Some(axis), Some(c)) = (column, (0..LINE).find(start)) {
                tiling.start_with(axis, Role::Column, c);
            }
        } else if dense {
            tiling.start_with(shared, Role::Row, to_line(first[0]));
        }
        let pitch: Table = Table((0..wide as isize).map(|c| c * (tall * item) as isize).collect());
        let mut buffers = [const { Buffer64([MaybeUninit::uninit(); NEAR.volume]) }; N];
        let buffers = buffers.each_mut().map(|b| (&raw mut b.0).cast::<u8>());
        let far = self.len().max(self.whole) * size_of::<T>() * N >= FAR_FROM;
        // The step from row to row.
        let down = row.stride.map(|s| s * (item / size_of::<T>()) as isize);
        // How often, about, a box is gone over while lines are asked for: when it is brought and by the
        // kernel, but not by shuffles, nor in long runs of columns.
        let brought = if few { 0 } else { sources.iter().flatten().count() };
        let passes = if flat { brought } else { brought + 1 };
        let runs = |p: [*mut u8; N], [rows, cols]: [usize; 2], work: usize| {
            core::array::from_fn(|j| match &sources[j] {
                _ if !far || passes == 0 || (large && j < OUT) => Ahead::NONE,
                Some(source) if source.even == Some(cols as isize * source.step) => {
                    Ahead::new(p[j], &source.rows.0[..1], rows * cols, source.step, item, work)
                }
                Some(source) => {
                    Ahead::new(p[j], &source.rows.0[..rows], cols, source.step, item, work)
                }
                None => Ahead::new(p[j], &columns[j].0[..cols], rows, down[j], item, work),
            })
        };
        let work = |p: [*mut u8; N], [rows, cols]: [usize; 2], ahead: &mut [Ahead; N]| {
            let mut done = 0;
            let mut most = match to_line(p[0]) {
                head @ 1.. if dense && !flat => head.min(tall),
                _ => tall,
            };
            while done < rows {
                let count = most.min(rows - done);
                for c in (0..cols).step_by(wide) {
                    let n = wide.min(cols - c);
                    let mut at = step(p, down.map(|s| s * done as isize));
                    let mut row = Axis { len: count * item / size_of::<T>(), ..row };
                    let mut tables: [&[isize]; N] =
                        core::array::from_fn(|j| &columns[j].0[c..c + n]);
                    for j in OUT..N {
                        let Some(source) = &sources[j] else { continue };
                        source.bring(
                            p[j].wrapping_offset(c as isize * source.step),
                            buffers[j],
                            done..done + count,
                            (&pitch.0[..n], Some((tall * item) as isize)),
                            &[],
                            ahead,
                        );
                        (at[j], tables[j]) = (buffers[j], &pitch.0[..n]);
                        row.stride[j] = size_of::<T>() as isize;
                    }
                    if flat {
                        at = core::array::from_fn(|j| at[j].wrapping_offset(tables[j][0]));
                        tables = [&[0]; N];
                        row.len *= n;
                    }
                    dispatch(Columns {
                        kernel,
                        p: at,
                        columns: tables,
                        row,
                        large,
                        ahead: if flat { &mut [] } else { &mut *ahead },
                        elements: PhantomData,
                    });
                }
                done += count;
                most = tall;
            }
        };
        let mut now: Option<([*mut u8; N], [usize; 2])> = None;
        let mut extents: ArrayVec<usize, { MAX_NDIM + 1 }> =
            tiling.sides.iter().map(|s| s.extent).collect();
        boxes(&tiling.loops, first, axes, &mut extents, &mut |p, extents| {
            let shape = [Role::Row, Role::Column].map(|role| tiling.count(extents, role));
            if let Some((p_now, [rows, cols])) = now.replace((p, shape)) {
                let done = rows * cols * item * passes;
                work(p_now, [rows, cols], &mut runs(p, shape, done));
            }
        });
        if let Some((p, shape)) = now {
            work(p, shape, &mut [const { Ahead::NONE }; N]);
        }
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
        let tiling = Tiling::new(axes, k, crossing.item, crossing.shared, NEAR);
        let dense_rows = tiling.matrix(Role::Row).all(|s| axes[s.axis].stride[0] == s.step);
        let in_place = in_place && dense_rows;
        let mut columns = Table(ArrayVec::new());
        columns.fill(&tiling, Role::Column, |side| {
            if in_place { axes[side.axis].stride[0] } else { side.step }
        });
        let column_step = columns.step();
        let sources = Source::each::<N, OUT>(&tiling, axes, crossing);
        let mut buffers = [const { Buffer64([MaybeUninit::uninit(); NEAR.volume]) }; N];
        let buffers = buffers.each_mut().map(|b| (&raw mut b.0).cast::<u8>());
        let mut extents: ArrayVec<usize, { MAX_NDIM + 1 }> =
            tiling.sides.iter().map(|s| s.extent).collect();
        boxes(&tiling.loops, first, axes, &mut extents, &mut |p, extents| {
            let mut from = p;
            for k in OUT..N {
                let Some(source) = &sources[k] else { continue };
                from[k] = buffers[k];
                let side_of = |role| tiling.count(extents, role);
                let mut layers = ArrayVec::<_, { MAX_NDIM + 1 }>::new();
                for (side, &extent) in tiling.sides.iter().zip(extents) {
                    if side.role == Role::Layer {
                        let stride = axes[side.axis].stride;
                        let to = if in_place { stride[0] } else { side.step };
                        layers.push((extent, stride[k], to));
                    }
                }
                source.bring(
                    p[k],
                    if in_place { p[0] } else { buffers[k] },
                    0..side_of(Role::Row),
                    (&columns.0[..side_of(Role::Column)], column_step),
                    &layers,
                    &mut [],
                );
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

/// Copies of single elements that strips cannot do go past the caches from here on: by slices they are
/// so much slower than by boxes within a third cache that they had better find room in it.
const LARGER: usize = 24 << 20;

/// Boxes that fit an L1 cache, with whole lines on the input's side and runs on the output's.
const NEAR: Aim = Aim { run: 512, line: 256, volume: 16 << 10 };

/// Boxes that fit an L2 cache twice, with runs that are worth an address of the memory on both sides.
const FAR: Aim = Aim { run: 2048, line: 512, volume: 256 << 10 };

/// As many rows or columns as a box may have, of few of the others.
const FAR_OF_FEW: Aim = Aim { run: 2048, line: 2048, volume: 256 << 10 };

/// Walks over fewer bytes find them in the caches.
const FAR_FROM: usize = 1 << 20;

/// So many columns that follow one another are worth being put together.
const FLAT: usize = 8;

/// A slice.
const BLOCK: usize = 8 << 10;

/// How boxes are cut into slices.
struct Slices {
    /// Rows and columns of a slice.
    tall: usize,
    wide: usize,
    /// The columns are one run to the kernel.
    flat: bool,
}

impl Slices {
    /// Of boxes whose columns have `height` bytes, and are `one_run` in every operand.
    fn new(height: usize, item: usize, one_run: bool, large: bool, few: bool) -> Slices {
        // As many columns as a buffer holds, and as fill whole lines on both sides, if they can.
        let most = (NEAR.volume / height).min(MAX_SIDE);
        let of_lines = LINE >> height.trailing_zeros().min(LINE.trailing_zeros());
        let unit = if most < LINE / item { of_lines } else { of_lines.max(LINE / item) };
        let wide = most / unit * unit;
        if one_run && wide >= FLAT {
            return Slices { tall: height / item, wide, flat: true };
        }
        let bytes = if large && few { NEAR.volume / FEW } else { STRETCH };
        let tall = (bytes / item).max(1);
        let wide = (if large { NEAR.volume } else { BLOCK }) / (tall * item);
        Slices { tall, wide, flat: false }
    }
}

/// The row that a box of `tiling` is made of in every operand, in elements: as they lie, but for those of
/// `sources`, which lie as the output does. `None` where it is not even, or boxes are more than
/// matrices.
fn even_row<T, const N: usize>(
    tiling: &Tiling,
    axes: &[Axis<N>],
    crossing: &Crossing,
    sources: &[Option<Source>; N],
) -> Option<Axis<N>> {
    let unit = size_of::<T>() as isize;
    let mut rows = Plan::<N>::new();
    if crossing.shared > 0 {
        rows.axes.push(Axis { len: crossing.item / size_of::<T>(), stride: [unit; N] });
    }
    for side in &tiling.sides {
        match side.role {
            Role::Row => {
                let mut axis = Axis { len: side.extent, ..axes[side.axis] };
                for k in 0..N {
                    if sources[k].is_some() {
                        axis.stride[k] = side.step;
                    }
                }
                rows.axes.push(axis);
            }
            Role::Column => {}
            Role::Layer => return None,
        }
    }
    rows.fuse();
    match rows.axes[..] {
        [] => Some(Axis { len: 1, stride: [unit; N] }),
        [row] => Some(row),
        _ => None,
    }
}

/// A kernel over columns at any distances.
struct Columns<'c, 'r, T, K, const N: usize, const OUT: usize> {
    kernel: K,
    p: [*mut u8; N],
    /// The byte offsets of the columns of each operand.
    columns: [&'c [isize]; N],
    /// A column, which is a row to the kernel.
    row: Axis<N>,
    /// Past the caches.
    large: bool,
    /// What is asked for meanwhile.
    ahead: &'c mut [Ahead<'r>],
    elements: PhantomData<T>,
}

impl<T, K: Rows<T, N, OUT>, const N: usize, const OUT: usize> Kernel
    for Columns<'_, '_, T, K, N, OUT>
{
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        for c in 0..self.columns[0].len() {
            ask(self.ahead, self.row.len * size_of::<T>());
            let p = core::array::from_fn(|k| self.p[k].wrapping_offset(self.columns[k][c]));
            // SAFETY: made by a walk, over elements that its plan visits or buffers of them.
            unsafe {
                if K::STREAMS && self.large {
                    self.kernel.stream(isa, self.row.len, p, self.row.stride);
                } else {
                    self.kernel.row(isa, self.row.len, p, self.row.stride);
                }
            }
        }
    }
}

/// Work that is done a little later than it comes up, when its lines have been fetched.
struct Later<W, F, const DISTANCE: usize> {
    queue: ArrayVec<W, DISTANCE>,
    at: usize,
    body: F,
}

impl<W: Copy, F: FnMut(W), const DISTANCE: usize> Later<W, F, DISTANCE> {
    fn new(body: F) -> Self {
        Later { queue: ArrayVec::new(), at: 0, body }
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

/// Loops over boxes of `extent` of the axis at `shared`, and over the other axes, in the order of
/// operand k.
fn by_input<const N: usize>(
    axes: &[Axis<N>],
    shared: usize,
    k: usize,
    extent: usize,
) -> ArrayVec<Loop, { MAX_NDIM + 1 }> {
    let mut loops = ArrayVec::<Loop, _>::new();
    for (axis, a) in axes.iter().enumerate().skip(shared) {
        let (extent, side) = if axis == shared { (extent, Some(0)) } else { (1, None) };
        let rank = |l: &Loop| axes[l.axis].stride[k].saturating_mul(l.extent as isize);
        let new = Loop { axis, len: a.len, extent, first: extent, side };
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
    let runs = strips.runs;
    let start = At { p: [target, source], group: 0, turn: 0, first: true, last: true };
    let mut plans = [const { GroupPlan::new() }; PLANS];
    along_strips(&strips.loops, start, &mut |at| {
        let [target, source] = at.p;
        let plan = &mut plans[at.group % PLANS];
        plan.set(strips, &at);
        let Group { start, lines, short } = plan.group;
        if lines > 0 {
            let rows = &plan.rows[..];
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
                let ends = [&plan.alone[0][..], &plan.alone[1][..]];
                dispatch(Strip {
                    item,
                    source,
                    target,
                    rows,
                    cols,
                    column_step,
                    short,
                    ends,
                    next: strips.next_block(&plan.group, at.turn),
                });
            }
        }
        for end in plan.ends.iter().flatten() {
            let rows: ArrayVec<isize, MAX_ROWS> = strips.rows(end.start, end.bytes).collect();
            copy_end(end, &columns, item, runs, [target, source], &rows);
        }
    });
}

/// Groups whose plans are kept: short strips of few groups take turns.
const PLANS: usize = 8;

/// What the strips of one group share. Large, and so written in place.
struct GroupPlan {
    of: Option<(usize, bool, bool)>,
    group: Group,
    /// See [`Strips::rows`].
    rows: ArrayVec<isize, MAX_ROWS>,
    /// The rows of the ends that a strip copies along, which are those of single columns.
    alone: [ArrayVec<isize, MAX_ROWS>; 2],
    /// The others.
    ends: [Option<End>; 2],
}

impl GroupPlan {
    const fn new() -> GroupPlan {
        GroupPlan {
            of: None,
            group: Group { start: 0, lines: 0, short: 0 },
            rows: ArrayVec::new_const(),
            alone: [const { ArrayVec::new_const() }; 2],
            ends: [None; 2],
        }
    }

    /// For the strip at `at`; nothing to do if this is the plan of its group.
    #[inline]
    fn set(&mut self, strips: &Strips, at: &At) {
        let of = Some((at.group, at.first, at.last));
        if self.of == of {
            return;
        }
        self.of = of;
        self.group = strips.group(at.group, at.last);
        self.ends = strips.ends(at.group, at.first, at.last);
        self.rows.clear();
        self.rows.extend(strips.rows(self.group.start, self.group.lines * LINE));
        for (end, alone) in self.ends.iter_mut().zip(&mut self.alone) {
            alone.clear();
            let single = |end: &mut End| !strips.runs && self.group.lines > 0 && end.columns == 1;
            if let Some(end) = end.take_if(single) {
                alone.extend(strips.rows(end.start, end.bytes));
            }
        }
    }
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
                ahead: &mut [],
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
struct Buffer64([MaybeUninit<u8>; NEAR.volume]);

/// The byte offsets of a matrix's rows or columns.
struct Table(ArrayVec<isize, MAX_SIDE>);

impl Table {
    fn new(tiling: &Tiling, role: Role, stride: impl Fn(&Side) -> isize) -> Table {
        let mut table = Table(ArrayVec::new());
        table.fill(tiling, role, stride);
        table
    }

    fn fill(&mut self, tiling: &Tiling, role: Role, stride: impl Fn(&Side) -> isize) {
        let Table(table) = self;
        table.clear();
        table.push(0);
        for side in tiling.matrix(role) {
            let inner = table.len();
            for i in 1..side.extent {
                let by = i as isize * stride(side);
                for j in 0..inner {
                    table.push(table[j] + by);
                }
            }
        }
    }

    /// The step from one to the next, if it is even.
    fn step(&self) -> Option<isize> {
        let step = self.0.get(1).map_or(0, |second| second - self.0[0]);
        self.0.windows(2).all(|w| w[1] - w[0] == step).then_some(step)
    }
}

/// An operand that is brought to a buffer.
struct Source {
    /// The bytes that move as one.
    item: usize,
    rows: Table,
    /// Their step, if it is even.
    even: Option<isize>,
    /// From one column to the next.
    step: isize,
}

impl Source {
    /// Those of the inputs that are in another order.
    fn each<const N: usize, const OUT: usize>(
        tiling: &Tiling,
        axes: &[Axis<N>],
        crossing: &Crossing,
    ) -> [Option<Source>; N] {
        // Filled where they stay: tables are large.
        let mut sources = [const { None }; N];
        for k in OUT..N {
            if crossing.crosses(axes, k)
                && let Some(step) = Source::step(tiling, axes, k)
            {
                let (item, rows) = (crossing.item, Table(ArrayVec::new()));
                let source = sources[k].insert(Source { item, rows, even: None, step });
                source.rows.fill(tiling, Role::Row, |side| axes[side.axis].stride[k]);
                source.even = source.rows.step();
            }
        }
        sources
    }

    /// From one column to the next, if that is even.
    fn step<const N: usize>(tiling: &Tiling, axes: &[Axis<N>], k: usize) -> Option<isize> {
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
        Some(run.stride[k])
    }

    /// Brings some rows of a box to columns at these offsets, which may be at an even step.
    fn bring(
        &self,
        source: *const u8,
        target: *mut u8,
        rows: Range<usize>,
        (columns, column_step): (&[isize], Option<isize>),
        layers: &[(usize, isize, isize)],
        ahead: &mut [Ahead],
    ) {
        let (item, rows) = (self.item, &self.rows.0[rows]);
        if let ([], Some(row_step), Some(column_step)) = (layers, self.even, column_step)
            && self.step == item as isize
            && is_word(item)
        {
            let (source, target) =
                (source.wrapping_offset(rows[0]), target.wrapping_offset(columns[0]));
            let shape = [rows.len(), columns.len()];
            return dispatch(Matrix { item, shape, source, target, row_step, column_step, ahead });
        }
        dispatch(Bring { item, source, target, rows, columns, step: self.step, layers, ahead });
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
