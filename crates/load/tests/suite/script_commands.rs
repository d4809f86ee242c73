//! Commands of scripts, and the errors in them

use crate::english;
use load::random::{Prng, SeedSequence};
use load::script::{
    CommandKind, InvalidName, Mode, Piece, Program, ScriptSource, SleepDuration, Sql, Value, Variables,
    builtin, command_line, parse, parse_output, readable,
};
use model::message::Message;

fn compile(text: &str, mode: Mode) -> Result<Program, Vec<String>> {
    let source = ScriptSource::new("s.sql", text);
    parse(&[source], mode, true, &["given"]).map_err(|diagnostics| {
        diagnostics.iter().map(|diagnostic| english::text(&diagnostic.message)).collect()
    })
}

/// Commands of a script as texts: a statement's SQL, or a backslash command's name.
fn commands(text: &str) -> Vec<String> {
    let program =
        compile(text, Mode::Simple).unwrap_or_else(|diagnostics| panic!("{text:?}: {diagnostics:?}"));
    (program.scripts[0].commands.iter())
        .map(|command| match &command.kind {
            CommandKind::Sql(sql) => match &sql.store {
                None => readable(&sql.text).into_owned(),
                Some(keep) => {
                    let arrow = if keep.all_rows { "→*" } else { "→" };
                    format!("{}{arrow}{}", readable(&sql.text), keep.prefix)
                }
            },
            CommandKind::Http(call) => call.first_line(&program.names),
            CommandKind::Set { slot, .. } => format!("set {}", program.names[usize::from(*slot)]),
            CommandKind::If { next, .. } => format!("if ↓{next}"),
            CommandKind::Elif { next, end, .. } => format!("elif ↓{next} ⇓{end}"),
            CommandKind::Else { end } => format!("else ⇓{end}"),
            CommandKind::EndIf => "endif".to_owned(),
            CommandKind::Pause(length) => format!("pause {length}"),
            CommandKind::Sleep { amount: SleepDuration::Constant(micros) } => format!("sleep {micros}"),
            CommandKind::Sleep { amount: SleepDuration::Variable { slot, unit } } => {
                format!("sleep :{} {unit}", program.names[usize::from(*slot)])
            }
            CommandKind::SetShell { slot, words } => {
                format!("setshell {} {words:?}", program.names[usize::from(*slot)])
            }
            CommandKind::Shell { words } => format!("shell {words:?}"),
            CommandKind::StartPipeline => "startpipeline".to_owned(),
            CommandKind::SyncPipeline => "syncpipeline".to_owned(),
            CommandKind::Recorded => "recorded".to_owned(),
            CommandKind::EndPipeline => "endpipeline".to_owned(),
        })
        .collect()
}

#[track_caller]
fn check(rows: &[(&str, &[&str])]) {
    for (text, expected) in rows {
        assert_eq!(commands(text), *expected, "{text:?}");
    }
}

#[test]
#[rustfmt::skip]
fn splits_statements_like_psql() {
    check(&[
        ("SELECT 1;SELECT 2 ; SELECT 3", &["SELECT 1;", "SELECT 2 ;", "SELECT 3"]),
        ("  -- why\n\n SELECT 1 -- because;\n + 1;\n-- end", &["SELECT 1 -- because;\n + 1;"]),
        ("/* a /* ; */ ; */ SELECT 1;", &["/* a /* ; */ ; */ SELECT 1;"]), ("SELECT 2*/* ; */1;", &["SELECT 2*/* ; */1;"]),
        ("SELECT 1 --;\n;", &["SELECT 1 --;\n;"]), ("SELECT 3 - -1;", &["SELECT 3 - -1;"]), ("SELECT 3--1;\n;", &["SELECT 3--1;\n;"]),
        ("SELECT ';', \";\";x", &["SELECT ';', \";\";", "x"]), ("SELECT 'it'';s';x", &["SELECT 'it'';s';", "x"]),
        ("SELECT 'a\\';x", &["SELECT 'a\\';", "x"]), ("SELECT E'a\\';x';y", &["SELECT E'a\\';x';", "y"]),
        ("SELECT E'a'\n  'b\\';';x", &["SELECT E'a'\n  'b\\';';", "x"]), ("SELECT E'a' 'b\\';x", &["SELECT E'a' 'b\\';", "x"]),
        ("SELECT E'a''b\\';';x", &["SELECT E'a''b\\';';", "x"]), ("CREATE FUNCTION f(a) RETURN case;x", &["CREATE FUNCTION f(a) RETURN case;", "x"]),
        ("SELECT E'a' -- c\n'\\';';x", &["SELECT E'a' -- c\n'\\';';", "x"]), ("SELECT 1e'\\';x", &["SELECT 1e'\\';", "x"]),
        ("SELECT U&'\\';x", &["SELECT U&'\\';", "x"]), ("SELECT U&\"a;\";x", &["SELECT U&\"a;\";", "x"]), ("SELECT N';', B';', X';';x", &["SELECT N';', B';', X';';", "x"]),
        ("SELECT $$;$$;x", &["SELECT $$;$$;", "x"]), ("SELECT $a$;$b$;$a$;x", &["SELECT $a$;$b$;$a$;", "x"]), ("SELECT $1;x", &["SELECT $1;", "x"]),
        ("SELECT a$b$;x", &["SELECT a$b$;", "x"]), ("SELECT $é$;$é$;x", &["SELECT $é$;$é$;", "x"]),
        ("SELECT (1;2);x", &["SELECT (1;2);", "x"]), ("SELECT );x", &["SELECT );", "x"]),
        ("SELECT 1\\; SELECT 2\\;;x", &["SELECT 1; SELECT 2;;", "x"]), ("SELECT a\\:b", &["SELECT a:b"]),
        ("CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; SELECT CASE WHEN 1 THEN 2 END; END;x", &["CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; SELECT CASE WHEN 1 THEN 2 END; END;", "x"]),
        ("create or replace procedure p() begin atomic a; end;x", &["create or replace procedure p() begin atomic a; end;", "x"]),
        ("BEGIN;END;", &["BEGIN;", "END;"]), ("CREATE TABLE begin;x", &["CREATE TABLE begin;", "x"]),
        ("SELECT 'open;\n", &["SELECT 'open;\n"]), (";;", &[";", ";"]), ("SELECT :{?x}", &["SELECT FALSE"]),
        ("SELECT 1 \\set a 1\nSELECT 2;", &["SELECT 1 ", "set a", "SELECT 2;"]), ("SELECT (1 \\set a 1\n;);x", &["SELECT (1 ", "set a", ";);", "x"]),
        ("SELECT 1 \\\nSELECT 2;", &["SELECT 1 ", "SELECT 2;"]), ("SELECT 1;\r\n\\set a 1\r\nSELECT 2;\r\n", &["SELECT 1;", "set a", "SELECT 2;"]),
    ]);
}

#[test]
#[rustfmt::skip]
fn parses_backslash_commands() {
    check(&[
        ("\\set a 1\n\\SET b :a +\\\n 2\n\\ set c 3", &["set a", "set b", "set c"]), ("\\set a\\\n1\n", &["set a"]),
        ("\\if 1\n\\elif 2\n\\elif 3\n\\else\n\\endif\nx", &["if ↓1", "elif ↓2 ⇓4", "elif ↓3 ⇓4", "else ⇓4", "endif", "x"]),
        ("\\if 1\n\\if 2\n\\else\n\\endif\n\\else\n\\if 3\n\\endif\n\\endif", &["if ↓4", "if ↓2", "else ⇓3", "endif", "else ⇓7", "if ↓6", "endif", "endif"]),
        ("\\sleep 2\n\\sleep 3 ms\n\\sleep 100us\n\\sleep -1 S\n\\sleep :a\n\\sleep :b us", &["sleep 2000000", "sleep 3000", "sleep 100", "sleep -1000000", "sleep :a 1000000", "sleep :b 1"]),
        ("\\sleep 99999999999999999999 s", &["sleep 9223372036854775807"]),
        ("\\setshell v echo\\\n 1", &["setshell v [Text(\"echo\"), Text(\"1\")]"]), ("\\shell echo ::a b:c", &["shell [Text(\"echo\"), Text(\":a\"), Text(\"b:c\")]"]),
        ("\\startpipeline\n\\syncpipeline\n\\endpipeline", &["startpipeline", "syncpipeline", "endpipeline"]),
        ("SELECT 1 AS a \\gset\nSELECT 2\\;SELECT 3 \\aset p_\nSELECT 4;\\gset q_\n", &["SELECT 1 AS a →", "SELECT 2;SELECT 3 →*p_", "SELECT 4;→q_"]),
    ]);
}

#[test]
fn reports_first_line_of_commands() {
    let text = "-- a\n\n\\set a 1\nSELECT 1,\n  2;\n\n  \\set b \\\n 2\n SELECT 3;";
    let program = compile(text, Mode::Simple).unwrap();
    let actual: Vec<(u32, &str)> =
        program.scripts[0].commands.iter().map(|command| (command.line, &command.first_line[..])).collect();
    assert_eq!(actual, [(3, "\\set a 1"), (4, "SELECT 1,"), (7, "\\set b \\\n 2"), (9, "SELECT 3;")]);

    let long = format!("SELECT '{}';", "é".repeat(100));
    let program = compile(&long, Mode::Simple).unwrap();
    let first_line = &program.scripts[0].commands[0].first_line;
    assert!(long.starts_with(&first_line[..]));
    assert_eq!(first_line.len(), 126, "127 bytes would split a character");
}

/// Text of a statement, joined from its pieces.
fn joined(sql: &Sql, program: &Program) -> Vec<u8> {
    let pieces = sql.pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Var { slot } => format!(":{}", program.names[usize::from(*slot)]).into(),
    });
    pieces.collect::<Vec<_>>().concat()
}

/// LATIN1 and KOI8-R statements keep their bytes in every mode.
#[test]
fn keeps_statements_in_other_encodings() {
    let rows: [(&[u8], &[u8], &str); 7] = [
        (b"SELECT 'caf\xe9' -- \xff\n;", b"SELECT 'caf\xe9' -- \xff\n;", "SELECT 'caf\\xe9' -- \\xff"),
        (b"SELECT '\xcd\xc9\xd2';", b"SELECT '\xcd\xc9\xd2';", "SELECT '\\xcd\\xc9\\xd2';"),
        (b"/* \xe9 */ SELECT :a;", b"/* \xe9 */ SELECT $1;", "/* \\xe9 */ SELECT :a;"),
        (b"SELECT '\xe9:a', \xe9t\xe9;", b"SELECT '\xe9$1', \xe9t\xe9;", "SELECT '\\xe9:a', \\xe9t\\xe9;"),
        // The name would be a\xe9, which no command can assign.
        (
            b"SELECT ':a\xe9' \\; SELECT $\xe9$;$\xe9$;",
            b"SELECT ':a\xe9' ; SELECT $\xe9$;$\xe9$;",
            "SELECT ':a\\xe9' ; SELECT $\\xe9$;$\\xe9$;",
        ),
        (b"\xe9:a ::\xe9", b"\xe9$1 ::\xe9", "\\xe9:a ::\\xe9"),
        (
            "SELECT 'é\u{1f418}', :é;".as_bytes(),
            "SELECT 'é\u{1f418}', $1;".as_bytes(),
            "SELECT 'é\u{1f418}', :é;",
        ),
    ];
    for (text, parameterised, first_line) in rows {
        for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
            let program = parse(&[ScriptSource::new("s", text)], mode, false, &["a", "é"]).expect("valid");
            let [command] = &program.scripts[0].commands[..] else { panic!("{first_line}") };
            let CommandKind::Sql(sql) = &command.kind else { panic!("{first_line}") };
            assert_eq!(command.first_line, first_line);
            assert_eq!(sql.parameterize().0, parameterised, "{first_line}");
            assert_eq!(joined(sql, &program), sql.text, "{first_line}");
        }
    }
}

/// Variables and backslash commands are text. A byte that is not UTF-8 is reported with its position.
#[test]
fn rejects_other_encodings_in_backslash_commands() {
    let rows: [(&[u8], &str); 6] = [
        (
            b"SELECT 1;\n\\set caf\xe9 1\n",
            "s:2: the byte 0xe9 is not UTF-8 in command \"set\"\n\\set caf\\xe9 1\n        ^ error found here",
        ),
        (
            b"\xe9; \\sleep 1 \xb5s",
            "s:1: the byte 0xb5 is not UTF-8 in command \"sleep\"\n\\xe9; \\sleep 1 \\xb5s\n               ^ error found here",
        ),
        (
            b"SELECT '\xe9'\n;\\set a 1 +",
            "s:2: syntax error in command \"set\"\n;\\set a 1 +\n           ^ error found here",
        ),
        (
            b"\\if \xe9\nSELECT 1;\n\\endif\n",
            "s:1: the byte 0xe9 is not UTF-8 in command \"if\"\n\\if \\xe9\n    ^ error found here",
        ),
        (
            b"\\set a \\\n 1 \\\r\n + \xe9\nSELECT 1;",
            "s:3: the byte 0xe9 is not UTF-8 in command \"set\"\n + \\xe9\n   ^ error found here",
        ),
        (b"\\\xe9", "s:1: the byte 0xe9 is not UTF-8 in command \"\"\n\\\\xe9\n ^ error found here"),
    ];
    for (text, expected) in rows {
        let diagnostics = parse(&[ScriptSource::new("s", text)], Mode::Simple, false, &[]).unwrap_err();
        let [diagnostic] = &diagnostics[..] else { panic!("{diagnostics:#?}") };
        let shown = english::show(diagnostic);
        assert!(shown.starts_with(expected), "{shown}\n{expected}");
    }
}

#[test]
fn finds_variables_in_statements() {
    let rows = [
        ("SELECT :a, :b, :a", "SELECT $1, $2, $3", &["a", "b", "a"][..]),
        ("SELECT 1::int, x:::a, :a::int, ::a", "SELECT 1::int, x:::a, $1::int, ::a", &["a"]),
        ("SELECT ':a', '12:30', : a, :1", "SELECT '$1', '12:30', : a, :1", &["a"]),
        (":aé:b", "$1$2", &["aé", "b"]),
        ("SELECT \\:a", "SELECT $1", &["a"]),
        ("SELECT :", "SELECT :", &[]),
    ];
    for (text, parameterised, slots) in rows {
        let program = compile(text, Mode::Prepared).unwrap();
        let CommandKind::Sql(sql) = &program.scripts[0].commands[0].kind else { panic!("{text:?}") };
        let slots = slots.iter().map(|name| program.slot(name).unwrap()).collect();
        assert_eq!(sql.parameterize(), (parameterised.as_bytes().to_owned(), slots), "{text:?}");
        assert_eq!(joined(sql, &program), sql.text);
    }
    let many = |n: usize| format!("SELECT least({})", [":i"].repeat(n).join(", "));
    assert!(compile(&many(255), Mode::Extended).is_ok());
    assert!(compile(&many(256), Mode::Simple).is_ok());
    let diagnostics = compile(&many(256), Mode::Prepared).unwrap_err();
    assert!(
        diagnostics[0].starts_with("statement has too many arguments (maximum is 255): SELECT least(:i, :i")
    );
}

#[test]
fn parses_gset_and_aset() {
    let text = "SELECT 1 \\gset\nSELECT 2 \\aset p_\nSELECT 3 \\gset 1\nSELECT 4 \\gset a-\nSELECT :one, :p_one, :p_two, :two;";
    let program = compile(text, Mode::Simple).unwrap();
    let slot = |command: usize, column: &str| {
        let CommandKind::Sql(sql) = &program.scripts[0].commands[command].kind else { panic!("a statement") };
        let slot = sql.store.as_ref().unwrap().slot_of(column.as_bytes())?;
        Ok(slot.map(|slot| &*program.names[usize::from(slot)]))
    };
    assert_eq!(slot(0, "one"), Ok(Some("one")));
    assert_eq!(slot(0, "p_one"), Ok(Some("p_one")));
    assert_eq!(slot(0, "given"), Ok(Some("given")));
    assert_eq!(slot(0, "nobody_reads_this"), Ok(None));
    assert_eq!(slot(0, "?column?"), Err(InvalidName));
    assert_eq!(slot(0, "1st"), Err(InvalidName));
    assert_eq!(slot(0, ""), Err(InvalidName));
    assert_eq!(slot(1, "two"), Ok(Some("p_two")));
    assert_eq!(slot(1, "1st"), Ok(None));
    assert_eq!(slot(1, "bad name!"), Err(InvalidName));
    assert_eq!(slot(2, "one"), Err(InvalidName));
    assert_eq!(slot(3, "one"), Err(InvalidName));
}

#[test]
fn parses_sleep_with_variable() {
    let rows = [
        ("3", Ok(3000)),
        ("3.9", Ok(3000)),
        ("-2x", Ok(-2000)),
        ("0", Ok(0)),
        ("null", Err("sleep: invalid sleep time \"null\" for variable \"a\"")),
        ("", Err("sleep: invalid sleep time \"\" for variable \"a\"")),
    ];
    let program = compile("\\sleep :a ms\n", Mode::Simple).unwrap();
    let CommandKind::Sleep { amount } = program.scripts[0].commands[0].kind else { panic!("a sleep") };
    let slot = program.slot("a").unwrap();
    let mut variables = Variables::new(program.names.len());
    let slept = |variables: &Variables| {
        amount.micros(variables).map_err(|error| {
            let explained = english::text(&error.message(&program.names, variables));
            explained.split(';').next().unwrap().to_owned()
        })
    };
    assert_eq!(slept(&variables), Err("sleep: undefined variable \"a\"".to_owned()));
    for (text, expected) in rows {
        variables.set_text(slot, text.as_bytes());
        assert_eq!(slept(&variables), expected.map_err(str::to_owned), "{text:?}");
    }
    variables.set(slot, Value::Double(1.9));
    assert_eq!(slept(&variables), Ok(1000));
    variables.set(slot, Value::Null);
    assert_eq!(slept(&variables), Err("sleep: invalid sleep time \"NULL\" for variable \"a\"".to_owned()));
}

#[test]
fn parses_shell_words() {
    let program = compile("\\setshell v echo :a ::a\n", Mode::Simple).unwrap();
    let CommandKind::SetShell { words, .. } = &program.scripts[0].commands[0].kind else {
        panic!("a setshell")
    };
    let mut variables = Variables::new(program.names.len());
    let undefined = command_line(words, &program.names, &variables).unwrap_err();
    let undefined = english::text(&Message::from(&undefined));
    assert!(undefined.starts_with("echo: undefined variable \":a\""), "{undefined}");
    variables.set(program.slot("a").unwrap(), Value::Double(0.5));
    assert_eq!(command_line(words, &program.names, &variables).unwrap(), "echo 0.5 :a");

    for (output, expected) in [("12\n", 12), (" -3 \nx", -3), ("\n", 0), ("4", 4)] {
        assert_eq!(parse_output(words, &program.names, output.as_bytes()).unwrap(), expected, "{output:?}");
    }
    for (output, expected) in [
        ("one", "echo: shell command must return an integer (not \"one\")"),
        ("1.5\n", "echo: shell command must return an integer (not \"1.5\n\")"),
        ("", "echo: could not read result of shell command; it must print an integer"),
    ] {
        let actual = parse_output(words, &program.names, output.as_bytes());
        assert_eq!(english::text(&Message::from(&actual.unwrap_err())), expected, "{output:?}");
    }
}

#[test]
#[rustfmt::skip]
fn reports_script_diagnostics() {
    let too_many_words = format!("\\shell echo {}", ["arg"].repeat(255).join(" "));
    let rows: &[(&str, &[&str])] = &[
        ("", &["empty command list for script \"s.sql\""]), ("-- nothing\n", &["empty command list for script \"s.sql\""]),
        ("\\if 1", &["condition error in script \"s.sql\" command 2: \\if without matching \\endif"]),
        ("\\elif 1", &["condition error in script \"s.sql\" command 1: \\elif without matching \\if"]),
        ("\\else", &["condition error in script \"s.sql\" command 1: \\else without matching \\if"]),
        ("\\endif", &["condition error in script \"s.sql\" command 1: \\endif without matching \\if"]),
        ("\\if 1\n\\else\n\\elif 0\n\\endif", &["condition error in script \"s.sql\" command 3: \\elif after \\else"]),
        ("\\if 1\n\\else\n\\else\n\\endif", &["condition error in script \"s.sql\" command 3: \\else after \\else"]),
        ("\\if\n\\endif\n", &["syntax error in command \"if\""]), ("\\if 0\n\\elif +\n\\endif", &["syntax error in command \"elif\""]),
        ("\\if 0\n\\else BAD\n\\endif", &["unexpected argument in command \"else\""]),
        ("\\if 0\n\\endif BAD", &["unexpected argument in command \"endif\""]),
        ("\\nosuchcommand", &["invalid command in command \"nosuchcommand\""]), ("\\set", &["missing argument in command \"set\""]),
        ("\\set i", &["syntax error in command \"set\""]), ("\\shell", &["missing command in command \"shell\""]),
        ("\\setshell v", &["missing argument in command \"setshell\""]), (&too_many_words, &["too many arguments in command \"shell\""]),
        ("\\setshell 1 echo", &["setshell: invalid variable name: \"1\" in command \"setshell\""]),
        ("\\sleep", &["missing argument in command \"sleep\""]), ("\\sleep too many args", &["too many arguments in command \"sleep\""]),
        ("\\sleep 1 week", &["unrecognized time unit, must be us, ms or s (week) in command \"sleep\""]),
        ("\\sleep 1.5", &["unrecognized time unit, must be us, ms or s (.5) in command \"sleep\""]),
        ("\\sleep x", &["invalid sleep time, must be an integer (x) in command \"sleep\""]),
        ("\\sleep 1s s", &["invalid sleep time, must be an integer (1s) in command \"sleep\""]),
        ("\\gset", &["\\gset must follow an SQL command"]), ("\\set i 1\n\\gset", &["\\gset must follow an SQL command"]),
        ("SELECT 1 \\gset\n\\aset", &["\\gset must follow an SQL command"]), ("SELECT 1 \\gset a b", &["too many arguments in command \"gset\""]),
        ("\\startpipeline 1", &["unexpected argument in command \"startpipeline\""]),
        // All errors are reported at once, in the order of the lines. Errors of branches come last.
        ("\\set a 1 +\nSELECT 1;\n\\gset x y\n\\if ;\n\\sleep\n\\else\n",
            &["syntax error in command \"set\"", "too many arguments in command \"gset\"", "unexpected character (;) in command \"if\"",
              "missing argument in command \"sleep\"", "condition error in script \"s.sql\" command 4: \\if without matching \\endif"]),
        ("\\set a foo ! 1 \\\n 99999999999999999999", &["unexpected function name (foo) in command \"set\"", "unexpected character (!) in command \"set\"",
            "bigint constant overflow (99999999999999999999) in command \"set\""]),
    ];
    for (text, expected) in rows {
        assert_eq!(compile(text, Mode::Simple).unwrap_err(), *expected, "{text:?}");
    }
}

#[test]
fn diagnostic_has_location_message_and_hint() {
    let text = "SELECT 1;\n\t\\set é 1 + ;\n";
    let source = ScriptSource::new("my.sql", text);
    let diagnostics = parse(&[source], Mode::Simple, false, &[]).unwrap_err();
    assert_eq!(
        english::show(&diagnostics[0]),
        "my.sql:2: unexpected character (;) in command \"set\"\n\
         \t\\set é 1 + ;\n\
         \t           ^ error found here\n\
         hint: a backslash command ends at the end of its line; remove the semicolon"
    );
    let shell = ScriptSource::new("my.sql", "\\shell ls");
    let diagnostics = parse(&[shell], Mode::Simple, false, &[]).unwrap_err();
    assert_eq!(english::help(&diagnostics[0].message), "pass --allow-shell if you trust this script");
}

#[test]
fn invalid_name_fails_when_set() {
    let program = compile("\\set . 1\n", Mode::Simple).unwrap();
    let CommandKind::Set { value, .. } = &program.scripts[0].commands[0].kind else { panic!("a set") };
    let variables = Variables::new(program.names.len());
    let error = value.eval(&variables, &mut Prng::seeded(0), &mut |_| ()).unwrap_err();
    let explained = english::text(&error.message(&program.names, &variables));
    assert!(explained.starts_with("set: invalid variable name: \".\""), "{explained}");
}

#[test]
fn compiles_several_scripts() {
    let source = |weight| ScriptSource { weight, ..ScriptSource::new("a", "SELECT :x;") };
    let messages = |sources: &[ScriptSource<'_>]| {
        english::text(&parse(sources, Mode::Simple, false, &[]).unwrap_err()[0].message)
    };
    assert_eq!(messages(&[source(0), source(0)]), "total script weight must not be zero");
    assert_eq!(messages(&[source(1); 129]), "at most 128 SQL scripts are allowed");
    let zero = ScriptSource { text: b"SELECT 1;\0", ..source(1) };
    assert_eq!(messages(&[zero]), "zero byte in script");

    let program = parse(&[source(1), source(0), source(3)], Mode::Simple, false, &[]).unwrap();
    let mut rng = SeedSequence::new(5432).thread_rngs().choose;
    let mut chosen = [0; 3];
    for _ in 0..4000 {
        chosen[program.choose(&mut rng)] += 1;
    }
    assert!(matches!(chosen, [900..1100, 0, _]), "{chosen:?}");
    let single = parse(&[source(2)], Mode::Simple, false, &[]).unwrap();
    let before = rng;
    assert_eq!(single.choose(&mut rng), 0);
    assert_eq!(rng, before, "a single script needs no random number");
}

#[test]
fn builtins_compile_in_every_mode() {
    for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
        for (builtin, commands) in builtin::ALL.iter().zip([11, 9, 2]) {
            let program = compile(builtin.text, mode).unwrap();
            assert_eq!(program.scripts[0].commands.len(), commands, "{}", builtin.name);
            assert!(program.slot("scale").is_some());
        }
    }
}
