//! Random mutations of files: of bytes, and of the syntax of headers (numbers, words, lines,
//! elements and brackets).

use zippy_testing::random::SplitMix64;

use super::samples::{Encoding, Sample, SampleFile};

pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Random number below `end`, or 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next_u64() % end.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Random count from 1 to `max` with a uniform number of bits, so that small counts are more
    /// likely.
    fn count(&mut self, max: usize) -> usize {
        let bits = self.below(usize::BITS as usize - max.leading_zeros() as usize);
        1 + self.below(1 << bits)
    }
}

/// Numbers at the limits of types, and texts of special floating-point values.
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

/// Words and characters with a meaning in headers or on terminals.
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

pub(crate) fn mutated_sample(samples: &[Sample], random: &mut Random) -> Vec<(String, Vec<u8>)> {
    let mut sample = samples[random.below(samples.len())].clone();
    let max_bytes = if random.below(32) == 0 { MAX_BYTES } else { MAX_ADDED_BYTES };
    for _ in 0..random.count(6) {
        // The first file is the header of the others, except in a directory.
        let is_store = sample[0].name.contains('/');
        let index = if random.below(4) > 0 && !is_store { 0 } else { random.below(sample.len()) };
        let donor = &samples[random.below(samples.len())];
        mutate_file(&mut sample[index], donor, max_bytes, random);
    }
    sample.iter().map(|file| (file.name.clone(), file.bytes())).collect()
}

/// Applies a mutation before the encoding of a section or, in one of three cases, after it.
fn mutate_file(file: &mut SampleFile, donor: &Sample, max_bytes: usize, random: &mut Random) {
    let index = random.below(file.sections.len());
    if random.below(3) == 0 {
        let encoded = SampleFile { name: String::new(), sections: vec![file.sections[index].clone()] }.bytes();
        file.sections[index] = (Encoding::Plain, encoded);
    }
    let donor = donor[0].bytes();
    mutate_bytes(&mut file.sections[index].1, &donor, max_bytes, random);
}

const MAX_BYTES: usize = 3 << 19;

/// Maximum growth of a section, for most inputs.
const MAX_ADDED_BYTES: usize = 1 << 12;

/// Applies a random mutation; `donor` is another sample, for insertions.
fn mutate_bytes(content: &mut Vec<u8>, donor: &[u8], max_bytes: usize, random: &mut Random) {
    let max_bytes = max_bytes.max(content.len() + MAX_ADDED_BYTES);
    let length = content.len();
    let start = random.below(length + 1);
    let end = (start + random.count(200)).min(length);
    match random.below(16) {
        0 | 1 if start < length => content[start] = random.next_u64() as u8,
        2 | 3 if start < length => content[start] ^= 1 << random.below(8),
        4 => content.insert(start, random.next_u64() as u8),
        5 => drop(content.drain(start..end)),
        6 if random.below(4) == 0 => content.truncate(start),
        7 | 8 => replace_number(content, random),
        9 => drop(content.splice(start..start, random.pick(&WORDS).bytes())),
        10 => repeat_line(content, max_bytes, random),
        11 => nest_brackets(content, max_bytes, random),
        12 => {
            let from = random.below(donor.len());
            let inserted = donor[from..(from + random.count(2000)).min(donor.len())].to_vec();
            content.splice(start..end, inserted);
        }
        13 => repeat_element(content, max_bytes, random),
        14 => lengthen_word(content, max_bytes, random),
        _ => repeat_range(content, start..end, max_bytes, random),
    }
    content.truncate(max_bytes);
}

/// Inserts many copies of a range of bytes before that range.
fn repeat_range(content: &mut Vec<u8>, range: std::ops::Range<usize>, max_bytes: usize, random: &mut Random) {
    let copied = content[range.clone()].to_vec();
    let count = random.count(1 << 16).min(max_bytes / copied.len().max(1));
    content.splice(range.start..range.start, copied.repeat(count));
}

/// Replaces decimal digits by one of [`NUMBERS`], or, in content without digits, a byte by a binary
/// number.
fn replace_number(content: &mut Vec<u8>, random: &mut Random) {
    let digit = |at: usize| content[at].is_ascii_digit();
    let starts: Vec<usize> =
        (0..content.len()).filter(|&at| digit(at) && (at == 0 || !digit(at - 1))).take(500).collect();
    if starts.is_empty() {
        // The largest number in the variable-length encoding of messages.
        let at = random.below(content.len() + 1);
        content.splice(at..(at + 1).min(content.len()), [0xff; 9].into_iter().chain([1]));
        return;
    }
    let start = starts[random.below(starts.len())];
    let end = (start..content.len()).find(|&at| !digit(at)).unwrap_or(content.len());
    content.splice(start..end, random.pick(&NUMBERS).bytes());
}

/// Inserts many letters before a word, such as a file name.
fn lengthen_word(content: &mut Vec<u8>, max_bytes: usize, random: &mut Random) {
    let letter = |at: usize| content[at].is_ascii_alphabetic();
    let starts: Vec<usize> = (1..content.len()).filter(|&at| letter(at) && !letter(at - 1)).take(500).collect();
    if starts.is_empty() {
        return;
    }
    let start = starts[random.below(starts.len())];
    content.splice(start..start, "x".repeat(random.count(1 << 16).min(max_bytes)).bytes());
}

/// Inserts many copies of an XML element. Up to two numbers differ between the copies: two
/// neighbouring numbers may be the ends of an extent, so the copies can be adjacent pieces.
fn repeat_element(content: &mut Vec<u8>, max_bytes: usize, random: &mut Random) {
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
    let element = String::from_utf8_lossy(&content[start..end]).into_owned();
    let count = random.count(1 << 14).min(max_bytes / (element.len() + 6));
    let digit = |at: usize| element.as_bytes()[at].is_ascii_digit();
    let numbers: Vec<(usize, usize)> = (0..element.len())
        .filter(|&at| digit(at) && (at == 0 || !digit(at - 1)))
        .take(60)
        .map(|at| (at, (at..element.len()).find(|&end| !digit(end)).unwrap_or(element.len())))
        .collect();
    let replaced = random.below(4).min(2).min(numbers.len());
    let first = random.below(numbers.len() - replaced + 1);
    let copy = |number: usize| {
        let (mut text, mut at) = (String::new(), 0);
        for (index, &(start, end)) in numbers[first..first + replaced].iter().enumerate() {
            text += &format!("{}{}", &element[at..start], number + index);
            at = end;
        }
        text + &element[at..]
    };
    let copies: Vec<u8> = (0..count).flat_map(|number| copy(number).into_bytes()).collect();
    content.splice(start..start, copies);
}

/// Inserts many copies of a line before a random line; in half of the cases each copy has a unique
/// prefix, as a key.
fn repeat_line(content: &mut Vec<u8>, max_bytes: usize, random: &mut Random) {
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
    let line = content[start..end].to_vec();
    let count = random.count(1 << 14).min(max_bytes / (line.len() + 6));
    let is_unique = random.below(2) == 0;
    let copy = |number: usize| if is_unique { [format!("k{number}").as_bytes(), &line].concat() } else { line.clone() };
    let copies: Vec<u8> = (0..count).flat_map(copy).collect();
    content.splice(target..target, copies);
}

/// Inserts nested brackets or elements; in one of four cases without their ends.
fn nest_brackets(content: &mut Vec<u8>, max_bytes: usize, random: &mut Random) {
    let pairs: [(&str, &str); 5] =
        [("<a>", "</a>"), ("[", "]"), ("(", ")"), ("{\"a\":", "}"), ("<DataArray>", "</DataArray>")];
    let (open, close) = pairs[random.below(pairs.len())];
    let brackets: Vec<usize> = (0..content.len()).filter(|&at| b"<[({".contains(&content[at])).take(500).collect();
    let at = if brackets.is_empty() { 0 } else { brackets[random.below(brackets.len())] };
    let depth = random.count(1 << 17).min(max_bytes / (open.len() + close.len()));
    let closed = if random.below(4) == 0 { 0 } else { depth };
    content.splice(at..at, (open.repeat(depth) + &close.repeat(closed)).bytes());
}
