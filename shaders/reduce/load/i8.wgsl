// Loads a signed cell of 8 bits as an i32. A word has four cells, from the lowest bits.
//
// $LOAD is the name of the function, $INPUT the array of words. `at` counts cells.

fn $LOAD(at: u32) -> u32 {
    return u32(extractBits(i32($INPUT[at >> 2u]), (at & 3u) * 8u, 8u));
}
