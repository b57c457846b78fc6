use naga::{Block, Expression, Handle, SwitchCase, SwitchValue};

use super::builder::Body;
use super::statement::JumpTargets;
use super::{Lowering, Unsupported};
use crate::ir::{Binary, Compare, Label, Type, Unary, Value};

/// Maximum number of groups of a `switch` that becomes a chain of nested `if`s.
const MAX_CHAIN: usize = 8;

struct CaseGroup<'m> {
    values: Vec<i64>,
    is_default: bool,
    body: &'m Block,
}

impl<'m> Lowering<'m> {
    pub(super) fn lower_switch(
        &mut self,
        selector: Handle<Expression>,
        cases: &'m [SwitchCase],
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        let selector = self.scalar(selector)?;
        let exit = targets.next.unwrap_or_else(|| self.builder.label());
        if targets.next.is_none() {
            self.builder.open_body();
        }
        let inner = JumpTargets { on_break: Some(exit), next: Some(exit), ..targets };
        match groups(cases) {
            Some(groups) => self.lower_groups(selector, &groups, inner)?,
            None => self.lower_falling_cases(selector, cases, exit, inner)?,
        }
        if targets.next.is_none() {
            let body = self.builder.close_body();
            self.builder.push_block(exit, body);
        }
        Ok(())
    }

    fn lower_groups(
        &mut self,
        selector: Value,
        groups: &[CaseGroup<'m>],
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        let default = groups.iter().find(|group| group.is_default);
        if let Some(bits) = self.builder.bits(selector) {
            let is_selected = |value: &i64| self.selector_bits(selector, *value) == bits;
            let group = groups.iter().find(|group| group.values.iter().any(is_selected)).or(default);
            return group.map_or(Ok(()), |group| self.lower_block(group.body, targets));
        }
        let tested: Vec<_> = groups.iter().filter(|group| !group.is_default).collect();
        if tested.len() > MAX_CHAIN {
            return self.lower_flat_groups(selector, &tested, default, targets);
        }
        let mut chain = Vec::with_capacity(tested.len());
        for group in tested {
            let condition = self.matches(selector, &group.values);
            self.builder.open_body();
            self.lower_block(group.body, targets)?;
            chain.push((condition, self.builder.close_body()));
            self.builder.open_body();
        }
        if let Some(default) = default {
            self.lower_block(default.body, targets)?;
        }
        while let Some((condition, accept)) = chain.pop() {
            let reject = self.builder.close_body();
            self.builder.push_if(condition, accept, reject);
        }
        Ok(())
    }

    /// Lowers many groups as consecutive `if`s that end with a break, for shallow nesting.
    fn lower_flat_groups(
        &mut self,
        selector: Value,
        tested: &[&CaseGroup<'m>],
        default: Option<&CaseGroup<'m>>,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        for group in tested {
            let condition = self.matches(selector, &group.values);
            self.builder.open_body();
            self.lower_block(group.body, JumpTargets { next: None, ..targets })?;
            if let Some(exit) = targets.on_break {
                self.builder.push_break(exit);
            }
            let accept = self.builder.close_body();
            self.builder.push_if(condition, accept, Body { statements: Vec::new(), diverted: false });
        }
        default.map_or(Ok(()), |default| self.lower_block(default.body, targets))
    }

    fn lower_falling_cases(
        &mut self,
        selector: Value,
        cases: &'m [SwitchCase],
        exit: Label,
        targets: JumpTargets,
    ) -> Result<(), Unsupported> {
        let all: Vec<_> = cases.iter().filter_map(|case| case_value(&case.value)).collect();
        let falling = self.builder.kernel.add_variable(Type::Bool);
        let (no, yes) = (self.builder.bool(false), self.builder.bool(true));
        self.builder.set(falling, no);
        for case in cases {
            let selected = match case_value(&case.value) {
                Some(value) => self.matches(selector, &[value]),
                None => {
                    let other = self.matches(selector, &all);
                    self.builder.unary(Unary::Not, other)
                }
            };
            let fallen = self.builder.get(falling);
            let condition = self.builder.binary(Binary::Or, fallen, selected);
            self.builder.open_body();
            self.lower_block(&case.body, JumpTargets { next: None, ..targets })?;
            if case.fall_through {
                self.builder.set(falling, yes);
            } else {
                self.builder.push_break(exit);
            }
            let accept = self.builder.close_body();
            self.builder.push_if(condition, accept, Body { statements: Vec::new(), diverted: false });
        }
        Ok(())
    }

    fn selector_bits(&self, selector: Value, value: i64) -> u64 {
        if self.builder.ty(selector) == Type::I64 { value as u64 } else { u64::from(value as u32) }
    }

    fn matches(&mut self, selector: Value, values: &[i64]) -> Value {
        let mut any = self.builder.bool(false);
        for value in values {
            let value = self.builder.integer(self.builder.ty(selector), *value);
            let equal = self.builder.compare(Compare::Equal, selector, value);
            any = self.builder.binary(Binary::Or, any, equal);
        }
        any
    }
}

fn groups(cases: &[SwitchCase]) -> Option<Vec<CaseGroup<'_>>> {
    let mut groups = Vec::new();
    let (mut values, mut is_default) = (Vec::new(), false);
    for (index, case) in cases.iter().enumerate() {
        match case_value(&case.value) {
            Some(value) => values.push(value),
            None => is_default = true,
        }
        if case.fall_through && index + 1 < cases.len() {
            if !case.body.is_empty() {
                return None;
            }
            continue;
        }
        groups.push(CaseGroup { values: std::mem::take(&mut values), is_default, body: &case.body });
        is_default = false;
    }
    Some(groups)
}

fn case_value(value: &SwitchValue) -> Option<i64> {
    match *value {
        SwitchValue::I32(value) => Some(i64::from(value)),
        SwitchValue::U32(value) => Some(i64::from(value)),
        SwitchValue::Default => None,
    }
}
