// How many iterations of a loop a driver really runs. Each step depends on the one before, so none can be left out.
// words[0]: iterations wanted; on return words[1]: iterations run, words[2]: the last state of the generator.

@group(0) @binding(0) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(1)
fn main() {
    let wanted = words[0];
    var state = 1u;
    var run = 0u;
    for (var i = 0u; i < wanted; i++) {
        state = state * 1664525u + 1013904223u;
        run += 1u;
    }
    words[1] = run;
    words[2] = state;
}
