//! [`KernelBackend`]: the choice between native kernels and kernels of a driver.

/// Backend of kernels: the host's processor, or the driver of the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelBackend {
    /// The host's threads run machine code that Zippy compiles.
    Native,
    /// As [`Self::Native`], and operations with a version for the host run their kernels instead,
    /// so that tests compare both versions.
    NativeOnly,
    /// The adapter's driver runs the kernels, on a GPU or in software.
    Driver,
}

/// Returns true if the processor has vectors of 512 bits (AVX-512). With these, software drivers
/// compute kernels with many gathers and branches faster than native code.
pub fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
