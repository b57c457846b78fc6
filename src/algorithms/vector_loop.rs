//! [`VectorLoop`]: loops that the compiler vectorizes, specialized for the current processor.

/// Loop over numbers that the compiler vectorizes.
///
/// An implementation marks `run` and its callees with `#[inline(always)]`, so that each copy of the
/// loop is compiled for its own vector unit. The results must not depend on the vector width.
pub(crate) trait VectorLoop {
    type Output;

    fn run(self) -> Self::Output;
}

/// Runs a loop with the widest compiled vectors that the processor supports.
pub(crate) fn run_vectorized<L: VectorLoop>(work: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { run_with_avx512(work) };
        }
        if has!("avx2") {
            // SAFETY: the same.
            return unsafe { run_with_avx2(work) };
        }
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn run_with_avx512<L: VectorLoop>(work: L) -> L::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_with_avx2<L: VectorLoop>(work: L) -> L::Output {
    work.run()
}

/// Prefetches bytes: loops over short blocks end before the processor detects their access pattern.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(CACHE_LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint that changes no state of the program, and the address is
        // that of a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;
