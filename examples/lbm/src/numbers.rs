//! Numbers and sizes on the command line.

use zippy_lbm::Storage;

/// A whole number from 1 on.
pub fn count(text: &str) -> Result<u64, String> {
    text.trim().parse().ok().filter(|&count| count > 0).ok_or(format!("{text:?} is no whole number from 1 on"))
}

/// A whole number from 0 on.
pub fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no whole number from 0 on"))
}

/// The numbers of a size: `160x80x80`, also with `X`, `×`, `*` or a comma.
pub fn extents(text: &str) -> Result<Vec<i64>, String> {
    let cells = |part: &str| part.trim().parse().ok().filter(|n| *n >= 1);
    text.split(['x', 'X', '×', '*', ','])
        .map(|part| cells(part).ok_or(format!("{part:?} is no whole number from 1 on")))
        .collect()
}

/// `128` or `160x80x80`; zeros stand for numbers that are left out.
pub fn size(text: &str) -> Result<[i64; 3], String> {
    let numbers = extents(text)?;
    let mut n = [0; 3];
    let head = n.get_mut(..numbers.len()).ok_or("at most three numbers, as in 160x80x80")?;
    head.copy_from_slice(&numbers);
    Ok(n)
}

/// `16` or `32`.
pub fn bits(text: &str) -> Result<Storage, String> {
    match text {
        "16" => Ok(Storage::Half),
        "32" => Ok(Storage::Single),
        _ => Err("16 or 32".into()),
    }
}

/// Pixels along a side of a picture.
const MOST: i64 = 16384;

/// `640x480`.
pub fn pixels(text: &str) -> Result<(u32, u32), String> {
    let wanted = || format!("not a size, as 640x480, of at most {MOST} pixels a side");
    match extents(text).map_err(|_| wanted())?[..] {
        [width, height] if width <= MOST && height <= MOST => Ok((width as u32, height as u32)),
        _ => Err(wanted()),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, pixels, size};

    #[test]
    fn sizes_take_any_sign_between_their_numbers() {
        for text in ["160x80x40", "160X80X40", "160×80×40", "160*80*40", "160,80,40", "160 x 80 x 40"] {
            assert_eq!(size(text), Ok([160, 80, 40]), "{text}");
        }
        assert_eq!((size("64"), pixels("640,480")), (Ok([64, 0, 0]), Ok((640, 480))));
        for text in ["", "16x", "0", "-3", "1.5", "8x8x8x8", "axb"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(pixels("640").is_err() && pixels("640x99999").is_err());
        assert_eq!(count("0"), Err("\"0\" is no whole number from 1 on".into()));
    }
}
