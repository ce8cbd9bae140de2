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
use crate::view::Operand;
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
    #[inline]
    pub fn broadcast<T>(&mut self, operands: &[Operand<T>; N]) -> Result<(), Error> {
        self.reset();
        let lead = &operands[0];
        let ndim = lead.layout.ndim();
        let mut axes = operands.each_ref().map(|o| o.layout.axes_from_last());
        for _ in 0..ndim {
            let mut len = 1;
            let mut stride = [0; N];
            for k in 0..N {
                let Some((n, s)) = axes[k].next() else {
                    continue; // a missing axis has stride 0
                };
                if k == 0 {
                    len = n;
                    stride[0] = s;
                } else if n == len {
                    stride[k] = s;
                } else if n != 1 {
                    return Err(does_not_broadcast(&operands[k], lead));
                }
            }
            self.push(Axis { len, stride });
        }
        for o in &operands[1..] {
            if o.layout.ndim() > ndim {
                return Err(does_not_broadcast(o, lead));
            }
        }
        self.fuse();
        Ok(())
    }

    /// Adds an axis where it belongs: drop, flip, order.
    #[inline]
    pub fn push(&mut self, axis: Axis<N>) {
        if axis.len == 1 {
            return;
        }
        if axis.len == 0 {
            self.empty = true;
            return;
        }
        let mut axis = axis;
        if let Some(&first) = axis.stride.iter().find(|&&s| s != 0)
            && first < 0
        {
            for k in 0..N {
                // The far end of a valid axis is a valid offset.
                self.offset[k] += (axis.len as isize - 1) * axis.stride[k];
                axis.stride[k] = -axis.stride[k];
            }
        }
        let mut at = self.axes.len();
        while at > 0 && is_inside(&axis, &self.axes[at - 1]) {
            at -= 1;
        }
        self.axes.insert(at, axis);
    }

    /// Makes one axis of neighbours that every operand walks as one.
    #[inline]
    pub fn fuse(&mut self) {
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
fn does_not_broadcast<T>(x: &Operand<T>, to: &Operand<T>) -> Error {
    Error::Broadcast {
        arg: x.name,
        shape: x.layout.shape().into(),
        to: to.name,
        to_shape: to.layout.shape().into(),
    }
}
