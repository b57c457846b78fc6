//! The smaller words of the command line.

use std::fmt::Display;
use std::str::FromStr;

use zippy_render::compositing::{Algorithm, Encoding};
use zippy_render::volume::{ClipPlane, Crop};

use super::cut::number;

/// Reads `0,0,1,20`: a normal and an offset.
///
/// # Errors
/// What is wrong, for the command line.
pub fn clip(text: &str) -> Result<ClipPlane, String> {
    let [x, y, z, offset] = reals(text, "a normal and an offset, as in 0,0,1,20")?;
    let plane = ClipPlane { normal: [x, y, z], offset };
    if plane.normal == [0.0; 3] { Err("the normal must not be zero".into()) } else { Ok(plane) }
}

/// Reads `10:200,0:255,:64`: a range on each axis, open where nothing is said.
///
/// # Errors
/// What is wrong, for the command line.
pub fn crop(text: &str) -> Result<Crop, String> {
    let form = "a range on each axis, as in 10:200,0:255,:64";
    let ranges: Vec<[f64; 2]> = text
        .split(',')
        .map(|range| {
            let (low, high) = range.split_once(':').ok_or(form)?;
            let end = |text: &str, open| if text.trim().is_empty() { Ok(open) } else { real(text) };
            // Finite, as boxes must be, and beyond any volume.
            let (low, high) = (end(low, -1e300)?, end(high, 1e300)?);
            if low <= high { Ok([low, high]) } else { Err(format!("{range} runs backwards")) }
        })
        .collect::<Result<_, String>>()?;
    let ranges: [[f64; 2]; 3] = ranges.try_into().map_err(|_| form)?;
    Ok(Crop { low: ranges.map(|range| range[0]), high: ranges.map(|range| range[1]) })
}

/// Reads `black`, `white`, `#ff8000` or `1,0.5,0`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn colour(text: &str) -> Result<[f32; 3], String> {
    let form = "black, white, six hexadecimal digits as in #ff8000, or three numbers of 0 to 1 as in 1,0.5,0";
    match text {
        "black" => return Ok([0.0; 3]),
        "white" => return Ok([1.0; 3]),
        _ => {}
    }
    if let Some(digits) = text.strip_prefix('#') {
        let sound = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| sound).ok_or(form)?;
        return Ok([16, 8, 0].map(|shift| (number >> shift & 255) as f32 / 255.0));
    }
    let parts = reals::<3>(text, form)?;
    if parts.iter().all(|part| (0.0..=1.0).contains(part)) {
        Ok(parts.map(|part| part as f32))
    } else {
        Err(form.into())
    }
}

/// Reads `1,1,2.5`: distances of voxels.
///
/// # Errors
/// What is wrong, for the command line.
pub fn spacing(text: &str) -> Result<[f64; 3], String> {
    let parts = reals(text, "three distances, as in 1,1,2.5")?;
    if parts.iter().all(|&part| part > 0.0) { Ok(parts) } else { Err("every distance must be above 0".into()) }
}

/// Reads `1`, `2` or `4`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn components(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("1, 2 or 4".into()),
    }
}

/// Reads `swap`, `radix:4,2` or `direct`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn algorithm(text: &str) -> Result<Algorithm, String> {
    match text.split_once(':') {
        None if text == "swap" => Ok(Algorithm::BinarySwap),
        None if text == "direct" => Ok(Algorithm::DirectSend),
        Some(("radix", sizes)) => {
            let sizes = sizes.split(',').map(|size| Ok(number(size, 2)? as usize));
            Ok(Algorithm::Radix(sizes.collect::<Result<_, String>>()?))
        }
        _ => Err("one of swap, direct, radix:K,K,.. with group sizes, as in radix:4,2".into()),
    }
}

/// Reads `auto`, `dense` or `runs`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn encoding(text: &str) -> Result<Encoding, String> {
    match text {
        "auto" => Ok(Encoding::Auto),
        "dense" => Ok(Encoding::Dense),
        "runs" => Ok(Encoding::RunLength),
        _ => Err("one of auto, dense, runs".into()),
    }
}

/// Reads how many ranks there are.
///
/// # Errors
/// What is wrong, for the command line.
pub fn ranks(text: &str) -> Result<usize, String> {
    Ok(number(text, 1)? as usize)
}

/// Reads the side of a brick.
///
/// # Errors
/// What is wrong, for the command line.
pub fn brick(text: &str) -> Result<u16, String> {
    let side = u16::try_from(number(text, 8)?).ok().filter(|side| side.is_multiple_of(8));
    side.ok_or_else(|| format!("a multiple of 8 up to {}", u16::MAX / 8 * 8))
}

/// Reads a number above 0.
///
/// # Errors
/// What is wrong, for the command line.
pub fn positive(text: &str) -> Result<f64, String> {
    match real(text)? {
        number if number > 0.0 => Ok(number),
        _ => Err("it must be above 0".into()),
    }
}

/// Reads a number of `low` to `high`.
pub fn between<T>(low: T, high: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Copy,
{
    move |text| match text.trim().parse::<T>() {
        Ok(number) if low <= number && number <= high => Ok(number),
        Ok(_) => Err(format!("it must be {low} to {high}")),
        Err(_) => Err(format!("{text:?} is not a number")),
    }
}

/// Numbers joined by commas.
fn reals<const N: usize>(text: &str, form: &str) -> Result<[f64; N], String> {
    let numbers: Vec<f64> = text.split(',').map(real).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| form.into())
}

/// Reads a finite number.
///
/// # Errors
/// What is wrong, for the command line.
pub fn real(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.trim().parse().ok();
    number.filter(|number| number.is_finite()).ok_or_else(|| format!("{text:?} is not a number"))
}
