//! Which kernel `out <- beta*out + alpha*in` is: the one place that knows what alpha and beta mean.

use super::Rows;
use super::map::{Add, Axpby, Axpy, Mapped, Scal, Scale};
use super::moves::{Accumulate, Copy, Fill, word};
use crate::scalar::{Element, Scalar};

/// Something that runs a kernel over an output.
pub(crate) trait OutputRunner<T: Element>: Sized {
    fn run_on_output<K: Rows<T, 1, 1>>(self, kernel: K);
    fn run_words_on_output<K: Rows<T::Word, 1, 1>>(self, kernel: K);

    /// `out <- beta*out`, all that is left of a routine when alpha = 0.
    fn rescale(self, beta: T)
    where
        T: Scalar,
    {
        if beta == T::ZERO {
            self.run_words_on_output(Fill(word(T::ZERO)));
        } else if beta != T::ONE {
            self.run_on_output(Mapped(Scal { alpha: beta }));
        }
    }
}

/// Something that runs a kernel over operands (out, in).
pub(crate) trait Runner<T: Element>: OutputRunner<T> {
    fn run<K: Rows<T, 2, 1>>(self, kernel: K);
    fn run_words<K: Rows<T::Word, 2, 1>>(self, kernel: K);
}

/// The type has no such arithmetic.
#[derive(Debug)]
pub(crate) struct NoArithmetic;

/// `out <- beta*out + alpha*in`. With beta = 0, out is not read; with alpha = 0, in is not.
#[inline(always)]
pub(crate) fn scalars<T: Scalar>(alpha: T, beta: T, runner: impl Runner<T>) {
    if alpha == T::ZERO {
        runner.rescale(beta);
    } else if beta == T::ONE {
        runner.run(Mapped(Axpy { alpha }));
    } else if beta != T::ZERO {
        runner.run(Mapped(Axpby { alpha, beta }));
    } else if alpha == T::ONE {
        runner.run_words(Copy);
    } else {
        runner.run(Mapped(Scale { alpha }));
    }
}

/// `out <- out + alpha*in`; with alpha = 0 there is nothing to do, and neither is read.
#[inline(always)]
pub(crate) fn adds<T: Scalar>(alpha: T, runner: impl Runner<T>) {
    if alpha == T::ONE {
        // Where one sum waits for another, each takes as long as it has to.
        runner.run(Mapped(Add));
    } else if alpha != T::ZERO {
        runner.run(Mapped(Axpy { alpha }));
    }
}

/// [`scalars`] for elements that only move: alpha = 1 and beta = 0.
#[inline(always)]
pub(crate) fn moves<T: Element>(
    alpha: T,
    beta: T,
    runner: impl Runner<T>,
) -> Result<(), NoArithmetic> {
    if alpha != T::ONE || beta != T::ZERO {
        return Err(NoArithmetic);
    }
    runner.run_words(Copy);
    Ok(())
}

/// [`adds`] for integers, which wrap; alpha is 1.
#[inline(always)]
pub(crate) fn sums<T: Element>(alpha: T, runner: impl Runner<T>) -> Result<(), NoArithmetic> {
    if alpha != T::ONE {
        return Err(NoArithmetic);
    }
    runner.run_words(Accumulate);
    Ok(())
}
