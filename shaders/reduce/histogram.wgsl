// Counts the numbers in the bins between edges, by their keys. Both zeros count as +0.
//
// zippy_table[2] is the offset in the table of the number of edges, which the edges follow. A bin
// has the numbers from its edge, inclusive, to the next edge, exclusive.
//
// Words: count before the first edge, counts of the bins, count from the last edge on; the last
// word counts NaNs.

fn identity(word: u32) -> u32 {
    return 0u;
}

fn take(at: u32, second_at: u32) {
    let bits = load(at);
    let number_key = key(one_zero(bits));
    let edges = zippy_table[2];
    var low = 0u;
    var high = zippy_table[edges];
    // Number of edges that are not greater than the number.
    while low < high {
        let middle = (low + high) >> 1u;
        let passed = zippy_table[edges + 1u + middle] <= number_key;
        low = select(low, middle + 1u, passed);
        high = select(middle, high, passed);
    }
    atomicAdd(&shared_words[select(low, WORDS - 1u, is_nan(bits))], 1u);
}

fn hand_in() {}
