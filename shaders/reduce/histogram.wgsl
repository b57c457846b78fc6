// Counts numbers by bins between edges, in the order of keys (both zeros are +0 here). The edges stand in the table from
// its word table[2] on, after their number; a bin holds the numbers from its edge on that lie before the next edge.
//
// Words: the number before the first edge, the bins, the number from the last edge on; NaNs in the last word.

const WORDS = 1024u;

fn identity(word: u32) -> u32 {
    return 0u;
}

fn take(at: u32, beside: u32) {
    let bits = load(at);
    let place = key(one_zero(bits));
    let edges = zippy_table[2];
    var low = 0u;
    var high = zippy_table[edges];
    // How many edges are not beyond the number.
    while low < high {
        let middle = (low + high) >> 1u;
        let passed = zippy_table[edges + 1u + middle] <= place;
        low = select(low, middle + 1u, passed);
        high = select(middle, high, passed);
    }
    atomicAdd(&shared_words[select(low, WORDS - 1u, is_nan(bits))], 1u);
}

fn hand_in() {}
