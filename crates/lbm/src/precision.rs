//! Precision of stored populations.

/// Floating-point precision of the stored populations. Kernels compute in 32 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    #[default]
    Single,
    /// 16 bits, two populations in a word: half the memory and half the traffic.
    ///
    /// Each step rounds populations to eleven binary digits, stochastically up or down: rounding to
    /// nearest would act like a force in a steady flow. The noise of velocities is about 1e-4 of
    /// the speed at 0.05 cells per step, and more in slower flows. A flow never becomes completely
    /// steady.
    Half,
}
