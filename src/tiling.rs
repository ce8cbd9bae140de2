//! Tiles: how to walk operands whose elements lie in different orders.
//!
//! A transpose touches whole cache lines on both sides only in blocks. A [`Tiling`] is a box of the
//! plan's axes, small enough for an L1 buffer, in which the output has long runs and the input has
//! whole lines. Its axes fall into three groups. The *rows* are the first axes in the output's
//! order: along them the buffer is dense. The *columns* are the first axes in the input's order:
//! along them the input has an even step, of one element as a rule. A box of these two is a matrix
//! to be transposed, however many axes it was made of. What else a side needs to fill its lines
//! (axes that stand early in both orders) are *layers* of such matrices.
//!
//! Nothing here touches memory.

use crate::MAX_NDIM;
use crate::kernel::tiles::few::FEW;
use crate::plan::Axis;
use arrayvec::ArrayVec;

/// Room for the axes of a plan.
type Axes<A> = ArrayVec<A, { MAX_NDIM + 1 }>;

/// The side of a matrix in a box: no more rows or columns than this, so that tables of their
/// offsets fit on the stack.
pub(crate) const MAX_SIDE: usize = 512;

/// An operand whose elements lie in another order than the output's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crossing {
    pub operand: usize,
    /// The bytes that move as one: an element, or the run that is the first axis of all operands.
    pub item: usize,
    /// The number of axes that `item` stands for.
    pub shared: usize,
}

/// Runs of this many bytes are copied well one by one.
const LONG: usize = 4096;

impl Crossing {
    /// Whether a walk goes by tiles, of which operand, and of what. The first OUT operands are
    /// outputs; `copies`: it only moves elements.
    #[inline]
    pub fn find<const N: usize, const OUT: usize>(
        axes: &[Axis<N>],
        item: usize,
        copies: bool,
    ) -> Option<Crossing> {
        if OUT != 1 {
            return None;
        }
        let dense = axes[0].stride == [item as isize; N];
        let (run, shared) = if dense { (axes[0].len * item, 1) } else { (item, 0) };
        if dense && run >= if copies { LONG } else { 512 } {
            return None;
        }
        let crossing = |operand| Crossing { operand, item: run, shared };
        let crossed = (1..N).map(crossing).find(|c| c.crosses(axes, c.operand));
        // Rows too short to be worth a call each are gathered in the buffer, too.
        crossed.or((copies && dense && run < 64).then(|| crossing(1)))
    }

    /// Whether the output and the operand lie in orders that differ by few words alone: dense rows
    /// of them in one are columns in the other.
    pub fn is_of_few<const N: usize>(&self, axes: &[Axis<N>]) -> bool {
        let (k, item) = (self.operand, self.item as isize);
        let &[first, ref outer @ ..] = &axes[self.shared..] else { return false };
        let makes = |few: &Axis<N>, many: &Axis<N>, dense: usize, other: usize| {
            (2..=FEW).contains(&few.len)
                && few.stride[dense] == item
                && many.stride[dense] == few.len as isize * item
                && many.stride[other] == item
        };
        [1, 2, 4, 8].contains(&item)
            && outer.iter().any(|a| makes(a, &first, k, 0) || makes(&first, a, 0, k))
    }

    /// Whether operand k has a smaller step along an outer axis than along the first.
    #[inline]
    pub fn crosses<const N: usize>(&self, axes: &[Axis<N>], k: usize) -> bool {
        let Some((first, outer)) = axes[self.shared..].split_first() else { return false };
        let nearest = first.stride[k];
        self.shared > 0 || outer.iter().any(|a| nearest != 0 && is_nearer(a.stride[k], nearest))
    }
}

/// What an axis of the box is to its matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Row,
    Column,
    Layer,
}

/// An axis of the box.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side {
    /// Its place in the plan.
    pub axis: usize,
    pub role: Role,
    /// How much of it a box takes.
    pub extent: usize,
    /// Its byte step in the buffer, which holds a box in the output's order.
    pub step: isize,
}

/// One loop over boxes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loop {
    pub axis: usize,
    pub len: usize,
    /// How far it goes each time.
    pub extent: usize,
    /// The same for the first time.
    pub first: usize,
    /// The side of the box that it goes along.
    pub side: Option<usize>,
}

/// What a box should be like, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aim {
    /// The runs of the output.
    pub run: usize,
    /// The runs of the input.
    pub line: usize,
    /// The box.
    pub volume: usize,
}

/// A box and the loops that carry it over a plan.
#[derive(Debug)]
pub(crate) struct Tiling {
    /// In the plan's order, which is the output's.
    pub sides: Axes<Side>,
    /// The axes of the columns, in the input's order.
    columns: Axes<u8>,
    /// The innermost first.
    pub loops: Axes<Loop>,
}

impl Tiling {
    /// A box for operand `k` against the output, operand 0; `item` bytes move as one, which the
    /// first `shared` axes of the plan are made of.
    pub fn new<const N: usize>(
        axes: &[Axis<N>],
        k: usize,
        item: usize,
        shared: usize,
        aim: Aim,
    ) -> Tiling {
        let rank = axes.len();
        let mut taken = Axes::<Option<(Role, usize)>>::new();
        taken.extend((0..rank).map(|_| None));
        let room = aim.volume / item;
        let mut volume = 1;
        let mut ends = [aim.run, aim.line].map(|aim| End {
            order: Axes::new(),
            at: 0,
            cover: 1,
            aim: aim.div_ceil(item),
            prefix: true,
        });
        for axis in shared..rank {
            ends[0].order.push(axis as u8);
            let order = &mut ends[1].order;
            let mut at = order.len();
            while at > 0
                && is_nearer(axes[axis].stride[k], axes[usize::from(order[at - 1])].stride[k])
            {
                at -= 1;
            }
            order.insert(at, axis as u8);
        }
        let mut matrix = [1, 1];
        loop {
            let mut next: Option<(usize, usize)> = None;
            for which in 0..2 {
                let end = &mut ends[which];
                let role = [Role::Row, Role::Column][which];
                while let Some(axis) = end.next()
                    && let Some((as_what, extent)) = taken[axis]
                    && extent == axes[axis].len
                {
                    end.prefix &= as_what == role;
                    end.cover *= extent;
                    end.at += 1;
                }
                let axis = end.next();
                let open = axis.is_some_and(|a| taken[a].is_none()) && end.cover < end.aim;
                // The end that is farther from its aim goes first.
                let (cover, aim) = (end.cover, end.aim);
                let farther =
                    next.is_none_or(|(other, _)| cover * ends[other].aim < ends[other].cover * aim);
                if open && farther {
                    next = axis.map(|axis| (which, axis));
                }
            }
            let Some((which, axis)) = next else { break };
            let end = &ends[which];
            let len = axes[axis].len;
            let role = match which {
                0 if end.prefix => Role::Row,
                1 if end.prefix && continues(axes, &end.order[..end.at], axis, k) => Role::Column,
                _ => Role::Layer,
            };
            let mut most = (room / volume).min(end.aim.div_ceil(end.cover));
            if role != Role::Layer {
                most = most.min(MAX_SIDE / matrix[which]);
            }
            if most < 2 {
                break;
            }
            let extent = part(len, most, if end.cover == 1 { (64 / item).max(1) } else { 1 });
            taken[axis] = Some((role, extent));
            volume *= extent;
            if role != Role::Layer {
                matrix[which] *= extent;
            }
        }
        // Where an end stopped at an axis of which the other took a part, a larger part serves both.
        for end in &ends {
            if let Some(axis) = end.next()
                && let Some((role, extent)) = taken[axis]
                && end.cover * extent < end.aim
            {
                let others = volume / extent;
                let mut most = (room / others).min(end.aim.div_ceil(end.cover));
                match role {
                    Role::Row => most = most.min(MAX_SIDE / (matrix[0] / extent)),
                    Role::Column => most = most.min(MAX_SIDE / (matrix[1] / extent)),
                    Role::Layer => {}
                }
                if most > extent {
                    let larger = part(axes[axis].len, most, (64 / item).max(1)).max(extent);
                    match role {
                        Role::Row => matrix[0] = matrix[0] / extent * larger,
                        Role::Column => matrix[1] = matrix[1] / extent * larger,
                        Role::Layer => {}
                    }
                    volume = others * larger;
                    taken[axis] = Some((role, larger));
                }
            }
        }
        let order = &ends[1].order;
        let columns = order
            .iter()
            .copied()
            .filter(|&a| matches!(taken[usize::from(a)], Some((Role::Column, _))))
            .collect();
        let mut tiling = Tiling { sides: Axes::new(), columns, loops: Axes::new() };
        let mut dense = item;
        for axis in shared..rank {
            if let Some((role, extent)) = taken[axis] {
                tiling.sides.push(Side { axis, role, extent, step: dense as isize });
                dense *= extent;
            }
        }
        tiling.order_loops(axes, k, shared);
        tiling
    }

    /// First along the input's lines, whose pages are open; then along the output's runs; then what
    /// is left, nearest first.
    fn order_loops<const N: usize>(&mut self, axes: &[Axis<N>], k: usize, shared: usize) {
        let rank = |l: &Loop| {
            let stride = axes[l.axis].stride;
            let near = stride[0].unsigned_abs().min(stride[k].unsigned_abs());
            match l.side.map(|s| self.sides[s].role) {
                Some(Role::Column) => (0, near),
                Some(Role::Row) => (1, near),
                _ => (2, near),
            }
        };
        let mut loops = Axes::<Loop>::new();
        for (axis, a) in axes.iter().enumerate().skip(shared) {
            let side = self.sides.iter().position(|s| s.axis == axis);
            let extent = side.map_or(1, |s| self.sides[s].extent);
            if extent == a.len {
                continue;
            }
            let new = Loop { axis, len: a.len, extent, first: extent, side };
            let mut at = loops.len();
            while at > 0 && rank(&new) < rank(&loops[at - 1]) {
                at -= 1;
            }
            loops.insert(at, new);
        }
        self.loops = loops;
    }

    /// Makes the first box along `axis` shorter, if boxes take it in parts, as `role`.
    pub fn start_with(&mut self, axis: usize, role: Role, extent: usize) {
        let sides = &self.sides;
        let is_role = |l: &Loop| l.side.is_some_and(|s| sides[s].role == role);
        for l in self.loops.iter_mut().filter(|l| l.axis == axis && is_role(l)) {
            if extent > 0 {
                l.first = extent.min(l.extent);
            }
        }
    }

    /// The sides that are rows, in the output's order, or columns, in the input's.
    pub fn matrix(&self, role: Role) -> impl Iterator<Item = &Side> {
        let column =
            move |i: usize| self.sides.iter().find(move |s| s.axis == usize::from(self.columns[i]));
        let rows = self.sides.iter().filter(move |s| role == Role::Row && s.role == role);
        let columns = if role == Role::Column { self.columns.len() } else { 0 };
        rows.chain((0..columns).filter_map(column))
    }

    /// The number of rows or columns of a box with these extents.
    pub fn count(&self, extents: &[usize], role: Role) -> usize {
        let sides = self.sides.iter().zip(extents);
        sides.filter(|(side, _)| side.role == role).map(|(_, &extent)| extent).product()
    }
}

/// The growing end of a box on one side.
struct End {
    order: Axes<u8>,
    /// How many axes of the order the box holds whole.
    at: usize,
    /// The product of their lengths.
    cover: usize,
    /// What the product should reach.
    aim: usize,
    /// Whether this end took them all.
    prefix: bool,
}

impl End {
    /// The axis to be taken next.
    fn next(&self) -> Option<usize> {
        self.order.get(self.at).map(|&axis| usize::from(axis))
    }
}

/// Whether the axis comes before the other in memory; broadcast ones are nowhere.
pub(crate) fn is_nearer(stride: isize, other: isize) -> bool {
    stride != 0 && (other == 0 || stride.unsigned_abs() < other.unsigned_abs())
}

/// Whether operand k goes on along `axis` with the even step that it has along `before`, taken
/// whole.
fn continues<const N: usize>(axes: &[Axis<N>], before: &[u8], axis: usize, k: usize) -> bool {
    let mut before = before.iter().map(|&a| axes[usize::from(a)]);
    let Some(first) = before.next() else { return true };
    let len = before.fold(first.len, |len, a| len * a.len);
    first.stride[k].checked_mul(len as isize) == Some(axes[axis].stride[k])
}

/// A part of `len`, at most `most`: the whole, or even parts in multiples of `unit`.
fn part(len: usize, most: usize, unit: usize) -> usize {
    if len <= most {
        return len;
    }
    let even = len.div_ceil(len.div_ceil(most)).next_multiple_of(unit);
    if even <= most || most < unit { even.min(most) } else { most / unit * unit }
}
