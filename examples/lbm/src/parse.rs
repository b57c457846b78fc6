//! Parsers of numbers and sizes on the command line.

use zippy_lbm::Precision;

/// Parses an integer of at least 1.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    text.trim().parse().ok().filter(|&count| count > 0).ok_or(format!("{text:?} is not an integer of at least 1"))
}

/// Parses an integer of at least 0.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not an integer of at least 0"))
}

/// Parses the numbers of a size: `160x80x80`; separators are `x`, `X`, `×`, `*` and a comma.
pub(crate) fn extents(text: &str) -> Result<Vec<i64>, String> {
    let cells = |part: &str| part.trim().parse().ok().filter(|n| *n >= 1);
    text.split(['x', 'X', '×', '*', ','])
        .map(|part| cells(part).ok_or(format!("{part:?} is not an integer of at least 1")))
        .collect()
}

/// Parses `128` or `160x80x80`; missing numbers are 0.
pub(crate) fn size(text: &str) -> Result<[i64; 3], String> {
    let numbers = extents(text)?;
    let mut n = [0; 3];
    let head = n.get_mut(..numbers.len()).ok_or("at most three numbers, as in 160x80x80")?;
    head.copy_from_slice(&numbers);
    Ok(n)
}

/// Parses `16` or `32`.
pub(crate) fn bits(text: &str) -> Result<Precision, String> {
    match text {
        "16" => Ok(Precision::Half),
        "32" => Ok(Precision::Single),
        _ => Err("16 or 32".into()),
    }
}

/// Maximum side of a picture in pixels.
const MAX_SIDE: i64 = 16384;

/// Parses a picture size: `640x480`.
pub(crate) fn pixels(text: &str) -> Result<(u32, u32), String> {
    let error = || format!("not a size such as 640x480 with at most {MAX_SIDE} pixels on a side");
    match extents(text).map_err(|_| error())?[..] {
        [width, height] if width <= MAX_SIDE && height <= MAX_SIDE => Ok((width as u32, height as u32)),
        _ => Err(error()),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, pixels, size};

    #[test]
    fn sizes_accept_every_separator() {
        for text in ["160x80x40", "160X80X40", "160×80×40", "160*80*40", "160,80,40", "160 x 80 x 40"] {
            assert_eq!(size(text), Ok([160, 80, 40]), "{text}");
        }
        assert_eq!((size("64"), pixels("640,480")), (Ok([64, 0, 0]), Ok((640, 480))));
        for text in ["", "16x", "0", "-3", "1.5", "8x8x8x8", "axb"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(pixels("640").is_err() && pixels("640x99999").is_err());
        assert_eq!(count("0"), Err("\"0\" is not an integer of at least 1".into()));
    }
}
