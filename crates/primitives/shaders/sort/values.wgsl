// The values of a radix sort. `Stored` is the type of their words in the output.

@group(0) @binding(4) var<storage, read> values: array<u32>;
@group(0) @binding(5) var<storage, read_write> values_sorted: array<Stored>;

fn put_value(p: i32, place: i32) {
    values_sorted_store(place, values_load(p));
}
