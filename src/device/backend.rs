//! [`KernelBackend`]: the choice between native kernels and kernels of a driver.

/// Backend of kernels: the host's processor, or the driver of the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelBackend {
    /// Machine code of Zippy, on the threads of the host.
    Native,
    /// The driver of the adapter, on a GPU or in software.
    Driver,
}
