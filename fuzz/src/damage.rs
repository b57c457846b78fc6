//! Blows to files: to any byte, and to what headers are made of, numbers, words, lines, brackets.

use super::samples::{Content, Packing, Sample};

/// Numbers without rhyme, the same for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn number(&mut self) -> u64 {
        // SplitMix64: any seed will do.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Small as a rule, now and then very large.
    fn times(&mut self, most: usize) -> usize {
        let bits = self.below(usize::BITS as usize - most.leading_zeros() as usize);
        1 + self.below(1 << bits)
    }
}

const NUMBERS: [&str; 18] = [
    "0",
    "-1",
    "1",
    "61",
    "64",
    "65536",
    "100000",
    "1000000",
    "2147483648",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e308",
    "1e-320",
    "nan",
    "-inf",
    "0.5",
];

const WORDS: [&str; 32] = [
    "\n",
    "\r\n",
    " ",
    ":",
    ":=",
    " = ",
    "LIST",
    "LOCAL",
    "True",
    "False",
    "raw",
    "gzip",
    "text",
    "none",
    "%d",
    "%05d",
    "data.raw",
    "..",
    "/",
    "\"",
    "'",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "null",
    "\u{1b}[2J",
    "\u{202e}",
    "byte skip: -1\n",
    "/dev/zero",
];

/// A sample out of all after up to six blows: the files and their bytes.
pub fn struck(samples: &[Sample], random: &mut Random) -> Vec<(String, Vec<u8>)> {
    let mut sample = samples[random.below(samples.len())].clone();
    // Most are small, so that there are many.
    let most = if random.below(32) == 0 { MOST } else { SMALL };
    for _ in 0..random.times(6) {
        // In a directory of files no one is the header of all others.
        let is_store = sample[0].name.contains('/');
        let file = if random.below(4) > 0 && !is_store { 0 } else { random.below(sample.len()) };
        let donor = &samples[random.below(samples.len())];
        strike_file(&mut sample[file], donor, most, random);
    }
    sample.iter().map(|content| (content.name.clone(), content.bytes())).collect()
}

fn strike_file(content: &mut Content, donor: &Sample, most: usize, random: &mut Random) {
    // Packed bytes as they are stored, and what is packed.
    let part = random.below(content.parts.len());
    if random.below(3) == 0 {
        let stored = Content { name: String::new(), parts: vec![content.parts[part].clone()] }.bytes();
        content.parts[part] = (Packing::Plain, stored);
    }
    let donor = donor[0].bytes();
    strike(&mut content.parts[part].1, &donor, most, random);
}

/// Inputs stay below this many bytes.
const MOST: usize = 3 << 19;

/// Most blows add no more than this.
const SMALL: usize = 1 << 12;

fn strike(content: &mut Vec<u8>, donor: &[u8], most: usize, random: &mut Random) {
    let most = most.max(content.len() + SMALL);
    let length = content.len();
    let at = random.below(length + 1);
    let to = (at + random.times(200)).min(length);
    match random.below(16) {
        0 | 1 if at < length => content[at] = random.number() as u8,
        2 | 3 if at < length => content[at] ^= 1 << random.below(8),
        4 => content.insert(at, random.number() as u8),
        5 => drop(content.drain(at..to)),
        6 if random.below(4) == 0 => content.truncate(at),
        7 | 8 => number(content, random),
        9 => drop(content.splice(at..at, random.pick(&WORDS).bytes())),
        10 => line(content, most, random),
        11 => nest(content, most, random),
        12 => {
            let from = random.below(donor.len());
            let piece = donor[from..(from + random.times(2000)).min(donor.len())].to_vec();
            content.splice(at..to, piece);
        }
        13 => element(content, most, random),
        14 => long(content, most, random),
        _ => repeat(content, at..to, most, random),
    }
    content.truncate(most);
}

/// The same bytes again and again.
fn repeat(content: &mut Vec<u8>, place: std::ops::Range<usize>, most: usize, random: &mut Random) {
    let part = content[place.clone()].to_vec();
    let times = random.times(1 << 16).min(most / part.len().max(1));
    content.splice(place.start..place.start, part.repeat(times));
}

/// A number in digits becomes another one, of text or of bytes.
fn number(content: &mut Vec<u8>, random: &mut Random) {
    let digit = |at: usize| content[at].is_ascii_digit();
    let starts: Vec<usize> =
        (0..content.len()).filter(|&at| digit(at) && (at == 0 || !digit(at - 1))).take(500).collect();
    if starts.is_empty() {
        // The largest number there is, as messages have it.
        let at = random.below(content.len() + 1);
        content.splice(at..(at + 1).min(content.len()), [0xff; 9].into_iter().chain([1]));
        return;
    }
    let start = starts[random.below(starts.len())];
    let end = (start..content.len()).find(|&at| !digit(at)).unwrap_or(content.len());
    content.splice(start..end, random.pick(&NUMBERS).bytes());
}

/// A word or the name of a file becomes a long one, with what stands in it.
fn long(content: &mut Vec<u8>, most: usize, random: &mut Random) {
    let letter = |at: usize| content[at].is_ascii_alphabetic();
    let starts: Vec<usize> = (1..content.len()).filter(|&at| letter(at) && !letter(at - 1)).take(500).collect();
    if starts.is_empty() {
        return;
    }
    let start = starts[random.below(starts.len())];
    content.splice(start..start, "x".repeat(random.times(1 << 16).min(most)).bytes());
}

/// An element many times, one behind the other, each with a number or two of its own: pieces that lie side by side, and
/// that share what they refer to.
fn element(content: &mut Vec<u8>, most: usize, random: &mut Random) {
    let end_of = |start: usize| {
        let name = content[start + 1..].split(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
        let close = [b"</", name, b">"].concat();
        let end = content[start..].windows(close.len()).position(|found| found == close)?;
        (!name.is_empty()).then_some(start + end + close.len())
    };
    let starts = (0..content.len()).filter(|&at| content[at] == b'<').take(60);
    let elements: Vec<(usize, usize)> = starts.filter_map(|start| Some((start, end_of(start)?))).collect();
    if elements.is_empty() {
        return;
    }
    let (start, end) = elements[random.below(elements.len())];
    let taken = String::from_utf8_lossy(&content[start..end]).into_owned();
    let times = random.times(1 << 14).min(most / (taken.len() + 6));
    let digit = |at: usize| taken.as_bytes()[at].is_ascii_digit();
    let numbers: Vec<(usize, usize)> = (0..taken.len())
        .filter(|&at| digit(at) && (at == 0 || !digit(at - 1)))
        .take(60)
        .map(|at| (at, (at..taken.len()).find(|&end| !digit(end)).unwrap_or(taken.len())))
        .collect();
    // None, one number, or two neighbours as the ends of a span.
    let counted = random.below(4).min(2).min(numbers.len());
    let first = random.below(numbers.len() - counted + 1);
    let named = |number: usize| {
        let (mut text, mut at) = (String::new(), 0);
        for (further, &(start, end)) in numbers[first..first + counted].iter().enumerate() {
            text += &format!("{}{}", &taken[at..start], number + further);
            at = end;
        }
        text + &taken[at..]
    };
    let again: Vec<u8> = (0..times).flat_map(|number| named(number).into_bytes()).collect();
    content.splice(start..start, again);
}

/// A line again, elsewhere, or many times with keys of their own.
fn line(content: &mut Vec<u8>, most: usize, random: &mut Random) {
    let lines: Vec<(usize, usize)> = content
        .split_inclusive(|&byte| byte == b'\n')
        .take(500)
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, *at))
        })
        .collect();
    if lines.is_empty() {
        return;
    }
    let (start, end) = lines[random.below(lines.len())];
    let target = lines[random.below(lines.len())].0;
    let taken = content[start..end].to_vec();
    let times = random.times(1 << 14).min(most / (taken.len() + 6));
    let own = random.below(2) == 0;
    let named = |number: usize| if own { [format!("k{number}").as_bytes(), &taken].concat() } else { taken.clone() };
    let again: Vec<u8> = (0..times).flat_map(named).collect();
    content.splice(target..target, again);
}

/// An element or a bracket many times inside itself.
fn nest(content: &mut Vec<u8>, most: usize, random: &mut Random) {
    let pairs: [(&str, &str); 5] =
        [("<a>", "</a>"), ("[", "]"), ("(", ")"), ("{\"a\":", "}"), ("<DataArray>", "</DataArray>")];
    let (open, close) = pairs[random.below(pairs.len())];
    let brackets: Vec<usize> = (0..content.len()).filter(|&at| b"<[({".contains(&content[at])).take(500).collect();
    let at = if brackets.is_empty() { 0 } else { brackets[random.below(brackets.len())] };
    let times = random.times(1 << 17).min(most / (open.len() + close.len()));
    let closed = if random.below(4) == 0 { 0 } else { times };
    content.splice(at..at, (open.repeat(times) + &close.repeat(closed)).bytes());
}
