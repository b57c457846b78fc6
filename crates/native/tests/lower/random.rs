//! Random programs, run by lowering and by a direct interpretation of their syntax trees.

use std::fmt::Write;

use zippy_testing::random::LinearCongruential;

use crate::{run_with, try_lower};

const VARIABLES: usize = 4;
const ELEMENTS: usize = 4;

#[derive(Debug, Clone)]
enum Expr {
    Literal(u32),
    Variable(usize),
    Element(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Call of a function of a value and a pointer to a variable.
    Call(usize, Box<Expr>, usize),
}

#[derive(Debug, Clone)]
enum Stmt {
    Assign(usize, Expr),
    AssignElement(Expr, Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A counter from 0 to a limit that is a literal or a variable's low bits.
    For(Expr, Vec<Stmt>),
    /// Body and continuing block, with `break if` after some iterations.
    Loop(u32, Vec<Stmt>, Vec<Stmt>),
    Switch(Expr, Vec<(u32, Vec<Stmt>)>, Vec<Stmt>),
    Break,
    Continue,
    Return(Expr),
}

struct Random(LinearCongruential);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0.below(limit.into()) as u32
    }

    fn variable(&mut self) -> usize {
        self.below(VARIABLES as u32) as usize
    }

    fn expr(&mut self, depth: u32, functions: usize) -> Expr {
        let boxed = |random: &mut Self| Box::new(random.expr(depth.saturating_sub(1), functions));
        match self.below(if depth == 0 { 2 } else { 8 }) {
            0 | 1 => Expr::Variable(self.variable()),
            2 => Expr::Element(boxed(self)),
            3 => Expr::Select(boxed(self), boxed(self), boxed(self)),
            4 if functions > 0 && depth > 1 && self.below(4) == 0 => {
                let function = self.below(functions as u32) as usize;
                Expr::Call(function, boxed(self), self.variable())
            }
            _ => {
                let operators = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];
                let operator = operators[self.below(10) as usize];
                let right = match self.below(2) {
                    0 => Box::new(Expr::Literal(self.below(7) + 1)),
                    _ => boxed(self),
                };
                Expr::Binary(operator, boxed(self), right)
            }
        }
    }

    fn block(&mut self, depth: u32, functions: usize, in_loop: bool, in_switch: bool) -> Vec<Stmt> {
        let mut block = Vec::new();
        for _ in 0..=self.below(3) {
            let nest = |random: &mut Self, in_loop, in_switch| {
                random.block(depth.saturating_sub(1), functions, in_loop, in_switch)
            };
            block.push(match self.below(if depth == 0 { 4 } else { 10 }) {
                0..=2 => Stmt::Assign(self.variable(), self.expr(3, functions)),
                3 => Stmt::AssignElement(self.expr(1, functions), self.expr(2, functions)),
                4 | 5 => {
                    Stmt::If(self.expr(2, functions), nest(self, in_loop, in_switch), nest(self, in_loop, in_switch))
                }
                6 => {
                    let limit = match self.below(2) {
                        0 => Expr::Literal(self.below(5)),
                        _ => Expr::Binary("&", Box::new(Expr::Variable(self.variable())), Box::new(Expr::Literal(3))),
                    };
                    Stmt::For(limit, nest(self, true, false))
                }
                7 => {
                    let continuing =
                        (0..self.below(3)).map(|_| Stmt::Assign(self.variable(), self.expr(2, functions))).collect();
                    Stmt::Loop(self.below(4), nest(self, true, false), continuing)
                }
                _ => {
                    let cases = (0..=self.below(3)).map(|case| (case * 2, nest(self, in_loop, true))).collect();
                    Stmt::Switch(self.expr(2, functions), cases, nest(self, in_loop, true))
                }
            });
        }
        match self.below(12) {
            0 if in_loop || in_switch => block.push(Stmt::Break),
            1 | 2 if in_loop => block.push(Stmt::Continue),
            3 => block.push(Stmt::Return(self.expr(1, functions))),
            _ => {}
        }
        block
    }
}

fn print_expr(expr: &Expr) -> String {
    match expr {
        Expr::Literal(value) => format!("{value}u"),
        Expr::Variable(variable) => format!("v{variable}"),
        Expr::Element(index) => format!("a[{}]", print_expr(index)),
        Expr::Binary(operator @ ("<<" | ">>"), left, right) => {
            format!("({} {operator} ({} & 31u))", print_expr(left), print_expr(right))
        }
        Expr::Binary(operator, left, right) => format!("({} {operator} {})", print_expr(left), print_expr(right)),
        Expr::Select(condition, accept, reject) => {
            format!("select({}, {}, ({} & 1u) == 1u)", print_expr(reject), print_expr(accept), print_expr(condition))
        }
        Expr::Call(function, argument, variable) => format!("f{function}({}, &v{variable})", print_expr(argument)),
    }
}

fn print(block: &[Stmt], text: &mut String, names: &mut u32) {
    for statement in block {
        match statement {
            Stmt::Assign(variable, value) => writeln!(text, "v{variable} = {};", print_expr(value)).unwrap(),
            Stmt::AssignElement(index, value) => {
                writeln!(text, "a[{}] = {};", print_expr(index), print_expr(value)).unwrap();
            }
            Stmt::If(condition, accept, reject) => {
                writeln!(text, "if (({} & 1u) == 1u) {{", print_expr(condition)).unwrap();
                print(accept, text, names);
                text.push_str("} else {\n");
                print(reject, text, names);
                text.push_str("}\n");
            }
            Stmt::For(limit, body) => {
                *names += 1;
                let name = format!("i{names}");
                writeln!(text, "for (var {name} = 0u; {name} < {}; {name}++) {{", print_expr(limit)).unwrap();
                print(body, text, names);
                text.push_str("}\n");
            }
            Stmt::Loop(iterations, body, continuing) => {
                *names += 1;
                let name = format!("i{names}");
                writeln!(text, "{{ var {name} = 0u; loop {{").unwrap();
                print(body, text, names);
                text.push_str("continuing {\n");
                print(continuing, text, names);
                writeln!(text, "{name} += 1u; break if {name} > {iterations}u; }} }} }}").unwrap();
            }
            Stmt::Switch(selector, cases, default) => {
                writeln!(text, "switch ({} % 7u) {{", print_expr(selector)).unwrap();
                for (value, body) in cases {
                    writeln!(text, "case {value}u: {{").unwrap();
                    print(body, text, names);
                    text.push_str("}\n");
                }
                text.push_str("default: {\n");
                print(default, text, names);
                text.push_str("} }\n");
            }
            Stmt::Break => text.push_str("break;\n"),
            Stmt::Continue => text.push_str("continue;\n"),
            Stmt::Return(value) => writeln!(text, "return {};", print_expr(value)).unwrap(),
        }
    }
}

enum Flow {
    Next,
    Break,
    Continue,
    Return(u32),
}

#[derive(Clone)]
struct State {
    variables: [u32; VARIABLES],
    array: [u32; ELEMENTS],
}

struct Interpreter<'a> {
    functions: &'a [Vec<Stmt>],
    steps: u32,
}

impl Interpreter<'_> {
    fn eval(&mut self, expr: &Expr, state: &mut State) -> u32 {
        match expr {
            Expr::Literal(value) => *value,
            Expr::Variable(variable) => state.variables[*variable],
            Expr::Element(index) => {
                let index = self.eval(index, state) as usize;
                state.array[index.min(ELEMENTS - 1)]
            }
            Expr::Binary(operator, left, right) => {
                let (a, b) = (self.eval(left, state), self.eval(right, state));
                match *operator {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "*" => a.wrapping_mul(b),
                    "/" => a.checked_div(b).unwrap_or(a),
                    "%" => a.checked_rem(b).unwrap_or(0),
                    "&" => a & b,
                    "|" => a | b,
                    "^" => a ^ b,
                    "<<" => a << (b & 31),
                    _ => a >> (b & 31),
                }
            }
            Expr::Select(condition, accept, reject) => {
                let (reject, accept) = (self.eval(reject, state), self.eval(accept, state));
                if self.eval(condition, state) & 1 == 1 { accept } else { reject }
            }
            Expr::Call(function, argument, variable) => {
                let argument = self.eval(argument, state);
                let (result, pointee) = self.call(*function, argument, state.variables[*variable]);
                state.variables[*variable] = pointee;
                result
            }
        }
    }

    fn call(&mut self, function: usize, argument: u32, pointee: u32) -> (u32, u32) {
        let mut state = State { variables: [argument, pointee, 0, 0], array: [argument, 1, 2, 3] };
        let functions = self.functions;
        let result = match self.block(&functions[function], &mut state) {
            Flow::Return(value) => value,
            _ => state.variables[0] ^ state.array[3],
        };
        (result, pointee.wrapping_add(result))
    }

    fn block(&mut self, block: &[Stmt], state: &mut State) -> Flow {
        for statement in block {
            self.steps += 1;
            let flow = self.statement(statement, state);
            if !matches!(flow, Flow::Next) {
                return flow;
            }
        }
        Flow::Next
    }

    fn statement(&mut self, statement: &Stmt, state: &mut State) -> Flow {
        match statement {
            Stmt::Assign(variable, value) => state.variables[*variable] = self.eval(value, state),
            Stmt::AssignElement(index, value) => {
                let index = self.eval(index, state) as usize;
                let value = self.eval(value, state);
                state.array[index.min(ELEMENTS - 1)] = value;
            }
            Stmt::If(condition, accept, reject) => {
                let holds = self.eval(condition, state) & 1 == 1;
                return self.block(if holds { accept } else { reject }, state);
            }
            Stmt::For(limit, body) => {
                let mut counter = 0;
                while counter < self.eval(limit, state) {
                    match self.block(body, state) {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::Next | Flow::Continue => {}
                    }
                    counter += 1;
                }
            }
            Stmt::Loop(iterations, body, continuing) => {
                for _ in 0..=*iterations {
                    match self.block(body, state) {
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                        Flow::Next | Flow::Continue => {}
                    }
                    self.block(continuing, state);
                }
            }
            Stmt::Switch(selector, cases, default) => {
                let selector = self.eval(selector, state) % 7;
                let body = cases.iter().find(|(value, _)| *value == selector).map_or(default, |(_, body)| body);
                return match self.block(body, state) {
                    Flow::Break => Flow::Next,
                    flow => flow,
                };
            }
            Stmt::Break => return Flow::Break,
            Stmt::Continue => return Flow::Continue,
            Stmt::Return(value) => return Flow::Return(self.eval(value, state)),
        }
        Flow::Next
    }
}

fn print_program(functions: &[Vec<Stmt>]) -> String {
    let mut text = String::from(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         @group(0) @binding(1) var<storage, read> input: array<u32>;\n",
    );
    let mut names = 0;
    for (index, body) in functions.iter().enumerate() {
        writeln!(
            text,
            "fn g{index}(x: u32, y: u32) -> u32 {{ var v0 = x; var v1 = y; var v2: u32; var v3 = 0u;
             var a = array<u32, {ELEMENTS}>(x, 1u, 2u, 3u);"
        )
        .unwrap();
        print(body, &mut text, &mut names);
        text.push_str("return v0 ^ a[3];\n}\n");
        writeln!(
            text,
            "fn f{index}(x: u32, p: ptr<function, u32>) -> u32 {{ let r = g{index}(x, *p); *p += r; return r; }}"
        )
        .unwrap();
    }
    let last = functions.len() - 1;
    writeln!(
        text,
        "@compute @workgroup_size(1) fn main() {{ var p = input[1]; out[0] = f{last}(input[0], &p); out[1] = p; }}"
    )
    .unwrap();
    text
}

/// True for a program that naga rejects, because a jump is not at the end of a block.
fn ends_after_jump(block: &[Stmt]) -> bool {
    block.iter().rev().skip(1).any(|statement| matches!(statement, Stmt::Break | Stmt::Continue | Stmt::Return(_)))
}

#[test]
fn random_programs_match_their_interpretation() {
    let mut compared = 0;
    let count = std::env::var("LOWER_PROGRAMS").map_or(100, |count| count.parse().unwrap());
    for seed in 0..count {
        let mut random = Random(LinearCongruential::new(seed));
        for _ in 0..4 {
            random.below(2);
        }
        let mut functions = Vec::new();
        for index in 0..3 {
            let mut body = random.block(3, index, false, false);
            if matches!(body.last(), Some(Stmt::Return(_))) {
                body.pop();
            }
            functions.push(body);
        }
        if functions.iter().any(|body| ends_after_jump(body)) {
            continue;
        }
        let source = print_program(&functions);
        let input = [random.below(20), random.below(1000)];
        let mut interpreter = Interpreter { functions: &functions, steps: 0 };
        let (result, pointee) = interpreter.call(2, input[0], input[1]);
        if interpreter.steps > 20_000 || try_lower(&source).is_err_and(|error| error.construct.contains("statements")) {
            continue;
        }
        assert_eq!(run_with(&source, &input, 2), [result, pointee], "seed {seed}:\n{source}");
        compared += 1;
    }
    assert!(compared > count * 3 / 4, "{compared} programs");
}
