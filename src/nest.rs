//! Walks: a plan bound to its operands' memory, and the loops down to the kernel.

pub(crate) mod indexed;
mod tiles;
pub(crate) mod vectors;

use crate::error::Error;
use crate::isa::{Isa, Kernel, dispatch};
use crate::kernel::Rows;
use crate::kernel::in_place::{self, Scratch};
use crate::kernel::reduce::{Amax, BLOCK_BYTES, Reduce, Tree, abs1, block};
use crate::kernel::tiles::bytes::fence;
use crate::kernel::update::{OutputRunner, Runner};
use crate::layout::refuse_overlap;
use crate::plan::{Axis, Plan};
use crate::scalar::{Element, Scalar};
use crate::tiling::Crossing;
use crate::view::{Cells, Operand};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
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
    operands: PhantomData<Operand<'v, T>>,
}

impl<'v, T, const N: usize, const OUT: usize> Walk<'v, T, N, OUT> {
    /// A walk over nothing.
    #[inline]
    pub fn new() -> Self {
        let base = [core::ptr::null_mut(); N];
        Walk { plan: Plan::new(), base, operands: PhantomData }
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

    /// Runs a kernel of rows over every element.
    pub fn run<K: Rows<T, N, OUT>>(&self, kernel: K) {
        let Walk { plan, base, .. } = self;
        if plan.empty {
            return;
        }
        let block = plan.block();
        let first = step(*base, plan.offset);
        if plan.axes.len() <= 1 {
            // SAFETY: the operands are valid views of T, checked for overlap when planned, and the
            // plan visits their elements only.
            if unsafe { kernel.blas(block[0].len, first, block[0].stride) } {
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
            return dispatch(Block { kernel, block, p: first, large, elements: PhantomData });
        }
        self.run_rows(kernel, &plan.axes, first, large);
        if large {
            fence();
        }
    }

    /// Whether the outputs are larger than the caches that they would go to.
    fn is_large(&self) -> bool {
        let len: usize = self.plan.axes.iter().map(|a| a.len).product();
        len * size_of::<T>() * OUT >= LARGE
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
    /// The same walk over the real and imaginary parts.
    pub fn parts(&self) -> Walk<'v, T::Real, N, OUT> {
        let mut walk = Walk::new();
        walk.plan.reset();
        let item = size_of::<T::Real>();
        walk.plan.push(size_of::<T>() / item, [item as isize; N]);
        walk.plan.axes.extend(self.plan.axes.iter().copied());
        walk.plan.fuse();
        walk.plan.empty = self.plan.empty;
        walk.plan.offset = self.plan.offset;
        walk.base = self.base;
        walk
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
        let mut tree = Tree::new();
        self.blocks(|number, n, p| {
            // SAFETY: blocks are of dense, aligned elements of the views.
            let by_blas = unsafe { reduce.blas(n, p) };
            let value = by_blas
                .unwrap_or_else(|| dispatch(OneBlock { reduce, n, p, elements: PhantomData }));
            tree.push(number, value, |a, b| reduce.combine(a, b));
        });
        tree.result(|a, b| reduce.combine(a, b))
    }

    /// Hands out the elements of the first M operands in blocks of [`block`] (the last may be
    /// shorter), dense and aligned: where they lie, or as a copy.
    #[inline]
    fn blocks<const M: usize>(&self, mut body: impl FnMut(usize, usize, [*const u8; M])) {
        let Walk { plan, base, .. } = self;
        if plan.empty {
            return;
        }
        let first = step(*base, plan.offset);
        let [row, rows] = plan.block();
        let item = size_of::<T>();
        if rows.len == 1 && (0..M).all(|k| is_dense::<T>(first[k], row.stride[k])) {
            let mut done = 0;
            while done < row.len {
                let n = block::<T>().min(row.len - done);
                let p = core::array::from_fn(|k| first[k].wrapping_add(done * item).cast_const());
                body(done / block::<T>(), n, p);
                done += n;
            }
        } else {
            self.packed_blocks(first, &mut body);
        }
    }

    #[inline(never)]
    fn packed_blocks<const M: usize>(
        &self,
        first: [*mut u8; N],
        body: &mut dyn FnMut(usize, usize, [*const u8; M]),
    ) {
        let mut scratch = [const { Buffer(MaybeUninit::uninit()) }; M];
        // The element of which a whole copy consists, where that is one.
        let mut repeated = [None; M];
        let (mut filled, mut number) = (0, 0);
        let row = self.plan.axes.first().copied().unwrap_or(Axis::ONE);
        let outer = self.plan.axes.get(1..).unwrap_or(&[]);
        nest(outer, first, &mut |p| {
            let mut done = 0;
            while done < row.len {
                let n = (block::<T>() - filled).min(row.len - done);
                let from = step(p, row.stride.map(|s| s * done as isize));
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
                (filled, done) = (filled + n, done + n);
                if filled == block::<T>() {
                    body(number, filled, dense);
                    (filled, number) = (0, number + 1);
                }
            }
        });
        if filled > 0 {
            body(number, filled, scratch.each_ref().map(|s| s.0.as_ptr().cast()));
        }
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
        let mut best: Option<(f64, usize)> = None;
        // Visited in logical order, an equal element comes too late.
        let ordered = matches!(self.plan.axes[..], [] | [Axis { stride: [_, 1], .. }]);
        self.blocks(|number, n, p: [*const u8; 1]| {
            let max = dispatch(OneBlock { reduce: Amax, n, p, elements: PhantomData::<T> });
            // The better value, or the same one, which may have come before in logical order.
            let rank = |v: f64| if v.is_nan() { f64::INFINITY } else { v };
            let contends = best.is_none_or(|(b, _)| {
                let beats = if b.is_nan() { false } else { max.is_nan() || max > b };
                beats || (!ordered && rank(max) == rank(b))
            });
            if !contends {
                return;
            }
            let at = self.first_match(number * block::<T>(), n, p[0], max);
            best = match best {
                Some((b, i)) if b == max || (b.is_nan() && max.is_nan()) => Some((b, i.min(at))),
                _ => Some((max, at)),
            };
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
        const FEW: usize = 256;
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
    let needs = steps.iter().map(|&[_, m, n, run]| Scratch::needed(m, n, run * size));
    let mut scratch = Scratch::new(needs.max().unwrap_or(0))?;
    for &[batches, rows, cols, run] in steps {
        assert_eq!(batches * rows * cols * run, a.layout.len());
        let item = run * size;
        for batch in 0..batches {
            let p = a.base.wrapping_add(batch * rows * cols * item);
            // SAFETY: part of a dense view that is written by nobody else.
            unsafe { in_place::transpose(p, rows, cols, item, &mut scratch) };
        }
    }
    Ok(())
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
    let (down, right) = (a.layout.stride(d), a.layout.stride(e));
    nest(&plan.axes, step([a.base], plan.offset), &mut |[p]| {
        // SAFETY: a plane of a view that is written by nobody else.
        unsafe { in_place::transpose_square(p, n, item, down, right) };
    });
}
