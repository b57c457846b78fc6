// A radix sort of keys without values.

fn put_value(p: i32, place: i32) {}
