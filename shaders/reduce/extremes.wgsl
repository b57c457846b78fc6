// The smallest and the largest number, as keys whose order as u32 is that of the numbers (-0 before +0), of those within
// the two keys that stand in the table from its word table[2] on. Others are left out and counted, as NaNs, which have no
// place in the order.
//
// Words: smallest key, largest key, how many were left out.

const WORDS = 3u;

var<private> smallest: u32 = 0xffffffffu;
var<private> largest: u32;
var<private> left_out: u32;

fn identity(word: u32) -> u32 {
    return select(0u, 0xffffffffu, word == 0u);
}

fn take(at: u32, beside: u32) {
    let bits = load(at);
    let place = key(bits);
    let range = zippy_table[2];
    let outside = is_nan(bits) | (place < zippy_table[range]) | (place > zippy_table[range + 1u]);
    smallest = min(smallest, select(place, 0xffffffffu, outside));
    largest = max(largest, select(place, 0u, outside));
    left_out += select(0u, 1u, outside);
}

fn hand_in() {
    atomicMin(&shared_words[0u], smallest);
    atomicMax(&shared_words[1u], largest);
    atomicAdd(&shared_words[2u], left_out);
}
