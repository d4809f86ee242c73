//! Evaluation of expressions in pgbench's arithmetic

use super::Slot;
use super::error::EvalError;
use super::value::Value;
use super::value_type::ValueType;
use super::variables::Variables;
use crate::random::{self, Prng};

/// Compiled expression: a tree whose depth is at most [`MAX_DEPTH`](super::parser::MAX_DEPTH).
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(super) ExprNode);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExprNode {
    Const(Value),
    Var(Slot),
    Unary(UnaryOp, Box<ExprNode>),
    Binary(BinaryOp, Box<[ExprNode; 2]>),
    Ternary(TernaryOp, Box<[ExprNode; 3]>),
    Extremum(Extremum, Box<[ExprNode]>),
    And(Box<[ExprNode; 2]>),
    Or(Box<[ExprNode; 2]>),
    Case {
        arms: Box<[[ExprNode; 2]]>,
        otherwise: Box<ExprNode>,
    },
    /// `\set` with an invalid variable name: evaluates the expression, then fails, as pgbench does.
    Unassignable(Slot, Box<ExprNode>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnaryOp {
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
pub(super) enum BinaryOp {
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
pub(super) enum TernaryOp {
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

/// Maximum number of arguments of `least` and `greatest`. More arguments are an error at evaluation.
pub(super) const MAX_ARGUMENTS: usize = 16;

impl Expr {
    /// Evaluates the expression. `rng` is the client's generator; `trace` receives the values of `debug()`. Does not
    /// allocate.
    #[inline]
    pub fn eval(
        &self,
        variables: &Variables,
        rng: &mut Prng,
        trace: &mut dyn FnMut(Value),
    ) -> Result<Value, EvalError> {
        Evaluation { variables, rng, trace }.eval(&self.0)
    }

    /// Calls `found` for every variable of the expression.
    pub(super) fn each_variable(&self, found: &mut dyn FnMut(Slot)) {
        self.0.each_variable(found);
    }
}

impl ExprNode {
    fn each_variable(&self, found: &mut dyn FnMut(Slot)) {
        let mut all = |nodes: &[ExprNode]| nodes.iter().for_each(|it| it.each_variable(found));
        match self {
            ExprNode::Const(_) => {}
            ExprNode::Var(slot) => found(*slot),
            ExprNode::Unary(_, operand) | ExprNode::Unassignable(_, operand) => operand.each_variable(found),
            ExprNode::Binary(_, operands) | ExprNode::And(operands) | ExprNode::Or(operands) => {
                all(&operands[..]);
            }
            ExprNode::Ternary(_, operands) => all(&operands[..]),
            ExprNode::Extremum(_, operands) => all(operands),
            ExprNode::Case { arms, otherwise } => {
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
    /// Evaluates a node. Leaves are evaluated inline, because most operands are leaves, and a call costs more than a
    /// leaf.
    #[inline]
    fn eval(&mut self, node: &ExprNode) -> Result<Value, EvalError> {
        match node {
            ExprNode::Const(value) => Ok(*value),
            ExprNode::Var(slot) => self.variables.value(*slot),
            _ => self.eval_node(node),
        }
    }

    fn eval_node(&mut self, node: &ExprNode) -> Result<Value, EvalError> {
        match node {
            ExprNode::Const(_) | ExprNode::Var(_) => unreachable!("answered in place"),
            ExprNode::Binary(op, operands) => {
                let (left, right) = (self.eval(&operands[0])?, self.eval(&operands[1])?);
                match (left, right) {
                    _ if *op == BinaryOp::Is => Ok(Value::Bool(is_identical(left, right))),
                    (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
                    _ if *op == BinaryOp::Random => {
                        Ok(Value::Int(random::uniform(self.rng, left.int()?, right.int()?)?))
                    }
                    _ => binary(*op, left, right),
                }
            }
            ExprNode::Unary(op, operand) => {
                let operand = self.eval(operand)?;
                match (op, operand) {
                    (UnaryOp::Debug, value) => {
                        (self.trace)(value);
                        Ok(value)
                    }
                    (_, Value::Null) => Ok(Value::Null),
                    (op, value) => unary(*op, value),
                }
            }
            ExprNode::Ternary(function, arguments) => {
                let [a, b, c] = &**arguments;
                let [a, b, c] = [self.eval(a)?, self.eval(b)?, self.eval(c)?];
                if [a, b, c].contains(&Value::Null) {
                    return Ok(Value::Null);
                }
                self.ternary(*function, a, b, c)
            }
            ExprNode::Extremum(kind, arguments) => self.extremum(*kind, arguments),
            ExprNode::And(operands) => self.connective(operands, false),
            ExprNode::Or(operands) => self.connective(operands, true),
            ExprNode::Case { arms, otherwise } => {
                for [condition, value] in arms {
                    if self.eval(condition)?.is_true() {
                        return self.eval(value);
                    }
                }
                self.eval(otherwise)
            }
            ExprNode::Unassignable(slot, value) => {
                self.eval(value)?;
                Err(EvalError::InvalidName(*slot))
            }
        }
    }

    /// AND and OR: the second operand is evaluated only if the first is not `decisive`.
    fn connective(&mut self, [first, second]: &[ExprNode; 2], decisive: bool) -> Result<Value, EvalError> {
        match self.eval(first)? {
            Value::Null => Ok(Value::Null),
            first if first.bool()? == decisive => Ok(Value::Bool(decisive)),
            _ => match self.eval(second)? {
                Value::Null => Ok(Value::Null),
                second => Ok(Value::Bool(second.bool()?)),
            },
        }
    }

    fn ternary(&mut self, function: TernaryOp, a: Value, b: Value, c: Value) -> Result<Value, EvalError> {
        let (a, b) = (a.int()?, b.int()?);
        if function == TernaryOp::Permute {
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
            TernaryOp::Gaussian => random::gaussian(self.rng, a, b, parameter)?,
            TernaryOp::Exponential => random::exponential(self.rng, a, b, parameter)?,
            TernaryOp::Zipfian => random::zipfian(self.rng, a, b, parameter)?,
            TernaryOp::Permute => unreachable!("permute draws nothing"),
        };
        Ok(Value::Int(drawn))
    }

    fn extremum(&mut self, kind: Extremum, arguments: &[ExprNode]) -> Result<Value, EvalError> {
        let mut values = [Value::Null; MAX_ARGUMENTS];
        for (value, argument) in values.iter_mut().zip(arguments) {
            *value = self.eval(argument)?;
        }
        let values = values.get(..arguments.len()).ok_or(EvalError::TooManyArguments)?;
        if values.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        // If one argument is a double, all arguments are converted to doubles. `<` and `>` treat NaN as pgbench's
        // macros do.
        if values.iter().any(|value| value.kind() == ValueType::Double) {
            let mut extremum = values[0].double()?;
            for value in &values[1..] {
                let value = value.double()?;
                let keep = if kind == Extremum::Least { extremum < value } else { extremum > value };
                extremum = if keep { extremum } else { value };
            }
            Ok(Value::Double(extremum))
        } else {
            let mut extremum = values[0].int()?;
            for value in &values[1..] {
                let value = value.int()?;
                extremum = if kind == Extremum::Least { extremum.min(value) } else { extremum.max(value) };
            }
            Ok(Value::Int(extremum))
        }
    }
}

/// `x IS y`, where y is null, true or false.
fn is_identical(left: Value, right: Value) -> bool {
    matches!((left, right), (Value::Null, Value::Null))
        || matches!((left, right), (Value::Bool(a), Value::Bool(b)) if a == b)
}

fn unary(op: UnaryOp, x: Value) -> Result<Value, EvalError> {
    Ok(match op {
        UnaryOp::Not => Value::Bool(!x.bool()?),
        UnaryOp::Abs => match x {
            Value::Int(i) => Value::Int(i.wrapping_abs()),
            // For a boolean, pgbench would reinterpret its bits as a double.
            x => {
                let d = x.double()?;
                Value::Double(if d < 0.0 { -d } else { d })
            }
        },
        UnaryOp::Int => Value::Int(x.int()?),
        UnaryOp::Double => Value::Double(x.double()?),
        UnaryOp::Sqrt => Value::Double(x.double()?.sqrt()),
        UnaryOp::Ln => Value::Double(x.double()?.ln()),
        UnaryOp::Exp => Value::Double(x.double()?.exp()),
        UnaryOp::Debug => unreachable!("debug is not a pure function"),
    })
}

#[inline]
fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, EvalError> {
    use BinaryOp::{Add, Div, Eq, Le, Lt, Mod, Mul, Ne, Sub};
    if let (Add | Sub | Mul | Div | Eq | Ne | Le | Lt, Value::Double(_), _)
    | (Add | Sub | Mul | Div | Eq | Ne | Le | Lt, _, Value::Double(_)) = (op, left, right)
    {
        return binary_double(op, left.double()?, right.double()?);
    }
    if op == BinaryOp::Pow {
        return Ok(Value::Double(left.double()?.powf(right.double()?)));
    }
    let (l, r) = (left.int()?, right.int()?);
    let result = match op {
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
        BinaryOp::BitAnd => l & r,
        BinaryOp::BitOr => l | r,
        BinaryOp::BitXor => l ^ r,
        // Only the six low bits of the distance count, as on pgbench's platforms.
        BinaryOp::ShiftLeft => l.wrapping_shl(r as u32),
        BinaryOp::ShiftRight => l.wrapping_shr(r as u32),
        BinaryOp::HashFnv1a => random::hash_fnv1a(l, r),
        BinaryOp::HashMurmur2 => random::hash_murmur2(l, r),
        BinaryOp::Pow | BinaryOp::Is | BinaryOp::Random => unreachable!("handled before"),
    };
    Ok(Value::Int(result))
}

fn binary_double(op: BinaryOp, l: f64, r: f64) -> Result<Value, EvalError> {
    Ok(match op {
        BinaryOp::Add => Value::Double(l + r),
        BinaryOp::Sub => Value::Double(l - r),
        BinaryOp::Mul => Value::Double(l * r),
        BinaryOp::Div => Value::Double(l / r),
        BinaryOp::Eq => Value::Bool(l == r),
        BinaryOp::Ne => Value::Bool(l != r),
        BinaryOp::Le => Value::Bool(l <= r),
        BinaryOp::Lt => Value::Bool(l < r),
        _ => unreachable!("the other operators work on whole numbers"),
    })
}

impl ExprNode {
    /// True if the value never depends on variables, random numbers or time.
    fn is_pure(&self) -> bool {
        let is_const = |node: &ExprNode| matches!(node, ExprNode::Const(_));
        match self {
            ExprNode::Unary(UnaryOp::Debug, _) | ExprNode::Binary(BinaryOp::Random, _) => false,
            ExprNode::Unary(_, operand) => is_const(operand),
            ExprNode::Binary(_, operands) => operands.iter().all(is_const),
            ExprNode::Ternary(TernaryOp::Permute, arguments) => arguments.iter().all(is_const),
            _ => false,
        }
    }

    /// Evaluates a constant expression at compile time. If it fails, it remains unchanged and fails at evaluation.
    pub(super) fn fold_constants(self) -> ExprNode {
        if !self.is_pure() {
            return self;
        }
        let (variables, rng) = (Variables::new(0), &mut Prng::seeded(0));
        match (Evaluation { variables: &variables, rng, trace: &mut |_| () }).eval(&self) {
            Ok(value) => ExprNode::Const(value),
            Err(_) => self,
        }
    }
}
