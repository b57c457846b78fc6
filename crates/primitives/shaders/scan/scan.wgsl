// Block scan: one block per workgroup, one run per invocation. CPU version:
// src/scan/association.rs.
// The text before this file declares the element type T, the operator `combine`, the arrays
// (arrays.wgsl), and:
// * `zippy_value(p)`: cell p of the input. `zippy_cells()`: number of cells.
// * `zippy_head(p)`: true if a segment begins at p.
// * `zippy_put(p, last, head, all)`: writes the result of cell p. `last` is the sum before p, `all`
//   the sum up to and with p.
// * zippy_RUN, zippy_RUNS, zippy_LEVELS: cells of a run, runs of a block, and levels of the tree
//   over the runs, except the root.
// * zippy_IN_ORDER: true if the result depends on the order, so that blocks are combined in order.

struct zippy_Item {
    value: T,
    mark: u32, // 0: no value; zippy_MARK: a value; zippy_HEAD: a value with the begin of a segment
}

// Sums of subtrees of the block. Node 1 is the root; nodes from zippy_RUNS on are the runs.
var<workgroup> zippy_tree: array<zippy_Item, 2 * zippy_RUNS>;
// Sum of all earlier blocks, in zippy_carry_blocks.
var<workgroup> zippy_so_far: zippy_Item;

fn zippy_join(a: zippy_Item, b: zippy_Item) -> zippy_Item {
    if b.mark == 0u { return a; }
    if a.mark == 0u || b.mark == zippy_HEAD { return b; }
    return zippy_Item(combine(a.value, b.value), a.mark);
}

fn zippy_cell(p: i32) -> zippy_Item {
    return zippy_Item(zippy_value(p), select(zippy_MARK, zippy_HEAD, zippy_head(p)));
}

fn zippy_sum(block: i32) -> zippy_Item {
    return zippy_Item(zippy_sums_load(block), zippy_marks_load(block));
}

fn zippy_put_sum(block: i32, item: zippy_Item) {
    zippy_sums_store(block, item.value);
    zippy_marks_store(block, item.mark);
}

// Returns the end of the run that starts at `begin`, limited to the number of cells.
fn zippy_end(begin: i32, cells: i32) -> i32 {
    return select(begin + zippy_RUN, cells, cells - begin < zippy_RUN);
}

// Computes the tree from the runs to the root.
fn zippy_grow(lane: i32, run: zippy_Item) {
    zippy_tree[zippy_RUNS + lane] = run;
    for (var width = zippy_RUNS / 2; width > 0; width /= 2) {
        workgroupBarrier();
        if lane < width {
            let node = width + lane;
            zippy_tree[node] = zippy_join(zippy_tree[2 * node], zippy_tree[2 * node + 1]);
        }
    }
    workgroupBarrier();
}

// Returns the sum of the block before a run: the complete subtrees before it, the largest first.
fn zippy_before(lane: i32) -> zippy_Item {
    var all = zippy_Item(zippy_tree[1].value, 0u);
    for (var level = zippy_LEVELS; level > 0u; level--) {
        let node = (zippy_RUNS + lane) >> (level - 1u);
        if (node & 1) == 1 { all = zippy_join(all, zippy_tree[node - 1]); }
    }
    return all;
}

@compute @workgroup_size(zippy_RUNS)
fn zippy_fold_blocks(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let block = domain_workgroup(group);
    let lane = i32(index);
    let begin = (block * zippy_RUNS + lane) * zippy_RUN;
    let end = zippy_end(begin, zippy_cells());
    var run = zippy_Item(zippy_value(0), 0u);
    for (var p = begin; p < end; p++) {
        run = zippy_join(run, zippy_cell(p));
    }
    zippy_grow(lane, run);
    if lane == 0 { zippy_put_sum(block, zippy_tree[1]); }
}

// Replaces the sum of each block by the sum before the block, from cell 0 of `zippy_carry` on, and
// stores the total in this cell. One workgroup. Loops start from the index of the invocation or the
// workgroup, which are 0, so that no branch depends on parameters alone.
@compute @workgroup_size(zippy_RUNS)
fn zippy_carry_blocks(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let lane = i32(index);
    let blocks = zippy_sums_extent();
    if lane == 0 { zippy_so_far = zippy_Item(zippy_carry_load(0), zippy_carry_mark_load(0)); }
    workgroupBarrier();
    if zippy_IN_ORDER {
        if lane == 0 {
            for (var block = lane; block < blocks; block++) {
                let sum = zippy_sum(block);
                zippy_put_sum(block, zippy_so_far);
                zippy_so_far = zippy_join(zippy_so_far, sum);
            }
        }
    } else {
        for (var first = i32(group.x); first < blocks; first += zippy_RUN * zippy_RUNS) {
            let begin = first + lane * zippy_RUN;
            let end = zippy_end(begin, blocks);
            var run = zippy_Item(zippy_sums_load(0), 0u);
            for (var block = begin; block < end; block++) {
                run = zippy_join(run, zippy_sum(block));
            }
            zippy_grow(lane, run);
            var all = zippy_join(zippy_so_far, zippy_before(lane));
            for (var block = begin; block < end; block++) {
                let sum = zippy_sum(block);
                zippy_put_sum(block, all);
                all = zippy_join(all, sum);
            }
            workgroupBarrier();
            if lane == 0 { zippy_so_far = zippy_join(zippy_so_far, zippy_tree[1]); }
            workgroupBarrier();
        }
    }
    if lane == 0 {
        zippy_carry_store(0, zippy_so_far.value);
        zippy_carry_mark_store(0, zippy_so_far.mark);
    }
}

// Writes the results of each block.
@compute @workgroup_size(zippy_RUNS)
fn zippy_write_blocks(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let block = domain_workgroup(group);
    let lane = i32(index);
    let begin = (block * zippy_RUNS + lane) * zippy_RUN;
    let end = zippy_end(begin, zippy_cells());
    let nothing = zippy_Item(zippy_sums_load(block), 0u);
    var run = nothing;
    for (var p = begin; p < end; p++) {
        run = zippy_join(run, zippy_cell(p));
    }
    zippy_grow(lane, run);
    let base = zippy_join(zippy_sum(block), zippy_before(lane));
    var within = nothing;
    var last = base;
    for (var p = begin; p < end; p++) {
        let cell = zippy_cell(p);
        within = zippy_join(within, cell);
        let all = zippy_join(base, within);
        zippy_put(p, last, cell.mark == zippy_HEAD, all);
        last = all;
    }
}
