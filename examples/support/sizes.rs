//! Sizes and numbers of a command line.

/// Separators between the sizes of two axes.
pub const AXES: [char; 4] = ['x', 'X', ',', '\u{d7}'];

/// Reads `64` or `64x80x72`, the voxels of a volume that is computed.
///
/// # Errors
/// A message for the command line.
#[allow(dead_code)] // in programs that only read volumes
pub fn extents(text: &str) -> Result<[i64; 3], String> {
    let shape = voxels(text)?;
    let few = shape.iter().product::<i64>() <= 1 << 32;
    few.then_some(shape).ok_or_else(|| "at most 2^32 voxels".into())
}

/// Reads the voxels of a volume.
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

/// Reads `512x512` or `512,512`, the pixels of the picture.
///
/// # Errors
/// A message for the command line.
pub fn pixels(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once(AXES).ok_or("width and height, as in 512x512 or 512,512")?;
    let side = |text| match number(text, 1)? {
        side if side <= 16384 => Ok(side as u32),
        side => Err(format!("{side} pixels; a side has at most 16384")),
    };
    Ok((side(width)?, side(height)?))
}

/// Reads how many ranks there are.
///
/// # Errors
/// A message for the command line.
pub fn ranks(text: &str) -> Result<usize, String> {
    match number(text, i64::MIN)? {
        ranks if ranks < 1 => Err(format!("{ranks} ranks cannot run a program: 1 is the least")),
        ranks => Ok(ranks as usize),
    }
}

/// Reads `1,1,2.5`: distances of voxels.
///
/// # Errors
/// A message for the command line.
pub fn spacing(text: &str) -> Result<[f64; 3], String> {
    let parts = reals(text, "three distances, as in 1,1,2.5")?;
    match parts.iter().all(|&part| part > 0.0) {
        true => Ok(parts),
        false => Err("every distance must be above 0: nothing in a raw file says where an axis points".into()),
    }
}

/// Reads a whole number.
///
/// # Errors
/// It is less than the least one.
pub fn number(text: &str, least: i64) -> Result<i64, String> {
    match text.trim().parse() {
        Ok(number) if number >= least => Ok(number),
        Ok(number) => Err(format!("{number} is less than {least}")),
        Err(_) => Err(format!("{text:?} is not a whole number")),
    }
}

/// Reads a whole number of a type.
///
/// # Errors
/// It is none, or is beyond the numbers of the type.
#[allow(dead_code)] // in programs without such options
pub fn whole<T: TryFrom<i128>>(text: &str) -> Result<T, String> {
    let number: i128 = text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"))?;
    T::try_from(number).map_err(|_| match number {
        ..0 => format!("{number} is below 0"),
        _ => format!("{number} is too large"),
    })
}

/// Reads a whole number from one number to another.
///
/// # Errors
/// It is none, or is not among them.
#[allow(dead_code)] // in programs without such options
pub fn ranged<T: TryFrom<i128>, const LEAST: i64, const MOST: i64>(text: &str) -> Result<T, String> {
    let wrong = || format!("{text:?} is not a whole number from {LEAST} to {MOST}");
    let number = text.trim().parse().ok().filter(|number| (i128::from(LEAST)..=i128::from(MOST)).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(wrong)
}

/// Numbers joined by commas.
pub fn reals<const N: usize>(text: &str, form: &str) -> Result<[f64; N], String> {
    let numbers: Vec<f64> = text.split(',').map(real).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| form.into())
}

/// Reads a finite number.
///
/// # Errors
/// A message for the command line.
pub fn real(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| number.is_finite()).ok_or_else(|| format!("{text:?} is not a number"))
}

/// Reads a number, which may be infinite.
///
/// # Errors
/// A message for the command line.
#[allow(dead_code)] // in programs without open ranges
pub fn number_or_infinity(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| !number.is_nan()).ok_or_else(|| format!("{text:?} is not a number"))
}
