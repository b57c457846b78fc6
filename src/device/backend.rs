//! [`KernelBackend`]: the choice between processor and driver.

/// What computes kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelBackend {
    /// The host's processor, by machine code of its own.
    Native,
    /// The adapter's driver.
    Driver,
}
