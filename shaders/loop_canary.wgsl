// Counts the loop iterations that a driver runs. Each iteration depends on the previous one, so
// that the compiler cannot omit any.
//
// words[0] is the requested number of iterations. On return words[1] is the number of iterations,
// and words[2] is the last state of the generator.

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
