// Loads an unsigned cell of 8 bits. A word has four cells, from the lowest bits.
//
// $LOAD is the name of the function, $INPUT the array of words. `at` counts cells.

fn $LOAD(at: u32) -> u32 {
    return extractBits($INPUT[at >> 2u], (at & 3u) * 8u, 8u);
}
