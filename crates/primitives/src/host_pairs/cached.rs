//! Radix sort of pairs that fit the cache of a core, from the lowest digit up.

use super::digits::{CommonBits, Digit, Key, KeyForm, Value};

/// Number of bits per digit of the cached radix sort.
pub(super) const CACHED_DIGIT_BITS: u32 = 8;
const DIGIT_VALUES: usize = 1 << CACHED_DIGIT_BITS;
const MAX_INSERTION_SORT_PAIRS: usize = 24;

/// Pairs in one slice of keys and one of values, and temporary memory (room) for as many pairs.
pub(super) struct CachedPairs<'a, K, V> {
    pub keys: [&'a mut [K]; 2],
    pub values: [&'a mut [V]; 2],
}

impl<K: Key, V: Value> CachedPairs<'_, K, V> {
    /// Sorts the pairs. The result is in place or, with `to_room`, at the same index in the room.
    pub(super) fn sort(mut self, form: KeyForm, to_room: bool) {
        let mut turned = false;
        if self.keys[0].len() <= MAX_INSERTION_SORT_PAIRS {
            self.insert(form);
        } else {
            let numbers = self.keys[0].iter().map(|key| key.number(form));
            let mut bits = numbers.fold(CommonBits::OF_NONE, CommonBits::with).differing();
            while bits != 0 {
                let digit = Digit { shift: bits.trailing_zeros(), width: CACHED_DIGIT_BITS };
                bits &= !((DIGIT_VALUES as u64 - 1) << digit.shift);
                turned ^= self.pass(form, digit);
            }
        }
        if turned != to_room {
            let ([keys, keys_room], [values, values_room]) = (self.keys, self.values);
            keys_room.copy_from_slice(keys);
            values_room.copy_from_slice(values);
        }
    }

    fn insert(&mut self, form: KeyForm) {
        let (keys, values) = (&mut *self.keys[0], &mut *self.values[0]);
        for next in 1..keys.len() {
            let (key, value) = (keys[next], values[next]);
            let number = key.number(form);
            let mut at = next;
            while at > 0 && keys[at - 1].number(form) > number {
                (keys[at], values[at]) = (keys[at - 1], values[at - 1]);
                at -= 1;
            }
            (keys[at], values[at]) = (key, value);
        }
    }

    /// Moves the pairs to the room in ascending order of a digit, and swaps pairs and room; returns
    /// `false` if all pairs have the same digit.
    fn pass(&mut self, form: KeyForm, digit: Digit) -> bool {
        let [keys, keys_room] = &mut self.keys;
        let [values, values_room] = &mut self.values;
        // The remainder avoids a bounds check.
        let digit_of = |key: K| digit.of(key.number(form)) % DIGIT_VALUES;
        let mut next = [0_u32; DIGIT_VALUES];
        keys.iter().for_each(|key| next[digit_of(*key)] += 1);
        if next.contains(&(keys.len() as u32)) {
            return false;
        }
        let mut begin = 0;
        for next in &mut next {
            (*next, begin) = (begin, begin + *next);
        }
        for (key, value) in keys.iter().zip(values.iter()) {
            let next = &mut next[digit_of(*key)];
            (keys_room[*next as usize], values_room[*next as usize]) = (*key, *value);
            *next += 1;
        }
        self.keys.swap(0, 1);
        self.values.swap(0, 1);
        true
    }
}
