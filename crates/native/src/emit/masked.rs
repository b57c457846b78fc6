use cranelift_codegen::ir::{self as code, InstBuilder};

use super::Emitter;
use super::control::{BodyEnd, LabelTarget};
use super::masks::{LaneVariables, Mask};
use crate::ir::{Definition, Label, Merge, Statement, Value};
use crate::shape::Shape;

impl Emitter<'_, '_> {
    pub(crate) fn masked_if(&mut self, condition: Value, arms: [&[Statement]; 2], merges: &[Merge]) -> BodyEnd {
        let outer = self.active.clone();
        let all = Mask(self.vectors(condition));
        if arms.iter().all(|arm| self.is_cheap(arm)) {
            // Without effects and calls, both arms cost less than a branch.
            arms.iter().for_each(|arm| {
                self.body(arm);
            });
            self.blend_merges(&all, merges, |this, _, result, value| this.registers_like(result, value));
            return BodyEnd::FallsThrough;
        }
        let accepted = self.within_active(all.clone());
        let rejected = match &outer {
            Some(active) => self.mask_and_not(active, &all),
            None => self.mask_not(&all),
        };
        let leaves = arms.iter().any(|arm| self.leaves(arm));
        let mut flows = [BodyEnd::FallsThrough; 2];
        let mut ends = Vec::new();
        let mut slots: [Vec<LaneVariables>; 2] = Default::default();
        for (side, (arm, mask)) in arms.into_iter().zip([accepted, rejected]).enumerate() {
            slots[side] = merges.iter().map(|merge| self.result_slot(merge.result)).collect();
            let lanes = self.new_mask_slot();
            self.set(&lanes, &mask.0);
            let [inside, next] = [(); 2].map(|()| self.build.create_block());
            let any = self.any(&mask);
            self.build.ins().brif(any, inside, &[], next, &[]);
            self.build.seal_block(inside);
            self.build.switch_to_block(inside);
            self.active = Some(mask);
            flows[side] = self.body(arm);
            for (merge, slot) in merges.iter().zip(&slots[side]) {
                let value = if side == 0 { merge.accept } else { merge.reject };
                if let Some(value) = value.filter(|_| flows[side] == BodyEnd::FallsThrough) {
                    let values = self.registers_like(merge.result, value);
                    self.set(slot, &values);
                }
            }
            let active = self.active_mask();
            self.set(&lanes, &active.0);
            self.jump(next, &[]);
            self.build.seal_block(next);
            self.build.switch_to_block(next);
            ends.push(lanes);
        }
        self.blend_merges(&all, merges, |this, (side, number), _, _| this.get(&slots[side][number]));
        self.active = if leaves {
            let [a, b] = [&ends[0], &ends[1]].map(|slot| Mask(self.get(slot)));
            Some(self.mask_or(&a, &b))
        } else {
            outer
        };
        if flows.contains(&BodyEnd::FallsThrough) { BodyEnd::FallsThrough } else { BodyEnd::Left }
    }

    /// Binds the results of a masked `if`; `values` returns the registers of an arm's value.
    fn blend_merges(
        &mut self,
        mask: &Mask,
        merges: &[Merge],
        values: impl Fn(&mut Self, (usize, usize), Value, Value) -> Vec<code::Value>,
    ) {
        for (number, merge) in merges.iter().enumerate() {
            let result = merge.result;
            let sides = [merge.accept, merge.reject];
            let found = [0, 1].map(|side| sides[side].map(|value| values(self, (side, number), result, value)));
            let blended = match found {
                [Some(accept), Some(reject)] => self.blend(self.kernel.ty(result), &mask.0, &accept, &reject),
                [Some(only), None] | [None, Some(only)] => only,
                [None, None] => self.zeros(result),
            };
            self.bind(result, blended);
        }
    }

    fn is_cheap(&self, body: &[Statement]) -> bool {
        const MAX_COST: usize = 24;
        self.cost(body).is_some_and(|cost| cost <= MAX_COST)
    }

    /// Number of operations of a body; `None` for a body with effects.
    fn cost(&self, body: &[Statement]) -> Option<usize> {
        let costs = body.iter().map(|statement| match statement {
            Statement::Let(value) => match self.kernel.definition(*value) {
                Definition::Function(..) => None,
                Definition::Load(access) => self.loads_at_once(access).then_some(1),
                _ => Some(1),
            },
            Statement::If { accept, reject, .. } => Some(1 + self.cost(accept)? + self.cost(reject)?),
            _ => None,
        });
        costs.sum()
    }

    pub(crate) fn masked_block(
        &mut self,
        label: Label,
        body: &[Statement],
        results: &[Value],
        ending: &[Value],
    ) -> BodyEnd {
        let outer = self.active.clone();
        let left = self.new_mask_slot();
        let none = self.no_lanes();
        self.set(&left, &none.0);
        let values: Vec<LaneVariables> = results.iter().map(|result| self.result_slot(*result)).collect();
        let target = LabelTarget::Collected { left: left.clone(), values: values.clone(), results: results.to_vec() };
        self.targets.insert(label, target);
        let leaves = self.leaves_except(body, label);
        match self.body(body) {
            BodyEnd::FallsThrough => self.collect(&left, &values, results, ending),
            BodyEnd::Left => {}
            BodyEnd::Jumped => return BodyEnd::Jumped,
        }
        for (result, slot) in results.iter().zip(&values) {
            let registers = self.get(slot);
            self.bind(*result, registers);
        }
        self.active = if leaves { Some(Mask(self.get(&left))) } else { outer };
        BodyEnd::FallsThrough
    }

    pub(crate) fn masked_loop(
        &mut self,
        label: Label,
        body: &[Statement],
        [parameters, initial]: [&[Value]; 2],
        line: u32,
    ) -> BodyEnd {
        let [lanes, again] = [(); 2].map(|()| self.new_mask_slot());
        let active = self.active_mask();
        self.set(&lanes, &active.0);
        let current: Vec<LaneVariables> = parameters.iter().map(|operand| self.new_result_slot(*operand)).collect();
        let following: Vec<LaneVariables> = parameters.iter().map(|operand| self.new_result_slot(*operand)).collect();
        for ((slot, parameter), value) in current.iter().zip(parameters).zip(initial) {
            let values = self.registers_like(*parameter, *value);
            self.set(slot, &values);
        }
        let [header, after] = [(); 2].map(|()| self.build.create_block());
        self.jump(header, &[]);
        self.build.switch_to_block(header);
        for ((slot, next), parameter) in current.iter().zip(&following).zip(parameters) {
            let values = self.get(slot);
            self.set(next, &values);
            self.bind(*parameter, values);
        }
        self.active = Some(Mask(self.get(&lanes)));
        let none = self.no_lanes();
        self.set(&again, &none.0);
        let target =
            LabelTarget::Collected { left: again.clone(), values: following.clone(), results: parameters.to_vec() };
        self.targets.insert(label, target);
        if self.body(body) == BodyEnd::Jumped {
            self.build.seal_block(header);
            return BodyEnd::Jumped;
        }
        self.return_if_stopped(line);
        for (slot, next) in current.iter().zip(&following) {
            let values = self.get(next);
            self.set(slot, &values);
        }
        let repeated = Mask(self.get(&again));
        self.set(&lanes, &repeated.0);
        let any = self.any(&repeated);
        self.build.ins().brif(any, header, &[], after, &[]);
        self.build.seal_block(header);
        self.build.seal_block(after);
        self.build.switch_to_block(after);
        self.active = Some(self.no_lanes());
        BodyEnd::Left
    }

    fn result_slot(&mut self, result: Value) -> LaneVariables {
        let (ty, count) = self.registers_of(result);
        let slot = self.new_slot(ty, count);
        let zero = self.constant(self.kernel.ty(result), 0);
        let zeros = match self.shapes.of(result) {
            Shape::Varying => self.splat(self.kernel.ty(result), zero, 0),
            _ => vec![zero],
        };
        self.set(&slot, &zeros);
        slot
    }

    /// Adds the active lanes and their values to the lanes that a label collects.
    pub(crate) fn collect(
        &mut self,
        left: &LaneVariables,
        slots: &[LaneVariables],
        results: &[Value],
        values: &[Value],
    ) {
        let active = self.active.clone();
        for ((slot, result), value) in slots.iter().zip(results).zip(values) {
            let new = self.registers_like(*result, *value);
            let new = match (&active, self.shapes.of(*result)) {
                (Some(active), Shape::Varying) => {
                    let old = self.get(slot);
                    self.blend(self.kernel.ty(*result), &active.0, &new, &old)
                }
                _ => new,
            };
            self.set(slot, &new);
        }
        let before = Mask(self.get(left));
        let now = self.active_mask();
        let all = self.mask_or(&before, &now);
        self.set(left, &all.0);
        self.active = Some(self.no_lanes());
    }
}
