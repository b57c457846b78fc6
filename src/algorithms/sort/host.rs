//! Radix sort by the host, in mapped memory, by digits of 8 bits.
//!
//! What does not fit into the caches is dealt out by its highest digit, and each part sorted by itself; what does is sorted
//! from the lowest digit up. Digits that all keys share are left out.

use std::ops::Range;

use bytemuck::Pod;

use super::key::{KeyKind, KeyOrder};

/// Digits of a word, and the values that one has.
const DIGITS: usize = 4;
const VALUES: usize = 256;

/// Bytes of cells that are sorted from the lowest digit up: with their room they are nearly as many again as a core's cache
/// has, where a pass still costs less than to deal them out.
const CACHED: usize = 768 << 10;

/// Sorts keys of one or two words, and with them values of `size` bytes each, where there are any. The second of each pair
/// of slices has room for as many as the first.
pub fn sort(order: KeyOrder, keys: [&mut [u8]; 2], values: [&mut [u8]; 2], size: usize) {
    with_types(&mut All { order, most: CACHED / (4 * order.words + size) }, order.words, keys, values, size);
}

/// Deals keys out to buckets, and with them values of `size` bytes each, where there are any, into room for all of them: each
/// to the next place of its bucket, which `bucket` tells of the key as one number.
pub fn deal(
    order: KeyOrder,
    keys: [&mut [u8]; 2],
    values: [&mut [u8]; 2],
    size: usize,
    bucket: impl Fn(u64) -> usize,
    next: &mut [usize],
) {
    with_types(&mut Deal { order, bucket, next }, order.words, keys, values, size);
}

/// What is done with keys and what is moved with them.
trait KeyWork {
    fn run<const W: usize>(&mut self, keys: [&mut [[u32; W]]; 2], beside: impl Satellites);
}

fn with_types(work: &mut impl KeyWork, words: usize, keys: [&mut [u8]; 2], values: [&mut [u8]; 2], size: usize) {
    match words {
        1 => with_values::<1>(work, keys, values, size),
        _ => with_values::<2>(work, keys, values, size),
    }
}

fn with_values<const W: usize>(work: &mut impl KeyWork, keys: [&mut [u8]; 2], [from, to]: [&mut [u8]; 2], size: usize) {
    let keys = keys.map(bytemuck::cast_slice_mut::<u8, [u32; W]>);
    fn of<'a, V: Pod>(from: &'a mut [u8], to: &'a mut [u8]) -> TypedSatellites<'a, V> {
        TypedSatellites { from: bytemuck::cast_slice_mut(from), to: bytemuck::cast_slice_mut(to) }
    }
    match size {
        0 => work.run(keys, NoSatellites),
        1 => work.run(keys, of::<u8>(from, to)),
        2 => work.run(keys, of::<[u8; 2]>(from, to)),
        4 => work.run(keys, of::<u32>(from, to)),
        8 => work.run(keys, of::<[u32; 2]>(from, to)),
        16 => work.run(keys, of::<[u32; 4]>(from, to)),
        _ => work.run(keys, ByteSatellites { from, to, size }),
    }
}

struct Deal<'a, F> {
    order: KeyOrder,
    bucket: F,
    next: &'a mut [usize],
}

impl<F: Fn(u64) -> usize> KeyWork for Deal<'_, F> {
    fn run<const W: usize>(&mut self, [keys, room]: [&mut [[u32; W]]; 2], mut beside: impl Satellites) {
        for (i, key) in keys.iter().enumerate() {
            let number = if W == 1 { self.order.ordered(key[0]).into() } else { self.order.number(key) };
            let place = &mut self.next[(self.bucket)(number)];
            room[*place] = *key;
            beside.put(i, *place);
            *place += 1;
        }
    }
}

/// What is moved with the keys: satellite data.
trait Satellites {
    /// Moves one from its place to another one in the room.
    fn put(&mut self, from: usize, to: usize);
    /// Makes the room the place where they are.
    fn turn(&mut self);
    /// Copies some to the room.
    fn copy(&mut self, some: Range<usize>);
}

struct NoSatellites;

struct TypedSatellites<'a, V> {
    from: &'a mut [V],
    to: &'a mut [V],
}

struct ByteSatellites<'a> {
    from: &'a mut [u8],
    to: &'a mut [u8],
    size: usize,
}

impl Satellites for NoSatellites {
    fn put(&mut self, _: usize, _: usize) {}
    fn turn(&mut self) {}
    fn copy(&mut self, _: Range<usize>) {}
}

impl<V: Copy> Satellites for TypedSatellites<'_, V> {
    fn put(&mut self, from: usize, to: usize) {
        self.to[to] = self.from[from];
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
    }

    fn copy(&mut self, some: Range<usize>) {
        self.to[some.clone()].copy_from_slice(&self.from[some]);
    }
}

impl Satellites for ByteSatellites<'_> {
    fn put(&mut self, from: usize, to: usize) {
        let size = self.size;
        self.to[to * size..][..size].copy_from_slice(&self.from[from * size..][..size]);
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
    }

    fn copy(&mut self, some: Range<usize>) {
        let bytes = some.start * self.size..some.end * self.size;
        self.to[bytes.clone()].copy_from_slice(&self.from[bytes]);
    }
}

/// Keys, the room for them, and what is moved with them.
struct Sort<'a, const W: usize, B> {
    keys: &'a mut [[u32; W]],
    room: &'a mut [[u32; W]],
    beside: B,
    /// How many are sorted from the lowest digit up.
    most: usize,
}

/// A digit: its word, and where it begins there.
type Digit = (usize, u32);

fn value<const W: usize>(key: &[u32; W], (word, shift): Digit) -> usize {
    (key[word] >> shift) as usize % VALUES
}

/// A whole sort.
struct All {
    order: KeyOrder,
    most: usize,
}

impl KeyWork for All {
    fn run<const W: usize>(&mut self, [keys, room]: [&mut [[u32; W]]; 2], beside: impl Satellites) {
        let Self { order, most } = *self;
        change(order, keys, KeyOrder::ordered);
        let digits = differing(order, keys);
        let all = 0..keys.len();
        let mut sort = Sort { keys, room, beside, most };
        sort.part(all, &digits, false);
        change(order, sort.keys, KeyOrder::restored);
    }
}

/// The digits in which keys differ, from the lowest.
fn differing<const W: usize>(order: KeyOrder, keys: &[[u32; W]]) -> Vec<Digit> {
    let Some(first) = keys.first() else { return Vec::new() };
    let mut differing = [0; W];
    for key in keys {
        (0..W).for_each(|word| differing[word] |= key[word] ^ first[word]);
    }
    let places = (0..W * DIGITS).map(|digit| (order.word_of(digit, DIGITS), 8 * (digit % DIGITS) as u32));
    places.filter(|&digit| value(&differing, digit) != 0).collect()
}

/// How many keys have each value of each digit of each word; they are few.
fn counted<const W: usize>(keys: &[[u32; W]]) -> [[[u32; VALUES]; DIGITS]; W] {
    let mut counts = [[[0; VALUES]; DIGITS]; W];
    for key in keys {
        for (word, counts) in key.iter().zip(&mut counts) {
            (0..DIGITS).for_each(|digit| counts[digit][(word >> (8 * digit)) as usize % VALUES] += 1);
        }
    }
    counts
}

impl<const W: usize, B: Satellites> Sort<'_, W, B> {
    /// Sorts some keys by these digits. They end where they are, or at the same place in the room.
    fn part(&mut self, some: Range<usize>, digits: &[Digit], in_room: bool) {
        match digits.split_last() {
            Some((highest, rest)) if some.len() > self.most => self.deal_out(some, *highest, rest, in_room),
            Some(_) => self.passes(some, digits, in_room),
            None if in_room => self.keys_to_room(some),
            None => {}
        }
    }

    /// By the highest digit first.
    fn deal_out(&mut self, some: Range<usize>, highest: Digit, rest: &[Digit], in_room: bool) {
        let mut counts = [0; VALUES];
        self.keys[some.clone()].iter().for_each(|key| counts[value(key, highest)] += 1);
        if counts.contains(&some.len()) {
            return self.part(some, rest, in_room);
        }
        let next = self.pass(some, highest, &counts);
        for (end, count) in next.into_iter().zip(counts) {
            if count > 0 {
                self.part(end - count..end, rest, !in_room);
            }
        }
        self.turn();
    }

    /// From the lowest digit up.
    fn passes(&mut self, some: Range<usize>, digits: &[Digit], in_room: bool) {
        let counts = counted(&self.keys[some.clone()]);
        let mut turned = false;
        for &(word, shift) in digits {
            let counts = counts[word][shift as usize / 8].map(|count| count as usize);
            if !counts.contains(&some.len()) {
                self.pass(some.clone(), (word, shift), &counts);
                turned = !turned;
            }
        }
        if turned != in_room {
            self.keys_to_room(some);
        }
        if turned {
            self.turn();
        }
    }

    /// Moves some keys into the room, ordered by one digit, and makes the room the place where they are. Returns where each
    /// value's end.
    fn pass(&mut self, some: Range<usize>, digit: Digit, counts: &[usize; VALUES]) -> [usize; VALUES] {
        let mut begin = some.start;
        let mut next = counts.map(|count| {
            begin += count;
            begin - count
        });
        for (i, key) in some.clone().zip(&self.keys[some]) {
            let place = &mut next[value(key, digit)];
            self.room[*place] = *key;
            self.beside.put(i, *place);
            *place += 1;
        }
        self.turn();
        next
    }

    fn keys_to_room(&mut self, some: Range<usize>) {
        self.room[some.clone()].copy_from_slice(&self.keys[some.clone()]);
        self.beside.copy(some);
    }

    /// Makes the room the place where the keys are.
    fn turn(&mut self) {
        std::mem::swap(&mut self.keys, &mut self.room);
        self.beside.turn();
    }
}

fn change<const W: usize>(order: KeyOrder, keys: &mut [[u32; W]], how: fn(KeyOrder, u32) -> u32) {
    if order.kind != KeyKind::Unsigned {
        keys.iter_mut().for_each(|key| key[order.top] = how(order, key[order.top]));
    }
}
