//! [`VectorLoop`]: loops that the compiler vectorises, for the vector unit of the processor at hand.

/// A loop over numbers that the compiler vectorises.
///
/// An implementation marks `run` and the functions that it calls with `#[inline(always)]`, so that
/// each copy of the loop consists of instructions of its own vector unit. The results must not
/// depend on the width of vectors.
pub(crate) trait VectorLoop {
    /// The result of the loop.
    type Output;

    /// Runs the loop.
    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest vectors that it is compiled for and the processor has.
pub(crate) fn run_vectorized<L: VectorLoop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions that the function is compiled for.
        return unsafe { run_with_avx2(work) };
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_with_avx2<L: VectorLoop>(work: L) -> L::Output {
    work.run()
}
