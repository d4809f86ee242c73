//! Target for scripts: they run to their end, or yield diagnostics with positions.

use load::random::Prng;
use load::script::{
    Command, CommandKind, EvalError, Expr, Mode, Program, ScriptSource, Value, Variables, command_line,
    parse, parse_output,
};

pub fn run(data: &[u8]) {
    for mode in [Mode::Simple, Mode::Prepared] {
        let source = ScriptSource::new("fuzz.sql", data);
        match parse(&[source], mode, true, &["given"]) {
            Ok(program) => execute(&program),
            Err(diagnostics) => {
                assert!(!diagnostics.is_empty());
                for mistake in &diagnostics {
                    assert!(mistake.line as usize <= data.split(|byte| *byte == b'\n').count());
                }
            }
        }
    }
}

/// Runs the script as a client does, but skips failing commands.
fn execute(program: &Program) {
    let commands = &program.scripts[0].commands;
    let mut variables = Variables::new(program.names.len());
    if let Some(given) = program.slot("given") {
        variables.set_text(given, b"7");
    }
    let (mut rng, mut out) = (Prng::seeded(1), Vec::new());
    let (mut at, mut sent_here) = (0, false);
    while let Some(Command { kind, first_line, .. }) = commands.get(at) {
        assert!(first_line.len() <= 127 || !matches!(kind, CommandKind::Sql(_)));
        let from_above = !std::mem::replace(&mut sent_here, false);
        let mut eval = |expr: &Expr, variables: &Variables| {
            let value = expr.eval(variables, &mut rng, &mut |traced| drop(traced.to_string()));
            value.unwrap_or_else(|error: EvalError| {
                assert!(!error.message(&program.names, variables).id.is_empty());
                Value::Null
            })
        };
        let next = match kind {
            CommandKind::Set { slot, value } => {
                let value = eval(value, &variables);
                variables.set(*slot, value);
                at + 1
            }
            CommandKind::Elif { end, .. } | CommandKind::Else { end } if from_above => *end,
            CommandKind::If { test, next } | CommandKind::Elif { test, next, .. }
                if !eval(test, &variables).is_true() =>
            {
                sent_here = true;
                *next
            }
            CommandKind::Sql(sql) => {
                let (text, slots) = sql.parameterize();
                assert!(text.len() + 5 >= slots.len());
                out.clear();
                for slot in slots {
                    variables.write(slot, &mut out);
                }
                let kept = sql.store.as_ref().and_then(|keep| keep.slot_of(b"a").ok().flatten());
                if let Some(slot) = kept {
                    variables.set_text(slot, first_line.as_bytes());
                }
                at + 1
            }
            CommandKind::Sleep { amount } => {
                let _ = amount.micros(&variables);
                at + 1
            }
            CommandKind::Shell { words } | CommandKind::SetShell { words, .. } => {
                let line = command_line(words, &program.names, &variables).unwrap_or_default();
                let _ = parse_output(words, &program.names, line.as_bytes());
                at + 1
            }
            _ => at + 1,
        };
        assert!(next > at, "control flow of scripts only goes forward");
        at = next;
    }
    assert_eq!(at, commands.len());
}
