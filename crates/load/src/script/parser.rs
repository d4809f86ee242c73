//! Which tree does the text of an expression stand for, by pgbench's precedence?
//!
//! From loose to tight: OR; AND; NOT; IS, ISNULL, NOTNULL; comparisons (not chainable); | & # << >> ~; + -; * / %; signs.

use super::eval::{Binary, Expr, Extremum, Node, Ternary, Unary};
use super::names::NameTable;
use super::token::{Cursor, Token};
use super::value::Value;

/// Limit of an expression's depth, so that neither parsing nor evaluating it exhausts a thread's stack.
pub const MAX_DEPTH: usize = 500;
/// Limit of parentheses, calls and signs within each other.
const MAX_NESTING: usize = 150;

/// What is wrong at which byte of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub at: usize,
    /// In pgbench's words.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

/// Reads an expression up to the end of its line, which is passed.
pub(super) fn expression(cursor: &mut Cursor<'_>, names: &mut NameTable) -> Result<Expr, Mistake> {
    let (at, token) = cursor.token()?;
    let mut parser = Parser { cursor, names, at, token, nesting: 0 };
    let tree = parser.expression(LOOSEST)?;
    match parser.token {
        Token::EndOfLine => Ok(Expr(tree.node)),
        _ => Err(parser.unexpected("an operator or the end of the line")),
    }
}

struct Parser<'p, 'a> {
    cursor: &'p mut Cursor<'a>,
    names: &'p mut NameTable,
    /// The token not yet consumed, and its offset.
    at: usize,
    token: Token<'a>,
    nesting: usize,
}

struct Tree {
    node: Node,
    depth: usize,
}

type Tightness = u8;
const LOOSEST: Tightness = 1;
const NOT: Tightness = 3;
const IS: Tightness = 4;
const COMPARISON: Tightness = 5;
const BITS: Tightness = 6;
const SIGN: Tightness = 9;

/// How an operator between two operands is built.
#[derive(Clone, Copy)]
enum Infix {
    Plain(Binary),
    /// `a > b` is `b < a`: the right operand is evaluated first.
    Swapped(Binary),
    And,
    Or,
}

fn infix(token: Token<'_>) -> Option<(Tightness, Infix)> {
    use Infix::{Plain, Swapped};
    Some(match token {
        Token::Or => (1, Infix::Or),
        Token::And => (2, Infix::And),
        Token::Eq => (COMPARISON, Plain(Binary::Eq)),
        Token::Ne => (COMPARISON, Plain(Binary::Ne)),
        Token::Lt => (COMPARISON, Plain(Binary::Lt)),
        Token::Le => (COMPARISON, Plain(Binary::Le)),
        Token::Gt => (COMPARISON, Swapped(Binary::Lt)),
        Token::Ge => (COMPARISON, Swapped(Binary::Le)),
        Token::Pipe => (BITS, Plain(Binary::BitOr)),
        Token::Ampersand => (BITS, Plain(Binary::BitAnd)),
        Token::Hash => (BITS, Plain(Binary::BitXor)),
        Token::ShiftLeft => (BITS, Plain(Binary::ShiftLeft)),
        Token::ShiftRight => (BITS, Plain(Binary::ShiftRight)),
        Token::Plus => (7, Plain(Binary::Add)),
        Token::Minus => (7, Plain(Binary::Sub)),
        Token::Star => (8, Plain(Binary::Mul)),
        Token::Slash => (8, Plain(Binary::Div)),
        Token::Percent => (8, Plain(Binary::Mod)),
        _ => return None,
    })
}

impl Parser<'_, '_> {
    fn advance(&mut self) -> Result<(), Mistake> {
        (self.at, self.token) = self.cursor.token()?;
        Ok(())
    }

    fn expect(&mut self, token: &Token<'_>, what: &str) -> Result<(), Mistake> {
        if self.token != *token {
            return Err(self.unexpected(what));
        }
        self.advance()
    }

    fn unexpected(&self, expected: &str) -> Mistake {
        let hint = match self.token {
            Token::EndOfLine => format!("expected {expected}, but the line ends here"),
            Token::MinInt => "9223372036854775808 fits into an int only right after a minus sign".to_owned(),
            Token::Eq if expected.starts_with("an operand") => "write a single = to compare".to_owned(),
            _ if expected.starts_with("no second") => expected.to_owned(),
            _ => {
                format!("expected {expected}, found \"{}\"", self.cursor.text[self.at..self.cursor.at].trim())
            }
        };
        Mistake { at: self.at, message: "syntax error".to_owned(), hint }
    }

    /// An expression of operators at least as tight as `tightness`.
    fn expression(&mut self, tightness: Tightness) -> Result<Tree, Mistake> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Mistake {
                at: self.at,
                message: format!("expression is nested too deeply (maximum is {MAX_NESTING})"),
                hint: "compute a part of it in a \\set of its own".to_owned(),
            });
        }
        let mut left = self.operand()?;
        loop {
            if let Token::Is | Token::IsNull | Token::NotNull = self.token {
                if IS < tightness {
                    break;
                }
                left = self.is(left)?;
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
                return Err(self.unexpected("no second comparison; write a < b AND b < c"));
            }
        }
        self.nesting -= 1;
        Ok(left)
    }

    /// A prefix operator with its operand, or what has no operator at all.
    fn operand(&mut self) -> Result<Tree, Mistake> {
        let at = self.at;
        let constant = match self.token {
            Token::Open => {
                self.advance()?;
                let inner = self.expression(LOOSEST)?;
                self.expect(&Token::Close, "an operator or \")\"")?;
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
                    return self.binary(at, Binary::Sub, Tree::of(Value::Int(0)), operand);
                }
                Value::Int(i64::MIN)
            }
            Token::Tilde => {
                self.advance()?;
                let operand = self.expression(BITS + 1)?;
                return self.binary(at, Binary::BitXor, Tree::of(Value::Int(-1)), operand);
            }
            Token::Not => {
                self.advance()?;
                let operand = self.expression(NOT + 1)?;
                return self.unary(at, Unary::Not, operand);
            }
            Token::Variable(name) => {
                let slot = self.names.slot(name);
                self.advance()?;
                return Ok(Tree { node: Node::Var(slot), depth: 1 });
            }
            Token::Function(name) => return self.call(name),
            Token::Case => return self.case(),
            Token::Null => Value::Null,
            Token::Bool(b) => Value::Bool(b),
            Token::Int(i) => Value::Int(i),
            Token::Double(d) => Value::Double(d),
            _ => {
                return Err(self.unexpected("an operand: a number, :variable, function(…), CASE or \"(\""));
            }
        };
        self.advance()?;
        Ok(Tree::of(constant))
    }

    /// `x IS [NOT] NULL`, `x IS [NOT] TRUE`, `x ISNULL`, …
    fn is(&mut self, operand: Tree) -> Result<Tree, Mistake> {
        let at = self.at;
        let mut negated = self.token == Token::NotNull;
        let mut against = Value::Null;
        if self.token == Token::Is {
            self.advance()?;
            if self.token == Token::Not {
                negated = true;
                self.advance()?;
            }
            against = match self.token {
                Token::Null => Value::Null,
                Token::Bool(b) => Value::Bool(b),
                _ => return Err(self.unexpected("NULL, TRUE or FALSE after IS")),
            };
        }
        self.advance()?;
        let is = self.binary(at, Binary::Is, operand, Tree::of(against))?;
        if negated { self.unary(at, Unary::Not, is) } else { Ok(is) }
    }

    fn case(&mut self) -> Result<Tree, Mistake> {
        let at = self.at;
        self.advance()?;
        let (mut arms, mut depth) = (Vec::new(), 0);
        while self.token == Token::When {
            self.advance()?;
            let condition = self.expression(LOOSEST)?;
            self.expect(&Token::Then, "an operator or THEN")?;
            let value = self.expression(LOOSEST)?;
            depth = depth.max(condition.depth).max(value.depth);
            arms.push([condition.node, value.node]);
        }
        if arms.is_empty() {
            return Err(self.unexpected("WHEN (as in CASE WHEN :i = 1 THEN … END)"));
        }
        let mut otherwise = Tree::of(Value::Null);
        if self.token == Token::Else {
            self.advance()?;
            otherwise = self.expression(LOOSEST)?;
        }
        self.expect(&Token::End, "an operator, WHEN, ELSE or END")?;
        depth = depth.max(otherwise.depth);
        let node = Node::Case { arms: arms.into(), otherwise: Box::new(otherwise.node) };
        Tree::over(at, node, depth)
    }

    fn call(&mut self, name: &str) -> Result<Tree, Mistake> {
        let at = self.at;
        let Some(&(name, function)) = FUNCTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
        else {
            return Err(Mistake {
                at,
                message: format!("unexpected function name ({name})"),
                hint: advise_function(name),
            });
        };
        self.advance()?;
        self.expect(&Token::Open, "\"(\" and the function's arguments")?;
        let mut arguments = Vec::new();
        let mut depth = 0;
        let mut more = self.token != Token::Close;
        // pgbench's grammar lets a list start with a comma, too.
        if self.token == Token::Comma {
            self.advance()?;
        }
        while more {
            let argument = self.expression(LOOSEST)?;
            depth = depth.max(argument.depth);
            arguments.push(argument.node);
            more = self.token == Token::Comma;
            match self.token {
                Token::Close => {}
                Token::Comma => self.advance()?,
                _ => return Err(self.unexpected("an operator, \",\" or \")\"")),
            }
        }
        let node = function.applied_to(arguments, self.names).map_err(|hint| Mistake {
            at,
            message: match function {
                Function::Extremum(_) => format!("at least one argument expected ({name})"),
                _ => format!("unexpected number of arguments ({name})"),
            },
            hint: format!("write {name}({hint})"),
        })?;
        self.advance()?;
        Tree::over(at, node, depth)
    }

    fn join(&self, at: usize, infix: Infix, left: Tree, right: Tree) -> Result<Tree, Mistake> {
        let depth = left.depth.max(right.depth);
        match infix {
            Infix::Plain(op) => self.binary(at, op, left, right),
            Infix::Swapped(op) => self.binary(at, op, right, left),
            Infix::And => Tree::over(at, Node::And(Box::new([left.node, right.node])), depth),
            Infix::Or => Tree::over(at, Node::Or(Box::new([left.node, right.node])), depth),
        }
    }

    fn binary(&self, at: usize, op: Binary, left: Tree, right: Tree) -> Result<Tree, Mistake> {
        let depth = left.depth.max(right.depth);
        Tree::over(at, Node::Binary(op, Box::new([left.node, right.node])), depth)
    }

    fn unary(&self, at: usize, op: Unary, operand: Tree) -> Result<Tree, Mistake> {
        Tree::over(at, Node::Unary(op, Box::new(operand.node)), operand.depth)
    }
}

impl Tree {
    fn of(constant: Value) -> Tree {
        Tree { node: Node::Const(constant), depth: 1 }
    }

    /// A node over children of `depth`.
    fn over(at: usize, node: Node, depth: usize) -> Result<Tree, Mistake> {
        match node.folded() {
            node @ Node::Const(_) => Ok(Tree { node, depth: 1 }),
            node if depth < MAX_DEPTH => Ok(Tree { node, depth: depth + 1 }),
            _ => Err(Mistake {
                at,
                message: format!(
                    "expression is too deep (maximum is {MAX_DEPTH} operations upon each other)"
                ),
                hint: "compute a part of it in a \\set of its own".to_owned(),
            }),
        }
    }
}

#[derive(Clone, Copy)]
enum Function {
    Pi,
    Unary(Unary),
    Binary(Binary),
    /// The second argument is `:default_seed` when it is left out.
    Hash(Binary),
    Ternary(Ternary),
    /// The third argument is `:default_seed` when it is left out.
    Permute,
    Extremum(Extremum),
}

const FUNCTIONS: [(&str, Function); 21] = [
    ("abs", Function::Unary(Unary::Abs)),
    ("debug", Function::Unary(Unary::Debug)),
    ("double", Function::Unary(Unary::Double)),
    ("exp", Function::Unary(Unary::Exp)),
    ("greatest", Function::Extremum(Extremum::Greatest)),
    ("hash", Function::Hash(Binary::HashMurmur2)),
    ("hash_fnv1a", Function::Hash(Binary::HashFnv1a)),
    ("hash_murmur2", Function::Hash(Binary::HashMurmur2)),
    ("int", Function::Unary(Unary::Int)),
    ("least", Function::Extremum(Extremum::Least)),
    ("ln", Function::Unary(Unary::Ln)),
    ("mod", Function::Binary(Binary::Mod)),
    ("permute", Function::Permute),
    ("pi", Function::Pi),
    ("pow", Function::Binary(Binary::Pow)),
    ("power", Function::Binary(Binary::Pow)),
    ("random", Function::Binary(Binary::Random)),
    ("random_exponential", Function::Ternary(Ternary::Exponential)),
    ("random_gaussian", Function::Ternary(Ternary::Gaussian)),
    ("random_zipfian", Function::Ternary(Ternary::Zipfian)),
    ("sqrt", Function::Unary(Unary::Sqrt)),
];

impl Function {
    /// The call, or the arguments it should have had.
    fn applied_to(self, arguments: Vec<Node>, names: &mut NameTable) -> Result<Node, &'static str> {
        let mut seed = || Node::Var(names.slot("default_seed"));
        let mut arguments = arguments;
        match self {
            Function::Pi if arguments.is_empty() => Ok(Node::Const(Value::Double(std::f64::consts::PI))),
            Function::Pi => Err(""),
            Function::Extremum(_) if arguments.is_empty() => Err("x, …"),
            Function::Extremum(which) => Ok(Node::Extremum(which, arguments.into())),
            Function::Unary(op) => {
                let [x] = exactly(arguments).ok_or("x")?;
                Ok(Node::Unary(op, Box::new(x)))
            }
            Function::Binary(op) => {
                let expected = if op == Binary::Random { "min, max" } else { "x, y" };
                Ok(Node::Binary(op, Box::new(exactly(arguments).ok_or(expected)?)))
            }
            Function::Hash(op) => {
                if arguments.len() == 1 {
                    arguments.push(seed());
                }
                Ok(Node::Binary(op, Box::new(exactly(arguments).ok_or("value) or with (value, seed")?)))
            }
            Function::Permute => {
                if arguments.len() == 2 {
                    arguments.push(seed());
                }
                let arguments = exactly(arguments).ok_or("value, size) or with (value, size, seed")?;
                Ok(Node::Ternary(Ternary::Permute, Box::new(arguments)))
            }
            Function::Ternary(function) => {
                Ok(Node::Ternary(function, Box::new(exactly(arguments).ok_or("min, max, parameter")?)))
            }
        }
    }
}

fn exactly<const N: usize>(arguments: Vec<Node>) -> Option<[Node; N]> {
    arguments.try_into().ok()
}

/// The known name that begins like the unknown one, or all of them.
fn advise_function(name: &str) -> String {
    let known: Vec<&str> = FUNCTIONS.iter().map(|(known, _)| *known).collect();
    let alike = |known: &&&str| {
        let shared = known.bytes().zip(name.bytes()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
        shared >= 3.min(known.len())
    };
    match known.iter().find(alike) {
        Some(alike) => format!("perhaps {alike}(…)? A variable is written :{name}"),
        None => format!("a variable is written :{name}; the functions are {}", known.join(", ")),
    }
}
