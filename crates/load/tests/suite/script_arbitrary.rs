//! Parser and evaluation with arbitrary text: no panic, no hang, no contradiction

use crate::english;
use load::random::Prng;
use load::script::{CommandKind, Mode, Piece, ScriptSource, Variables, parse, readable};
use proptest::prelude::*;

/// Fragments of scripts. Random characters alone rarely form more than one valid word.
const FRAGMENTS: [&[u8]; 74] = [
    b"\xe9",
    b"\xd0",
    b"SELECT ",
    b"\n",
    b"\r\n",
    b" ",
    b";",
    b"\\;",
    b"\\:",
    b"\\",
    b"\\\n",
    b"'",
    b"E'",
    b"U&'",
    b"\"",
    b"$$",
    b"$a$",
    b"$1",
    b"--",
    b"/*",
    b"*/",
    b"(",
    b")",
    b"create function ",
    b"begin ",
    b"case ",
    b"end ",
    b"or replace ",
    b":a",
    b":b",
    b"::",
    b":1",
    b":{?a}",
    "é".as_bytes(),
    b"\0",
    b"\t",
    b"\n\\set a ",
    b"\n\\set ",
    b"\n\\if ",
    b"\n\\elif ",
    b"\n\\else\n",
    b"\n\\endif\n",
    b"\\gset ",
    b"\\aset p_\n",
    b"\n\\sleep ",
    b"\n\\shell ",
    b"\n\\setshell v ",
    b"\n\\startpipeline\n",
    b"\n\\endpipeline\n",
    b"1",
    b"0.5",
    b"1e",
    b"9223372036854775808",
    b"-",
    b"+",
    b"*",
    b"/",
    b"%",
    b"<",
    b">=",
    b"<>",
    b"|",
    b"~",
    b"not ",
    b" is ",
    b"null",
    b"when ",
    b"then ",
    b"random(",
    b"least(",
    b"permute(",
    b",",
    b"hash(:a)",
    b"debug(",
];

/// Parses a text; if it is valid, evaluates every expression once.
fn parse_and_evaluate(text: &[u8], mode: Mode) -> Result<(), TestCaseError> {
    let source = ScriptSource::new("any.sql", text);
    let program = match parse(&[source], mode, true, &["given"]) {
        Ok(program) => program,
        Err(diagnostics) => {
            prop_assert!(!diagnostics.is_empty());
            for diagnostic in diagnostics {
                prop_assert!(diagnostic.line as usize <= text.split(|byte| *byte == b'\n').count());
                prop_assert!(!english::help(&diagnostic.message).is_empty(), "{diagnostic:?}");
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
                Err(error) => {
                    prop_assert!(!english::text(&error.message(&program.names, &variables)).is_empty());
                }
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
                let pieces = (sql.pieces.iter()).map(|piece| match piece {
                    Piece::Text(text) => text.clone(),
                    Piece::Var { slot } => format!(":{}", program.names[usize::from(*slot)]).into(),
                });
                prop_assert_eq!(&pieces.collect::<Vec<_>>().concat(), &sql.text);
                prop_assert!(!sql.text[0].is_ascii_whitespace(), "{:?}", readable(&sql.text));
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
    fn arbitrary_text_does_not_panic(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        for text in [text.as_bytes(), &bytes] {
            parse_and_evaluate(text, Mode::Simple)?;
            parse_and_evaluate(&[b"\\set x ", text].concat(), Mode::Simple)?;
        }
    }
}
