//! Parser and evaluation with arbitrary text: no panic, no hang, no contradiction

use load::random::Prng;
use load::script::{CommandKind, Mode, Piece, ScriptSource, Variables, parse};
use proptest::prelude::*;

/// Fragments of scripts; random characters alone rarely get past the first word.
const FRAGMENTS: [&str; 72] = [
    "SELECT ",
    "\n",
    "\r\n",
    " ",
    ";",
    "\\;",
    "\\:",
    "\\",
    "\\\n",
    "'",
    "E'",
    "U&'",
    "\"",
    "$$",
    "$a$",
    "$1",
    "--",
    "/*",
    "*/",
    "(",
    ")",
    "create function ",
    "begin ",
    "case ",
    "end ",
    "or replace ",
    ":a",
    ":b",
    "::",
    ":1",
    ":{?a}",
    "é",
    "\u{0}",
    "\t",
    "\n\\set a ",
    "\n\\set ",
    "\n\\if ",
    "\n\\elif ",
    "\n\\else\n",
    "\n\\endif\n",
    "\\gset ",
    "\\aset p_\n",
    "\n\\sleep ",
    "\n\\shell ",
    "\n\\setshell v ",
    "\n\\startpipeline\n",
    "\n\\endpipeline\n",
    "1",
    "0.5",
    "1e",
    "9223372036854775808",
    "-",
    "+",
    "*",
    "/",
    "%",
    "<",
    ">=",
    "<>",
    "|",
    "~",
    "not ",
    " is ",
    "null",
    "when ",
    "then ",
    "random(",
    "least(",
    "permute(",
    ",",
    "hash(:a)",
    "debug(",
];

/// Parses a text; if it is valid, evaluates every expression once.
fn parse_and_evaluate(text: &str, mode: Mode) -> Result<(), TestCaseError> {
    let source = ScriptSource { name: "any.sql", text, weight: 1 };
    let program = match parse(&[source], mode, true, &["given"]) {
        Ok(program) => program,
        Err(mistakes) => {
            prop_assert!(!mistakes.is_empty());
            for mistake in mistakes {
                prop_assert!(mistake.line as usize <= text.split('\n').count());
                prop_assert!(!mistake.hint.is_empty(), "{mistake}");
            }
            return Ok(());
        }
    };
    let commands = &program.scripts[0].commands;
    let (mut variables, mut rng) = (Variables::new(program.names.len()), Prng::seeded(1));
    for (index, command) in commands.iter().enumerate() {
        match &command.kind {
            CommandKind::Set { slot, value } => match value.eval(&variables, &mut rng, &mut |_| ()) {
                Ok(value) => variables.set(*slot, value),
                Err(error) => prop_assert!(!error.explain(&program.names, &variables).is_empty()),
            },
            CommandKind::Sleep { amount } => drop(amount.micros(&variables)),
            CommandKind::If { next, .. } => {
                prop_assert!(*next > index && *next < commands.len());
            }
            CommandKind::Elif { next, end, .. } => {
                prop_assert!(index < *next && next <= end && *end < commands.len());
            }
            CommandKind::Else { end } => {
                prop_assert!(matches!(commands[*end].kind, CommandKind::EndIf));
            }
            CommandKind::Sql(sql) => {
                let whole: String = (sql.pieces.iter())
                    .map(|piece| match piece {
                        Piece::Text(text) => text.clone(),
                        Piece::Var { slot } => format!(":{}", program.names[usize::from(*slot)]),
                    })
                    .collect();
                prop_assert_eq!(&whole, &sql.text);
                prop_assert!(!sql.text.starts_with(|c: char| c.is_ascii_whitespace()), "{:?}", sql.text);
            }
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn fragments_do_not_panic(parts in prop::collection::vec(prop::sample::select(&FRAGMENTS[..]), 0..40)) {
        for mode in [Mode::Simple, Mode::Prepared] {
            parse_and_evaluate(&parts.concat(), mode)?;
        }
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in any::<String>()) {
        parse_and_evaluate(&text, Mode::Simple)?;
        parse_and_evaluate(&format!("\\set x {text}"), Mode::Simple)?;
    }
}
