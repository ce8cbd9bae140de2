//! Shapes and byte strides: validity, broadcasting, permutation, overlap. Nothing here touches
//! memory; a base address is a number.

use crate::MAX_NDIM;
use crate::error::{Error, Tuple};
use crate::view::Cells;
use arrayvec::ArrayVec;
use core::ops::Range;
use smallvec::SmallVec;

/// Extents or strides of our own.
pub(crate) type Dims = SmallVec<[isize; 6]>;

/// Room on the stack for the extents or strides of any rank.
pub(crate) type DimsBuf = ArrayVec<isize, MAX_NDIM>;

/// What was found when a layout was checked.
#[derive(Debug, Clone, Copy)]
struct Measure {
    item: usize,
    len: usize,
    /// The bytes covered, from the lowest to the end of the highest.
    bounds: (isize, isize),
}

/// Where the elements of a view lie, relative to its first logical element.
///
/// Valid by construction: at most 64 axes, no negative extent, and neither the number of elements
/// nor the span of bytes overflows `isize`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout<'a> {
    shape: &'a [isize],
    /// `None`: dense, row-major.
    strides: Option<&'a [isize]>,
    measure: Measure,
}

/// A layout lent for a call: that of a C descriptor stays where it is, since copying what was just
/// written stalls; one of our own dims is made for the moment.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lent<'a> {
    There(&'a Layout<'a>),
    Made(Layout<'a>),
}

impl<'a> core::ops::Deref for Lent<'a> {
    type Target = Layout<'a>;
    #[inline]
    fn deref(&self) -> &Layout<'a> {
        match self {
            Lent::There(layout) => layout,
            Lent::Made(layout) => layout,
        }
    }
}

/// A view's layout: lent, or its own dims.
#[derive(Debug, Clone)]
pub(crate) enum Arrangement<'a> {
    Lent(Lent<'a>),
    Own(OwnDims),
}

/// Dims that were found good.
#[derive(Debug, Clone)]
pub(crate) struct OwnDims {
    shape: Dims,
    strides: Dims,
    measure: Measure,
}

impl Arrangement<'_> {
    /// Checks as [`Layout::new`] does.
    pub fn own(shape: Dims, strides: Dims, item: usize) -> Result<Self, Error> {
        let measure = Layout::new("view", &shape, Some(&strides), item)?.measure;
        Ok(Arrangement::Own(OwnDims { shape, strides, measure }))
    }

    #[inline]
    pub fn lend(&self) -> Lent<'_> {
        match self {
            Arrangement::Lent(lent) => *lent,
            Arrangement::Own(OwnDims { shape, strides, measure }) => {
                Lent::Made(Layout { shape, strides: Some(strides), measure: *measure })
            }
        }
    }
}

impl<'a> Layout<'a> {
    /// No element.
    pub const EMPTY: Self =
        Layout { shape: &[0], strides: None, measure: Measure { item: 0, len: 0, bounds: (0, 0) } };

    /// Checks shape and byte strides (`None`: dense, row-major) of elements of `item` bytes.
    #[inline(always)]
    pub fn new(
        arg: &'static str,
        shape: &'a [isize],
        strides: Option<&'a [isize]>,
        item: usize,
    ) -> Result<Self, Error> {
        if shape.len() > MAX_NDIM {
            return Err(Error::Rank { arg, ndim: shape.len() as isize });
        }
        let (mut len, mut low, mut high) = (1isize, 0isize, item as isize);
        let (mut overflow, mut negative) = (false, false);
        for (d, &n) in shape.iter().enumerate() {
            if n == 1 {
                continue;
            }
            negative |= n < 0;
            let (l, o) = len.overflowing_mul(n);
            (len, overflow) = (l, overflow | o);
            if let Some(&s) = strides.and_then(|strides| strides.get(d)) {
                // Of an empty axis this is nonsense, and dropped below.
                let (reach, o1) = n.wrapping_sub(1).overflowing_mul(s);
                let (l, o2) = low.overflowing_add(reach.min(0));
                let (h, o3) = high.overflowing_add(reach.max(0));
                (low, high, overflow) = (l, h, overflow | o1 | o2 | o3);
            }
        }
        if strides.is_none() {
            let (h, o) = len.overflowing_mul(item as isize);
            (high, overflow) = (h, overflow | o);
        }
        overflow |= high.overflowing_sub(low).1;
        if negative {
            return Err(bad_extents(arg, shape, "an extent is negative"));
        }
        if overflow {
            // An empty view covers nothing, however large its other extents and strides are.
            if !shape.contains(&0) {
                return Err(bad_extents(arg, shape, "its size overflows"));
            }
            len = 0;
        }
        let bounds = if len == 0 { (0, 0) } else { (low, high) };
        Ok(Layout { shape, strides, measure: Measure { item, len: len as usize, bounds } })
    }

    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    pub fn shape(&self) -> &'a [isize] {
        self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.measure.len
    }

    pub fn is_empty(&self) -> bool {
        self.measure.len == 0
    }

    /// The size of an element in bytes.
    pub fn item(&self) -> usize {
        self.measure.item
    }

    /// Extent and byte stride of an axis counted from the last (1), if there is one. `dense` starts
    /// as the size of an element and must see the axes one after the other.
    #[inline(always)]
    pub fn axis_from_last(&self, back: usize, dense: &mut isize) -> Option<(usize, isize)> {
        let d = self.shape.len().checked_sub(back)?;
        let n = *self.shape.get(d)?;
        let stride = match self.strides {
            Some(strides) => *strides.get(d)?,
            None => {
                let stride = *dense;
                // Overflows only in an empty view, whose strides mean nothing.
                *dense = stride.wrapping_mul(n);
                stride
            }
        };
        Some((n as usize, stride))
    }

    /// The extents and byte strides of all axes, the last axis first. An empty view steps nowhere.
    #[inline]
    pub fn axes_from_last(&self) -> impl Iterator<Item = (usize, isize)> + Clone + use<'a> {
        let (layout, mut dense) = (*self, self.item() as isize);
        let moves = if self.is_empty() { 0 } else { -1 };
        (1..=self.ndim()).map_while(move |back| {
            layout.axis_from_last(back, &mut dense).map(|(n, s)| (n, s & moves))
        })
    }

    /// The byte stride of an axis.
    pub fn stride(&self, axis: usize) -> isize {
        match self.strides {
            Some(s) => s[axis],
            None => self.shape[axis + 1..]
                .iter()
                .fold(self.measure.item as isize, |s, &n| s.wrapping_mul(n)),
        }
    }

    /// The strides as written in messages.
    pub fn strides(&self) -> Tuple {
        (0..self.ndim()).map(|d| self.stride(d)).collect()
    }

    /// The addresses covered by a view of this layout whose first element is at `base`.
    #[inline]
    pub fn addresses(&self, base: usize) -> Range<usize> {
        let (low, high) = self.measure.bounds;
        base.wrapping_add_signed(low)..base.wrapping_add_signed(high)
    }

    /// Whether the elements lie densely in row-major order.
    pub fn is_dense(&self) -> bool {
        let mut dense = self.measure.item as isize;
        self.is_empty()
            || self.axes_from_last().all(|(n, s)| {
                let fits = n == 1 || s == dense;
                dense = dense.wrapping_mul(n as isize);
                fits
            })
    }

    /// The same cells with axis d taken from axis perm[d]; `perm` must be a permutation.
    pub fn permuted<'b>(
        &self,
        perm: &[usize],
        shape: &'b mut DimsBuf,
        strides: &'b mut DimsBuf,
    ) -> Layout<'b> {
        shape.clear();
        strides.clear();
        for &axis in perm {
            shape.push(self.shape[axis]);
            strides.push(self.stride(axis));
        }
        Layout { shape, strides: Some(strides), ..*self }
    }

    /// Refuses a layout in which two logical indices share a byte.
    #[inline]
    pub fn refuse_self_overlap(&self, arg: &'static str) -> Result<(), Error> {
        let mut extent = self.measure.item as isize;
        let nested = self.strides.is_none()
            || self.is_empty()
            || self.axes_from_last().all(|(n, s)| {
                n == 1 || {
                    let clear = s.abs() >= extent;
                    extent += (n as isize - 1) * s.abs();
                    clear
                }
            });
        if nested { Ok(()) } else { self.refuse_self_overlap_in_any_order(arg) }
    }

    #[cold]
    fn refuse_self_overlap_in_any_order(&self, arg: &'static str) -> Result<(), Error> {
        if overlap::within(self.axes_from_last(), self.measure.item) {
            return Err(Error::SelfOverlap {
                arg,
                shape: self.shape().into(),
                strides: self.strides(),
            });
        }
        Ok(())
    }
}

#[cold]
fn bad_extents(arg: &'static str, shape: &[isize], why: &'static str) -> Error {
    Error::Extents { arg, shape: shape.into(), why }
}

/// The rules of overlap: an exact test, as far as a bounded search decides; what it leaves open
/// counts as an overlap.
///
/// Two views share a byte where `base_a - base_b + sum(i_k * a_k) - sum(j_k * b_k)` lies strictly
/// between `-item_a` and `item_b`, for indices within the extents: a bounded linear Diophantine
/// problem, solved by depth-first search over the terms from the largest stride down. Each term's
/// range is cut to what the smaller ones can still reach, and a branch ends where the greatest
/// common divisor of the remaining strides has no multiple in the range. In layouts that come from
/// slicing an array, each term is left with one or two values.
pub(crate) mod overlap {
    use super::*;

    /// `stride * x` for any x in `0..=count`.
    #[derive(Clone, Copy)]
    struct Term {
        stride: i128,
        count: i128,
    }

    /// Steps of the search before it gives up.
    const BUDGET: u32 = 10_000;

    struct Search<'t> {
        terms: &'t [Term],
        /// For the terms from k on: their greatest sum, and the common divisor of their strides.
        reach: ArrayVec<(i128, i128), { 2 * MAX_NDIM + 1 }>,
        budget: u32,
    }

    impl<'t> Search<'t> {
        /// `terms` in descending order of stride.
        fn new(terms: &'t [Term]) -> Self {
            let mut reach: ArrayVec<_, { 2 * MAX_NDIM + 1 }> = ArrayVec::new();
            reach.push((0, 0));
            for t in terms.iter().rev() {
                let (sum, divisor) = reach[reach.len() - 1];
                reach.push((sum + t.stride * t.count, gcd(t.stride, divisor)));
            }
            reach.reverse();
            Search { terms, reach, budget: BUDGET }
        }

        /// Whether a sum of the terms from k on can lie in `low..=high`; `None` if undecided.
        fn hits(&mut self, k: usize, low: i128, high: i128) -> Option<bool> {
            let (sum, divisor) = self.reach[k];
            let (low, high) = (low.max(0), high.min(sum));
            if low > high {
                return Some(false);
            }
            if divisor == 0 {
                return Some(true); // no terms left, and 0 is in range
            }
            if high / divisor * divisor < low {
                return Some(false);
            }
            let Term { stride, count } = self.terms[k];
            let rest = self.reach[k + 1].0;
            // x*stride + (0..=rest) meets low..=high
            let first = (low - rest + stride - 1).div_euclid(stride).max(0);
            let last = (high / stride).min(count);
            let mut x = last;
            while x >= first {
                self.budget = self.budget.checked_sub(1)?;
                if self.hits(k + 1, low - x * stride, high - x * stride)? {
                    return Some(true);
                }
                x -= 1;
            }
            Some(false)
        }
    }

    fn gcd(mut a: i128, mut b: i128) -> i128 {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    }

    type Terms = ArrayVec<Term, { 2 * MAX_NDIM }>;

    /// Sorts by descending stride and makes one term of those with equal strides.
    fn merge(terms: &mut Terms) {
        terms.sort_unstable_by_key(|t| core::cmp::Reverse(t.stride));
        let mut merged = Terms::new();
        for &t in terms.iter() {
            match merged.last_mut() {
                Some(last) if last.stride == t.stride => last.count += t.count,
                _ => merged.push(t),
            }
        }
        *terms = merged;
    }

    /// Whether two logical indices of one view may share a byte.
    pub fn within(axes: impl Iterator<Item = (usize, isize)>, item: usize) -> bool {
        let mut terms = Terms::new();
        for (n, s) in axes {
            if n == 0 {
                return false;
            }
            if n > 1 {
                if s == 0 {
                    return true;
                }
                terms.push(Term { stride: (s as i128).abs(), count: n as i128 - 1 });
            }
        }
        terms.sort_unstable_by_key(|t| core::cmp::Reverse(t.stride));
        // Where each stride steps over all that the smaller ones cover, no two indices meet.
        let mut extent = item as i128;
        let nested = terms.iter().rev().all(|t| {
            let clear = t.stride >= extent;
            extent += t.stride * t.count;
            clear
        });
        if nested {
            return false;
        }
        // The difference of two indices is not zero: let term k be the first in which they differ,
        // the greater index first. Later terms differ by -count..=count.
        let item = item as i128;
        for k in 0..terms.len() {
            let Term { stride, count } = terms[k];
            let mut tail = Terms::new();
            tail.push(Term { stride, count: count - 1 });
            let mut shift = stride;
            for t in &terms[k + 1..] {
                tail.push(Term { stride: t.stride, count: 2 * t.count });
                shift -= t.stride * t.count;
            }
            merge(&mut tail);
            let found = Search::new(&tail).hits(0, 1 - item - shift, item - 1 - shift);
            if found != Some(false) {
                return true;
            }
        }
        false
    }

    /// Whether two views, given by base address, axes and item size, may share a byte.
    pub fn between(
        a: (usize, impl Iterator<Item = (usize, isize)>, usize),
        b: (usize, impl Iterator<Item = (usize, isize)>, usize),
    ) -> bool {
        // base_a + sum(a) - base_b - sum(b), with negative terms turned round
        let mut shift = a.0 as i128 - b.0 as i128;
        let mut terms = Terms::new();
        let signed = a.1.map(|(n, s)| (n, s as i128)).chain(b.1.map(|(n, s)| (n, -(s as i128))));
        for (n, s) in signed {
            if n == 0 {
                return false;
            }
            if n > 1 && s != 0 {
                let count = n as i128 - 1;
                if s < 0 {
                    shift += s * count;
                }
                terms.push(Term { stride: s.abs(), count });
            }
        }
        merge(&mut terms);
        let (item_a, item_b) = (a.2 as i128, b.2 as i128);
        Search::new(&terms).hits(0, 1 - item_a - shift, item_b - 1 - shift) != Some(false)
    }
}

/// Refuses an output that shares a byte with another operand, unless both are the same view and
/// `same_allowed`.
#[inline]
pub(crate) fn refuse_overlap(out: &Cells, other: &Cells, same_allowed: bool) -> Result<(), Error> {
    let a = out.layout.addresses(out.base.addr());
    let b = other.layout.addresses(other.base.addr());
    if a.start >= b.end || b.start >= a.end {
        return Ok(());
    }
    refuse_overlap_of_cells(out, other, same_allowed)
}

#[inline(never)]
fn refuse_overlap_of_cells(out: &Cells, other: &Cells, same_allowed: bool) -> Result<(), Error> {
    if out.layout.is_empty() || other.layout.is_empty() {
        return Ok(());
    }
    if same_allowed && out.base.addr() == other.base.addr() && is_same(&out.layout, &other.layout) {
        return Ok(());
    }
    if overlap::between(
        (out.base.addr(), out.layout.axes_from_last(), out.layout.measure.item),
        (other.base.addr(), other.layout.axes_from_last(), other.layout.measure.item),
    ) {
        return Err(Error::Overlap {
            arg: out.name,
            shape: out.layout.shape().into(),
            other: other.name,
            other_shape: other.layout.shape().into(),
        });
    }
    Ok(())
}

/// Same shape, and same strides on axes longer than 1.
fn is_same(a: &Layout, b: &Layout) -> bool {
    a.measure.item == b.measure.item
        && a.shape() == b.shape()
        && a.axes_from_last().zip(b.axes_from_last()).all(|((n, s), (_, t))| n == 1 || s == t)
}

/// An order of axes. Filled where it is needed: it has room for any rank, and moving that costs more
/// than a short call.
pub(crate) type Order = ArrayVec<usize, MAX_NDIM>;

/// Resolves `perm` (`None` reverses the axes) for a view of rank `ndim`.
#[inline]
pub(crate) fn permutation(
    arg: &'static str,
    ndim: usize,
    perm: Option<&[usize]>,
    axes: &mut Order,
) -> Result<(), Error> {
    axes.clear();
    let Some(perm) = perm else {
        axes.extend((0..ndim).rev());
        return Ok(());
    };
    let mut seen = 0u64;
    for &p in perm {
        if p >= ndim || seen & (1 << p) != 0 {
            break;
        }
        seen |= 1 << p;
        axes.push(p);
    }
    if axes.len() != ndim || perm.len() != ndim {
        Err(no_permutation(arg, ndim, perm))
    } else {
        Ok(())
    }
}

#[cold]
fn no_permutation(arg: &'static str, ndim: usize, perm: &[usize]) -> Error {
    // A negative number from C arrives here as it left.
    Error::Permutation { arg, perm: perm.iter().map(|&p| p as isize).collect(), ndim }
}

/// Resolves an axis, negative counting from the end.
pub(crate) fn axis(axis: isize, ndim: usize) -> Result<usize, Error> {
    let a = if axis < 0 { axis + ndim as isize } else { axis };
    if a < 0 || a as usize >= ndim { Err(Error::Axis { axis, ndim }) } else { Ok(a as usize) }
}
