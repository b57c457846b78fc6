//! Radix sort by the host, in mapped memory: by digits of 8 bits from the lowest, those that all keys share left out.

use bytemuck::Pod;

use super::key::{KeyKind, KeyOrder};

/// Digits of a word, and the values that one has.
const DIGITS: usize = 4;
const VALUES: usize = 256;

/// Sorts keys of one or two words, and with them values of `size` bytes each, where there are any. The second of each pair
/// of slices has room for as many as the first.
pub fn sort(order: KeyOrder, keys: [&mut [u8]; 2], values: [&mut [u8]; 2], size: usize) {
    match order.words {
        1 => sort_keys::<1>(order, keys, values, size),
        _ => sort_keys::<2>(order, keys, values, size),
    }
}

fn sort_keys<const W: usize>(order: KeyOrder, keys: [&mut [u8]; 2], [from, to]: [&mut [u8]; 2], size: usize) {
    let keys = keys.map(bytemuck::cast_slice_mut::<u8, [u32; W]>);
    fn of<'a, V: Pod>(from: &'a mut [u8], to: &'a mut [u8]) -> Typed<'a, V> {
        Typed { from: bytemuck::cast_slice_mut(from), to: bytemuck::cast_slice_mut(to) }
    }
    match size {
        0 => passes(order, keys, Nothing),
        1 => passes(order, keys, of::<u8>(from, to)),
        2 => passes(order, keys, of::<[u8; 2]>(from, to)),
        4 => passes(order, keys, of::<u32>(from, to)),
        8 => passes(order, keys, of::<[u32; 2]>(from, to)),
        16 => passes(order, keys, of::<[u32; 4]>(from, to)),
        _ => passes(order, keys, Bytes { from, to, size }),
    }
}

/// What is moved with the keys.
trait Beside {
    /// Moves one from its place to another one in the room.
    fn put(&mut self, from: usize, to: usize);
    /// Makes the room the place where they are.
    fn turn(&mut self);
    /// Copies all from the room.
    fn copy(&mut self);
}

struct Nothing;

struct Typed<'a, V> {
    from: &'a mut [V],
    to: &'a mut [V],
}

struct Bytes<'a> {
    from: &'a mut [u8],
    to: &'a mut [u8],
    size: usize,
}

impl Beside for Nothing {
    fn put(&mut self, _: usize, _: usize) {}
    fn turn(&mut self) {}
    fn copy(&mut self) {}
}

impl<V: Copy> Beside for Typed<'_, V> {
    fn put(&mut self, from: usize, to: usize) {
        self.to[to] = self.from[from];
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
    }

    fn copy(&mut self) {
        self.to.copy_from_slice(self.from);
    }
}

impl Beside for Bytes<'_> {
    fn put(&mut self, from: usize, to: usize) {
        let size = self.size;
        self.to[to * size..][..size].copy_from_slice(&self.from[from * size..][..size]);
    }

    fn turn(&mut self) {
        std::mem::swap(&mut self.from, &mut self.to);
    }

    fn copy(&mut self) {
        self.to.copy_from_slice(self.from);
    }
}

fn passes<const W: usize>(order: KeyOrder, [mut keys, mut room]: [&mut [[u32; W]]; 2], mut beside: impl Beside) {
    let mut turned = false;
    change(order, keys, KeyOrder::ordered);
    for (word, shift, counts) in counted(order, keys) {
        let mut next = starts(&counts);
        for (i, key) in keys.iter().enumerate() {
            let place = &mut next[(key[word] >> shift) as usize % VALUES];
            room[*place as usize] = *key;
            beside.put(i, *place as usize);
            *place += 1;
        }
        std::mem::swap(&mut keys, &mut room);
        beside.turn();
        turned = !turned;
    }
    if turned {
        room.copy_from_slice(keys);
        beside.copy();
        std::mem::swap(&mut keys, &mut room);
    }
    change(order, keys, KeyOrder::restored);
}

fn change<const W: usize>(order: KeyOrder, keys: &mut [[u32; W]], how: fn(KeyOrder, u32) -> u32) {
    if order.kind != KeyKind::Unsigned {
        keys.iter_mut().for_each(|key| key[order.top] = how(order, key[order.top]));
    }
}

/// The word and the place of each digit in which keys differ, from the lowest, with how many keys have each value.
fn counted<const W: usize>(order: KeyOrder, keys: &[[u32; W]]) -> Vec<(usize, u32, [u32; VALUES])> {
    let mut counts = vec![[0_u32; VALUES]; W * DIGITS];
    for key in keys {
        for word in 0..W {
            for digit in 0..DIGITS {
                counts[word * DIGITS + digit][(key[word] >> (8 * digit)) as usize % VALUES] += 1;
            }
        }
    }
    let places = (0..W * DIGITS).map(|digit| (order.word_of(digit, DIGITS), digit % DIGITS));
    let all = places.map(|(word, digit)| (word, 8 * digit as u32, counts[word * DIGITS + digit]));
    all.filter(|(_, _, counts)| counts.iter().all(|&count| (count as usize) < keys.len())).collect()
}

fn starts(counts: &[u32; VALUES]) -> [u32; VALUES] {
    let mut all = 0;
    counts.map(|count| {
        all += count;
        all - count
    })
}
