// Loads the length of the vector that begins at index `at`, as the bits of an f32. Components are
// scaled by the largest one, so that squares neither overflow nor underflow.
//
// src/algorithms/reduce/source.rs declares COMPONENTS, the number of components. `load_number`, and
// the size of the order of components, are in other files of this folder and of size/.

fn load(at: u32) -> u32 {
    var special = 0u;
    var largest = 0f;
    for (var i = 0u; i < COMPONENTS; i++) {
        let bits = load_number(at + i);
        special = max(special, beyond(bits));
        largest = max(largest, select(size(bits), 0f, beyond(bits) > 0u));
    }
    var squares = 0f;
    for (var i = 0u; i < COMPONENTS; i++) {
        let scaled = size(load_number(at + i)) / largest;
        squares += scaled * scaled;
    }
    let length = bitcast<u32>(largest * sqrt(squares));
    return select(select(length, 0u, largest == 0f), special, special > 0u);
}
