//! Expected conditions of `if` statements, and of the first tests of loops.

use crate::ir::{Label, Merge, Statement, Type, Value};
use crate::lower::fold::{Fold, fold};

use super::Assumptions;
use super::jumps::{count_stores, leaves};
use super::predict::predict;
use super::simplify::Simplifier;

impl Simplifier {
    /// Jump out of a loop that ends before its first pass, from its first test.
    pub(super) fn jump_over_loop(
        &self,
        body: &[Statement],
        parameters: &[Value],
        initial: &[Value],
        label: Label,
    ) -> Option<Statement> {
        let [Statement::Let(test), Statement::If { condition, accept, reject, .. }, ..] = body else { return None };
        let at_begin = |value: Value| match parameters.iter().position(|parameter| *parameter == value) {
            Some(number) => initial[number],
            None => self.operand(value),
        };
        let mut definition = self.out.kernel.definition(*test).clone();
        definition.map_operands(at_begin);
        let Some(Fold::Constant(bit)) = fold(&self.out.kernel, Type::Bool, &definition) else { return None };
        match if bit == 1 { &accept[..] } else { &reject[..] } {
            [Statement::Break { label: to, values }] if condition == test && *to != label => {
                Some(Statement::Break { label: *to, values: values.iter().map(|value| at_begin(*value)).collect() })
            }
            _ => None,
        }
    }

    /// Expected condition of an `if` with an arm that ends a block early, by the position of the
    /// row.
    pub(super) fn expected_position(&mut self, condition: Value, arms: [&[Statement]; 2]) -> Option<bool> {
        let ends_early = |arm: &[Statement]| matches!(arm, [.., Statement::Break { .. }]);
        let is_early_end = arms.into_iter().any(ends_early) && self.positional.contains(&condition);
        if self.assumptions != Assumptions::Positions || !is_early_end {
            return None;
        }
        let expected = predict(&self.out.kernel, condition)?;
        self.has_assumed_position = true;
        Some(expected)
    }

    /// Expected condition of an `if`: the arm that does not return, or the arm with all stores.
    pub(super) fn expected(&self, accept: &[Statement], reject: &[Statement], merges: &[Merge]) -> Option<bool> {
        if self.returns_at_once(accept) {
            return Some(false);
        }
        if self.returns_at_once(reject) {
            return Some(true);
        }
        if !merges.is_empty() || leaves(accept, &mut Vec::new()) || leaves(reject, &mut Vec::new()) {
            return None;
        }
        match [accept, reject].map(|arm| count_stores(arm) == self.stores) {
            [true, false] => Some(true),
            [false, true] => Some(false),
            _ => None,
        }
    }

    fn returns_at_once(&self, body: &[Statement]) -> bool {
        match body {
            [.., Statement::Break { label, .. }] => Some(*label) == self.returns && count_stores(body) == 0,
            _ => false,
        }
    }
}
