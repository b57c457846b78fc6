// How many cells differ in some bit. A place counts cells here, of as many numbers as the table says from its word table[2]
// on.
//
// Words: their number.

const WORDS = 1u;

var<private> cells: u32;

fn identity(word: u32) -> u32 {
    return 0u;
}

fn take(at: u32, beside: u32) {
    let numbers = zippy_table[zippy_table[2]];
    var differs = false;
    for (var number = 0u; number < numbers; number++) {
        differs |= load(at * numbers + number) != load_second(beside * numbers + number);
    }
    cells += u32(differs);
}

fn hand_in() {
    atomicAdd(&shared_words[0u], cells);
}
