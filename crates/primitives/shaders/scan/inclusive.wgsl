// Result of an inclusive scan: the sum up to and with a cell. scan.wgsl precedes this file.

fn zippy_put(p: i32, last: zippy_Item, head: bool, all: zippy_Item) {
    zippy_output_store(p, all.value);
}
