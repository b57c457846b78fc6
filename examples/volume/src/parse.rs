//! Parsers of option values.

use std::fmt::Display;
use std::str::FromStr;

use zippy_render::compositing::{Algorithm, Encoding};
use zippy_render::volume::{ClipPlane, Crop};

use super::sizes::{number, reals};
pub use super::sizes::{ranks, real, spacing};

/// Parses `0,0,1,20`: a normal and an offset.
///
/// # Errors
/// A message for the command line.
pub fn clip(text: &str) -> Result<ClipPlane, String> {
    let [x, y, z, offset] = reals(text, "a normal and an offset, as in 0,0,1,20")?;
    let plane = ClipPlane { normal: [x, y, z], offset };
    if plane.normal == [0.0; 3] { Err("the normal must not be zero".into()) } else { Ok(plane) }
}

/// Parses `10:200,0:255,:64`: a range on each axis. An omitted end is unbounded.
///
/// # Errors
/// A message for the command line.
pub fn crop(text: &str) -> Result<Crop, String> {
    let form = "a range on each axis, as in 10:200,0:255,:64";
    let ranges: Vec<[f64; 2]> = text
        .split(',')
        .map(|range| {
            let (low, high) = range.split_once(':').ok_or(form)?;
            let end = |text: &str, open| if text.trim().is_empty() { Ok(open) } else { real(text) };
            // A crop box must be finite. These ends are outside of any volume.
            let (low, high) = (end(low, -1e300)?, end(high, 1e300)?);
            if low <= high { Ok([low, high]) } else { Err(format!("{range} has its lower end above its upper end")) }
        })
        .collect::<Result<_, String>>()?;
    let ranges: [[f64; 2]; 3] = ranges.try_into().map_err(|_| form)?;
    Ok(Crop { low: ranges.map(|range| range[0]), high: ranges.map(|range| range[1]) })
}

/// Parses `black`, `rebeccapurple`, `#ff8000` or `1,0.5,0`: a CSS colour or three numbers.
///
/// # Errors
/// A message for the command line.
pub fn colour(text: &str) -> Result<[f32; 3], String> {
    let form = "a CSS name such as black or steelblue, hexadecimal digits as in #ff8000, or three numbers from 0 to 1 as in 1,0.5,0";
    if text.contains(|letter: char| letter.is_ascii_alphabetic() || letter == '#') {
        let colour = color::parse_color(text.trim()).map_err(|_| form)?.to_alpha_color::<color::Srgb>();
        let [red, green, blue, alpha] = colour.components;
        return match alpha {
            1.0 => Ok([red, green, blue].map(|part| part.clamp(0.0, 1.0))),
            _ => Err(format!("{text} is transparent; give an opaque colour: {form}")),
        };
    }
    let parts = reals::<3>(text, form)?;
    if parts.iter().all(|part| (0.0..=1.0).contains(part)) {
        Ok(parts.map(|part| part as f32))
    } else {
        Err(form.into())
    }
}

/// Parses `1`, `2` or `4`.
///
/// # Errors
/// A message for the command line.
pub fn components(text: &str) -> Result<usize, String> {
    match text {
        "1" => Ok(1),
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("1, 2 or 4".into()),
    }
}

/// Parses `swap`, `radix:4,2` or `direct`.
///
/// # Errors
/// A message for the command line.
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

/// Parses `auto`, `dense` or `runs`.
///
/// # Errors
/// A message for the command line.
pub fn encoding(text: &str) -> Result<Encoding, String> {
    match text {
        "auto" => Ok(Encoding::Auto),
        "dense" => Ok(Encoding::Dense),
        "runs" => Ok(Encoding::RunLength),
        _ => Err("one of auto, dense, runs".into()),
    }
}

/// Parses the side of a brick in cells.
///
/// # Errors
/// A message for the command line.
pub fn brick(text: &str) -> Result<u16, String> {
    let side = u16::try_from(number(text, 8)?).ok().filter(|side| side.is_multiple_of(8));
    side.ok_or_else(|| format!("a multiple of 8 up to {}", u16::MAX / 8 * 8))
}

/// Parses a number above 0.
///
/// # Errors
/// A message for the command line.
pub fn positive(text: &str) -> Result<f64, String> {
    match real(text)? {
        number if number > 0.0 => Ok(number),
        _ => Err("it must be above 0".into()),
    }
}

/// Returns a parser of numbers from `low` to `high`.
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
