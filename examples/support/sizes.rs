//! Parsers of sizes and numbers on the command line.

/// Separators between the sizes of two axes.
pub const AXES: [char; 4] = ['x', 'X', ',', '\u{d7}'];

/// Parses `64` or `64x80x72`, the size in voxels of a computed volume, at most 2^32 voxels.
///
/// # Errors
/// A message for the command line.
#[allow(dead_code, reason = "unused in programs that only read volumes")]
pub fn extents(text: &str) -> Result<[i64; 3], String> {
    let shape = voxels(text)?;
    let fits = shape.iter().product::<i64>() <= 1 << 32;
    fits.then_some(shape).ok_or_else(|| "at most 2^32 voxels".into())
}

/// Parses the size of a volume in voxels.
///
/// # Errors
/// A message for the command line.
pub fn voxels(text: &str) -> Result<[i64; 3], String> {
    let numbers: Vec<i64> = text.split(AXES).map(|size| number(size, 1)).collect::<Result<_, _>>()?;
    let shape = match numbers[..] {
        [side] => [side; 3],
        [x, y, z] => [x, y, z],
        _ => return Err("one number or three, as in 64x80x72 or 64,80,72".into()),
    };
    let voxels = shape.iter().try_fold(1_i64, |voxels, &side| voxels.checked_mul(side));
    voxels.map(|_| shape).ok_or_else(|| "fewer than 2^63 voxels".into())
}

/// Parses `512x512` or `512,512`, the size of a picture in pixels.
///
/// # Errors
/// A message for the command line.
pub fn pixels(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once(AXES).ok_or("width and height, as in 512x512 or 512,512")?;
    let side = |text| match number(text, 1)? {
        side if side <= 16384 => Ok(side as u32),
        side => Err(format!("{side} pixels; the limit is 16384")),
    };
    Ok((side(width)?, side(height)?))
}

/// Parses the number of ranks.
///
/// # Errors
/// A message for the command line.
pub fn ranks(text: &str) -> Result<usize, String> {
    match number(text, i64::MIN)? {
        ranks if ranks < 1 => Err(format!("{ranks} ranks cannot run a program: 1 is the least")),
        ranks => Ok(ranks as usize),
    }
}

/// Parses `1,1,2.5`, the voxel spacing.
///
/// # Errors
/// A message for the command line.
pub fn spacing(text: &str) -> Result<[f64; 3], String> {
    let parts = reals(text, "three distances, as in 1,1,2.5")?;
    if parts.iter().all(|&part| part > 0.0) { Ok(parts) } else { Err("every distance must be above 0".into()) }
}

/// Parses an integer.
///
/// # Errors
/// The text is not an integer, or the number is less than `least`.
pub fn number(text: &str, least: i64) -> Result<i64, String> {
    match text.trim().parse() {
        Ok(number) if number >= least => Ok(number),
        Ok(number) => Err(format!("{number} is less than {least}")),
        Err(_) => Err(format!("{text:?} is not a whole number")),
    }
}

/// Parses an integer of type `T`.
///
/// # Errors
/// The text is not an integer, or the number is out of range.
#[allow(dead_code, reason = "unused in programs without such options")]
pub fn whole<T: TryFrom<i128>>(text: &str) -> Result<T, String> {
    let number: i128 = text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"))?;
    T::try_from(number).map_err(|_| match number {
        ..0 => format!("{number} is below 0"),
        _ => format!("{number} is too large"),
    })
}

/// Parses an integer from `LEAST` to `MOST`.
///
/// # Errors
/// The text is not an integer of this range.
#[allow(dead_code, reason = "unused in programs without such options")]
pub fn ranged<T: TryFrom<i128>, const LEAST: i64, const MOST: i64>(text: &str) -> Result<T, String> {
    let error = || format!("{text:?} is not a whole number from {LEAST} to {MOST}");
    let number = text.trim().parse().ok().filter(|number| (i128::from(LEAST)..=i128::from(MOST)).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(error)
}

/// Parses `N` numbers with commas between them. `form` is the message for another count.
pub fn reals<const N: usize>(text: &str, form: &str) -> Result<[f64; N], String> {
    let numbers: Vec<f64> = text.split(',').map(real).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| form.into())
}

/// Parses a finite number.
///
/// # Errors
/// A message for the command line.
pub fn real(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| number.is_finite()).ok_or_else(|| format!("{text:?} is not a number"))
}

/// Parses a number, finite or infinite.
///
/// # Errors
/// A message for the command line.
#[allow(dead_code, reason = "unused in programs without open ranges")]
pub fn number_or_infinity(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| !number.is_nan()).ok_or_else(|| format!("{text:?} is not a number"))
}
