// Smallest and largest number within a range, as keys: u32 values in the order of the numbers (-0
// before +0).
//
// zippy_table[2] is the offset in the table of the first and the last key of the range. Numbers
// outside of the range and NaNs are excluded and counted.
//
// Words: smallest key, largest key, number of excluded numbers.

var<private> smallest: u32 = 0xffffffffu;
var<private> largest: u32;
var<private> excluded: u32;

fn identity(word: u32) -> u32 {
    return select(0u, 0xffffffffu, word == 0u);
}

fn take(at: u32, second_at: u32) {
    let bits = load(at);
    let number_key = key(bits);
    let range = zippy_table[2];
    let outside = is_nan(bits) | (number_key < zippy_table[range]) | (number_key > zippy_table[range + 1u]);
    smallest = min(smallest, select(number_key, 0xffffffffu, outside));
    largest = max(largest, select(number_key, 0u, outside));
    excluded += select(0u, 1u, outside);
}

fn hand_in() {
    atomicMin(&shared_words[0u], smallest);
    atomicMax(&shared_words[1u], largest);
    atomicAdd(&shared_words[2u], excluded);
}
