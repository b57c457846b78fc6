//! [`KernelBackend`]: the choice between native kernels and kernels of a driver.

/// Backend of kernels: the host's processor, or the driver of the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelBackend {
    /// Machine code of Zippy, on the threads of the host.
    Native,
    /// As [`Self::Native`], also instead of an operation's version for the host, so that tests
    /// compare the kernels of such operations with their definition.
    NativeOnly,
    /// The driver of the adapter, on a GPU or in software.
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
