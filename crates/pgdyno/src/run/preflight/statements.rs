//! Preparation of statements by the server, without executing them

use super::OperationError;
use crate::run::workload;
use experiment::nearest;
use load::script::{CommandKind, Mode, Program};
use model::message;
use model::message::Message;
use model::plan::{Operation, OperationKind, Setup};
use stack::client::{self, Connection, ServerError};

/// Maximum length of the displayed part of a line, in characters. libpq has a similar limit.
const LINE_CHARS: usize = 60;
const LINE_CHARS_BEFORE: usize = 40;
/// Query for the names of tables, views and sequences, in every form in which a statement may contain them.
const RELATIONS_SQL: &str = "SELECT format('%I.%I', nspname, relname), \
     CASE WHEN pg_table_is_visible(c.oid) THEN format('%I', relname) END \
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
     WHERE relkind IN ('r', 'v', 'm', 'p', 'f', 'S') \
     AND nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1 LIMIT 10000";

/// Line of a statement, and the position of an error in this line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Number of the line in the statement, from 1.
    pub line: usize,
    pub text: String,
    /// Number of characters before the error.
    pub column: usize,
    /// Name that begins at the error.
    name: String,
}

/// Result of preparing the statements of a setup.
#[derive(Debug)]
pub struct Preparation {
    pub errors: Vec<OperationError>,
    /// True if the server responded to every statement.
    pub is_complete: bool,
}

/// Prepares every statement. Ends early if the connection breaks.
pub fn prepare_all(setup: &Setup, program: &Program, connection: &mut Connection) -> Preparation {
    let mode = workload::mode(setup);
    let statements = || {
        let commands = setup.operations.iter().zip(&program.scripts);
        let commands = commands
            .flat_map(|(operation, script)| script.commands.iter().map(move |command| (operation, command)));
        commands.filter_map(|(operation, command)| match &command.kind {
            CommandKind::Sql(sql) if !sql.is_empty() => Some((operation, command.line, sql)),
            _ => None,
        })
    };
    let creates_names = statements().any(|(.., sql)| changes_names(&sql.text));
    let (mut errors, mut is_complete) = (Vec::new(), true);
    for (operation, line, sql) in statements().filter(|it| it.0.preflight) {
        let (text, slots) = sql.parameterize();
        let error = match connection.prepare(&text) {
            Ok(()) => continue,
            Err(client::Error::Server(error)) => error,
            Err(_) => {
                is_complete = false;
                break;
            }
        };
        let has_variables = mode == Mode::Simple && !slots.is_empty();
        if is_certain(&error, has_variables, creates_names) {
            let offset = error.position.map(|it| sql.offset_of(it as usize, &program.names));
            let excerpt = offset.map(|it| Excerpt::new(&String::from_utf8_lossy(&sql.text), it));
            let line = line as usize + excerpt.as_ref().map_or(0, |it| it.line - 1);
            let place = place(operation, line);
            let correction = correction(&error, excerpt.as_ref(), connection);
            errors.push(to_operation_error((operation, place), &error, excerpt, correction));
        }
    }
    Preparation { errors, is_complete }
}

/// Place of a line in an operation's script.
pub fn place(operation: &Operation, line: usize) -> String {
    match &operation.kind {
        OperationKind::Script { origin: Some(path), .. } => format!("{}:{line}", path.display()),
        _ => format!("operations.{}.sql:{line}", operation.name),
    }
}

/// True if the statement would also fail in a trial.
///
/// `has_variables` is true for a statement in simple mode whose text contains variables. The statement was prepared
/// with parameters instead of the variables, so only errors about names count. `creates_names` is true if some
/// statement may change which names exist.
fn is_certain(error: &ServerError, has_variables: bool, creates_names: bool) -> bool {
    let wire::Code::SqlState(code) = error.code else { return false };
    let names_parameter =
        error.message.split('$').skip(1).any(|it| it.starts_with(|c: char| c.is_ascii_digit()));
    let missing = [b"42P01", b"42703", b"3F000"].contains(&&code);
    let missing_object = missing || [b"42883", b"42704"].contains(&&code);
    if names_parameter || missing_object && creates_names {
        false
    } else if has_variables {
        missing
    } else if code == *b"42601" {
        // Ignore errors without a position. The server reports one if a message contains several statements, which
        // cannot be prepared.
        error.position.is_some()
    } else {
        matches!(&code[..2], b"42" | b"22" | b"3F") || error.position.is_some()
    }
}

/// True if the statement may create, rename or remove a name, or change the search path for names.
fn changes_names(text: &[u8]) -> bool {
    let words: Vec<String> = text
        .split(|it| !it.is_ascii_alphabetic())
        .filter(|it| !it.is_empty())
        .map(|it| String::from_utf8_lossy(it).to_ascii_lowercase())
        .collect();
    let is_word = |index: usize, word: &str| words.get(index).is_some_and(|it| it == word);
    let first = ["create", "alter", "drop", "set", "reset", "discard", "do", "call", "import"];
    // INSERT INTO and MERGE INTO create no table, but SELECT … INTO does.
    let creates_table = (0..words.len()).any(|index| {
        is_word(index, "into")
            && !(index > 0 && (is_word(index - 1, "insert") || is_word(index - 1, "merge")))
    });
    first.iter().any(|it| is_word(0, it)) || creates_table
}

/// Correction for an error: a similar name, or general advice.
fn correction(error: &ServerError, excerpt: Option<&Excerpt>, connection: &mut Connection) -> Message {
    let wanted = excerpt.filter(|_| error.code == wire::Code::SqlState(*b"42P01"));
    if let Some(excerpt) = wanted {
        let rows = connection.query(RELATIONS_SQL).unwrap_or_default().rows;
        let names: Vec<&str> = rows.iter().flatten().flatten().map(String::as_str).collect();
        if let Some(nearest) = nearest(&excerpt.name, names.iter().copied()) {
            return message!("preflight-similar-name", name = nearest);
        }
        if names.is_empty() {
            return message!("preflight-no-tables");
        }
    }
    message!("preflight-correct")
}

/// Operation error with the server's message.
fn to_operation_error(
    (operation, place): (&Operation, String),
    error: &ServerError,
    excerpt: Option<Excerpt>,
    correction: Message,
) -> OperationError {
    let line = |label: &str, text: &Option<String>| text.as_ref().map(|it| format!("{label}: {it}"));
    let details = [line("DETAIL", &error.detail), line("HINT", &error.hint)];
    OperationError {
        operation: operation.name.clone(),
        place,
        message: format!("{}: {}", error.severity, error.message),
        excerpt,
        details: details.into_iter().flatten().collect(),
        correction,
    }
}

impl Excerpt {
    /// Line of `text` that contains the byte `offset`, shortened to the part around this byte.
    fn new(text: &str, offset: usize) -> Excerpt {
        let offset = text.floor_char_boundary(offset);
        let line_start = text[..offset].rfind('\n').map_or(0, |it| it + 1);
        let (before, after) = (&text[line_start..offset], text[offset..].lines().next().unwrap_or_default());
        let in_name = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '.' | '"');
        let name = after.chars().take_while(in_name).collect();
        let one_column = |c: char| if c.is_control() { ' ' } else { c };
        let all: Vec<char> = before.chars().chain(after.chars()).map(one_column).collect();
        let column = before.chars().count();
        let from = if all.len() > LINE_CHARS { column.saturating_sub(LINE_CHARS_BEFORE) } else { 0 };
        let to = all.len().min(from + LINE_CHARS);
        let (cut_before, cut_after) =
            (if from > 0 { "..." } else { "" }, if to < all.len() { "..." } else { "" });
        Excerpt {
            line: text[..line_start].matches('\n').count() + 1,
            text: format!("{cut_before}{}{cut_after}", all[from..to].iter().collect::<String>()),
            column: column - from + cut_before.len(),
            name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Code;

    #[test]
    fn recognises_statements_that_change_names() {
        for (statement, expected) in [
            ("SELECT 1", false),
            ("INSERT INTO a VALUES (1)", false),
            ("UPDATE a SET b = 1", false),
            ("WITH x AS (SELECT 1) INSERT INTO a SELECT * FROM x", false),
            ("MERGE INTO a USING b ON true WHEN MATCHED THEN DO NOTHING", false),
            ("SELECT 1 INTO b", true),
            ("create temp table a (b int)", true),
            ("SET search_path = book", true),
            ("DO $$ BEGIN END $$", true),
            ("ALTER TABLE a RENAME TO b", true),
        ] {
            assert_eq!(changes_names(statement.as_bytes()), expected, "{statement}");
        }
    }

    #[test]
    fn reports_only_errors_that_a_trial_would_have() {
        let check = |code: &[u8; 5], message: &str, position, [variables, creates]: [bool; 2], expected| {
            let error = ServerError {
                code: Code::SqlState(*code),
                severity: "ERROR".to_owned(),
                message: message.to_owned(),
                detail: None,
                hint: None,
                position,
            };
            assert_eq!(is_certain(&error, variables, creates), expected, "{message} {variables} {creates}");
        };
        let relation = "relation \"a\" does not exist";
        check(b"42P01", relation, Some(15), [false, false], true);
        check(b"42P01", relation, Some(15), [true, false], true);
        check(b"42P01", relation, Some(15), [false, true], false);
        let syntax = "syntax error at or near \"SELEC\"";
        check(b"42601", syntax, Some(1), [false, false], true);
        check(b"42601", syntax, Some(1), [false, true], true);
        check(b"42601", "syntax error at or near \"x\"", Some(1), [true, false], false);
        check(b"42601", "cannot insert multiple commands into a prepared statement", None, [false; 2], false);
        check(b"42P18", "could not determine data type of parameter $1", None, [false; 2], false);
        check(b"42883", "function f() does not exist", Some(8), [false, false], true);
        check(b"42883", "function f() does not exist", Some(8), [false, true], false);
        check(b"42883", "operator does not exist: text + unknown", Some(8), [true, false], false);
        check(b"22P02", "invalid input syntax for type integer: \"x\"", Some(8), [false; 2], true);
        check(b"57P01", "terminating connection", None, [false; 2], false);
        check(b"25P02", "current transaction is aborted", None, [false; 2], false);
    }

    #[test]
    fn shows_the_line_with_the_error() {
        let check = |text: &str, part: &str, (line, shown): (usize, &str), name: &str| {
            let excerpt = Excerpt::new(text, text.find(part).expect("a part of the text"));
            assert_eq!((excerpt.line, excerpt.text.as_str()), (line, shown));
            let rest: String = excerpt.text.chars().skip(excerpt.column).collect();
            assert!(rest.starts_with(&part[..part.len().min(10)]), "{rest}");
            assert_eq!(excerpt.name, name);
        };
        check("SELECT *\n\tFROM book.ticket;\n", "book", (2, " FROM book.ticket;"), "book.ticket");
        let long = format!("SELECT {} x FROM nowhere WHERE {}", "1, ".repeat(40), "y AND ".repeat(40));
        let shown = ", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  x FROM nowhere WHERE y AND ";
        check(&long, "nowhere", (1, &format!("...{}...", &shown)), "nowhere");
    }
}
