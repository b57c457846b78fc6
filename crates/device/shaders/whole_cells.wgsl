// Combines cells of at least 32 bits with `combine`, an operator on `T`.

@group(0) @binding(0) var<storage, read_write> zippy_src: array<T>;
@group(0) @binding(1) var<storage, read_write> zippy_dst: array<T>;

fn zippy_combine_cell(s: u32, d: u32) {
    zippy_dst[d] = combine(zippy_src[s], zippy_dst[d]);
}
