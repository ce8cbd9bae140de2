//! Level 1 and the fused multiply-add: the oracle, which the BLAS names share, and the calls on views.

use super::*;
use crate::common::{ARGUMENT, DTYPE, NULL, OK, SHAPE};
use ndblas::capi::fused::ndblas_mul_add;
use ndblas::capi::level1::*;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    Fill,
    Copy,
    Swap,
    Scal,
    Axpy,
    Axpby,
    MulAdd,
    Rot,
    Dotu,
    Dotc,
    Nrm2,
    Asum,
    Iamax,
}
use Op::*;

const OPS: [Op; 13] =
    [Axpy, Axpby, MulAdd, Copy, Scal, Swap, Rot, Fill, Dotu, Dotc, Nrm2, Asum, Iamax];

/// The factors of a call; of a rotation they are c and s.
#[derive(Debug, Clone, Copy)]
pub struct Factors {
    pub alpha: C64,
    pub beta: C64,
}

impl Op {
    pub fn moves(self) -> bool {
        matches!(self, Fill | Copy | Swap)
    }

    pub fn reduces(self) -> bool {
        matches!(self, Dotu | Dotc | Nrm2 | Asum | Iamax)
    }

    /// Operands that the output may be.
    fn in_place(self) -> &'static [&'static str] {
        match self {
            Copy | Axpy | Axpby => &["x"],
            MulAdd => &["a", "b"],
            _ => &[],
        }
    }
}

/// Gives the operands their values: NaN where the factors say that they are not read.
pub fn fill(setup: &mut Setup, op: Op, factors: Factors) {
    let zero = C64::new(0.0, 0.0);
    let reads_inputs = !matches!(op, Axpy | Axpby | MulAdd) || factors.alpha != zero;
    let reads_outputs = match op {
        Fill | Copy => false,
        Axpby | MulAdd => factors.beta != zero,
        _ => true,
    };
    for k in 0..setup.operands.len() {
        let output = setup.operands[k].output;
        setup.fill_numbers(k, if output { reads_outputs } else { reads_inputs });
    }
    // What overlaps has been filled twice; an output that is an input holds what is read.
}

/// The statuses of a call. Factors in the type of the operands are `valid`.
pub fn faults(setup: &Setup, op: Op, dtype: DType, factors: Factors) -> Faults {
    let mut faults = setup.faults(op.in_place());
    setup.same_dtypes(&mut faults, "");
    let legible = setup.operands.iter().all(Operand::legible);
    faults.must(legible && !op.moves() && dtype.is_integer(), DTYPE);
    let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    let holds = |v: C64| match dtype {
        _ if complex => true,
        d if d.is_integer() => v.im == 0.0 && v.re.fract() == 0.0 && (v.re >= 0.0 || d as i32 <= 8),
        _ => v.im == 0.0,
    };
    let arithmetic = !dtype.is_integer() || op == Fill;
    if matches!(op, Fill | Scal | Axpy | Axpby | MulAdd) && legible && arithmetic {
        faults.must(!holds(factors.alpha), ARGUMENT);
    }
    if matches!(op, Axpby | MulAdd) && legible && arithmetic {
        faults.must(!holds(factors.beta), ARGUMENT);
    }
    let shapes: Vec<&[isize]> = setup.operands.iter().map(|o| &o.layout.shape[..]).collect();
    if legible {
        match op {
            Swap | Rot => faults.must(shapes[0] != shapes[1], SHAPE),
            Dotu | Dotc => {
                let (one, other) =
                    (broadcasts(shapes[0], shapes[1]), broadcasts(shapes[1], shapes[0]));
                faults.must(!one && !other, SHAPE);
                // An axis of length 1 before all others.
                faults.may(shapes[0].len() != shapes[1].len(), SHAPE);
            }
            _ => {
                let out = shapes[shapes.len() - 1];
                for &input in &shapes[..shapes.len() - 1] {
                    faults.must(!broadcasts(input, out), SHAPE);
                    faults.may(input.len() > out.len(), SHAPE);
                }
            }
        }
    }
    faults
}

/// What an output's cell becomes. `factors` are rounded to the type.
pub fn cell(
    op: Op,
    factors: Factors,
    exact: bool,
    operands: &[Operand],
    before: &[Vec<u8>],
    out: &Operand,
    index: &[isize],
) -> Want {
    let Factors { alpha, beta } = factors;
    let (dtype, zero) = (out.dtype, C64::new(0.0, 0.0));
    let input = |k: usize| operands[k].get(before, padded(&operands[k], index));
    let update = |product: &[C64]| {
        let old = if beta == zero { zero } else { out.get(before, index) };
        match (alpha == zero, beta == zero) {
            (true, true) => want(dtype, &[], exact),
            (true, false) if beta == C64::new(1.0, 0.0) => Want::Bits(out.bits(before, index)),
            (true, false) => want(dtype, &[&[beta, old]], exact),
            (false, true) => want(dtype, &[product], exact),
            (false, false) => want(dtype, &[&[beta, old], product], exact),
        }
    };
    match op {
        Fill if dtype.is_integer() => {
            let bits = (alpha.re as i128) as u128;
            Want::Bits(bits & (u128::MAX >> (128 - 8 * dtype.size())))
        }
        Fill => want(dtype, &[&[alpha]], true),
        Copy => Want::Bits(operands[0].bits(before, padded(&operands[0], index))),
        Swap => {
            let other = if out.name == "x" { &operands[1] } else { &operands[0] };
            Want::Bits(other.bits(before, index))
        }
        Scal => want(dtype, &[&[alpha, out.get(before, index)]], exact),
        Axpy | Axpby => update(&[alpha, input(0)]),
        MulAdd => update(&[alpha, input(0), input(1)]),
        Rot => {
            let (x, y, c, s) = (input(0), input(1), alpha, beta);
            let products = if out.name == "x" { [[c, x], [s, y]] } else { [[c, y], [-s, x]] };
            want(dtype, &[&products[0], &products[1]], exact)
        }
        _ => unreachable!("a reduction has no output"),
    }
}

/// The index for an operand of a rank that may be greater by axes of length 1.
fn padded<'i>(o: &Operand, index: &'i [isize]) -> &'i [isize] {
    const ORIGIN: [isize; 64] = [0; 64];
    if o.layout.shape.len() > index.len() && o.layout.shape.iter().all(|&n| n == 1) {
        return &ORIGIN[..o.layout.shape.len()];
    }
    index
}

/// What a reduction gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reduced {
    Sum(C64),
    Index(isize),
}

/// Checks a reduction against the operands. `precision` is that of the result.
pub fn check_reduced(
    op: Op,
    operands: &[Operand],
    memories: &[Vec<u8>],
    precision: DType,
    got: Reduced,
) -> Result<(), String> {
    let shapes: Vec<&Vec<isize>> = operands.iter().map(|o| &o.layout.shape).collect();
    let by_second = shapes.len() > 1 && !broadcasts(shapes[1], shapes[0]);
    let shape = shapes[by_second as usize].clone();
    let dtype = operands[0].dtype;
    let mut sum = Sum::default();
    let (mut nan, mut infinite, mut wild, mut whole, mut len) = (false, false, false, true, 0);
    let mut special = 0.0;
    let mut greatest = (-1.0, -1isize);
    each_index(&shape, |index| {
        let of = |o: &Operand| o.get(memories, padded(o, index));
        let x = of(&operands[0]);
        let y = operands.get(1).map(of);
        for v in [x.re, x.im, y.unwrap_or(x).re, y.unwrap_or(x).im] {
            nan |= v.is_nan();
            infinite |= v.is_infinite();
            wild |= v.is_finite() && v != 0.0 && !(1e-9..1e9).contains(&v.abs());
            whole &= v.fract() == 0.0 && v.abs() <= 8.0;
        }
        let magnitude = x.re.abs() + x.im.abs();
        let beats = magnitude > greatest.0 || (magnitude.is_nan() && !greatest.0.is_nan());
        if greatest.1 < 0 || (beats && !greatest.0.is_nan()) {
            greatest = (magnitude, len);
        }
        match op {
            Dotu => sum = sum.plus(&[x, y.unwrap()]),
            Dotc => sum = sum.plus(&[x.conj(), y.unwrap()]),
            Nrm2 => sum = sum.plus(&[C64::new(x.norm_sqr(), 0.0)]),
            _ => sum = sum.plus(&[C64::new(magnitude, 0.0)]),
        }
        special += if let Some(y) = y { x.re * y.re } else { 0.0 };
        len += 1;
    });
    let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    let right = match (op, got) {
        (Iamax, Reduced::Index(got)) if complex && !nan && got >= 0 && got < len => {
            // The magnitude is a rounded sum.
            let mut at = (0, 0.0);
            each_index(&shape, |index| {
                if at.0 == got {
                    let x = operands[0].get(memories, index);
                    at.1 = x.re.abs() + x.im.abs();
                }
                at.0 += 1;
            });
            got == greatest.1 || (!whole && at.1 >= greatest.0 * (1.0 - 2.0 * epsilon(dtype)))
        }
        (Iamax, Reduced::Index(got)) => got == greatest.1,
        (Nrm2 | Asum, Reduced::Sum(got)) if nan => got.re.is_nan(),
        (Nrm2 | Asum, Reduced::Sum(got)) if infinite => got.re == f64::INFINITY,
        (_, Reduced::Sum(_)) if wild => true,
        (Dotu | Dotc, Reduced::Sum(got)) if nan || infinite => {
            complex || got.re == special || (got.re.is_nan() && special.is_nan())
        }
        (Nrm2, Reduced::Sum(got)) => {
            let norm = sum.value.re.sqrt();
            (got.re - norm).abs() <= 64.0 * epsilon(dtype).max(epsilon(precision)) * norm
        }
        (_, Reduced::Sum(got)) => {
            let error = got - sum.value;
            // f32 holds whole numbers to 2^24.
            let bound = if whole && sum.magnitude < 1.6e7 {
                0.0
            } else {
                64.0 * epsilon(dtype).max(epsilon(precision)) * sum.magnitude
            };
            error.re.abs() <= bound && error.im.abs() <= bound
        }
        _ => false,
    };
    if right { Ok(()) } else { Err(format!("{got:?}, not {sum:?} or {greatest:?}")) }
}

pub fn run(bytes: &[u8]) {
    let mut setup = Setup::new(bytes);
    let op = setup.source.pick(&OPS);
    let mut dtype = setup.source.pick(&ARITHMETIC);
    if (op.moves() && setup.source.rarely(2)) || setup.nonsense(8) {
        dtype = setup.source.pick(&INTEGERS);
    }
    let shape = setup.source.shape();
    let factors = Factors { alpha: setup.source.factor(dtype), beta: setup.source.factor(dtype) };
    let other = if setup.nonsense(12) { DType::I16 } else { dtype };
    match op {
        Fill | Scal => setup.output("y", &shape, dtype),
        Swap | Rot => {
            setup.output("x", &shape, dtype);
            setup.output("y", &shape, other);
        }
        MulAdd => {
            setup.input("a", &shape, dtype);
            setup.input("b", &shape, other);
            setup.output("c", &shape, dtype);
        }
        Nrm2 | Asum | Iamax => setup.input("x", &shape, dtype),
        Dotu | Dotc => {
            setup.input("x", &shape, dtype);
            let like = setup.operands[0].layout.shape.clone();
            setup.input("y", &like, other);
        }
        _ => {
            setup.input("x", &shape, dtype);
            setup.output("y", &shape, other);
        }
    }
    fill(&mut setup, op, factors);
    let faults = faults(&setup, op, dtype, factors);
    if op.reduces() {
        return reduce(setup, op, faults);
    }
    let held = match op {
        Rot => {
            let c = |v: C64| rounded(dtype, C64::new(v.re, 0.0));
            Factors { alpha: c(factors.alpha), beta: c(factors.beta) }
        }
        // A type that cannot hold them refuses them.
        _ if dtype.is_integer() => factors,
        _ => Factors { alpha: rounded(dtype, factors.alpha), beta: rounded(dtype, factors.beta) },
    };
    let effective = if op == Axpy { Factors { beta: C64::new(1.0, 0.0), ..held } } else { held };
    let exact = !dtype.is_integer() && faults.none() && setup.exact(&[held.alpha, effective.beta]);
    let operands = setup.operands.clone();
    let (alpha, beta) = (scalar(factors.alpha), scalar(factors.beta));
    setup.call(
        &format!("{op:?} {factors:?}"),
        faults,
        // SAFETY: descriptors of cells in the memories, or wrong in a way that must be noticed.
        |p| unsafe {
            match op {
                Fill => ndblas_fill(alpha, p[0]),
                Copy => ndblas_copy(p[0].cast(), p[1]),
                Swap => ndblas_swap(p[0], p[1]),
                Scal => ndblas_scal(alpha, p[0]),
                Axpy => ndblas_axpy(alpha, p[0].cast(), p[1]),
                Axpby => ndblas_axpby(alpha, p[0].cast(), beta, p[1]),
                MulAdd => ndblas_mul_add(alpha, p[0].cast(), p[1].cast(), beta, p[2]),
                _ => ndblas_rot(p[0], p[1], alpha.re, beta.re),
            }
        },
        |before, out, index| cell(op, effective, exact, &operands, before, out, index),
    );
}

fn reduce(mut setup: Setup, op: Op, mut faults: Faults) {
    let null_result = setup.nonsense(6);
    faults.must(null_result, NULL);
    let untouched = (f64::from_bits(0x7FF8_0000_0000_1234), -77);
    let mut sum = scalar(C64::new(untouched.0, untouched.0));
    let (mut real, mut index) = untouched;
    let (operands, memories) = (setup.operands.clone(), setup.memories.clone());
    let mut status = OK;
    setup.call(
        &format!("{op:?}"),
        faults,
        // SAFETY: as above, and results that are NULL or local.
        |p| unsafe {
            fn to<R>(null: bool, result: &mut R) -> *mut R {
                if null { null_mut() } else { result }
            }
            status = match op {
                Dotu => ndblas_dotu(p[0].cast(), p[1].cast(), to(null_result, &mut sum)),
                Dotc => ndblas_dotc(p[0].cast(), p[1].cast(), to(null_result, &mut sum)),
                Nrm2 => ndblas_nrm2(p[0].cast(), to(null_result, &mut real)),
                Asum => ndblas_asum(p[0].cast(), to(null_result, &mut real)),
                _ => ndblas_iamax(p[0].cast(), to(null_result, &mut index)),
            };
            status
        },
        |_, _, _| Want::Any,
    );
    if status != OK {
        let left = [sum.re, sum.im, real].iter().all(|v| v.to_bits() == untouched.0.to_bits());
        assert!(left && index == untouched.1, "{op:?}: a result was written");
        return;
    }
    let got = match op {
        Dotu | Dotc => Reduced::Sum(C64::new(sum.re, sum.im)),
        Nrm2 | Asum => Reduced::Sum(C64::new(real, 0.0)),
        _ => Reduced::Index(index),
    };
    if let Err(wrong) = check_reduced(op, &operands, &memories, DType::F64, got) {
        panic!("{op:?} of {operands:#?}: {wrong}");
    }
}
