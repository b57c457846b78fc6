// Loads a signed cell of 16 bits as an i32. A word has two cells, from the lowest bits.
//
// $LOAD is the name of the function, $INPUT the array of words. `at` counts cells.

fn $LOAD(at: u32) -> u32 {
    return u32(extractBits(i32($INPUT[at >> 1u]), (at & 1u) * 16u, 16u));
}
