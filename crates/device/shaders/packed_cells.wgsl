// Combines cells of 8 or 16 bits with `combine`, an operator on `T`, which is u32 or i32: unpacks
// and combines cells, clamps the result to its range, and stores it by an atomic exchange, because
// other invocations can change other cells of the word. A word has at most four cells, so the loop
// is short.
//
// src/device/kernel_transfers/combine_source.rs declares:
// * zippy_BITS: bits of a cell.
// * zippy_PER_WORD_LOG: binary logarithm of the number of cells of a word.
// * zippy_LOWEST, zippy_HIGHEST: range of a cell, of type T.

const zippy_IN_WORD = (1u << zippy_PER_WORD_LOG) - 1u;
const zippy_MASK = (1u << zippy_BITS) - 1u;

@group(0) @binding(0) var<storage, read_write> zippy_src: array<u32>;
@group(0) @binding(1) var<storage, read_write> zippy_dst: array<atomic<u32>>;

fn zippy_unpack(word: u32, cell: u32) -> T {
    return extractBits(bitcast<T>(word), (cell & zippy_IN_WORD) * zippy_BITS, zippy_BITS);
}

fn zippy_combine_cell(s: u32, d: u32) {
    let source = zippy_unpack(zippy_src[s >> zippy_PER_WORD_LOG], s);
    let word = d >> zippy_PER_WORD_LOG;
    let shift = (d & zippy_IN_WORD) * zippy_BITS;
    var old = atomicLoad(&zippy_dst[word]);
    let result = clamp(combine(source, zippy_unpack(old, d)), zippy_LOWEST, zippy_HIGHEST);
    let placed = (bitcast<u32>(result) & zippy_MASK) << shift;
    loop {
        let swap = atomicCompareExchangeWeak(&zippy_dst[word], old, (old & ~(zippy_MASK << shift)) | placed);
        if swap.exchanged {
            break;
        }
        old = swap.old_value;
    }
}
