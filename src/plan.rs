//! From layouts to loops: broadcast, drop, flip, order, fuse.
//!
//! A [`Plan`] says over which axes a routine walks and by how many bytes each operand steps along
//! them. The stages are the order of the code: an input's missing or length-1 axis gets stride 0
//! (broadcast); axes of length 1 go (drop); an axis on which the leading operand steps backwards is
//! walked from its other end (flip); axes are sorted by stride, the leading operand's first
//! (order); neighbours that are one run in every operand become one (fuse). Ordering before fusing
//! is what finds the runs of arrays that are transposed alike.
//!
//! Nothing here touches memory.

use crate::MAX_NDIM;
use crate::error::Error;
use crate::view::Cells;
use arrayvec::ArrayVec;

/// One loop: its length and the byte step of each operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Axis<const N: usize> {
    pub len: usize,
    pub stride: [isize; N],
}

impl<const N: usize> Axis<N> {
    /// No loop at all.
    pub const ONE: Self = Axis { len: 1, stride: [0; N] };
}

/// The loops over N operands, the innermost first.
#[derive(Debug)]
pub(crate) struct Plan<const N: usize> {
    /// One more than a view has: the parts of complex elements can be walked one by one.
    pub axes: ArrayVec<Axis<N>, { MAX_NDIM + 1 }>,
    /// From each operand's first logical element to the first one visited, in bytes.
    pub offset: [isize; N],
    /// No element at all.
    pub empty: bool,
}

impl<const N: usize> Plan<N> {
    /// A plan that visits nothing.
    #[inline]
    pub fn new() -> Self {
        Plan { axes: ArrayVec::new(), offset: [0; N], empty: true }
    }

    /// A plan of no loops: a single element.
    #[inline]
    pub fn reset(&mut self) {
        self.axes.clear();
        (self.offset, self.empty) = ([0; N], false);
    }

    /// Plans a walk over the first operand, to whose shape the others broadcast.
    ///
    /// # Errors
    /// [`Error::Broadcast`] for an operand that does not.
    pub fn broadcast(&mut self, operands: &[&Cells; N]) -> Result<(), Error> {
        self.reset();
        let layouts = operands.map(|o| &*o.layout);
        let ndim = layouts[0].ndim();
        // One that is empty and broadcasts to what is not is refused below.
        self.empty = layouts.iter().any(|l| l.is_empty());
        let mut dense = layouts.map(|l| l.item() as isize);
        // Axes are counted from the last one, where the operands' shapes are aligned.
        for back in 1..=ndim {
            let axes: [(usize, isize); N] = core::array::from_fn(|k| {
                // A missing axis is one of length 1.
                layouts[k].axis_from_last(back, &mut dense[k]).unwrap_or((1, 0))
            });
            let len = axes[0].0;
            if let Some(k) = (1..N).find(|&k| axes[k].0 != len && axes[k].0 != 1) {
                return Err(does_not_broadcast(operands[k], operands[0]));
            }
            self.push(len, axes.map(|(n, s)| if n == len { s } else { 0 }));
        }
        for k in 1..N {
            if layouts[k].ndim() > ndim {
                return Err(does_not_broadcast(operands[k], operands[0]));
            }
        }
        self.fuse();
        Ok(())
    }

    /// Adds an axis where it belongs: drop, flip, order. To an empty plan it adds none, for the
    /// extents and strides of an empty view may overflow.
    #[inline]
    pub fn push(&mut self, len: usize, stride: [isize; N]) {
        if len == 1 || self.empty {
            return;
        }
        if len == 0 {
            self.empty = true;
            return;
        }
        let mut stride = stride;
        if stride.iter().find(|&&s| s != 0).is_some_and(|&first| first < 0) {
            // The far end of a valid axis is a valid offset.
            let far = len as isize - 1;
            self.offset = core::array::from_fn(|k| self.offset[k] + far * stride[k]);
            stride = stride.map(|s| -s);
        }
        let axis = Axis { len, stride };
        let mut at = self.axes.len();
        while at > 0 && is_inside(&axis, &self.axes[at - 1]) {
            at -= 1;
        }
        if at == self.axes.len() { self.axes.push(axis) } else { self.axes.insert(at, axis) }
    }

    /// Makes one axis of neighbours that every operand walks as one.
    #[inline]
    pub fn fuse(&mut self) {
        if self.axes.len() < 2 {
            return;
        }
        let mut last = 0;
        for i in 1..self.axes.len() {
            let outer = self.axes[i];
            let inner = &mut self.axes[last];
            let run = (0..N)
                .all(|k| inner.stride[k].checked_mul(inner.len as isize) == Some(outer.stride[k]));
            if run {
                inner.len *= outer.len;
            } else {
                last += 1;
                self.axes[last] = outer;
            }
        }
        self.axes.truncate(last + 1);
    }

    /// The two innermost loops.
    #[inline]
    pub fn block(&self) -> [Axis<N>; 2] {
        let axis = |i| self.axes.get(i).copied().unwrap_or(Axis::ONE);
        [axis(0), axis(1)]
    }
}

/// Whether `a` belongs inside `b`: by the first operand that moves on both and tells them apart,
/// or else by the greatest step of any operand.
#[inline]
fn is_inside<const N: usize>(a: &Axis<N>, b: &Axis<N>) -> bool {
    for k in 0..N {
        let (s, t) = (a.stride[k].abs(), b.stride[k].abs());
        if s != 0 && t != 0 && s != t {
            return s < t;
        }
    }
    let greatest = |x: &Axis<N>| x.stride.iter().map(|s| s.abs()).max();
    greatest(a) < greatest(b)
}

#[cold]
fn does_not_broadcast(x: &Cells, to: &Cells) -> Error {
    Error::Broadcast {
        arg: x.name,
        shape: x.layout.shape().into(),
        to: to.name,
        to_shape: to.layout.shape().into(),
    }
}
