//! [`KernelBackend`]: the choice between processor and driver.

/// What computes kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelBackend {
    /// The host's processor, by machine code of its own.
    Native,
    /// The same, also for operations with a version that is written for the host: so that tests compare the kernels of
    /// these operations with their definition.
    NativeOnly,
    /// The adapter's driver.
    Driver,
}

/// Whether the processor has vectors of 512 bits (AVX-512), with which software drivers compute kernels
/// of many gathers and branches faster than native code does.
pub fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
