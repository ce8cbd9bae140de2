//! Walks: a plan bound to its operands' memory, and the loops down to the kernel.

pub(crate) mod indexed;
mod tiles;
pub(crate) mod vectors;

use crate::MAX_NDIM;
use crate::error::Error;
use crate::isa::{Isa, Kernel, dispatch};
use crate::kernel::Rows;
use crate::kernel::in_place::{self, Passes, Scratch};
use crate::kernel::reduce::{Amax, BLOCK_BYTES, Reduce, Tree, abs1, block};
use crate::kernel::tiles::bytes::fence;
use crate::kernel::update::{OutputRunner, Runner};
use crate::layout::refuse_overlap;
use crate::plan::{Axis, Plan};
use crate::scalar::{Element, Scalar};
use crate::threads;
use crate::tiling::Crossing;
use crate::view::{Cells, Operand};
use arrayvec::ArrayVec;
use core::cmp::Ordering;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;
use std::sync::OnceLock;
use tiles::LARGE;

/// Steps pointers along an axis.
///
/// Wrapping, because the step after the last element may leave the allocation.
#[inline(always)]
pub(crate) fn step<const N: usize>(mut p: [*mut u8; N], by: [isize; N]) -> [*mut u8; N] {
    for k in 0..N {
        p[k] = p[k].wrapping_offset(by[k]);
    }
    p
}

/// N operands with elements of T and the plan of a walk over them; the first OUT are outputs.
///
/// Whatever is walked has been checked, and came from views. Made empty and then planned in place,
/// because it is large.
#[repr(C)]
pub(crate) struct Walk<'v, T, const N: usize, const OUT: usize> {
    plan: Plan<N>,
    base: [*mut u8; N],
    /// The elements of the whole walk of which this is a part, 0 if it is no part.
    whole: usize,
    operands: PhantomData<Operand<'v, T>>,
}

// SAFETY: a walk is a promise about cells that its call has for itself, whichever thread visits them.
unsafe impl<T: Sync, const N: usize, const OUT: usize> Sync for Walk<'_, T, N, OUT> {}

impl<'v, T, const N: usize, const OUT: usize> Walk<'v, T, N, OUT> {
    /// A walk over nothing.
    #[inline]
    pub fn new() -> Self {
        let base = [core::ptr::null_mut(); N];
        Walk { plan: Plan::new(), base, whole: 0, operands: PhantomData }
    }

    /// Plans an element-wise walk: the operands broadcast to the first, all outputs have its shape,
    /// and an output may be an input, element for element, but shares nothing else.
    ///
    /// # Errors
    /// [`Error::Broadcast`], [`Error::Shape`], [`Error::Overlap`].
    #[inline]
    pub fn plan(&mut self, operands: [&Operand<'v, T>; N]) -> Result<(), Error> {
        prepare(&mut self.plan, OUT, &operands.map(|o| &**o))?;
        self.base = operands.map(|o| o.base);
        Ok(())
    }

    /// The same walk with the elements as words of their size.
    #[inline]
    fn as_words(&self) -> &Walk<'v, T::Word, N, OUT>
    where
        T: Element,
    {
        // SAFETY: T is in the type for its size only, which a word shares, and any bytes make words.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }

    /// Runs a kernel that moves words.
    #[inline]
    pub fn run_words<K: Rows<T::Word, N, OUT>>(&self, kernel: K)
    where
        T: Element,
    {
        self.as_words().run(kernel);
    }

    /// Runs a kernel of rows over every element, on this thread or on several.
    pub fn run<K: Rows<T, N, OUT>>(&self, kernel: K)
    where
        T: Sync,
    {
        if self.plan.empty {
            return;
        }
        let parts = threads::parts(self.len() * size_of::<T>() * N);
        if parts <= 1 {
            return self.run_here(kernel);
        }
        self.in_parts(parts, &|part| part.run_here(kernel));
    }

    /// The number of elements; the plan is not empty.
    #[inline]
    fn len(&self) -> usize {
        self.plan.axes.iter().map(|a| a.len).product()
    }

    /// Shares the walk among threads: contiguous ranges of its outermost axis that is long enough, so
    /// that no two write to one cache line for long.
    #[cold]
    fn in_parts(&self, parts: usize, run: &(dyn Fn(&Self) + Sync))
    where
        T: Sync,
    {
        let axes = &self.plan.axes;
        let enough = |&d: &usize| axes[d].len >= 4 * parts;
        let longest = || (0..axes.len()).max_by_key(|&d| axes[d].len);
        let Some(d) = (0..axes.len()).rev().find(enough).or_else(longest) else {
            return run(self);
        };
        let len = axes[d].len;
        // Whole tiles, and of the innermost axis whole cache lines.
        let even = [64, 16].into_iter().find(|even| len >= 2 * parts * even).unwrap_or(1);
        let chunk = len.div_ceil(parts).next_multiple_of(even);
        threads::share(len.div_ceil(chunk), &|i| {
            let start = i * chunk;
            let mut part = Walk::new();
            part.plan.reset();
            part.plan.axes.extend(axes.iter().copied());
            part.plan.axes[d].len = chunk.min(len - start);
            if part.plan.axes[d].len == 1 {
                part.plan.axes.remove(d);
            }
            part.base = step(self.first(), axes[d].stride.map(|s| s * start as isize));
            part.whole = self.len();
            run(&part);
        });
    }

    /// Made where it is needed: what is copied right after it was written stalls a short call.
    #[inline(always)]
    fn first(&self) -> [*mut u8; N] {
        step(self.base, self.plan.offset)
    }

    fn run_here<K: Rows<T, N, OUT>>(&self, kernel: K) {
        let Walk { plan, .. } = self;
        if plan.axes.len() <= 1 {
            let [row, _] = plan.block();
            // SAFETY: the operands are valid views of T, checked for overlap when planned, and the
            // plan visits their elements only.
            if unsafe { kernel.blas(row.len, self.first(), row.stride) } {
                return;
            }
        } else if let Some(crossing) =
            Crossing::find::<N, OUT>(&plan.axes, size_of::<T>(), K::COPIES)
        {
            return self.run_by_tiles(kernel, crossing);
        }
        let large = K::STREAMS && self.is_large();
        if plan.axes.len() <= 2 && !large {
            // The short way of a short call.
            return dispatch(Block {
                kernel,
                block: plan.block(),
                p: self.first(),
                large,
                elements: PhantomData,
            });
        }
        self.run_rows(kernel, &plan.axes, self.first(), large);
        if large {
            fence();
        }
    }

    /// The bytes of the outputs, of the whole walk.
    fn output_bytes(&self) -> usize {
        self.len().max(self.whole) * size_of::<T>() * OUT
    }

    /// Whether the outputs are larger than the caches that they would go to.
    fn is_large(&self) -> bool {
        self.output_bytes() >= LARGE
    }

    /// Runs a kernel over rows along the first axis.
    #[inline(never)]
    fn run_rows<K: Rows<T, N, OUT>>(
        &self,
        kernel: K,
        axes: &[Axis<N>],
        first: [*mut u8; N],
        large: bool,
    ) {
        let axis = |i| axes.get(i).copied().unwrap_or(Axis::ONE);
        let block = [axis(0), axis(1)];
        nest(axes.get(2..).unwrap_or(&[]), first, &mut |p| {
            dispatch(Block { kernel, block, p, large, elements: PhantomData });
        });
    }
}

/// See [`Walk::plan`]. On an error the plan visits nothing.
fn prepare<const N: usize>(
    plan: &mut Plan<N>,
    outs: usize,
    operands: &[&Cells; N],
) -> Result<(), Error> {
    let lead = operands[0];
    let planned = plan.broadcast(operands);
    let checked = planned.and_then(|()| {
        for (i, &out) in operands[..outs].iter().enumerate() {
            assert!(out.writable);
            if i > 0 && out.layout.shape() != lead.layout.shape() {
                return Err(unequal_outputs(out, lead));
            }
            for (j, &other) in operands.iter().enumerate().skip(i + 1) {
                refuse_overlap(out, other, j >= outs)?;
            }
        }
        Ok(())
    });
    plan.empty |= checked.is_err();
    checked
}

#[cold]
fn unequal_outputs(out: &Cells, lead: &Cells) -> Error {
    Error::Shape {
        arg: out.name,
        shape: out.layout.shape().into(),
        expected: lead.layout.shape().into(),
        why: "the shape of the other output",
    }
}

impl<'v, T: Scalar, const N: usize, const OUT: usize> Walk<'v, T, N, OUT> {
    /// Runs a kernel over the real and imaginary parts.
    pub fn run_on_parts<K: Rows<T::Real, N, OUT>>(&self, kernel: K) {
        let parts = size_of::<T>() / size_of::<T::Real>();
        if parts == 1 {
            // SAFETY: a real T is its own T::Real, and the walk has no other trace of its type.
            let walk = unsafe { &*core::ptr::from_ref(self).cast::<Walk<'v, T::Real, N, OUT>>() };
            return walk.run(kernel);
        }
        let mut walk = Walk::<T::Real, N, OUT>::new();
        walk.plan.reset();
        walk.plan.push(parts, [size_of::<T::Real>() as isize; N]);
        walk.plan.axes.extend(self.plan.axes.iter().copied());
        walk.plan.fuse();
        walk.plan.empty = self.plan.empty;
        walk.plan.offset = self.plan.offset;
        walk.base = self.base;
        walk.run(kernel);
    }
}

impl<T: Element, const N: usize> OutputRunner<T> for &Walk<'_, T, N, 1> {
    fn run_on_output<K: Rows<T, 1, 1>>(self, kernel: K) {
        self.output().run(kernel);
    }

    fn run_words_on_output<K: Rows<T::Word, 1, 1>>(self, kernel: K) {
        self.output().run_words(kernel);
    }
}

impl<'v, T, const N: usize> Walk<'v, T, N, 1> {
    /// A walk over the output alone.
    fn output(&self) -> Walk<'v, T, 1, 1> {
        let mut walk = Walk::new();
        walk.plan.reset();
        for axis in &self.plan.axes {
            // The output moves on every axis, and its strides were what decided the order.
            walk.plan.axes.push(Axis { len: axis.len, stride: [axis.stride[0]] });
        }
        walk.plan.fuse();
        walk.plan.empty = self.plan.empty;
        walk.plan.offset = [self.plan.offset[0]];
        walk.base = [self.base[0]];
        walk
    }
}

impl<T: Element> Runner<T> for &Walk<'_, T, 2, 1> {
    #[inline]
    fn run<K: Rows<T, 2, 1>>(self, kernel: K) {
        Walk::run(self, kernel);
    }

    #[inline]
    fn run_words<K: Rows<T::Word, 2, 1>>(self, kernel: K) {
        Walk::run_words(self, kernel);
    }
}

/// Calls `body` with the pointers of every index of `axes` (the innermost first).
fn nest<const N: usize>(axes: &[Axis<N>], mut p: [*mut u8; N], body: &mut dyn FnMut([*mut u8; N])) {
    match axes {
        [] => body(p),
        [inner @ .., axis] => {
            for _ in 0..axis.len {
                nest(inner, p, body);
                p = step(p, axis.stride);
            }
        }
    }
}

/// Rows of one length at one distance.
struct Block<T, K, const N: usize, const OUT: usize> {
    kernel: K,
    block: [Axis<N>; 2],
    p: [*mut u8; N],
    /// Past the caches.
    large: bool,
    elements: PhantomData<T>,
}

impl<T, K: Rows<T, N, OUT>, const N: usize, const OUT: usize> Kernel for Block<T, K, N, OUT> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let [row, rows] = self.block;
        let mut p = self.p;
        for _ in 0..rows.len {
            // SAFETY: made by a walk, over elements that its plan visits or buffers of them.
            unsafe {
                if K::STREAMS && self.large {
                    self.kernel.stream(isa, row.len, p, row.stride);
                } else {
                    self.kernel.row(isa, row.len, p, row.stride);
                }
            }
            p = step(p, rows.stride);
        }
    }
}

/// Reductions: walks without outputs, in blocks.
impl<'v, T: Scalar, const N: usize> Walk<'v, T, N, 0> {
    /// Reduces every element; `None` of nothing.
    pub fn reduce<R: Reduce<T, N>>(&self, reduce: R) -> Option<R::Output> {
        let combine = |a, b| reduce.combine(a, b);
        let value = |n, p| {
            // SAFETY: blocks are of dense, aligned elements of the views.
            let by_blas = unsafe { reduce.blas(n, p) };
            by_blas.unwrap_or_else(|| dispatch(OneBlock { reduce, n, p, elements: PhantomData }))
        };
        if self.plan.empty {
            return None;
        }
        if self.len() <= block::<T>() {
            // The short way of a short call: without a tree.
            let mut only = None;
            self.blocks(0..1, |_, n, p| only = Some(value(n, p)));
            return only;
        }
        let run = |range, tree: &mut Tree<R::Output>| {
            self.blocks(range, |number, n, p| tree.push(number, value(n, p), combine));
        };
        let mut whole = Tree::default();
        self.in_ranges(N, run, &mut whole, |whole, start, tree| {
            whole.append(start, tree, combine);
        });
        whole.result(combine)
    }

    /// Shares the blocks of M operands among threads: `run` makes a result of a range of them, `join`
    /// takes those of later ranges, from left to right, with the number of their first block.
    #[inline]
    fn in_ranges<A: Default + Send + Sync>(
        &self,
        operands: usize,
        run: impl Fn(Range<usize>, &mut A) + Sync,
        whole: &mut A,
        join: impl Fn(&mut A, usize, &A),
    ) {
        if self.plan.empty {
            return;
        }
        let blocks = self.len().div_ceil(block::<T>());
        let parts = threads::parts(self.len() * size_of::<T>() * operands).min(blocks);
        if parts <= 1 {
            return run(0..blocks, whole);
        }
        let chunk = blocks.div_ceil(parts);
        let results: Vec<OnceLock<A>> =
            (0..blocks.div_ceil(chunk)).map(|_| OnceLock::new()).collect();
        threads::share(results.len(), &|i| {
            let mut result = A::default();
            run(i * chunk..blocks.min((i + 1) * chunk), &mut result);
            let _ = results[i].set(result);
        });
        for (i, result) in results.iter().filter_map(OnceLock::get).enumerate() {
            join(whole, i * chunk, result);
        }
    }

    /// Hands out the elements of the first M operands in blocks of [`block`] (the last may be
    /// shorter), dense and aligned: where they lie, or as a copy. The plan is not empty.
    #[inline]
    fn blocks<const M: usize>(
        &self,
        range: Range<usize>,
        mut body: impl FnMut(usize, usize, [*const u8; M]),
    ) {
        let first = self.first();
        let [row, rows] = self.plan.block();
        let item = size_of::<T>();
        // One element is dense whatever it is the first of.
        let strides = if row.len == 1 { [item as isize; N] } else { row.stride };
        if rows.len == 1 && (0..M).all(|k| is_dense::<T>(first[k], strides[k])) {
            for number in range {
                let done = number * block::<T>();
                let n = block::<T>().min(row.len - done);
                let p = core::array::from_fn(|k| first[k].wrapping_add(done * item).cast_const());
                body(number, n, p);
            }
        } else {
            self.packed_blocks(first, range, &mut body);
        }
    }

    #[inline(never)]
    fn packed_blocks<const M: usize>(
        &self,
        first: [*mut u8; N],
        range: Range<usize>,
        body: &mut dyn FnMut(usize, usize, [*const u8; M]),
    ) {
        let mut scratch = [const { Buffer(MaybeUninit::uninit()) }; M];
        // The element of which a whole copy consists, where that is one.
        let mut repeated = [None; M];
        let row = self.plan.axes.first().copied().unwrap_or(Axis::ONE);
        let start = range.start * block::<T>();
        let mut left = self.len().min(range.end * block::<T>()) - start;
        let mut rows =
            Odometer::new(self.plan.axes.get(1..).unwrap_or(&[]), first, start / row.len);
        let (mut filled, mut number, mut done) = (0, range.start, start % row.len);
        while left > 0 {
            let n = (block::<T>() - filled).min(row.len - done).min(left);
            let from = step(rows.p, row.stride.map(|s| s * done as isize));
            let dense = core::array::from_fn(|k| {
                if n == block::<T>() && is_dense::<T>(from[k], row.stride[k]) {
                    return from[k].cast_const();
                }
                let repeats = (n == block::<T>() && row.stride[k] == 0).then_some(from[k]);
                if repeats.is_some() && repeated[k] == repeats {
                    return scratch[k].0.as_ptr().cast();
                }
                repeated[k] = repeats;
                let buffer = scratch[k].0.as_mut_ptr().cast::<T>();
                let mut source = from[k];
                for i in filled..filled + n {
                    // SAFETY: an element that the plan visits, and room for one of a block.
                    unsafe { buffer.add(i).write(source.cast::<T>().read_unaligned()) };
                    source = source.wrapping_offset(row.stride[k]);
                }
                scratch[k].0.as_ptr().cast()
            });
            (filled, done, left) = (filled + n, done + n, left - n);
            if filled == block::<T>() || left == 0 {
                body(number, filled, dense);
                (filled, number) = (0, number + 1);
            }
            if done == row.len {
                done = 0;
                rows.advance(1);
            }
        }
    }
}

/// The pointers of one index of some axes after the other, from any on.
struct Odometer<'a, const N: usize> {
    axes: &'a [Axis<N>],
    index: ArrayVec<usize, { MAX_NDIM + 1 }>,
    p: [*mut u8; N],
}

impl<'a, const N: usize> Odometer<'a, N> {
    fn new(axes: &'a [Axis<N>], first: [*mut u8; N], start: usize) -> Self {
        let (mut rest, mut p) = (start, first);
        let mut index = ArrayVec::new();
        for axis in axes {
            let i = rest % axis.len;
            index.push(i);
            p = step(p, axis.stride.map(|s| s * i as isize));
            rest /= axis.len;
        }
        Odometer { axes, index, p }
    }

    /// Moves on by n along the first axis, which may end there. Returns the axis that has not ended,
    /// or the number of axes after the last index.
    fn advance(&mut self, n: usize) -> usize {
        let mut by = n;
        for (d, (axis, i)) in self.axes.iter().zip(&mut self.index).enumerate() {
            *i += by;
            let back = if *i < axis.len { 0 } else { axis.len };
            *i -= back;
            let moved = by as isize - back as isize;
            self.p = step(self.p, axis.stride.map(|s| s.wrapping_mul(moved)));
            if back == 0 {
                return d;
            }
            by = 1;
        }
        self.axes.len()
    }
}

/// A block's copy of one operand.
#[repr(align(64))]
struct Buffer(MaybeUninit<[u8; BLOCK_BYTES]>);

/// Whether a row is one of elements in a slice.
#[inline]
fn is_dense<T>(p: *mut u8, stride: isize) -> bool {
    stride == size_of::<T>() as isize && p.addr().is_multiple_of(align_of::<T>())
}

/// The position of the greatest element: the second operand is no memory, but steps by 1 from one
/// logical index to the next.
impl<'v, T: Scalar> Walk<'v, T, 2, 0> {
    /// Plans a walk over x that knows where it is.
    pub fn plan_with_position(&mut self, x: &Operand<'v, T>) {
        self.position(x);
    }
}

impl<T: Element> Walk<'_, T, 2, 0> {
    fn position(&mut self, x: &Cells) {
        self.plan.reset();
        self.plan.empty = x.layout.is_empty();
        let mut index = 1;
        for (len, stride) in x.layout.axes_from_last() {
            self.plan.push(len, [stride, index]);
            index = index.wrapping_mul(len as isize);
        }
        self.plan.fuse();
        self.base = [x.base, core::ptr::null_mut()];
    }
}

impl<T: Scalar> Walk<'_, T, 2, 0> {
    /// The flat row-major index of the first NaN, or else of the first element whose |re| + |im|
    /// is the greatest; `None` of nothing.
    pub fn iamax(&self) -> Option<usize> {
        // Visited in logical order, an equal element comes too late.
        let ordered = matches!(self.plan.axes[..], [] | [Axis { stride: [_, 1], .. }]);
        let run = |range, best: &mut Option<(f64, usize)>| {
            self.blocks(range, |number, n, p: [*const u8; 1]| {
                let max = dispatch(OneBlock { reduce: Amax, n, p, elements: PhantomData::<T> });
                let order = best.map_or(Ordering::Greater, |(b, _)| compare(max, b));
                if order == Ordering::Greater || (order == Ordering::Equal && !ordered) {
                    let at = self.first_match(number * block::<T>(), n, p[0], max);
                    better(best, (max, at));
                }
            });
        };
        let mut best = None;
        self.in_ranges(1, run, &mut best, |best, _, found| {
            if let Some(found) = *found {
                better(best, found);
            }
        });
        best.map(|(_, i)| i)
    }

    /// The least logical index of those among `n` dense elements, visited from `position` on,
    /// whose |re| + |im| is `max`.
    fn first_match(&self, position: usize, n: usize, p: *const u8, max: f64) -> usize {
        let matches = |i: usize| {
            // SAFETY: a block's element.
            let v = unsafe { abs1::<T>(p.wrapping_add(i * size_of::<T>())) };
            v == max || (max.is_nan() && v.is_nan())
        };
        // By registers down to a few elements, then one by one.
        const FEW: usize = 128;
        let may_match = |range: core::ops::Range<usize>| {
            let part = p.wrapping_add(range.start * size_of::<T>());
            let (n, p, elements) = (range.len(), [part], PhantomData::<T>);
            let greatest = dispatch(OneBlock { reduce: Amax, n, p, elements });
            greatest == max || greatest.is_nan()
        };
        let row = self.plan.axes.first().copied().unwrap_or(Axis::ONE);
        let (mut least, mut done) = (usize::MAX, 0);
        while done < n {
            // Along a row the logical index rises or falls evenly.
            let piece = (row.len - (position + done) % row.len).min(n - done);
            let (start, end) = (done, done + piece);
            let parts =
                (0..piece.div_ceil(FEW)).map(|i| start + i * FEW..end.min(start + (i + 1) * FEW));
            let found = if row.stride[1] < 0 {
                parts
                    .rev()
                    .filter(|r| may_match(r.clone()))
                    .find_map(|mut r| r.rfind(|&i| matches(i)))
            } else {
                let mut parts = parts.filter(|r| may_match(r.clone()));
                parts.find_map(|mut r| r.find(|&i| matches(i)))
            };
            if let Some(i) = found {
                least = least.min(self.logical_index(position + i));
            }
            done = end;
        }
        least
    }

    /// The logical index of the element visited at `position`.
    fn logical_index(&self, position: usize) -> usize {
        let mut rest = position;
        let mut index = self.plan.offset[1];
        for axis in &self.plan.axes {
            index += (rest % axis.len) as isize * axis.stride[1];
            rest /= axis.len;
        }
        index as usize
    }
}

/// By size, NaN above all.
fn compare(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Keeps the greater, of equals that with the lower index.
fn better(best: &mut Option<(f64, usize)>, found: (f64, usize)) {
    let beats = |b: &(f64, usize)| compare(found.0, b.0).then(b.1.cmp(&found.1)).is_gt();
    if best.as_ref().is_none_or(beats) {
        *best = Some(found);
    }
}

/// One block of a reduction.
struct OneBlock<T, R, const N: usize> {
    reduce: R,
    n: usize,
    p: [*const u8; N],
    elements: PhantomData<T>,
}

impl<T: Scalar, R: Reduce<T, N>, const N: usize> Kernel for OneBlock<T, R, N> {
    type Output = R::Output;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> R::Output {
        // SAFETY: made by Walk::reduce from a block's dense elements.
        unsafe { self.reduce.block(isa, self.n, self.p) }
    }
}

/// Transposes `batches` dense matrices of rows x cols items, one after another, in place, for each
/// of `steps`: (batches, rows, cols, the elements of an item). The operand is dense.
pub(crate) fn transpose_dense<T: Element>(
    a: &Operand<T>,
    steps: &[[usize; 4]],
) -> Result<(), Error> {
    assert!(a.writable && a.layout.is_dense());
    let size = size_of::<T>();
    let passes = |&[_, rows, cols, run]: &[usize; 4]| Passes::new(rows, cols, run * size);
    let needs = steps.iter().map(|step| passes(step).scratch()).max().unwrap_or(0);
    let parts = threads::parts(2 * a.layout.len() * size);
    let scratch = (0..threads::threads_of(parts)).map(|_| Scratch::new(needs));
    let mut scratch = scratch.collect::<Result<Vec<_>, _>>()?;
    let base = Cell(a.base);
    for step @ &[batches, rows, cols, run] in steps {
        assert_eq!(batches * rows * cols * run, a.layout.len());
        let passes = passes(step);
        let matrix = |batch: usize| base.at(batch * rows * cols * run * size);
        // Whole matrices, or where they are few, a pass over one after the other.
        if batches >= parts {
            share_range(batches, parts, &mut scratch, &|batches, scratch| {
                for batch in batches {
                    for pass in passes.each() {
                        // SAFETY: part of a dense view that is written by nobody else.
                        unsafe { passes.run(pass, 0..passes.units(pass), matrix(batch), scratch) };
                    }
                }
            });
            continue;
        }
        for batch in 0..batches {
            for pass in passes.each() {
                share_range(passes.units(pass), parts, &mut scratch, &|units, scratch| {
                    // SAFETY: as above; other parts have other units.
                    unsafe { passes.run(pass, units, matrix(batch), scratch) };
                });
            }
        }
    }
    Ok(())
}

/// Shares 0..n among threads, in at most so many parts, each with a state that it has for itself.
fn share_range<S: Send>(
    n: usize,
    parts: usize,
    states: &mut [S],
    work: &(dyn Fn(Range<usize>, &mut S) + Sync),
) {
    let chunk = n.div_ceil(parts).max(1);
    threads::share_with(n.div_ceil(chunk), states, &|i, state| {
        work(i * chunk..n.min((i + 1) * chunk), state);
    });
}

/// The cells of a call, whichever thread visits them.
struct Cell(*mut u8);

// SAFETY: a pointer is a number; what is done with it is the promise of who does it.
unsafe impl Sync for Cell {}

impl Cell {
    fn at(&self, offset: usize) -> *mut u8 {
        self.0.wrapping_add(offset)
    }
}

/// Exchanges two axes of one length, in place.
pub(crate) fn exchange_axes<T: Element>(a: &Operand<T>, d: usize, e: usize) {
    let shape = a.layout.shape();
    assert!(a.writable && d != e && shape[d] == shape[e]);
    if a.layout.is_empty() {
        return;
    }
    let (item, n) = (size_of::<T>(), shape[d] as usize);
    let mut plan = Plan::<1>::new();
    plan.reset();
    for (axis, &len) in shape.iter().enumerate() {
        if axis != d && axis != e {
            plan.push(len as usize, [a.layout.stride(axis)]);
        }
    }
    plan.fuse();
    let steps = [a.layout.stride(d), a.layout.stride(e)];
    let exchange = |rows: Range<usize>, planes: &Walk<'_, T, 1, 1>| {
        nest(&planes.plan.axes, planes.first(), &mut |[p]| {
            // SAFETY: a plane of a view that is written by nobody else; parts of one plane exchange
            // different blocks.
            unsafe { in_place::transpose_square(p, n, item, steps, rows.clone()) };
        });
    };
    let mut planes = Walk::<T, 1, 1>::new();
    planes.plan = plan;
    planes.base = [a.base];
    let parts = threads::parts(2 * a.layout.len() * item);
    if parts <= 1 {
        exchange(0..n, &planes);
    } else if planes.len() >= parts {
        planes.in_parts(parts, &|planes| exchange(0..n, planes));
    } else {
        let chunk = n.div_ceil(parts).next_multiple_of(in_place::SIDE);
        threads::share(n.div_ceil(chunk), &|i| {
            exchange(i * chunk..n.min((i + 1) * chunk), &planes);
        });
    }
}
