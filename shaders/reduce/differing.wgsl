// Counts the cells that differ in some bit. Indices count cells; word zippy_table[2] of the table
// is the offset of the number of scalars per cell.
//
// Words: number of differing cells.

var<private> cells: u32;

fn identity(word: u32) -> u32 {
    return 0u;
}

fn take(at: u32, second_at: u32) {
    let numbers = zippy_table[zippy_table[2]];
    var differs = false;
    for (var number = 0u; number < numbers; number++) {
        differs |= load(at * numbers + number) != load_second(second_at * numbers + number);
    }
    cells += u32(differs);
}

fn hand_in() {
    atomicAdd(&shared_words[0u], cells);
}
