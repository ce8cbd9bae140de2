//! Gather and scatter-add, along one axis and along several.

use super::*;
use crate::common::{ARGUMENT, AXIS, DTYPE, NULL, SHAPE};
use ndblas::capi::indexed::*;

const MODES: [i32; 4] = [0, 1, 2, 3];
const DROP: i32 = 3;

/// The index by the rules of the contract; `None` out of range.
fn resolve(v: i128, n: isize, mode: i32) -> Option<isize> {
    let n = n as i128;
    let v = match mode {
        0 | 3 if v < 0 => v + n,
        1 if n > 0 => v.rem_euclid(n),
        2 if n > 0 => v.clamp(0, n - 1),
        _ => v,
    };
    (0..n).contains(&v).then_some(v as isize)
}

/// An element of an index array.
fn value(o: &Operand, memories: &[Vec<u8>], index: &[isize]) -> i128 {
    let bits = o.bits(memories, index);
    let unused = 128 - 8 * o.item() as u32;
    if (o.dtype as i32) <= 8 { (bits << unused) as i128 >> unused } else { bits as i128 }
}

/// With axes of length 1 in front.
fn padded(o: &Operand, ndim: usize) -> Operand {
    let mut layout = o.layout.clone();
    while layout.shape.len() < ndim {
        layout.shape.insert(0, 1);
        layout.strides.insert(0, 0);
    }
    Operand { layout, ..o.clone() }
}

pub fn run(bytes: &[u8]) {
    let mut setup = Setup::new(bytes);
    let scatter = setup.source.rarely(2);
    let nd = setup.source.rarely(2);
    let integer = setup.source.rarely(4);
    let dtype = if integer { setup.source.pick(&INTEGERS) } else { setup.source.pick(&ARITHMETIC) };
    let grid = setup.source.shape();
    let mut axes: Vec<usize> = (0..grid.len()).collect();
    let count = if nd { setup.source.pick(&[1, 2, 0, 3, 5]).min(grid.len()) } else { 1 };
    if grid.len() > 1 {
        let by = setup.source.below(grid.len());
        axes.rotate_left(by);
    }
    if axes.is_empty() && !nd {
        return; // nothing to index
    }
    axes.truncate(count);
    let mut table = grid.clone();
    for &d in &axes {
        table[d] = setup.source.pick(&[5, 3, 1, 8, 40, 0, 300]);
    }
    while table.iter().map(|&n| n.max(1)).product::<isize>() > 40_000 {
        axes.iter().for_each(|&d| table[d] = 2);
        if axes.iter().all(|&d| table[d] <= 2) {
            break;
        }
    }
    let mode = setup.source.pick(&MODES);
    let one = C64::new(1.0, 0.0);
    let zero = C64::new(0.0, 0.0);
    let (mut alpha, mut beta) = (one, zero);
    if (!integer && setup.source.rarely(2)) || setup.nonsense(10) {
        (alpha, beta) = (setup.source.factor(dtype), setup.source.factor(dtype));
    }
    let given = (alpha, beta);

    // Operands in the order of the calls: what is read, the indices, the output.
    let other = if setup.nonsense(15) { DType::I16 } else { dtype };
    if scatter {
        setup.input("src", &grid, dtype);
    } else {
        let mut own = table.clone();
        for d in 0..own.len() {
            if !axes.contains(&d) && own[d] != 0 && setup.source.rarely(8) {
                own[d] = 1;
            }
        }
        setup.output("a", &own, dtype);
        setup.operands[0].output = false;
    }
    let bad = setup.source.rarely(4);
    let mut first_index = setup.operands.len();
    for k in 0..axes.len() {
        let index_dtype =
            if setup.nonsense(10) { DType::F32 } else { setup.source.pick(&INTEGERS) };
        let mut shape = grid.clone();
        if setup.source.rarely(2) {
            // An index of whole rows.
            shape.iter_mut().enumerate().for_each(|(d, n)| {
                if d > axes[k] && *n != 0 {
                    *n = 1;
                }
            });
        }
        setup.input("index", &shape, index_dtype);
    }
    setup.output("out", if scatter { &table } else { &grid }, other);
    let last = setup.operands.len() - 1;
    first_index = first_index.min(last);

    setup.fill_numbers(0, alpha != zero);
    setup.fill_numbers(last, scatter || beta != zero);
    for k in first_index..last {
        let n = table[axes[k - first_index]] as i128;
        let hot = setup.source.rarely(3);
        let size = setup.operands[k].item() as u32;
        let dtype = setup.operands[k].dtype;
        let signed = (dtype as i32) <= 8;
        setup.fill(k, |setup| {
            let random = setup.random();
            let v = match random % 16 {
                0 if bad => return (random >> 8) as Bits | (random as Bits) << 64,
                1 if bad => n,
                2 if bad => -n - 1,
                _ if n == 0 => 0,
                _ if hot => (random >> 8) as i128 % n.min(2),
                3 if signed => -1 - (random >> 8) as i128 % n,
                _ => (random >> 8) as i128 % n,
            };
            // What the type does not hold becomes something else, which the oracle reads alike.
            v as u128 & (u128::MAX >> (128 - 8 * size))
        });
    }

    // The faults of the call itself.
    let ndim = setup.operands.iter().map(|o| o.layout.shape.len()).max().unwrap_or(0);
    let mut given_axes: Vec<i32> = axes
        .iter()
        .map(|&d| {
            // Of the rank of the whole call, which nonsense may have changed.
            let d = (d + ndim - grid.len()) as i32;
            if setup.source.rarely(2) { d - ndim as i32 } else { d }
        })
        .collect();
    if !given_axes.is_empty() && setup.nonsense(6) {
        let k = setup.source.below(given_axes.len());
        let first = given_axes[0];
        given_axes[k] =
            setup.source.pick(&[ndim as i32, -1 - ndim as i32, i32::MAX, i32::MIN, first, 0]);
    }
    let wrong_mode = if setup.nonsense(10) { setup.source.pick(&[4, -1, i32::MAX]) } else { mode };
    let n = if nd && setup.nonsense(12) {
        setup.source.pick(&[-1, 65, i32::MAX, i32::MIN])
    } else {
        axes.len() as i32
    };
    let null_axes = nd && setup.nonsense(12);
    let null_indices = nd && setup.nonsense(12);

    let mut faults = setup.faults(&[]);
    setup.same_dtypes(&mut faults, "index");
    let n_is_good = n == axes.len() as i32;
    faults.must(!n_is_good, ARGUMENT);
    faults.must((null_axes || null_indices) && n != 0, NULL);
    faults.must(wrong_mode != mode, ARGUMENT);
    let indices = first_index..last;
    for o in &setup.operands[indices.clone()] {
        faults.must(o.legible() && !o.dtype.is_integer(), DTYPE);
        // Among several a descriptor cannot be NULL: it is one of no rank and no dtype.
        faults.may(nd && o.spoilt == Spoilt::Null, DTYPE);
        faults.may(nd && o.spoilt == Spoilt::Null, SHAPE);
    }
    let legible = setup.operands.iter().all(Operand::legible);
    let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    let factors = if scatter { &[alpha][..] } else { &[alpha, beta] };
    for v in factors {
        let whole = v.re.fract() == 0.0 && (v.re >= 0.0 || (dtype as i32) <= 8);
        faults.must(legible && !complex && (v.im != 0.0 || (integer && !whole)), ARGUMENT);
    }
    if integer {
        let plain = alpha == one && (scatter || beta == zero);
        faults.must(legible && !plain, DTYPE);
    } else {
        (alpha, beta) = (rounded(dtype, alpha), rounded(dtype, beta));
    }
    let resolved: Vec<Option<usize>> = given_axes
        .iter()
        .map(|&d| {
            let d = if d < 0 { d as i64 + ndim as i64 } else { d as i64 };
            (0..ndim as i64).contains(&d).then_some(d as usize)
        })
        .collect();
    let mut seen = resolved.clone();
    seen.sort_unstable();
    seen.dedup();
    let axes_are_good = resolved.iter().all(Option::is_some) && seen.len() == resolved.len();
    if n_is_good && n > 0 {
        faults.must(legible && !axes_are_good, AXIS);
    }

    // Shapes, and with them the grid over which the call runs.
    let full: Vec<Operand> = setup.operands.iter().map(|o| padded(o, ndim)).collect();
    let (source, out) = (&full[0], &full[last]);
    let on: Vec<usize> = resolved.iter().flatten().copied().collect();
    let mut run = out.layout.shape.clone();
    if legible && axes_are_good && n_is_good {
        let mut fits = true;
        if scatter {
            run = vec![1; ndim];
            for o in full[..last].iter() {
                for d in 0..ndim {
                    let m = o.layout.shape[d];
                    fits &= m == run[d] || m == 1 || run[d] == 1;
                    run[d] = if run[d] == 1 { m } else { run[d] };
                }
            }
            fits &= (0..ndim).all(|d| on.contains(&d) || out.layout.shape[d] == run[d]);
        } else {
            for d in 0..ndim {
                let m = source.layout.shape[d];
                fits &= on.contains(&d) || m == 1 || m == run[d];
            }
            for o in &full[indices.clone()] {
                fits &= broadcasts(&o.layout.shape, &run);
            }
        }
        faults.must(!fits, SHAPE);
        if fits && alpha != zero {
            let table = if scatter { out } else { source };
            for (o, &axis) in full[indices.clone()].iter().zip(&on) {
                let extent = table.layout.shape[axis];
                let mut out_of_range = false;
                if o.dtype.is_integer() {
                    each_index(&o.layout.shape, |at| {
                        let v = value(o, &setup.memories, at);
                        out_of_range |= resolve(v, extent, mode).is_none();
                    });
                }
                faults.must(out_of_range && mode != DROP, INDEX);
                // Nothing of an index need be read where nothing else is.
                faults.may(out_of_range, INDEX);
            }
        }
    }

    let table_at = |before: &[Vec<u8>], x: &[isize]| -> Option<Vec<isize>> {
        let mut y = x.to_vec();
        let table = if scatter { out } else { source };
        for (o, &axis) in full[indices.clone()].iter().zip(&on) {
            y[axis] = resolve(value(o, before, x), table.layout.shape[axis], mode)?;
        }
        Some(y)
    };

    // Sums of a scatter, cell by cell: in the type's own arithmetic, and as products.
    let exact = faults.none() && !integer && setup.exact(&[alpha, beta]);
    let cells = out.layout.shape.iter().product::<isize>() as usize;
    let mut wants = Vec::new();
    if scatter && faults.none() {
        let flat = |y: &[isize]| (0..ndim).fold(0, |f, d| f * out.layout.shape[d] + y[d]) as usize;
        let memories = &setup.memories;
        let mut sums: Vec<Vec<[C64; 2]>> = vec![vec![]; cells];
        let mut bits = Vec::new();
        each_index(&out.layout.shape, |y| bits.push(out.bits(memories, y)));
        let untouched = bits.clone();
        if alpha != zero {
            each_index(&run, |x| {
                let Some(y) = table_at(memories, x) else { return };
                let k = flat(&y);
                if integer {
                    bits[k] = bits[k].wrapping_add(source.bits(memories, x))
                        & (Bits::MAX >> (128 - 8 * dtype.size()));
                    return;
                }
                let v = source.get(memories, x);
                sums[k].push([alpha, v]);
                let sum = rounded(dtype, number(dtype, &bits[k].to_le_bytes()) + v);
                bits[k] = bits_of(dtype, sum);
            });
        }
        for k in 0..cells {
            let serial = number_or_zero(dtype, bits[k]);
            wants.push(if integer || sums[k].is_empty() {
                Want::Bits(bits[k])
            } else if alpha == one && serial.re.is_finite() && serial.im.is_finite() {
                // The serial loop to the bit, in f32 as in f64.
                Want::Bits(bits[k])
            } else {
                let old = [one, number(dtype, &untouched[k].to_le_bytes())];
                let mut products: Vec<&[C64]> = vec![&old];
                products.extend(sums[k].iter().map(|p| &p[..]));
                want(dtype, &products, exact && products.len() < 1000)
            });
        }
    }

    let pad = |index: &[isize]| {
        let mut x = vec![0; ndim - index.len()];
        x.extend(index);
        x
    };
    let axis = given_axes.first().copied().unwrap_or(0);
    let read = |o: &Operand, before: &[Vec<u8>], x: &[isize], factor| {
        if factor == zero { zero } else { o.get(before, x) }
    };
    let what = format!(
        "{} along {given_axes:?} (rank {ndim}), n = {n}, mode {wrong_mode}, factors {given:?}",
        if scatter { "scatter_add" } else { "gather" },
    );
    let (a, b) = (scalar(given.0), scalar(given.1));
    setup.call(
        &what,
        faults,
        // SAFETY: descriptors of cells in the memories, or wrong in a way that must be noticed.
        |p| unsafe {
            let empty =
                ndblas_view { data: null(), shape: null(), strides: null(), ndim: -1, dtype: 0 };
            let views: Vec<ndblas_view> = p[indices.clone()]
                .iter()
                .map(|&p| p.cast::<ndblas_view>().as_ref().copied().unwrap_or(empty))
                .collect();
            let views = if null_indices { null() } else { views.as_ptr() };
            let numbers = if null_axes { null() } else { given_axes.as_ptr() };
            match (scatter, nd) {
                (false, false) => {
                    ndblas_gather(a, p[0].cast(), axis, p[1].cast(), wrong_mode, b, p[last])
                }
                (true, false) => {
                    ndblas_scatter_add(a, p[0].cast(), axis, p[1].cast(), wrong_mode, p[last])
                }
                (false, true) => {
                    ndblas_gather_nd(a, p[0].cast(), n, numbers, views, wrong_mode, b, p[last])
                }
                (true, true) => {
                    ndblas_scatter_add_nd(a, p[0].cast(), n, numbers, views, wrong_mode, p[last])
                }
            }
        },
        |before, o, index| {
            let x = pad(index);
            if scatter {
                let k = (0..ndim).fold(0, |f, d| f * out.layout.shape[d] + x[d]);
                return wants[k as usize];
            }
            let one_bits = |y: &[isize]| source.bits(before, y);
            if alpha == one && beta == zero {
                return Want::Bits(table_at(before, &x).map_or(0, |y| one_bits(&y)));
            }
            let v = if alpha == zero {
                zero
            } else {
                table_at(before, &x).map_or(zero, |y| read(source, before, &y, alpha))
            };
            let old = read(o, before, index, beta);
            match (alpha == zero, beta == zero) {
                (true, true) => want(dtype, &[], exact),
                (true, false) if beta == one => Want::Bits(o.bits(before, index)),
                (true, false) => want(dtype, &[&[beta, old]], exact),
                (false, true) => want(dtype, &[&[alpha, v]], exact),
                (false, false) => want(dtype, &[&[beta, old], &[alpha, v]], exact),
            }
        },
    );
}

fn number_or_zero(dtype: DType, bits: Bits) -> C64 {
    if dtype.is_integer() { C64::new(0.0, 0.0) } else { number(dtype, &bits.to_le_bytes()) }
}
