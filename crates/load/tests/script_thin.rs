//! The thinnest way through: a variable, a statement, the builtins.

use load::random::Seeds;
use load::script::{Kind, Mode, Source, Value, Variables, builtin, parse};

#[test]
fn one_variable_one_statement() {
    let text = "\\set r random(1, 1000000)\nSELECT contact FROM t WHERE id = :r;\n";
    let program = parse(&[Source { name: "one.sql", text, weight: 1 }], Mode::Prepared, false, &[]).unwrap();
    let [set, select] = &program.scripts[0].commands[..] else { panic!("two commands") };
    let Kind::Set { slot, value } = &set.kind else { panic!("{:?}", set.kind) };
    let Kind::Sql(sql) = &select.kind else { panic!("{:?}", select.kind) };
    assert_eq!(
        sql.parameterised(),
        ("SELECT contact FROM t WHERE id = $1;".to_owned(), vec![program.slot("r").unwrap()])
    );
    assert_eq!((set.line, select.line), (1, 2));
    assert_eq!(set.first_line, "\\set r random(1, 1000000)");

    let mut variables = Variables::new(program.names.len());
    let mut rng = Seeds::new(5432).client();
    let drawn = value.eval(&variables, &mut rng, &mut |_| ()).unwrap();
    assert!(matches!(drawn, Value::Int(1..=1_000_000)), "{drawn:?}");
    variables.set(*slot, drawn);
    let mut out = Vec::new();
    variables.write(*slot, &mut out);
    assert_eq!(Value::Int(str::from_utf8(&out).unwrap().parse().unwrap()), drawn);
}

#[test]
fn builtins_compile_in_every_mode() {
    for mode in [Mode::Simple, Mode::Extended, Mode::Prepared] {
        for (builtin, commands) in builtin::ALL.iter().zip([11, 9, 2]) {
            let source = Source { name: builtin.description, text: builtin.text, weight: 1 };
            let program = parse(&[source], mode, false, &[]).unwrap();
            assert_eq!(program.scripts[0].commands.len(), commands, "{}", builtin.name);
            assert!(program.slot("scale").is_some());
        }
    }
}
