//! Barriers and memory of a workgroup.

use super::ast::{Block, Expression, Form, Function, Statement, Type};
use super::generator::{Generator, Phase, WorkgroupArray};

impl Generator {
    /// Control flow is uniform here.
    pub(super) fn uniform_statements(&mut self, block: &mut Block) {
        if !self.workgroup_atomics.is_empty() && self.rng.chance(25) {
            return self.count(block);
        }
        let arrays = self.workgroup_arrays.clone();
        let array = self.rng.pick(&arrays).clone();
        let form = self.rng.below(if self.has_specified_sums(&array.base) { 6 } else { 3 });
        match form {
            0 => self.exchange(block, &array),
            1 => self.rotate(block, &array),
            2 if self.rng.chance(40) => {
                let condition = *self.rng.pick(&["groups.x > 1u", "(wid.x + wid.y) % 2u == 0u", "wid.x != 1u"]);
                let condition = Expression::name(Type::BOOL, condition);
                let scope = self.scope.len();
                let mut accept = Vec::new();
                self.exchange(&mut accept, &array);
                self.scope.truncate(scope);
                block.push(Statement::If { condition, accept, reject: Vec::new() });
            }
            2 => {
                // All invocations need the same number of iterations.
                let counter = self.fresh_name("c");
                let scope = self.scope.len();
                self.declare(&counter, Type::U32, false);
                let mut body = Vec::new();
                self.exchange(&mut body, &array);
                self.scope.truncate(scope);
                let limit = if self.rng.chance(50) { "3u" } else { "(groups.x & 3u)" };
                block.push(Statement::For {
                    condition: Expression::name(Type::BOOL, format!("{counter} < {limit}")),
                    update: format!("{counter}++"),
                    counter,
                    ty: Type::U32,
                    start: Expression::u32(0),
                    body,
                });
            }
            3 => self.tree_reduction(block, &array),
            4 => self.scan(block, &array),
            _ => self.uniform_load(block, &array),
        }
    }

    /// Each invocation writes its element, then all read all elements.
    fn exchange(&mut self, block: &mut Block, array: &WorkgroupArray) {
        self.write_own(block, array);
        self.barrier(block);
        self.phase = Phase::Shared;
        let length = self.rng.between(1, 3);
        let shared = self.block(length, 1);
        self.phase = Phase::OwnElement;
        block.extend(shared);
        let name = self.fresh_name("v");
        let next = if self.unspecified_results {
            "(local + 1u)".into()
        } else {
            format!("((local + 1u) % {}u)", array.length)
        };
        let element = array.element(&next);
        self.declare(&name, array.base.clone(), false);
        block.push(Statement::Let { name, value: element });
        block.push(Statement::Barrier("workgroupBarrier();"));
    }

    fn barrier(&mut self, block: &mut Block) {
        match self.rng.below(12) {
            0 => block.push(Statement::Barrier("storageBarrier();")),
            1 => block.push(Statement::Barrier("textureBarrier();")),
            _ => {}
        }
        block.push(Statement::Barrier("workgroupBarrier();"));
    }

    /// Exchanges elements by a function with barriers.
    fn rotate(&mut self, block: &mut Block, array: &WorkgroupArray) {
        let name = format!("rotate_{}", array.name);
        let ty = array.base.clone();
        let parameters = vec![("local".to_string(), Type::U32), ("x".to_string(), ty.clone())];
        if self.program.functions.iter().all(|function| function.name != name) {
            let target = array.element("(local)");
            let next = array.element(&format!("((local + 1u) % {}u)", array.length));
            let body = vec![
                Statement::Assign { target, operator: "=", value: Expression::name(ty.clone(), "x") },
                Statement::Barrier("workgroupBarrier();"),
                Statement::Let { name: "y".into(), value: next },
                Statement::Barrier("workgroupBarrier();"),
                Statement::Return(Some(Expression::name(ty.clone(), "y"))),
            ];
            let function = Function { name: name.clone(), parameters, result: Some(ty.clone()), body };
            self.program.functions.push(function);
        }
        let operands = vec![Expression::name(Type::U32, "local"), self.expression(&ty, 2)];
        let variable = self.fresh_name("v");
        self.declare(&variable, ty.clone(), false);
        block.push(Statement::Let { name: variable, value: Expression { ty, form: Form::UserCall(name), operands } });
    }

    /// Atomics of the workgroup: operations that commute, then loads.
    fn count(&mut self, block: &mut Block) {
        let arrays = self.workgroup_atomics.clone();
        let array = self.rng.pick(&arrays).clone();
        for _ in 0..self.rng.between(1, 2) {
            let mut accept = Vec::new();
            self.update_atomic(&mut accept, array.clone());
            if self.rng.chance(40) {
                let condition = self.expression(&Type::BOOL, 1);
                block.push(Statement::If { condition, accept, reject: Vec::new() });
            } else {
                block.append(&mut accept);
            }
        }
        self.barrier(block);
        let index = self.index(array.length, false);
        let element = Expression::index(Type::Unnamed, Expression::name(Type::Unnamed, array.name), index);
        let pointer = Expression::prefix(Type::Unnamed, "&", element);
        let name = self.fresh_name("v");
        let ty = Type::Scalar(array.scalar);
        self.declare(&name, ty.clone(), false);
        block.push(Statement::Let { name, value: Expression::call(ty, "atomicLoad", vec![pointer]) });
        self.barrier(block);
    }

    fn write_own(&mut self, block: &mut Block, array: &WorkgroupArray) {
        let value = self.expression(&array.base, 2);
        let target = array.element("local");
        block.push(Statement::Assign { target, operator: "=", value });
    }

    fn tree_reduction(&mut self, block: &mut Block, array: &WorkgroupArray) {
        self.write_own(block, array);
        block.push(Statement::Barrier("workgroupBarrier();"));
        let counter = self.fresh_name("c");
        let operation = self.combination(array, &counter, "+");
        let condition = format!("local < {counter} && local + {counter} < {}u", array.length);
        let accept = vec![operation];
        let condition = Expression::name(Type::BOOL, condition);
        let body =
            vec![Statement::If { condition, accept, reject: Vec::new() }, Statement::Barrier("workgroupBarrier();")];
        block.push(Statement::For {
            start: Expression::u32(array.length.next_power_of_two() / 2),
            condition: Expression::name(Type::BOOL, format!("{counter} > 0u")),
            update: format!("{counter} /= 2u"),
            counter,
            ty: Type::U32,
            body,
        });
        self.read_first(block, array);
    }

    /// `own = own op other`, with the other element at a distance of `offset`.
    fn combination(&mut self, array: &WorkgroupArray, offset: &str, sign: &str) -> Statement {
        let own = array.element("local");
        let other = array.element(&format!("local {sign} {offset}"));
        let ty = array.base.clone();
        let value = match self.rng.below(4) {
            0 => Expression::call(ty, "max", vec![own.clone(), other]),
            1 => Expression::call(ty, "min", vec![own.clone(), other]),
            2 => Expression::infix(ty, "*", own.clone(), other),
            _ => Expression::infix(ty, "+", own.clone(), other),
        };
        Statement::Assign { target: own, operator: "=", value }
    }

    fn read_first(&mut self, block: &mut Block, array: &WorkgroupArray) {
        let name = self.fresh_name("v");
        let value = array.element("0");
        self.declare(&name, array.base.clone(), false);
        block.push(Statement::Let { name, value });
        block.push(Statement::Barrier("workgroupBarrier();"));
    }

    /// A scan by doubling distances; the workgroup's lanes wait between reads and writes.
    fn scan(&mut self, block: &mut Block, array: &WorkgroupArray) {
        self.write_own(block, array);
        block.push(Statement::Barrier("workgroupBarrier();"));
        let (counter, other) = (self.fresh_name("c"), self.fresh_name("v"));
        let read = Statement::Assign {
            target: Expression::name(array.base.clone(), other.clone()),
            operator: "=",
            value: array.element(&format!("local - {counter}")),
        };
        let mine = array.element("local");
        let body = vec![
            Statement::Var { name: other.clone(), ty: array.base.clone(), value: None },
            Statement::If {
                condition: Expression::name(Type::BOOL, format!("local >= {counter}")),
                accept: vec![read],
                reject: Vec::new(),
            },
            Statement::Barrier("workgroupBarrier();"),
            Statement::Assign { target: mine, operator: "+=", value: Expression::name(array.base.clone(), other) },
            Statement::Barrier("workgroupBarrier();"),
        ];
        block.push(Statement::For {
            start: Expression::u32(1),
            condition: Expression::name(Type::BOOL, format!("{counter} < {}u", array.length)),
            update: format!("{counter} *= 2u"),
            counter,
            ty: Type::U32,
            body,
        });
        self.read_first(block, array);
    }

    fn uniform_load(&mut self, block: &mut Block, array: &WorkgroupArray) {
        self.write_own(block, array);
        let name = self.fresh_name("v");
        let index = self.rng.below(array.length);
        let pointer = Expression::prefix(Type::Unnamed, "&", array.element(&format!("{index}u")));
        let value = Expression::call(array.base.clone(), "workgroupUniformLoad", vec![pointer]);
        self.declare(&name, array.base.clone(), false);
        block.push(Statement::Let { name, value });
    }
}
