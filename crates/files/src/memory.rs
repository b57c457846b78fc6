//! Allocation for sizes that a file declares: a failure is an error and does not abort the process.

/// Empty vector with capacity for `count` values.
///
/// # Errors
/// Not enough memory.
pub fn reserved<T>(count: u64) -> Result<Vec<T>, String> {
    let mut values = Vec::new();
    if usize::try_from(count).is_ok_and(|count| values.try_reserve_exact(count).is_ok()) {
        Ok(values)
    } else {
        Err(format!("no memory for {} bytes", u128::from(count) * size_of::<T>() as u128))
    }
}

/// Vector of `count` zeros.
///
/// # Errors
/// Not enough memory.
pub fn zeros<T: bytemuck::Zeroable + Clone>(count: u64) -> Result<Vec<T>, String> {
    let mut values = reserved(count)?;
    values.resize(count as usize, T::zeroed());
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_no_machine_has_is_an_error() {
        assert_eq!(zeros::<u16>(5).unwrap(), [0; 5]);
        assert_eq!(reserved::<u64>(u64::MAX).unwrap_err(), "no memory for 147573952589676412920 bytes");
        assert_eq!(zeros::<u8>(1 << 62).unwrap_err(), "no memory for 4611686018427387904 bytes");
    }
}
