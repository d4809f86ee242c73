//! Parser of expressions, with pgbench's precedence
//!
//! Lowest to highest precedence: OR; AND; NOT; IS, ISNULL, NOTNULL; comparisons (not chainable); | & # << >> ~; + -; *
//! / %; signs.

use super::eval::{BinaryOp, Expr, ExprNode, Extremum, TernaryOp, UnaryOp};
use super::names::NameTable;
use super::token::{Cursor, ExpressionDiagnostic, Token};
use super::value::Value;
use model::FILL_IN;
use model::message;
use model::message::Message;

/// Maximum depth of an expression, so that neither parsing nor evaluation overflows a thread's stack.
pub const MAX_DEPTH: usize = 500;
/// Maximum nesting of parentheses, calls and signs.
const MAX_NESTING: usize = 150;

/// Parses an expression up to the end of its line, which is consumed.
pub(super) fn expression(
    cursor: &mut Cursor<'_>,
    names: &mut NameTable,
) -> Result<Expr, ExpressionDiagnostic> {
    let (at, token) = cursor.token()?;
    let mut parser = Parser { cursor, names, at, token, nesting: 0 };
    let tree = parser.expression(LOWEST)?;
    match parser.token {
        Token::EndOfLine => Ok(Expr(tree.node)),
        _ => Err(parser.unexpected("end-of-line")),
    }
}

struct Parser<'p, 'a> {
    cursor: &'p mut Cursor<'a>,
    names: &'p mut NameTable,
    /// Offset of the token that is not yet consumed.
    at: usize,
    token: Token<'a>,
    nesting: usize,
}

struct Tree {
    node: ExprNode,
    depth: usize,
}

type Precedence = u8;
const LOWEST: Precedence = 1;
const NOT: Precedence = 3;
const IS: Precedence = 4;
const COMPARISON: Precedence = 5;
const BITS: Precedence = 6;
const SIGN: Precedence = 9;

/// Tree node that a binary operator creates.
#[derive(Clone, Copy)]
enum Infix {
    Plain(BinaryOp),
    /// Operator that is replaced by another one with swapped operands: `a > b` becomes `b < a`, so the right operand is
    /// evaluated first.
    Swapped(BinaryOp),
    And,
    Or,
}

fn infix(token: Token<'_>) -> Option<(Precedence, Infix)> {
    use Infix::{Plain, Swapped};
    Some(match token {
        Token::Or => (1, Infix::Or),
        Token::And => (2, Infix::And),
        Token::Eq => (COMPARISON, Plain(BinaryOp::Eq)),
        Token::Ne => (COMPARISON, Plain(BinaryOp::Ne)),
        Token::Lt => (COMPARISON, Plain(BinaryOp::Lt)),
        Token::Le => (COMPARISON, Plain(BinaryOp::Le)),
        Token::Gt => (COMPARISON, Swapped(BinaryOp::Lt)),
        Token::Ge => (COMPARISON, Swapped(BinaryOp::Le)),
        Token::Pipe => (BITS, Plain(BinaryOp::BitOr)),
        Token::Ampersand => (BITS, Plain(BinaryOp::BitAnd)),
        Token::Hash => (BITS, Plain(BinaryOp::BitXor)),
        Token::ShiftLeft => (BITS, Plain(BinaryOp::ShiftLeft)),
        Token::ShiftRight => (BITS, Plain(BinaryOp::ShiftRight)),
        Token::Plus => (7, Plain(BinaryOp::Add)),
        Token::Minus => (7, Plain(BinaryOp::Sub)),
        Token::Star => (8, Plain(BinaryOp::Mul)),
        Token::Slash => (8, Plain(BinaryOp::Div)),
        Token::Percent => (8, Plain(BinaryOp::Mod)),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    fn advance(&mut self) -> Result<(), ExpressionDiagnostic> {
        (self.at, self.token) = self.cursor.token()?;
        Ok(())
    }

    fn expect(&mut self, token: &Token<'_>, expected: &str) -> Result<(), ExpressionDiagnostic> {
        if self.token != *token {
            return Err(self.unexpected(expected));
        }
        self.advance()
    }

    /// Syntax error at the current token. The message `script-syntax` describes what is `expected`.
    fn unexpected(&self, expected: &str) -> ExpressionDiagnostic {
        let message = match self.token {
            Token::MinInt => message!("script-syntax-min-int"),
            Token::Eq if expected == "operand" => message!("script-syntax-equals"),
            _ => {
                let found = self.cursor.text[self.at..self.cursor.at].trim();
                let found = Some(found).filter(|_| self.token != Token::EndOfLine);
                message!("script-syntax", expected, found)
            }
        };
        ExpressionDiagnostic { at: self.at, message }
    }

    /// Parses an expression of operators whose precedence is at least `tightness`.
    fn expression(&mut self, tightness: Precedence) -> Result<Tree, ExpressionDiagnostic> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(ExpressionDiagnostic {
                at: self.at,
                message: message!("script-nesting", max = MAX_NESTING),
            });
        }
        let mut left = self.parse_operand()?;
        loop {
            if let Token::Is | Token::IsNull | Token::NotNull = self.token {
                if IS < tightness {
                    break;
                }
                left = self.parse_is(left)?;
                continue;
            }
            let Some((tight, infix)) = infix(self.token).filter(|(tight, _)| *tight >= tightness) else {
                break;
            };
            let at = self.at;
            self.advance()?;
            let right = self.expression(tight + 1)?;
            left = self.join(at, infix, left, right)?;
            if tight == COMPARISON && matches!(self::infix(self.token), Some((COMPARISON, _))) {
                let message = message!("script-syntax-comparison");
                return Err(ExpressionDiagnostic { at: self.at, message });
            }
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// Parses a prefix operator with its operand, or an operand without operator.
    fn parse_operand(&mut self) -> Result<Tree, ExpressionDiagnostic> {
        let at = self.at;
        let constant = match self.token {
            Token::Open => {
                self.advance()?;
                let inner = self.expression(LOWEST)?;
                self.expect(&Token::Close, "closing")?;
                return Ok(inner);
            }
            Token::Plus => {
                self.advance()?;
                return self.expression(SIGN);
            }
            Token::Minus => {
                self.advance()?;
                if self.token != Token::MinInt {
                    let operand = self.expression(SIGN)?;
                    return self.binary(at, BinaryOp::Sub, Tree::leaf(Value::Int(0)), operand);
                }
                Value::Int(i64::MIN)
            }
            Token::Tilde => {
                self.advance()?;
                let operand = self.expression(BITS + 1)?;
                return self.binary(at, BinaryOp::BitXor, Tree::leaf(Value::Int(-1)), operand);
            }
            Token::Not => {
                self.advance()?;
                let operand = self.expression(NOT + 1)?;
                return self.unary(at, UnaryOp::Not, operand);
            }
            Token::Variable(name) => {
                let slot = self.names.slot(name);
                self.advance()?;
                return Ok(Tree { node: ExprNode::Var(slot), depth: 1 });
            }
            Token::Function(name) => return self.parse_call(name),
            Token::Case => return self.parse_case(),
            Token::Null => Value::Null,
            Token::Bool(b) => Value::Bool(b),
            Token::Int(i) => Value::Int(i),
            Token::Double(d) => Value::Double(d),
            _ => {
                return Err(self.unexpected("operand"));
            }
        };
        self.advance()?;
        Ok(Tree::leaf(constant))
    }

    /// Parses `x IS [NOT] NULL`, `x IS [NOT] TRUE`, `x ISNULL`, …
    fn parse_is(&mut self, operand: Tree) -> Result<Tree, ExpressionDiagnostic> {
        let at = self.at;
        let mut negated = self.token == Token::NotNull;
        let mut literal = Value::Null;
        if self.token == Token::Is {
            self.advance()?;
            if self.token == Token::Not {
                negated = true;
                self.advance()?;
            }
            literal = match self.token {
                Token::Null => Value::Null,
                Token::Bool(b) => Value::Bool(b),
                _ => return Err(self.unexpected("truth")),
            };
        }
        self.advance()?;
        let comparison = self.binary(at, BinaryOp::Is, operand, Tree::leaf(literal))?;
        if negated { self.unary(at, UnaryOp::Not, comparison) } else { Ok(comparison) }
    }

    fn parse_case(&mut self) -> Result<Tree, ExpressionDiagnostic> {
        let at = self.at;
        self.advance()?;
        let (mut arms, mut depth) = (Vec::new(), 0);
        while self.token == Token::When {
            self.advance()?;
            let condition = self.expression(LOWEST)?;
            self.expect(&Token::Then, "then")?;
            let value = self.expression(LOWEST)?;
            depth = depth.max(condition.depth).max(value.depth);
            arms.push([condition.node, value.node]);
        }
        if arms.is_empty() {
            return Err(self.unexpected("when"));
        }
        let mut otherwise = Tree::leaf(Value::Null);
        if self.token == Token::Else {
            self.advance()?;
            otherwise = self.expression(LOWEST)?;
        }
        self.expect(&Token::End, "end")?;
        depth = depth.max(otherwise.depth);
        let node = ExprNode::Case { arms: arms.into(), otherwise: Box::new(otherwise.node) };
        Tree::parent(at, node, depth)
    }

    fn parse_call(&mut self, name: &str) -> Result<Tree, ExpressionDiagnostic> {
        let at = self.at;
        if name == FILL_IN {
            return Err(ExpressionDiagnostic { at, message: message!("script-fill-in") });
        }
        let Some(&(name, function)) = FUNCTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
        else {
            return Err(ExpressionDiagnostic { at, message: unknown_function(name) });
        };
        self.advance()?;
        self.expect(&Token::Open, "arguments")?;
        let mut arguments = Vec::new();
        let mut depth = 0;
        let mut more = self.token != Token::Close;
        // pgbench's grammar also allows a list that starts with a comma.
        if self.token == Token::Comma {
            self.advance()?;
        }
        while more {
            let argument = self.expression(LOWEST)?;
            depth = depth.max(argument.depth);
            arguments.push(argument.node);
            more = self.token == Token::Comma;
            match self.token {
                Token::Close => {}
                Token::Comma => self.advance()?,
                _ => return Err(self.unexpected("comma")),
            }
        }
        let node = function.applied_to(arguments, self.names).map_err(|usages| {
            let calls = usages.iter().map(|arguments| format!("{name}({arguments})"));
            let calls: Vec<Message> = calls.map(|keyword| message!("experiment-keyword", keyword)).collect();
            let some = matches!(function, Function::Extremum(_));
            ExpressionDiagnostic { at, message: message!("script-arguments", name, some, calls) }
        })?;
        self.advance()?;
        Tree::parent(at, node, depth)
    }

    fn join(&self, at: usize, infix: Infix, left: Tree, right: Tree) -> Result<Tree, ExpressionDiagnostic> {
        let depth = left.depth.max(right.depth);
        match infix {
            Infix::Plain(op) => self.binary(at, op, left, right),
            Infix::Swapped(op) => self.binary(at, op, right, left),
            Infix::And => Tree::parent(at, ExprNode::And(Box::new([left.node, right.node])), depth),
            Infix::Or => Tree::parent(at, ExprNode::Or(Box::new([left.node, right.node])), depth),
        }
    }

    fn binary(&self, at: usize, op: BinaryOp, left: Tree, right: Tree) -> Result<Tree, ExpressionDiagnostic> {
        let depth = left.depth.max(right.depth);
        Tree::parent(at, ExprNode::Binary(op, Box::new([left.node, right.node])), depth)
    }

    fn unary(&self, at: usize, op: UnaryOp, operand: Tree) -> Result<Tree, ExpressionDiagnostic> {
        Tree::parent(at, ExprNode::Unary(op, Box::new(operand.node)), operand.depth)
    }
}

impl Tree {
    fn leaf(constant: Value) -> Tree {
        Tree { node: ExprNode::Const(constant), depth: 1 }
    }

    /// Creates a node above children of depth `depth`. Fails above the maximum depth.
    fn parent(at: usize, node: ExprNode, depth: usize) -> Result<Tree, ExpressionDiagnostic> {
        match node.fold_constants() {
            node @ ExprNode::Const(_) => Ok(Tree { node, depth: 1 }),
            node if depth < MAX_DEPTH => Ok(Tree { node, depth: depth + 1 }),
            _ => Err(ExpressionDiagnostic { at, message: message!("script-depth", max = MAX_DEPTH) }),
        }
    }
}

#[derive(Clone, Copy)]
enum Function {
    Pi,
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// Hash function; the second argument defaults to `:default_seed`.
    Hash(BinaryOp),
    Ternary(TernaryOp),
    /// Permutation; the third argument defaults to `:default_seed`.
    Permute,
    Extremum(Extremum),
}

const FUNCTIONS: [(&str, Function); 21] = [
    ("abs", Function::Unary(UnaryOp::Abs)),
    ("debug", Function::Unary(UnaryOp::Debug)),
    ("double", Function::Unary(UnaryOp::Double)),
    ("exp", Function::Unary(UnaryOp::Exp)),
    ("greatest", Function::Extremum(Extremum::Greatest)),
    ("hash", Function::Hash(BinaryOp::HashMurmur2)),
    ("hash_fnv1a", Function::Hash(BinaryOp::HashFnv1a)),
    ("hash_murmur2", Function::Hash(BinaryOp::HashMurmur2)),
    ("int", Function::Unary(UnaryOp::Int)),
    ("least", Function::Extremum(Extremum::Least)),
    ("ln", Function::Unary(UnaryOp::Ln)),
    ("mod", Function::Binary(BinaryOp::Mod)),
    ("permute", Function::Permute),
    ("pi", Function::Pi),
    ("pow", Function::Binary(BinaryOp::Pow)),
    ("power", Function::Binary(BinaryOp::Pow)),
    ("random", Function::Binary(BinaryOp::Random)),
    ("random_exponential", Function::Ternary(TernaryOp::Exponential)),
    ("random_gaussian", Function::Ternary(TernaryOp::Gaussian)),
    ("random_zipfian", Function::Ternary(TernaryOp::Zipfian)),
    ("sqrt", Function::Unary(UnaryOp::Sqrt)),
];

impl Function {
    /// Creates the node for a call of the function. The error contains the lists of arguments that the function
    /// accepts.
    fn applied_to(
        self,
        arguments: Vec<ExprNode>,
        names: &mut NameTable,
    ) -> Result<ExprNode, &'static [&'static str]> {
        let mut seed = || ExprNode::Var(names.slot("default_seed"));
        let mut arguments = arguments;
        match self {
            Function::Pi if arguments.is_empty() => Ok(ExprNode::Const(Value::Double(std::f64::consts::PI))),
            Function::Pi => Err(&[""]),
            Function::Extremum(_) if arguments.is_empty() => Err(&["x, …"]),
            Function::Extremum(extremum) => Ok(ExprNode::Extremum(extremum, arguments.into())),
            Function::Unary(op) => {
                let [x] = into_array(arguments).ok_or(&["x"][..])?;
                Ok(ExprNode::Unary(op, Box::new(x)))
            }
            Function::Binary(op) => {
                let expected = if op == BinaryOp::Random { &["min, max"][..] } else { &["x, y"] };
                Ok(ExprNode::Binary(op, Box::new(into_array(arguments).ok_or(expected)?)))
            }
            Function::Hash(op) => {
                if arguments.len() == 1 {
                    arguments.push(seed());
                }
                Ok(ExprNode::Binary(
                    op,
                    Box::new(into_array(arguments).ok_or(&["value", "value, seed"][..])?),
                ))
            }
            Function::Permute => {
                if arguments.len() == 2 {
                    arguments.push(seed());
                }
                let arguments = into_array(arguments).ok_or(&["value, size", "value, size, seed"][..])?;
                Ok(ExprNode::Ternary(TernaryOp::Permute, Box::new(arguments)))
            }
            Function::Ternary(function) => Ok(ExprNode::Ternary(
                function,
                Box::new(into_array(arguments).ok_or(&["min, max, parameter"][..])?),
            )),
        }
    }
}

fn into_array<const N: usize>(arguments: Vec<ExprNode>) -> Option<[ExprNode; N]> {
    arguments.try_into().ok()
}

/// Error for an unknown function. The suggested correction is a function with the same beginning, or the list of all
/// functions.
fn unknown_function(name: &str) -> Message {
    let known: Vec<&str> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
    let alike = |known: &&&str| {
        let shared = known.bytes().zip(name.bytes()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
        shared >= 3.min(known.len())
    };
    message!("script-function", name, alike = known.iter().find(alike).copied(), known = known.join(", "))
}
