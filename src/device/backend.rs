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
