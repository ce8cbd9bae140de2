//! The BLAS names: vectors with increments in elements. The oracle is that of level 1 on views.

use super::level1::{Factors, Op, Op::*, Reduced, cell, check_reduced, faults, fill};
use super::*;
use crate::common::{ARGUMENT, NULL, OK, SHAPE};
use core::ffi::c_void;
use ndblas::capi::blas::*;

/// sdot, dsdot and sdsdot are all `Dotu`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Variant {
    Plain,
    /// csscal and zdscal, dsdot.
    Mixed,
    /// sdsdot.
    MixedAndRounded,
}
use Variant::*;

const OPS: [Op; 11] = [Axpy, Axpby, Scal, Copy, Swap, Rot, Dotu, Dotc, Nrm2, Asum, Iamax];

pub fn run(bytes: &[u8]) {
    let mut setup = Setup::new(bytes);
    let mut op = setup.source.pick(&OPS);
    let dtype = setup.source.pick(&ARITHMETIC);
    let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
    if op == Rot && complex {
        op = Swap;
    }
    if op == Dotc && !complex {
        op = Dotu;
    }
    let variant = match op {
        Scal if complex && setup.source.rarely(2) => Mixed,
        Dotu if dtype == DType::F32 => setup.source.pick(&[Plain, Mixed, MixedAndRounded]),
        _ => Plain,
    };
    let mut factors =
        Factors { alpha: setup.source.factor(dtype), beta: setup.source.factor(dtype) };
    if !complex || variant == Mixed {
        // A real factor is one number.
        (factors.alpha.im, factors.beta.im) = (0.0, 0.0);
    }
    let n = if setup.source.rarely(150) {
        setup.source.pick(&[300_001, 70_000])
    } else {
        setup
            .source
            .pick(&[3, 1, 2, 0, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 127, 300, 2047, -1])
    };
    let two = !matches!(op, Scal | Nrm2 | Asum | Iamax);
    let names: &[&str] = if two { &["x", "y"] } else { &["x"] };
    let item = dtype.size() as isize;
    let mut incs = vec![];
    for (k, &name) in names.iter().enumerate() {
        let inc = setup.source.pick(&[1, 1, -1, 2, -2, 3, 0, -3, 7, 30]);
        // Not so far apart that they fill the memory.
        let inc = if n > 2047 { inc.clamp(-2, 2) } else { inc };
        let output = match op {
            Swap | Rot => true,
            Scal => true,
            _ => !op.reduces() && k == 1,
        };
        let layout = Layout::new(0, &[n.max(0)], &[inc * item]);
        setup.place(name, layout, dtype, output, false);
        // An operand that is another has its increment.
        incs.push(setup.operands[k].layout.strides[0] / item);
    }
    // A pointer is all that there is of a descriptor.
    for o in &mut setup.operands {
        o.spoilt = if o.spoilt == Spoilt::Null { Spoilt::NullData } else { Spoilt::No };
    }
    fill(&mut setup, op, factors);
    let mut faults = faults(&setup, op, dtype, factors);
    let factored = matches!(op, Axpy | Axpby | Scal);
    let null_alpha = factored && complex && variant == Plain && setup.nonsense(8);
    let null_beta = op == Axpby && complex && setup.nonsense(8);
    faults.must(null_alpha || null_beta, NULL);
    // With nothing to do, or something to refuse, it may not be looked at.
    faults.may(null_alpha || null_beta, OK);
    if n > 1 && setup.nonsense(5) {
        let k = setup.source.below(incs.len());
        incs[k] =
            setup.source.pick(&[isize::MAX, isize::MIN, isize::MAX / item + 1, isize::MAX / item]);
        faults.must(true, ARGUMENT);
        faults.must(true, SHAPE);
    }
    // The lowest address.
    let lowest: Vec<isize> = setup
        .operands
        .iter()
        .map(|o| o.layout.base + ((n - 1).max(0) * o.layout.strides[0]).min(0))
        .collect();
    let null_result = op.reduces() && setup.nonsense(6);
    faults.must(null_result, NULL);

    let held = Factors { alpha: rounded(dtype, factors.alpha), beta: rounded(dtype, factors.beta) };
    let one = C64::new(1.0, 0.0);
    let effective = if op == Axpy { Factors { beta: one, ..held } } else { held };
    let exact = faults.none() && setup.exact(&[held.alpha, effective.beta]);
    let (operands, memories) = (setup.operands.clone(), setup.memories.clone());
    let null_data: Vec<bool> = operands.iter().map(|o| o.spoilt == Spoilt::NullData).collect();
    let memory: Vec<*mut u8> = setup.memories.iter_mut().map(|m| m.as_mut_ptr()).collect();
    let pointer = |k: usize| -> *mut c_void {
        let k = k.min(operands.len() - 1);
        if null_data[k] {
            null_mut()
        } else {
            memory[operands[k].memory].wrapping_offset(lowest[k]).cast()
        }
    };
    let (incx, incy) = (incs[0], incs[incs.len() - 1]);
    let (alpha, beta) = (held.alpha, held.beta);
    let (alpha32, beta32) = (single(alpha), single(beta));
    let factor = |null_one: bool, wide: &C64, narrow: &Complex<f32>| -> *const c_void {
        if null_one {
            null()
        } else if dtype == DType::Complex64 {
            (&raw const *narrow).cast()
        } else {
            (&raw const *wide).cast()
        }
    };
    let (a, b) = (factor(null_alpha, &alpha, &alpha32), factor(null_beta, &beta, &beta32));
    const UNTOUCHED: f64 = -123.25;
    let (mut c32, mut c64) =
        (Complex::new(UNTOUCHED as f32, UNTOUCHED as f32), C64::new(UNTOUCHED, UNTOUCHED));
    let (mut r32, mut r64, mut index) = (UNTOUCHED as f32, UNTOUCHED, -77isize);
    let mut status = OK;
    let what = format!("{op:?} ({variant:?}) of n = {n}, increments {incs:?}, {factors:?}");
    setup.call(
        &what,
        faults,
        // SAFETY: vectors in the memories, or wrong in a way that must be noticed.
        |_| unsafe {
            let (px, py) = (pointer(0), pointer(1));
            let (sx, sy, dx, dy): (*mut f32, *mut f32, *mut f64, *mut f64) =
                (px.cast(), py.cast(), px.cast(), py.cast());
            fn to<R>(null: bool, result: &mut R) -> *mut R {
                if null { null_mut() } else { result }
            }
            let (rs, rd, ri) =
                (to(null_result, &mut r32), to(null_result, &mut r64), to(null_result, &mut index));
            let (rc, rz) = (to(null_result, &mut c32).cast(), to(null_result, &mut c64).cast());
            use DType::*;
            status = match (op, dtype, variant) {
                (Axpy, F32, _) => ndblas_saxpy(n, alpha32.re, sx, incx, sy, incy),
                (Axpy, F64, _) => ndblas_daxpy(n, alpha.re, dx, incx, dy, incy),
                (Axpy, Complex64, _) => ndblas_caxpy(n, a, px, incx, py, incy),
                (Axpy, ..) => ndblas_zaxpy(n, a, px, incx, py, incy),
                (Axpby, F32, _) => ndblas_saxpby(n, alpha32.re, sx, incx, beta32.re, sy, incy),
                (Axpby, F64, _) => ndblas_daxpby(n, alpha.re, dx, incx, beta.re, dy, incy),
                (Axpby, Complex64, _) => ndblas_caxpby(n, a, px, incx, b, py, incy),
                (Axpby, ..) => ndblas_zaxpby(n, a, px, incx, b, py, incy),
                (Scal, F32, _) => ndblas_sscal(n, alpha32.re, sx, incx),
                (Scal, F64, _) => ndblas_dscal(n, alpha.re, dx, incx),
                (Scal, Complex64, Mixed) => ndblas_csscal(n, alpha32.re, px, incx),
                (Scal, Complex128, Mixed) => ndblas_zdscal(n, alpha.re, px, incx),
                (Scal, Complex64, _) => ndblas_cscal(n, a, px, incx),
                (Scal, ..) => ndblas_zscal(n, a, px, incx),
                (Copy, F32, _) => ndblas_scopy(n, sx, incx, sy, incy),
                (Copy, F64, _) => ndblas_dcopy(n, dx, incx, dy, incy),
                (Copy, Complex64, _) => ndblas_ccopy(n, px, incx, py, incy),
                (Copy, ..) => ndblas_zcopy(n, px, incx, py, incy),
                (Swap, F32, _) => ndblas_sswap(n, sx, incx, sy, incy),
                (Swap, F64, _) => ndblas_dswap(n, dx, incx, dy, incy),
                (Swap, Complex64, _) => ndblas_cswap(n, px, incx, py, incy),
                (Swap, ..) => ndblas_zswap(n, px, incx, py, incy),
                (Rot, F32, _) => ndblas_srot(n, sx, incx, sy, incy, alpha32.re, beta32.re),
                (Rot, ..) => ndblas_drot(n, dx, incx, dy, incy, alpha.re, beta.re),
                (Dotu, F32, Plain) => ndblas_sdot(n, sx, incx, sy, incy, rs),
                (Dotu, F32, Mixed) => ndblas_dsdot(n, sx, incx, sy, incy, rd),
                (Dotu, F32, _) => ndblas_sdsdot(n, 0.0, sx, incx, sy, incy, rs),
                (Dotu, F64, _) => ndblas_ddot(n, dx, incx, dy, incy, rd),
                (Dotu, Complex64, _) => ndblas_cdotu(n, px, incx, py, incy, rc),
                (Dotu, ..) => ndblas_zdotu(n, px, incx, py, incy, rz),
                (Dotc, Complex64, _) => ndblas_cdotc(n, px, incx, py, incy, rc),
                (Dotc, ..) => ndblas_zdotc(n, px, incx, py, incy, rz),
                (Nrm2, F32, _) => ndblas_snrm2(n, sx, incx, rs),
                (Nrm2, F64, _) => ndblas_dnrm2(n, dx, incx, rd),
                (Nrm2, Complex64, _) => ndblas_scnrm2(n, px, incx, rs),
                (Nrm2, ..) => ndblas_dznrm2(n, px, incx, rd),
                (Asum, F32, _) => ndblas_sasum(n, sx, incx, rs),
                (Asum, F64, _) => ndblas_dasum(n, dx, incx, rd),
                (Asum, Complex64, _) => ndblas_scasum(n, px, incx, rs),
                (Asum, ..) => ndblas_dzasum(n, px, incx, rd),
                (_, F32, _) => ndblas_isamax(n, sx, incx, ri),
                (_, F64, _) => ndblas_idamax(n, dx, incx, ri),
                (_, Complex64, _) => ndblas_icamax(n, px, incx, ri),
                _ => ndblas_izamax(n, px, incx, ri),
            };
            status
        },
        |before, out, index| cell(op, effective, exact, &operands, before, out, index),
    );
    if !op.reduces() {
        return;
    }
    let untouched = (c32.re as f64, c64.re, r32 as f64, r64, index)
        == (UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED, -77);
    if status != OK {
        assert!(untouched, "{what}: a result was written");
        return;
    }
    let is_single = matches!(dtype, DType::F32 | DType::Complex64) && variant != Mixed;
    let got = match (op, is_single, complex) {
        (Iamax, ..) => Reduced::Index(index),
        (Dotu | Dotc, true, true) => Reduced::Sum(C64::new(c32.re as f64, c32.im as f64)),
        (Dotu | Dotc, false, true) => Reduced::Sum(c64),
        (_, true, _) => Reduced::Sum(C64::new(r32 as f64, 0.0)),
        _ => Reduced::Sum(C64::new(r64, 0.0)),
    };
    let precision = if is_single { DType::F32 } else { DType::F64 };
    if let Err(wrong) = check_reduced(op, &operands, &memories, precision, got) {
        panic!("{what} of {operands:#?}: {wrong}");
    }
}

fn single(v: C64) -> Complex<f32> {
    Complex::new(v.re as f32, v.im as f32)
}
