//! Specialization of functions for common cell sizes.

/// Calls an always-inlined function with the cell size in bytes and further arguments, so that
/// common sizes are compile-time constants in it.
macro_rules! by_size {
    ($function:path, $size:expr, $($argument:expr),*) => {
        match $size {
            1 => $function(1, $($argument),*),
            2 => $function(2, $($argument),*),
            4 => $function(4, $($argument),*),
            8 => $function(8, $($argument),*),
            16 => $function(16, $($argument),*),
            size => $function(size, $($argument),*),
        }
    };
}

pub(super) use by_size;
