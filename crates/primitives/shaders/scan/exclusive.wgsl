// Result of an exclusive scan: the sum before a cell, after the initial value of its segment. The
// text before this file is scan.wgsl.

@group(0) @binding(7) var<storage, read> zippy_begin: array<T>;

fn zippy_put(p: i32, last: zippy_Item, head: bool, all: zippy_Item) {
    let begin = zippy_begin_load(0);
    if head || last.mark == 0u {
        zippy_output_store(p, begin);
    } else {
        zippy_output_store(p, combine(begin, last.value));
    }
}
