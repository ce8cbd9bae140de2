//! Transposes between a few columns and the dense rows that they make (planes and pixels), by
//! shuffles of bytes.
//!
//! 16 bytes of each of C columns are the words of 16*C bytes of rows. With both in C registers, each
//! register of one side is put together from shuffles of all of the other: C*C shuffles either way,
//! whatever C is; only the masks differ. Lanes do the same to pieces that follow one another.

use super::bytes::Bytes;
use crate::isa::Isa;

/// No more columns than this are few.
pub(crate) const FEW: usize = 8;

/// For each register of the result, the masks by which it takes bytes of each of the others.
type Masks<const C: usize> = [[[u8; 16]; C]; C];

/// The masks from rows to columns (`SPLIT`) or back.
struct Table<const C: usize, const SPLIT: bool>;

impl<const C: usize, const SPLIT: bool> Table<C, SPLIT> {
    /// For items of 1, 2, 4 and 8 bytes.
    const MASKS: [Masks<C>; 4] = [Self::masks(1), Self::masks(2), Self::masks(4), Self::masks(8)];

    /// A byte of 128 takes nothing.
    const fn masks(item: usize) -> Masks<C> {
        let mut masks = [[[128; 16]; C]; C];
        let mut i = 0;
        while i < 16 * C {
            let (c, at) = (i / 16, i % 16);
            let dense = (at / item * C + c) * item + at % item;
            if SPLIT {
                masks[c][dense / 16][at] = (dense % 16) as u8;
            } else {
                masks[dense / 16][c][dense % 16] = at as u8;
            }
            i += 1;
        }
        masks
    }
}

/// Whether [`transpose`] is the way for `few` columns of `len` words: whole squares of registers
/// take fewer instructions, but store to more lines at a time.
#[inline(always)]
pub(super) fn is_apt<I: Isa>(item: usize, [len, few]: [usize; 2], split: bool) -> bool {
    let n = if matches!(item, 1 | 2 | 4 | 8) { 16 / item } else { 1 };
    let squares = few.is_multiple_of(n) && !(split && few <= 4);
    I::Bytes::LANES > 0 && n > 1 && (2..=FEW).contains(&few) && len >= n && !squares
}

/// Copies dense rows of `few` words to as many columns (`SPLIT`) or columns to rows.
///
/// # Safety
/// It [is apt](is_apt); `item` is 1, 2, 4 or 8. `dense` is valid for `few * len` words of as many bytes,
/// `column(c)` for c < few for `len`: for writing on the side that is copied to, for reading on the
/// other. They do not overlap.
#[inline(always)]
pub(super) unsafe fn transpose<I: Isa, const SPLIT: bool>(
    isa: I,
    item: usize,
    [len, few]: [usize; 2],
    dense: *mut u8,
    column: impl Fn(usize) -> *mut u8 + Copy,
) {
    macro_rules! by_count {
        ($V:ty: $($c:literal)*) => {
            match few {
                $($c => pieces::<I, $V, $c, SPLIT>(isa, item, len, dense, column),)*
                _ => unreachable!(),
            }
        };
    }
    // SAFETY: the caller's promise, and as many words as the register wants.
    unsafe {
        if len * item >= 16 * I::Bytes::LANES {
            by_count!(I::Bytes: 2 3 4 5 6 7 8)
        } else {
            by_count!(I::Lane: 2 3 4 5 6 7 8)
        }
    }
}

/// [`transpose`] by registers of V, the last of which overlap those before.
///
/// # Safety
/// As [`transpose`] of C columns, and `len` words fill a register of V.
#[inline(always)]
unsafe fn pieces<I: Isa, V: Bytes<I>, const C: usize, const SPLIT: bool>(
    isa: I,
    item: usize,
    len: usize,
    dense: *mut u8,
    column: impl Fn(usize) -> *mut u8 + Copy,
) {
    let masks = const { &Table::<C, SPLIT>::MASKS };
    let masks = &masks[item.trailing_zeros() as usize];
    let (bytes, width) = (len * item, 16 * V::LANES);
    // Where stores begin registers, and so do not cross lines; the first register overlaps.
    let start = if SPLIT { column(0).addr().wrapping_neg() % width / item * item } else { 0 };
    let start = if start == 0 { width } else { start };
    let mut at = 0;
    while at < bytes {
        let from = at.min(bytes - width);
        let of_rows = |i: usize, lane: usize| dense.wrapping_add(from * C + (lane * C + i) * 16);
        let of_column = |c: usize, lane: usize| column(c).wrapping_add(from + lane * 16);
        // SAFETY: a register of each column from `from` on exists, and its rows.
        unsafe {
            let load = |i: usize| {
                V::load_lanes(isa, |l| if SPLIT { of_rows(i, l) } else { of_column(i, l) })
            };
            let mut registers = [load(0); C];
            for i in 1..C {
                registers[i] = load(i);
            }
            for i in 0..C {
                let mut result = registers[0].shuffle(&masks[i][0]);
                for j in 1..C {
                    result = result.or(registers[j].shuffle(&masks[i][j]));
                }
                if SPLIT {
                    result.store(of_column(i, 0));
                } else {
                    result.store_lanes(|l| of_rows(i, l));
                }
            }
        }
        at += if at == 0 { start } else { width };
    }
}
