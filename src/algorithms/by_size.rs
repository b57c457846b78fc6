//! Work on cells of any size, compiled for the usual ones.

/// Calls a function, one that is always inlined, with the bytes of a cell and further arguments, so that the usual sizes are
/// constants in it.
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
