//! Command line parser with the rules of getopt_long
//!
//! It accepts `-c8`, `-c 8`, `-nS`, `--client=8`, `--client 8`, unambiguous abbreviations, options after operands, and
//! `--`.

/// Spelling of one option.
#[derive(Clone, Copy, Debug)]
pub struct Spelling {
    pub short: Option<char>,
    pub long: &'static str,
    pub value: ValueRule,
    /// True if an abbreviation that matches this option selects it, even if the abbreviation matches other options too.
    pub preferred: bool,
}

/// Whether an option takes a value. An optional value must be attached, as in `--save=name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueRule {
    None,
    Optional,
    Required,
}

/// A parsed argument. `option` is the index into the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    Option { option: usize, value: String },
    Operand(String),
}

/// An argument that could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseError {
    UnknownLong(String),
    UnknownShort(char),
    /// Abbreviation and its possible meanings.
    Ambiguous(String, Vec<&'static str>),
    MissingValue(usize),
    UnwantedValue(usize),
}

/// Parses `args`, which exclude the program's name. Continues after errors.
pub fn read(args: &[String], table: &[Spelling]) -> Vec<Result<Argument, ParseError>> {
    let mut words = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            words.extend(rest.by_ref().map(|it| Ok(Argument::Operand(it.clone()))));
        } else if let Some(long) = arg.strip_prefix("--") {
            words.push(read_long(long, table, &mut rest));
        } else if let Some(letters) = arg.strip_prefix('-').filter(|it| !it.is_empty()) {
            read_letters(letters, table, &mut rest, &mut words);
        } else {
            words.push(Ok(Argument::Operand(arg.clone())));
        }
    }
    words
}

type RemainingArgs<'a> = std::slice::Iter<'a, String>;

fn read_long(long: &str, table: &[Spelling], rest: &mut RemainingArgs) -> Result<Argument, ParseError> {
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (long, None),
    };
    let option = find_long(name, table)?;
    match (table[option].value, value) {
        (ValueRule::Required | ValueRule::Optional, Some(value)) => Ok(Argument::Option { option, value }),
        (ValueRule::Required, None) => match rest.next() {
            Some(value) => Ok(Argument::Option { option, value: value.clone() }),
            None => Err(ParseError::MissingValue(option)),
        },
        (ValueRule::None, Some(_)) => Err(ParseError::UnwantedValue(option)),
        (ValueRule::None | ValueRule::Optional, None) => {
            Ok(Argument::Option { option, value: String::new() })
        }
    }
}

fn find_long(name: &str, table: &[Spelling]) -> Result<usize, ParseError> {
    if let Some(exact) = table.iter().position(|it| it.long == name) {
        return Ok(exact);
    }
    let meant: Vec<usize> = (0..table.len()).filter(|&i| table[i].long.starts_with(name)).collect();
    let preferred: Vec<usize> = meant.iter().copied().filter(|&i| table[i].preferred).collect();
    match (&meant[..], &preferred[..]) {
        ([one], _) | (_, [one]) => Ok(*one),
        ([], _) => Err(ParseError::UnknownLong(name.to_owned())),
        _ => Err(ParseError::Ambiguous(name.to_owned(), meant.iter().map(|&i| table[i].long).collect())),
    }
}

fn read_letters(
    letters: &str,
    table: &[Spelling],
    rest: &mut RemainingArgs,
    words: &mut Vec<Result<Argument, ParseError>>,
) {
    let mut letters = letters.chars();
    while let Some(letter) = letters.next() {
        let Some(option) = table.iter().position(|it| it.short == Some(letter)) else {
            words.push(Err(ParseError::UnknownShort(letter)));
            continue;
        };
        if table[option].value != ValueRule::Required {
            words.push(Ok(Argument::Option { option, value: String::new() }));
            continue;
        }
        let attached = letters.as_str();
        let value = if attached.is_empty() { rest.next().cloned() } else { Some(attached.to_owned()) };
        words.push(
            value.map(|value| Argument::Option { option, value }).ok_or(ParseError::MissingValue(option)),
        );
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Spelling] = &[
        Spelling { short: Some('c'), long: "client", value: ValueRule::Required, preferred: true },
        Spelling { short: Some('C'), long: "connect", value: ValueRule::None, preferred: true },
        Spelling { short: None, long: "connect-rate", value: ValueRule::Required, preferred: false },
        Spelling { short: Some('n'), long: "no-vacuum", value: ValueRule::None, preferred: true },
        Spelling { short: None, long: "save", value: ValueRule::Optional, preferred: false },
    ];

    fn check(line: &str, expected: &str) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let shown = |word| match word {
            Ok(Argument::Option { option, value }) => format!("{}:{value}", TABLE[option].long),
            Ok(Argument::Operand(it)) => it,
            Err(wrong) => format!("{wrong:?}"),
        };
        let got: Vec<String> = read(&args, TABLE).into_iter().map(shown).collect();
        assert_eq!(got.join(" | "), expected, "{line}");
    }

    #[test]
    fn splits_options_and_operands() {
        check("-c8 db", "client:8 | db");
        check("-c 8", "client:8");
        check("-c -8", "client:-8");
        check("-nCc8", "no-vacuum: | connect: | client:8");
        check("db -n -", "db | no-vacuum: | -");
        check("--client=8 --client 9 --cl=", "client:8 | client:9 | client:");
        check("--conn --connect --connect-r 5", "connect: | connect: | connect-rate:5");
        check("-n -- -n --x", "no-vacuum: | -n | --x");
    }

    #[test]
    fn reports_parse_errors() {
        check("--c", r#"Ambiguous("c", ["client", "connect", "connect-rate"])"#);
        check("--bad=1 -n", r#"UnknownLong("bad") | no-vacuum:"#);
        check("-nxc", "no-vacuum: | UnknownShort('x') | MissingValue(0)");
        check("--no-vacuum=1", "UnwantedValue(3)");
        check("--client", "MissingValue(0)");
    }
}
