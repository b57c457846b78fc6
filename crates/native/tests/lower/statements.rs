//! Statements.

use crate::run_body;

#[test]
fn loop_with_continue_and_break_sums_odd_numbers_below_limit() {
    let out = run_body(
        "",
        "var sum = 0u;
         for (var i = 0u; i < 100u; i++) {
             if (i % 2u == 0u) { continue; }
             if (i > input[0]) { break; }
             sum += i;
         }
         out[0] = sum;",
        &[9],
        1,
    );
    assert_eq!(out, [25]);
}
