//! Transposes, and other routines over operands whose elements lie in different orders, against
//! loops over indices.

use ndblas::{Element, Scalar, View, ViewMut};
use num_complex::Complex;
use std::panic::Location;

/// A small generator (xorshift64*), so that a failure can be had again.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
    fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut p: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            p.swap(i, self.below(i + 1));
        }
        p
    }
}

/// A strided array in bytes of its own, all else in which must stay as it is.
#[derive(Clone)]
struct Array {
    bytes: Vec<u8>,
    first: usize,
    shape: Vec<usize>,
    strides: Vec<isize>,
    item: usize,
}

/// How an array is laid out.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// Dense, row-major, at the start of an allocation.
    Dense,
    /// Dense in a random order of axes, at any address.
    Ordered,
    /// Any order, with padding, negative strides, any address.
    Any,
}

impl Array {
    fn new(rng: &mut Rng, item: usize, shape: &[usize], style: Style) -> Array {
        let n = shape.len();
        let order = match style {
            Style::Dense => (0..n).rev().collect(),
            _ => rng.permutation(n),
        };
        let (mut strides, mut span, mut low) = (vec![0; n], item, 0);
        for d in order {
            let mut step = span as isize;
            if style == Style::Any {
                step += rng.pick(&[0, 0, 0, 1, 3, item, 64]) as isize;
            }
            span += (shape[d].max(1) - 1) * step as usize;
            if style == Style::Any && rng.below(5) == 0 {
                low += (shape[d].max(1) - 1) * step as usize;
                step = -step;
            }
            strides[d] = step;
        }
        let front = match style {
            Style::Dense => 0,
            Style::Ordered => rng.pick(&[64, 64 + item, 128 + rng.0 as usize % 64]),
            Style::Any => 64 + rng.below(64),
        };
        let bytes = (0..front + span + 64).map(|_| rng.next() as u8).collect();
        Array { bytes, first: front + low, shape: shape.to_vec(), strides, item }
    }

    fn offset(&self, index: &[usize]) -> usize {
        let steps = index.iter().zip(&self.strides).map(|(&i, &s)| i as isize * s);
        (self.first as isize + steps.sum::<isize>()) as usize
    }

    fn get<T: Element>(&self, index: &[usize]) -> T {
        assert_eq!(size_of::<T>(), self.item);
        let at = self.offset(index);
        unsafe { self.bytes[at..at + self.item].as_ptr().cast::<T>().read_unaligned() }
    }

    fn set<T: Element>(&mut self, index: &[usize], value: T) {
        let at = self.offset(index);
        let cell = self.bytes[at..at + self.item].as_mut_ptr().cast::<T>();
        unsafe { cell.write_unaligned(value) }
    }

    fn view<T: Element>(&self) -> View<'_, T> {
        let data = self.bytes.as_ptr().wrapping_add(self.first).cast();
        unsafe { View::from_raw_parts(data, &self.shape, &self.strides).unwrap() }
    }

    fn view_mut<T: Element>(&mut self) -> ViewMut<'_, T> {
        let data = self.bytes.as_mut_ptr().wrapping_add(self.first).cast();
        unsafe { ViewMut::from_raw_parts(data, &self.shape, &self.strides).unwrap() }
    }

    /// Small numbers everywhere, so that sums of products are exact.
    fn fill_small<T: Scalar>(&mut self, rng: &mut Rng) {
        for index in indices(&self.shape.clone()) {
            let (re, im) = (rng.below(16) as f64 - 8.0, rng.below(16) as f64 - 8.0);
            self.set(&index, T::rounded(re, im));
        }
    }

    #[track_caller]
    fn assert_is(&self, other: &Array) {
        if self.bytes != other.bytes {
            let at = self.bytes.iter().zip(&other.bytes).position(|(a, b)| a != b).unwrap();
            panic!(
                "byte {at} of {} differs; first {} shape {:?} strides {:?} item {} ({})",
                self.bytes.len(),
                self.first,
                self.shape,
                self.strides,
                self.item,
                Location::caller()
            );
        }
    }
}

/// Every index of a shape, row-major.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let (shape, len) = (shape.to_vec(), shape.iter().product());
    (0..len).map(move |flat: usize| {
        let mut rest = flat;
        let mut index = vec![0; shape.len()];
        for d in (0..shape.len()).rev() {
            (index[d], rest) = (rest % shape[d], rest / shape[d]);
        }
        index
    })
}

/// The offsets of every index in two layouts: [`indices`] for what is large.
fn each_offset(
    shape: &[usize],
    strides: [&[isize]; 2],
    first: [usize; 2],
    mut visit: impl FnMut([usize; 2]),
) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    let mut at = first.map(|f| f as isize);
    loop {
        visit(at.map(|at| at as usize));
        let mut d = shape.len();
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            index[d] += 1;
            let back = if index[d] < shape[d] { 0 } else { shape[d] as isize };
            for k in 0..2 {
                at[k] += strides[k][d] * (1 - back);
            }
            if back == 0 {
                break;
            }
            index[d] = 0;
        }
    }
}

fn permuted<U: Copy>(v: &[U], perm: &[usize]) -> Vec<U> {
    perm.iter().map(|&p| v[p]).collect()
}

fn extent(rng: &mut Rng, room: usize) -> usize {
    let around = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129, 200];
    rng.pick(&around).min(room.max(1))
}

fn random_shape(rng: &mut Rng, rank: usize, most: usize) -> Vec<usize> {
    let mut room = most;
    let mut shape: Vec<usize> = (0..rank)
        .map(|_| {
            let n = extent(rng, room);
            room /= n;
            n
        })
        .collect();
    let order = rng.permutation(rank);
    shape = permuted(&shape, &order);
    shape
}

fn styles(rng: &mut Rng) -> (Style, Style) {
    let all = [Style::Dense, Style::Ordered, Style::Any];
    (rng.pick(&all), rng.pick(&all))
}

/// One permute as a move.
fn check_moves<T: Element>(rng: &mut Rng, shape: &[usize], perm: &[usize]) {
    let item = size_of::<T>();
    let styles = styles(rng);
    let a = Array::new(rng, item, shape, styles.0);
    let mut out = Array::new(rng, item, &permuted(shape, perm), styles.1);
    let mut expected = out.clone();
    let mut to_strides = vec![0; shape.len()];
    perm.iter().zip(&expected.strides).for_each(|(&p, &s)| to_strides[p] = s);
    each_offset(shape, [&a.strides, &to_strides], [a.first, expected.first], |[from, to]| {
        expected.bytes[to..to + item].copy_from_slice(&a.bytes[from..from + item]);
    });
    let one = T::ONE;
    ndblas::permute(one, &a.view::<T>(), Some(perm), T::ZERO, &mut out.view_mut()).unwrap();
    out.assert_is(&expected);
}

fn check_moves_of_all_sizes(rng: &mut Rng, shape: &[usize], perm: &[usize]) {
    check_moves::<u8>(rng, shape, perm);
    check_moves::<i16>(rng, shape, perm);
    check_moves::<u32>(rng, shape, perm);
    check_moves::<u64>(rng, shape, perm);
    check_moves::<Complex<f64>>(rng, shape, perm);
}

#[test]
fn moves_random() {
    let mut rng = Rng(1);
    for turn in 0..600 {
        let rank = rng.below(6) + 1;
        let most = if turn % 20 == 0 { 60_000 } else { 3_000 };
        let shape = random_shape(&mut rng, rank, most);
        let perm = rng.permutation(rank);
        check_moves_of_all_sizes(&mut rng, &shape, &perm);
    }
}

#[test]
fn moves_matrices_around_tile_edges() {
    let mut rng = Rng(2);
    let edges = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 96, 129];
    for rows in edges {
        for cols in edges {
            check_moves_of_all_sizes(&mut rng, &[rows, cols], &[1, 0]);
        }
    }
}

#[test]
fn moves_short_axes() {
    let mut rng = Rng(3);
    for rank in 2..=12 {
        for _ in 0..4 {
            let perm = rng.permutation(rank);
            check_moves_of_all_sizes(&mut rng, &vec![2; rank], &perm);
        }
        let reversed: Vec<usize> = (0..rank).rev().collect();
        check_moves_of_all_sizes(&mut rng, &vec![2; rank], &reversed);
    }
    for c in 1..=17 {
        check_moves_of_all_sizes(&mut rng, &[37, 41, c], &[2, 0, 1]);
        check_moves_of_all_sizes(&mut rng, &[c, 37, 41], &[1, 2, 0]);
        check_moves_of_all_sizes(&mut rng, &[5, 41, 37, c], &[0, 3, 1, 2]);
        check_moves_of_all_sizes(&mut rng, &[9, 23, 11, c], &[1, 0, 2, 3]);
        check_moves_of_all_sizes(&mut rng, &[9, 23, 11, c], &[2, 1, 0, 3]);
    }
}

/// Large enough for stores past the caches. Of them every so-manieth, where PROPTEST_CASES says that few
/// cases are wanted, as under a sanitizer.
#[test]
fn moves_large() {
    type Check = fn(&mut Rng, &[usize], &[usize]);
    let mut all: Vec<(Check, Vec<usize>, &[usize])> = vec![];
    let cases: [(&[usize], &[usize]); 8] = [
        (&[2049, 1025], &[1, 0]),
        (&[1 << 20, 3], &[1, 0]),
        (&[3, 1 << 20], &[1, 0]),
        (&[67, 5, 131, 61], &[3, 2, 1, 0]),
        (&[67, 131, 61, 5], &[1, 0, 2, 3]),
        (&[33, 47, 1700], &[1, 0, 2]),
        (&[9, 7, 9000, 4], &[2, 0, 3, 1]),
        (&[2; 21], &[3, 1, 20, 5, 7, 0, 2, 4, 6, 19, 18, 8, 9, 17, 16, 10, 11, 12, 13, 15, 14]),
    ];
    for (shape, perm) in cases {
        let checks: [Check; 2] = [check_moves::<f32>, check_moves::<f64>];
        all.extend(checks.map(|check| (check, shape.to_vec(), perm)));
    }
    // Steps that are whole lines, in the output too.
    let cases: [(&[usize], &[usize]); 6] = [
        (&[2048, 1040], &[1, 0]),
        (&[1056, 2050], &[1, 0]),
        (&[48, 28, 37, 48], &[3, 0, 2, 1]),
        (&[28, 48, 28, 48], &[3, 0, 2, 1]),
        (&[28, 14, 9, 32, 21], &[4, 0, 2, 1, 3]),
        (&[9, 28, 14, 48, 16], &[4, 0, 2, 1, 3]),
    ];
    for (shape, perm) in cases {
        let twice: [Check; 2] = [check_moves::<f32>, check_moves::<u64>];
        let checks = twice.into_iter().chain(twice).chain([check_moves::<Complex<f64>> as Check]);
        all.extend(checks.map(|check| (check, shape.to_vec(), perm)));
    }
    // Short periods of the output, lines of which reach into the next one along the columns or along
    // another axis; and runs that both sides share, of any length.
    let cases: [(&[usize], &[usize]); 5] = [
        (&[15, 15, 15, 16, 5, 32], &[2, 0, 4, 1, 5, 3]),
        (&[15, 15, 32, 15, 3, 32], &[1, 4, 0, 5, 3, 2]),
        (&[75, 16, 75, 17], &[2, 0, 3, 1]),
        (&[28, 28, 48, 2, 18], &[1, 3, 0, 4, 2]),
        (&[31, 16, 16, 12, 17], &[0, 3, 4, 2, 1]),
    ];
    for (shape, perm) in cases {
        let twice: [Check; 2] = [check_moves::<u32>, check_moves::<f64>];
        all.extend(twice.into_iter().chain(twice).map(|check| (check, shape.to_vec(), perm)));
    }
    for run in [16, 17, 33, 48, 64, 80, 300] {
        for perm in [&[2, 1, 0, 3], &[1, 0, 2, 3]] {
            all.push((check_moves::<f32>, vec![35, 46, 21, run], perm));
        }
    }
    // The same runs shorter than a line, with columns of whole lines and not.
    for run in [3, 5, 12] {
        for rows in [192, 75] {
            all.push((check_moves::<u8>, vec![rows, 90_000 / run, run], &[1, 0, 2]));
            all.push((check_moves::<f32>, vec![rows, 22_500 / run, run], &[1, 0, 2]));
        }
    }
    all.push((check_moves::<u16>, vec![15, 5, 32, 15, 8, 16], &[4, 1, 0, 3, 2, 5]));
    // Long periods of several axes, and columns that follow one another in the output.
    all.push((check_moves::<u8>, vec![32, 75, 12, 300], &[3, 2, 1, 0]));
    all.push((check_moves::<u32>, vec![12, 45, 16, 300], &[3, 2, 1, 0]));
    for height in [9, 20, 33, 96, 480] {
        all.push((check_moves::<u8>, vec![3, height, 2_200_000 / height], &[0, 2, 1]));
        all.push((check_moves::<u16>, vec![3, height, 1_100_000 / height], &[0, 2, 1]));
    }
    all.push((check_moves::<u8>, vec![4099, 2050], &[1, 0]));
    all.push((check_moves::<u16>, vec![2049, 2050], &[1, 0]));
    all.push((check_moves::<Complex<f64>>, vec![1025, 700], &[1, 0]));
    let mut rng = Rng(4);
    for (check, shape, perm) in all.iter().rev().step_by(one_in()) {
        check(&mut rng, shape, perm);
    }
}

/// Inputs that end where their memory does, for a sanitizer to see what is read beyond them: lines that
/// reach from one column into the next, where the last column has none.
#[test]
fn reads_no_more_than_the_input() {
    fn check<T: Element>(shape: [usize; 3], value: impl Fn(usize) -> T) {
        let [h, w, c] = shape;
        let input: Vec<T> = (0..h * w * c).map(value).collect();
        let steps = [w * c, c, 1].map(|s| (s * size_of::<T>()) as isize);
        let last = input.as_ptr().wrapping_add((w - 1) * c);
        // SAFETY: all of the input, as it lies and with the second axis reversed.
        let (x, reversed) = unsafe {
            let reversed = [steps[0], -steps[1], steps[2]];
            let x = View::from_raw_parts(input.as_ptr(), &shape, &steps).unwrap();
            (x, View::from_raw_parts(last, &shape, &reversed).unwrap())
        };
        let steps = [h * c, c, 1].map(|s| (s * size_of::<T>()) as isize);
        for (x, turned) in [(x, false), (reversed, true)] {
            // Sixteen bytes off a line.
            let mut output: Vec<T> = vec![input[0]; input.len() + 2 * 64 / size_of::<T>()];
            let from = (output.as_ptr().addr().wrapping_neg() % 64 + 16) / size_of::<T>();
            let start = output.as_mut_ptr().wrapping_add(from);
            // SAFETY: there is room for as much as the input from there on.
            let mut out = unsafe { ViewMut::from_raw_parts(start, &[w, h, c], &steps).unwrap() };
            let one = T::from_parts(1.0, 0.0).unwrap();
            ndblas::permute(one, &x, Some(&[1, 0, 2]), T::ZERO, &mut out).unwrap();
            for (at, got) in output[from..][..input.len()].iter().enumerate() {
                let (j, i, k) = (at / (h * c), at / c % h, at % c);
                let j = if turned { w - 1 - j } else { j };
                assert!(*got == input[(i * w + j) * c + k], "{shape:?} at {at}");
            }
        }
    }
    check::<f32>([2, 200_000, 8], |i| (i % 251) as f32);
    check::<f32>([6, 90_000, 3], |i| (i % 251) as f32);
    check::<u8>([192, 12_000, 3], |i| (i % 251) as u8);
    check::<u16>([32, 70_000, 2], |i| (i % 251) as u16);
}

/// All cases where PROPTEST_CASES is as it is by default, or more.
fn one_in() -> usize {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|v| v.parse().ok());
    (256 / cases.unwrap_or(256usize).max(1)).max(1)
}

/// Planes to pixels and back: few of one axis, as many of the other as registers hold, and a few more.
#[test]
fn moves_few_channels() {
    let mut rng = Rng(9);
    for channels in 1..=9 {
        for registers in [1, 2, 4, 8, 16, 32, 64, 128, 192] {
            for len in [registers - 1, registers, registers + 1] {
                check_moves_of_all_sizes(&mut rng, &[len, channels], &[1, 0]);
                check_moves_of_all_sizes(&mut rng, &[channels, len], &[1, 0]);
            }
        }
        for _ in 0..4 {
            let (h, w) = (rng.below(20) + 1, rng.below(70) + 1);
            check_moves_of_all_sizes(&mut rng, &[3, h, w, channels], &[0, 3, 1, 2]);
            check_moves_of_all_sizes(&mut rng, &[3, channels, h, w], &[0, 2, 3, 1]);
        }
    }
}

/// The same past the caches, with and without a start on a line, and over layers.
#[test]
fn moves_few_channels_large() {
    let mut rng = Rng(10);
    for (channels, words) in [(3, 2_200_007), (8, 800_001)] {
        check_moves::<u8>(&mut rng, &[words, channels], &[1, 0]);
        check_moves::<u8>(&mut rng, &[channels, words], &[1, 0]);
        check_moves::<u16>(&mut rng, &[words / 2, channels], &[1, 0]);
        check_moves::<u16>(&mut rng, &[channels, words / 2], &[1, 0]);
        check_moves::<f32>(&mut rng, &[words / 4, channels], &[1, 0]);
        check_moves::<f32>(&mut rng, &[channels, words / 4], &[1, 0]);
        check_moves::<f64>(&mut rng, &[words / 8, channels], &[1, 0]);
        check_moves::<f64>(&mut rng, &[channels, words / 8], &[1, 0]);
        let (h, w) = (171, words / 4 / 3 / 171 + 1);
        check_moves::<f32>(&mut rng, &[3, h, w, channels], &[0, 3, 1, 2]);
        check_moves::<f32>(&mut rng, &[3, channels, h, w], &[0, 2, 3, 1]);
    }
}

/// Memory on pages of a kind, given back when dropped.
#[cfg(target_os = "linux")]
struct Pages(*mut u8, std::alloc::Layout);

#[cfg(target_os = "linux")]
impl Pages {
    fn new(bytes: usize, large: bool) -> Pages {
        unsafe extern "C" {
            fn madvise(p: *mut u8, n: usize, advice: i32) -> i32;
        }
        let layout = std::alloc::Layout::from_size_align(bytes, 2 << 20).unwrap();
        // MADV_HUGEPAGE and MADV_NOHUGEPAGE; a kernel without either serves as well.
        unsafe {
            let p = std::alloc::alloc(layout);
            assert!(!p.is_null());
            madvise(p, bytes, if large { 14 } else { 15 });
            p.write_bytes(0xa5, bytes);
            Pages(p, layout)
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Pages {
    fn drop(&mut self) {
        unsafe { std::alloc::dealloc(self.0, self.1) }
    }
}

/// A large copy and an update, at any byte of pages of 4 KB and of 2 MB.
#[test]
#[cfg(target_os = "linux")]
fn moves_on_pages_of_either_size() {
    let (rows, cols) = (1031, 1040);
    let bytes = rows * cols * 8;
    for (large, offset) in [(true, 16), (true, 3), (false, 0), (false, 24)] {
        let (a, out) = (Pages::new(bytes + 128, large), Pages::new(bytes + 128, large));
        let (from, to) = unsafe { (a.0.add(8).cast::<f64>(), out.0.add(offset)) };
        for i in 0..rows * cols {
            unsafe { from.add(i).write(i as f64) };
        }
        let a = unsafe { View::from_raw_parts(from, &[rows, cols], &[8 * cols as isize, 8]) };
        let a = a.unwrap();
        let strides = [8 * rows as isize, 8];
        for (beta, expected) in [(0.0, 1.0), (0.5, 1.5)] {
            let view = unsafe { ViewMut::from_raw_parts(to.cast(), &[cols, rows], &strides) };
            ndblas::permute(1.0, &a, None, beta, &mut view.unwrap()).unwrap();
            for i in 0..rows * cols {
                let value = unsafe { to.cast::<f64>().add(i).read_unaligned() };
                let source = (i % rows * cols + i / rows) as f64;
                assert_eq!(value, expected * source, "{i}, beta {beta}, offset {offset}");
            }
        }
        let rest =
            |from: usize, to: usize| (from..to).all(|i| unsafe { out.0.add(i).read() } == 0xa5);
        assert!(rest(0, offset) && rest(offset + bytes, bytes + 128));
    }
}

/// out <- beta*out + alpha*a for one combination of factors; numbers are small, so exact.
fn check_update<T: Scalar>(rng: &mut Rng, shape: &[usize], perm: &[usize]) {
    let item = size_of::<T>();
    let factors = [0.0, 1.0, 2.0, -0.5];
    let (alpha, beta) = (T::rounded(rng.pick(&factors), 0.0), T::rounded(rng.pick(&factors), 0.0));
    let styles = styles(rng);
    let mut a = Array::new(rng, item, shape, styles.0);
    let mut out = Array::new(rng, item, &permuted(shape, perm), styles.1);
    a.fill_small::<T>(rng);
    out.fill_small::<T>(rng);
    let mut expected = out.clone();
    for index in indices(shape) {
        let to = permuted(&index, perm);
        let old = if beta == T::ZERO { T::ZERO } else { beta * expected.get::<T>(&to) };
        let new = if alpha == T::ZERO { T::ZERO } else { alpha * a.get::<T>(&index) };
        // A plain + 0 keeps the sign of zero as a fused step does: none here is negative zero
        // but by alpha or beta = -0.5, and equality of values is what is asked then.
        expected.set(&to, old + new);
    }
    ndblas::permute(alpha, &a.view::<T>(), Some(perm), beta, &mut out.view_mut()).unwrap();
    for index in indices(&out.shape.clone()) {
        assert_eq!(
            out.get::<T>(&index),
            expected.get::<T>(&index),
            "{index:?} of {:?} {perm:?} alpha {alpha:?} beta {beta:?}",
            out.shape
        );
        // Then only the rest is left to compare.
        let value = out.get::<T>(&index);
        expected.set(&index, value);
    }
    out.assert_is(&expected);
}

#[test]
fn updates_random() {
    let mut rng = Rng(5);
    for turn in 0..300 {
        let rank = rng.below(5) + 1;
        let most = if turn % 20 == 0 { 60_000 } else { 3_000 };
        let shape = random_shape(&mut rng, rank, most);
        let perm = rng.permutation(rank);
        check_update::<f32>(&mut rng, &shape, &perm);
        check_update::<f64>(&mut rng, &shape, &perm);
        check_update::<Complex<f32>>(&mut rng, &shape, &perm);
        check_update::<Complex<f64>>(&mut rng, &shape, &perm);
    }
}

/// c <- c + 2*(a*b) with every operand in an order of its own, some broadcast.
fn check_mul_add<T: Scalar>(rng: &mut Rng, shape: &[usize]) {
    let item = size_of::<T>();
    let operand = |rng: &mut Rng| {
        let style = rng.pick(&[Style::Ordered, Style::Any]);
        let mut x = Array::new(rng, item, shape, style);
        x.fill_small::<T>(rng);
        for d in 0..shape.len() {
            if rng.below(6) == 0 {
                x.strides[d] = 0; // its first index, or its last where the stride was negative
            }
        }
        x
    };
    let (a, b) = (operand(rng), operand(rng));
    let mut c = Array::new(rng, item, shape, Style::Any);
    c.fill_small::<T>(rng);
    let mut expected = c.clone();
    let two = T::rounded(2.0, 0.0);
    for index in indices(shape) {
        let product = a.get::<T>(&index) * b.get::<T>(&index);
        expected.set(&index, c.get::<T>(&index) + two * product);
    }
    ndblas::mul_add(two, &a.view::<T>(), &b.view(), T::ONE, &mut c.view_mut()).unwrap();
    for index in indices(shape) {
        assert_eq!(c.get::<T>(&index), expected.get::<T>(&index), "{index:?} of {shape:?}");
        let value = c.get::<T>(&index);
        expected.set(&index, value);
    }
    c.assert_is(&expected);
}

#[test]
fn mul_add_with_factors_in_any_order() {
    let mut rng = Rng(6);
    for turn in 0..300 {
        let rank = rng.below(5) + 1;
        let most = if turn % 20 == 0 { 60_000 } else { 3_000 };
        let shape = random_shape(&mut rng, rank, most);
        check_mul_add::<f32>(&mut rng, &shape);
        check_mul_add::<f64>(&mut rng, &shape);
        check_mul_add::<Complex<f32>>(&mut rng, &shape);
        check_mul_add::<Complex<f64>>(&mut rng, &shape);
    }
}

/// In place: a dense array of any shape, or any view of its transpose's shape.
fn check_in_place<T: Element>(rng: &mut Rng, shape: &[usize], perm: &[usize], style: Style) {
    let item = size_of::<T>();
    let mut a = Array::new(rng, item, shape, style);
    let new_shape = permuted(shape, perm);
    let mut expected = a.clone();
    if new_shape != shape {
        let dense = Array::new(rng, item, &new_shape, Style::Dense);
        expected = Array { bytes: a.bytes.clone(), first: a.first, ..dense };
    }
    for index in indices(shape) {
        let (from, to) = (a.offset(&index), expected.offset(&permuted(&index, perm)));
        expected.bytes[to..to + item].copy_from_slice(&a.bytes[from..from + item]);
    }
    ndblas::permute_in_place(&mut a.view_mut::<T>(), Some(perm)).unwrap();
    a.assert_is(&expected);
}

fn check_in_place_of_all_sizes(rng: &mut Rng, shape: &[usize], perm: &[usize], style: Style) {
    check_in_place::<u8>(rng, shape, perm, style);
    check_in_place::<i16>(rng, shape, perm, style);
    check_in_place::<u32>(rng, shape, perm, style);
    check_in_place::<u64>(rng, shape, perm, style);
    check_in_place::<Complex<f64>>(rng, shape, perm, style);
}

#[test]
fn in_place_dense() {
    let mut rng = Rng(7);
    for rows in 1..=20 {
        for cols in 1..=20 {
            check_in_place_of_all_sizes(&mut rng, &[rows, cols], &[1, 0], Style::Dense);
        }
    }
    for _ in 0..200 {
        let rank = rng.below(6) + 1;
        let shape = random_shape(&mut rng, rank, 5_000);
        let perm = rng.permutation(rank);
        check_in_place_of_all_sizes(&mut rng, &shape, &perm, Style::Dense);
    }
    for shape in [[700, 900], [901, 700], [3, 40_000], [40_000, 3], [1024, 256]] {
        check_in_place_of_all_sizes(&mut rng, &shape, &[1, 0], Style::Dense);
    }
}

#[test]
fn in_place_views_of_their_transposes_shape() {
    let mut rng = Rng(8);
    for n in [1, 2, 3, 7, 8, 16, 17, 31, 33, 64, 65, 130] {
        check_in_place_of_all_sizes(&mut rng, &[n, n], &[1, 0], Style::Any);
        check_in_place_of_all_sizes(&mut rng, &[n, n], &[1, 0], Style::Ordered);
        check_in_place_of_all_sizes(&mut rng, &[3, n, 2, n], &[0, 3, 2, 1], Style::Any);
        check_in_place_of_all_sizes(&mut rng, &[n, n, 5], &[1, 0, 2], Style::Any);
    }
    for _ in 0..200 {
        let rank = rng.below(5) + 1;
        let n = rng.pick(&[2, 3, 5]);
        let perm = rng.permutation(rank);
        check_in_place_of_all_sizes(&mut rng, &vec![n; rank], &perm, Style::Any);
    }
}

#[test]
fn in_place_refuses() {
    let mut data = [0u32; 64];
    let mut view = ViewMut::from_slice_strided(&mut data, 0, &[3, 4], &[8, 1]).unwrap();
    let error = ndblas::permute_in_place(&mut view, None).unwrap_err();
    assert_eq!(error.status(), ndblas::Status::Layout);
    let error = ndblas::permute_in_place(&mut view, Some(&[0, 0])).unwrap_err();
    assert_eq!(error.status(), ndblas::Status::Axis);
}
