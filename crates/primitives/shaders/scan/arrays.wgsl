// Arrays of a scan of cells of type T: the output, the sum of each block, later the sum before the
// block, and the sum before all blocks; sums with their marks.

@group(0) @binding(2) var<storage, read_write> zippy_output: array<T>;
@group(0) @binding(3) var<storage, read_write> zippy_sums: array<T>;
@group(0) @binding(4) var<storage, read_write> zippy_marks: array<u32>;
@group(0) @binding(5) var<storage, read_write> zippy_carry: array<T>;
@group(0) @binding(6) var<storage, read_write> zippy_carry_mark: array<u32>;
