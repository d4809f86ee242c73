//! What is the value of an expression, in pgbench's arithmetic?

use super::Slot;
use super::error::EvalError;
use super::value::{Type, Value};
use super::variables::Variables;
use crate::random::{self, Prng};

/// A compiled expression: a tree, at most [`MAX_DEPTH`](super::parser::MAX_DEPTH) deep.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(super) Node);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Const(Value),
    Var(Slot),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<[Node; 2]>),
    Ternary(Ternary, Box<[Node; 3]>),
    Extremum(Extremum, Box<[Node]>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    Case {
        arms: Box<[[Node; 2]]>,
        otherwise: Box<Node>,
    },
    /// `\set` of a name that no variable may have: evaluates, then fails, at pgbench's moment.
    Unassignable(Slot, Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Not,
    Abs,
    Debug,
    Int,
    Double,
    Sqrt,
    Ln,
    Exp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Eq,
    Ne,
    Le,
    Lt,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Is,
    Pow,
    Random,
    HashFnv1a,
    HashMurmur2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ternary {
    Gaussian,
    Exponential,
    Zipfian,
    Permute,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extremum {
    Least,
    Greatest,
}

/// `least` and `greatest` of more arguments are an error, told when they are evaluated.
pub(super) const MAX_ARGUMENTS: usize = 16;

impl Expr {
    /// The value now. `rng` is the client's sequence; `trace` receives what `debug()` shows. Does not allocate.
    #[inline]
    pub fn eval(
        &self,
        variables: &Variables,
        rng: &mut Prng,
        trace: &mut dyn FnMut(Value),
    ) -> Result<Value, EvalError> {
        Evaluation { variables, rng, trace }.node(&self.0)
    }

    /// Calls `found` for every variable that the expression names.
    pub(super) fn each_variable(&self, found: &mut dyn FnMut(Slot)) {
        self.0.each_variable(found);
    }
}

impl Node {
    fn each_variable(&self, found: &mut dyn FnMut(Slot)) {
        let mut all = |nodes: &[Node]| nodes.iter().for_each(|it| it.each_variable(found));
        match self {
            Node::Const(_) => {}
            Node::Var(slot) => found(*slot),
            Node::Unary(_, operand) | Node::Unassignable(_, operand) => operand.each_variable(found),
            Node::Binary(_, operands) | Node::And(operands) | Node::Or(operands) => all(&operands[..]),
            Node::Ternary(_, operands) => all(&operands[..]),
            Node::Extremum(_, operands) => all(operands),
            Node::Case { arms, otherwise } => {
                arms.iter().for_each(|it| all(it));
                otherwise.each_variable(found);
            }
        }
    }
}

struct Evaluation<'a> {
    variables: &'a Variables,
    rng: &'a mut Prng,
    trace: &'a mut dyn FnMut(Value),
}

impl Evaluation<'_> {
    /// Leaves are answered in place: most operands are leaves, and a call costs more than they do.
    #[inline]
    fn node(&mut self, node: &Node) -> Result<Value, EvalError> {
        match node {
            Node::Const(value) => Ok(*value),
            Node::Var(slot) => self.variables.value(*slot),
            _ => self.inner(node),
        }
    }

    fn inner(&mut self, node: &Node) -> Result<Value, EvalError> {
        match node {
            Node::Const(_) | Node::Var(_) => unreachable!("answered in place"),
            Node::Binary(op, operands) => {
                let (left, right) = (self.node(&operands[0])?, self.node(&operands[1])?);
                match (left, right) {
                    _ if *op == Binary::Is => Ok(Value::Bool(is(left, right))),
                    (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
                    _ if *op == Binary::Random => {
                        Ok(Value::Int(random::uniform(self.rng, left.int()?, right.int()?)?))
                    }
                    _ => binary(*op, left, right),
                }
            }
            Node::Unary(op, operand) => {
                let operand = self.node(operand)?;
                match (op, operand) {
                    (Unary::Debug, value) => {
                        (self.trace)(value);
                        Ok(value)
                    }
                    (_, Value::Null) => Ok(Value::Null),
                    (op, value) => unary(*op, value),
                }
            }
            Node::Ternary(function, arguments) => {
                let [a, b, c] = &**arguments;
                let [a, b, c] = [self.node(a)?, self.node(b)?, self.node(c)?];
                if [a, b, c].contains(&Value::Null) {
                    return Ok(Value::Null);
                }
                self.ternary(*function, a, b, c)
            }
            Node::Extremum(which, arguments) => self.extremum(*which, arguments),
            Node::And(operands) => self.connective(operands, false),
            Node::Or(operands) => self.connective(operands, true),
            Node::Case { arms, otherwise } => {
                for [condition, value] in arms {
                    if self.node(condition)?.is_true() {
                        return self.node(value);
                    }
                }
                self.node(otherwise)
            }
            Node::Unassignable(slot, value) => {
                self.node(value)?;
                Err(EvalError::BadName(*slot))
            }
        }
    }

    /// AND and OR: the second operand is evaluated only if the first is not `decisive`.
    fn connective(&mut self, [first, second]: &[Node; 2], decisive: bool) -> Result<Value, EvalError> {
        match self.node(first)? {
            Value::Null => Ok(Value::Null),
            first if first.bool()? == decisive => Ok(Value::Bool(decisive)),
            _ => match self.node(second)? {
                Value::Null => Ok(Value::Null),
                second => Ok(Value::Bool(second.bool()?)),
            },
        }
    }

    fn ternary(&mut self, function: Ternary, a: Value, b: Value, c: Value) -> Result<Value, EvalError> {
        let (a, b) = (a.int()?, b.int()?);
        if function == Ternary::Permute {
            let seed = c.int()?;
            return if b > 0 {
                Ok(Value::Int(random::permute(a, b, seed)))
            } else {
                Err(EvalError::PermuteSize)
            };
        }
        random::check_range(a, b)?;
        let parameter = c.double()?;
        let drawn = match function {
            Ternary::Gaussian => random::gaussian(self.rng, a, b, parameter)?,
            Ternary::Exponential => random::exponential(self.rng, a, b, parameter)?,
            Ternary::Zipfian => random::zipfian(self.rng, a, b, parameter)?,
            Ternary::Permute => unreachable!("permute draws nothing"),
        };
        Ok(Value::Int(drawn))
    }

    fn extremum(&mut self, which: Extremum, arguments: &[Node]) -> Result<Value, EvalError> {
        let mut values = [Value::Null; MAX_ARGUMENTS];
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = self.node(argument)?;
        }
        let values = values.get(..arguments.len()).ok_or(EvalError::TooManyArguments)?;
        if values.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        // One double makes all of them doubles. Written with `<` and `>` so that NaN goes where pgbench's macros put it.
        if values.iter().any(|value| value.kind() == Type::Double) {
            let mut extremum = values[0].double()?;
            for value in &values[1..] {
                let value = value.double()?;
                let keep = if which == Extremum::Least { extremum < value } else { extremum > value };
                extremum = if keep { extremum } else { value };
            }
            Ok(Value::Double(extremum))
        } else {
            let mut extremum = values[0].int()?;
            for value in &values[1..] {
                let value = value.int()?;
                extremum = if which == Extremum::Least { extremum.min(value) } else { extremum.max(value) };
            }
            Ok(Value::Int(extremum))
        }
    }
}

/// `x IS y`, where y is null, true or false.
fn is(left: Value, right: Value) -> bool {
    matches!((left, right), (Value::Null, Value::Null))
        || matches!((left, right), (Value::Bool(a), Value::Bool(b)) if a == b)
}

fn unary(op: Unary, x: Value) -> Result<Value, EvalError> {
    Ok(match op {
        Unary::Not => Value::Bool(!x.bool()?),
        Unary::Abs => match x {
            Value::Int(i) => Value::Int(i.wrapping_abs()),
            // Of a boolean, pgbench would take the bits for a double's.
            x => {
                let d = x.double()?;
                Value::Double(if d < 0.0 { -d } else { d })
            }
        },
        Unary::Int => Value::Int(x.int()?),
        Unary::Double => Value::Double(x.double()?),
        Unary::Sqrt => Value::Double(x.double()?.sqrt()),
        Unary::Ln => Value::Double(x.double()?.ln()),
        Unary::Exp => Value::Double(x.double()?.exp()),
        Unary::Debug => unreachable!("debug is not a pure function"),
    })
}

#[inline]
fn binary(op: Binary, left: Value, right: Value) -> Result<Value, EvalError> {
    use Binary::{Add, Div, Eq, Le, Lt, Mod, Mul, Ne, Sub};
    if let (Add | Sub | Mul | Div | Eq | Ne | Le | Lt, Value::Double(_), _)
    | (Add | Sub | Mul | Div | Eq | Ne | Le | Lt, _, Value::Double(_)) = (op, left, right)
    {
        return doubles(op, left.double()?, right.double()?);
    }
    if op == Binary::Pow {
        return Ok(Value::Double(left.double()?.powf(right.double()?)));
    }
    let (l, r) = (left.int()?, right.int()?);
    let whole = match op {
        Add => l.checked_add(r).ok_or(EvalError::Overflow("add"))?,
        Sub => l.checked_sub(r).ok_or(EvalError::Overflow("sub"))?,
        Mul => l.checked_mul(r).ok_or(EvalError::Overflow("mul"))?,
        Div | Mod if r == 0 => return Err(EvalError::DivisionByZero),
        Div => l.checked_div(r).ok_or(EvalError::Overflow("div"))?,
        Mod => l.wrapping_rem(r),
        Eq => return Ok(Value::Bool(l == r)),
        Ne => return Ok(Value::Bool(l != r)),
        Le => return Ok(Value::Bool(l <= r)),
        Lt => return Ok(Value::Bool(l < r)),
        Binary::BitAnd => l & r,
        Binary::BitOr => l | r,
        Binary::BitXor => l ^ r,
        // Only the six low bits of the distance count, as on the machines pgbench runs on.
        Binary::ShiftLeft => l.wrapping_shl(r as u32),
        Binary::ShiftRight => l.wrapping_shr(r as u32),
        Binary::HashFnv1a => random::hash_fnv1a(l, r),
        Binary::HashMurmur2 => random::hash_murmur2(l, r),
        Binary::Pow | Binary::Is | Binary::Random => unreachable!("handled before"),
    };
    Ok(Value::Int(whole))
}

fn doubles(op: Binary, l: f64, r: f64) -> Result<Value, EvalError> {
    Ok(match op {
        Binary::Add => Value::Double(l + r),
        Binary::Sub => Value::Double(l - r),
        Binary::Mul => Value::Double(l * r),
        Binary::Div => Value::Double(l / r),
        Binary::Eq => Value::Bool(l == r),
        Binary::Ne => Value::Bool(l != r),
        Binary::Le => Value::Bool(l <= r),
        Binary::Lt => Value::Bool(l < r),
        _ => unreachable!("the other operators work on whole numbers"),
    })
}

impl Node {
    /// Whether the value never depends on variables, chance or the moment.
    fn is_pure(&self) -> bool {
        let is_const = |node: &Node| matches!(node, Node::Const(_));
        match self {
            Node::Unary(Unary::Debug, _) | Node::Binary(Binary::Random, _) => false,
            Node::Unary(_, operand) => is_const(operand),
            Node::Binary(_, operands) => operands.iter().all(is_const),
            Node::Ternary(Ternary::Permute, arguments) => arguments.iter().all(is_const),
            _ => false,
        }
    }

    /// Computes a constant expression now, unless it is an error: errors keep their moment.
    pub(super) fn folded(self) -> Node {
        if !self.is_pure() {
            return self;
        }
        let (variables, rng) = (Variables::new(0), &mut Prng::seeded(0));
        match (Evaluation { variables: &variables, rng, trace: &mut |_| () }).node(&self) {
            Ok(value) => Node::Const(value),
            Err(_) => self,
        }
    }
}
