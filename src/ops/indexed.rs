//! Gather and scatter-add along an axis.

/// What an index outside `0..n` means on an axis of extent n.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(i32)]
pub enum Mode {
    /// Negative counts from the end; out of range is an error, found before the first write.
    #[default]
    Raise = 0,
    /// Modulo n.
    Wrap = 1,
    /// The nearest of 0 and n-1.
    Clip = 2,
    /// Negative counts from the end; out of range reads as zero and is dropped by a scatter-add.
    Drop = 3,
}

impl Mode {
    /// The mode of a number from the C ABI.
    pub fn from_number(n: i32) -> Option<Mode> {
        [Mode::Raise, Mode::Wrap, Mode::Clip, Mode::Drop].into_iter().find(|&m| m as i32 == n)
    }
}
