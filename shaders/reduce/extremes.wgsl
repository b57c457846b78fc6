// The smallest and the largest number, as keys whose order as u32 is that of the numbers (-0 before +0). NaNs have no
// place in the order and are counted.
//
// Words: smallest key, largest key, number of NaNs.

const WORDS = 3u;

var<private> smallest: u32 = 0xffffffffu;
var<private> largest: u32;
var<private> nans: u32;

fn identity(word: u32) -> u32 {
    return select(0u, 0xffffffffu, word == 0u);
}

fn take(at: u32, beside: u32) {
    let bits = load(at);
    let nan = is_nan(bits);
    let place = key(bits);
    smallest = min(smallest, select(place, 0xffffffffu, nan));
    largest = max(largest, select(place, 0u, nan));
    nans += select(0u, 1u, nan);
}

fn hand_in() {
    atomicMin(&shared_words[0u], smallest);
    atomicMax(&shared_words[1u], largest);
    atomicAdd(&shared_words[2u], nans);
}
