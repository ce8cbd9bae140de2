//! Permutes, from one array to another and in place.

use super::*;
use crate::common::{ARGUMENT, AXIS, DTYPE, OVERLAP, SHAPE};
use ndblas::capi::permute::*;

pub fn run(bytes: &[u8]) {
    let mut setup = Setup::new(bytes);
    let in_place = setup.source.rarely(4);
    let integer = setup.source.rarely(3);
    let dtype = if integer { setup.source.pick(&INTEGERS) } else { setup.source.pick(&ARITHMETIC) };
    let mut shape = setup.source.shape();
    let rank = shape.len();
    // Of NULL, the axes in reverse; else exchanges, which may also undo one another.
    let null_perm = setup.source.rarely(3);
    let mut perm: Vec<i32> = (0..rank as i32).rev().collect();
    if !null_perm && rank > 0 {
        perm.reverse();
        for _ in 0..rank {
            let (d, e) = (setup.source.below(rank), setup.source.below(rank));
            perm.swap(d, e);
        }
    }
    if in_place && setup.source.rarely(3) {
        // A shape that its permutation leaves as it is: one extent a cycle.
        for d in 0..rank {
            let mut e = perm[d] as usize;
            let n = shape[d];
            while e != d {
                shape[e] = n;
                e = perm[e] as usize;
            }
        }
        let mut size = 1;
        if shape.iter().any(|&n| {
            size *= n.max(1);
            size > 20_000
        }) {
            shape.fill(2);
            shape.iter_mut().skip(12).for_each(|n| *n = 1);
        }
        // Only where cycles are whole.
    }
    let to: Vec<isize> = perm.iter().map(|&d| shape[d as usize]).collect();
    let good = perm.clone();
    let mut wrong = false;
    if !null_perm && rank > 0 && setup.nonsense(4) {
        let d = setup.source.below(rank);
        let v = setup.source.pick(&[-1, rank as i32, i32::MAX, i32::MIN, 64, perm[(d + 1) % rank]]);
        wrong = v != perm[d];
        perm[d] = v;
    }
    let pointer = if null_perm { null() } else { perm.as_ptr() };
    if in_place {
        return permute_in_place(setup, &shape, dtype, pointer, &good, wrong);
    }

    let (alpha, beta) = if integer && !setup.nonsense(3) {
        (C64::new(1.0, 0.0), C64::new(0.0, 0.0))
    } else {
        (setup.source.factor(dtype), setup.source.factor(dtype))
    };
    // Not an input that broadcasts.
    setup.output("a", &shape, dtype);
    setup.operands[0].output = false;
    let other = if setup.nonsense(12) { DType::I8 } else { dtype };
    setup.output("out", &to, other);
    if setup.source.rarely(12) {
        // The very cells of the transpose.
        let a = setup.operands[0].layout.clone();
        let strides: Vec<_> = good.iter().map(|&d| a.strides[d as usize]).collect();
        let out = &mut setup.operands[1];
        if out.layout.shape == to && out.dtype == dtype && a.shape == shape {
            (out.layout, out.memory) = (Layout::new(a.base, &to, &strides), 0);
            out.null_strides = false;
        }
    }
    let zero = C64::new(0.0, 0.0);
    setup.fill_numbers(0, alpha != zero);
    setup.fill_numbers(1, beta != zero);

    // What counts as the same is a as the permutation turns it.
    let a = setup.operands[0].clone();
    let turned = |a: &Operand| {
        let of = |v: &[isize]| good.iter().map(|&d| v[d as usize]).collect::<Vec<_>>();
        let layout = Layout::new(a.layout.base, &of(&a.layout.shape), &of(&a.layout.strides));
        Operand { layout, ..a.clone() }
    };
    setup.operands[0] = turned(&a);
    let mut faults = setup.faults(&["a"]);
    setup.operands[0] = a.clone();
    setup.same_dtypes(&mut faults, "");
    let out = setup.operands[1].clone();
    let legible = a.legible() && out.legible();
    faults.must(a.legible() && wrong, AXIS);
    faults.must(legible && !wrong && turned(&a).layout.shape != out.layout.shape, SHAPE);
    // Whether the cells are the same is asked of the permutation, if it is one.
    faults.may(wrong, OVERLAP);
    let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    for v in [alpha, beta] {
        let whole = v.re.fract() == 0.0 && (v.re >= 0.0 || (dtype as i32) <= 8);
        faults.must(legible && !complex && (v.im != 0.0 || (integer && !whole)), ARGUMENT);
    }
    let moves = alpha == C64::new(1.0, 0.0) && beta == zero;
    faults.must(legible && integer && !moves, DTYPE);
    let (alpha, beta, given) = if integer {
        (alpha, beta, (alpha, beta))
    } else {
        (rounded(dtype, alpha), rounded(dtype, beta), (alpha, beta))
    };
    let exact = faults.none() && setup.exact(&[alpha, beta]);
    let source = turned(&a);
    setup.call(
        &format!("permute by {perm:?} (NULL: {null_perm}) with {given:?}"),
        faults,
        // SAFETY: descriptors of cells in the memories, or wrong in a way that must be noticed.
        |p| unsafe { ndblas_permute(scalar(given.0), p[0].cast(), pointer, scalar(given.1), p[1]) },
        |before, out, index| {
            if moves {
                return Want::Bits(source.bits(before, index));
            }
            let read =
                |o: &Operand, factor| if factor == zero { zero } else { o.get(before, index) };
            let (x, y) = (read(&source, alpha), read(out, beta));
            match (alpha == zero, beta == zero) {
                (true, true) => want(dtype, &[], exact),
                (true, false) if beta == C64::new(1.0, 0.0) => Want::Bits(out.bits(before, index)),
                (true, false) => want(dtype, &[&[beta, y]], exact),
                (false, true) => want(dtype, &[&[alpha, x]], exact),
                (false, false) => want(dtype, &[&[beta, y], &[alpha, x]], exact),
            }
        },
    );
}

fn permute_in_place(
    mut setup: Setup,
    shape: &[isize],
    dtype: DType,
    pointer: *const i32,
    perm: &[i32],
    wrong: bool,
) {
    setup.output("a", shape, dtype);
    setup.fill_numbers(0, true);
    let a = setup.operands[0].clone();
    let mut faults = setup.faults(&[]);
    let of = |v: &[isize]| perm.iter().map(|&d| v[d as usize]).collect::<Vec<_>>();
    let (now, strides) = (a.layout.shape.clone(), a.layout.strides.clone());
    let to = of(&now);
    let dense = Layout::dense(&now, dtype.size());
    let is_dense =
        a.is_empty() || (0..now.len()).all(|d| now[d] == 1 || strides[d] == dense.strides[d]);
    faults.must(a.legible() && wrong, AXIS);
    faults.must(a.legible() && to != now && !is_dense, LAYOUT);
    let turned = Operand { layout: Layout::new(a.layout.base, &to, &of(&strides)), ..a.clone() };
    setup.call(
        &format!("permute_in_place by {perm:?} (wrong: {wrong})"),
        faults,
        // SAFETY: a descriptor of cells in the memory, or wrong in a way that must be noticed.
        |p| unsafe { ndblas_permute_in_place(p[0], pointer) },
        |before, _, index| {
            if to == now {
                return Want::Bits(turned.bits(before, index));
            }
            // The cell at this place of the dense array is that of the permuted one.
            let mut flat = (0..now.len()).fold(0, |flat, d| flat * now[d] + index[d]);
            let mut at = vec![0; to.len()];
            for d in (0..to.len()).rev() {
                (at[d], flat) = (flat % to[d], flat / to[d]);
            }
            Want::Bits(turned.bits(before, &at))
        },
    );
}
