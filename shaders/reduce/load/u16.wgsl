// Loads an unsigned cell of 16 bits. A word has two cells, from the lowest bits.
//
// $LOAD is the name of the function, $INPUT the array of words. `at` counts cells.

fn $LOAD(at: u32) -> u32 {
    return extractBits($INPUT[at >> 1u], (at & 1u) * 16u, 16u);
}
