//! Compiled SQL commands, and the properties of a script's statements

use crate::script::{
    CommandKind, Mode, Piece, QuoteContext, ResultStore, Script, Slot, Sql, VariableNames, quoting,
};
use wire::pg::compile;
use wire::{Template, TemplateBuilder};

/// Compiled SQL command.
#[derive(Debug)]
pub(crate) struct SqlRequest {
    /// Variables in the order of the templates' arguments.
    pub args: Box<[Slot]>,
    /// Text sent for each argument while its variable is unset; simple mode only.
    pub unset: Box<[Box<str>]>,
    /// Position of each argument in the statement's syntax; simple mode only.
    pub places: Box<[QuoteContext]>,
    /// Templates with a Parse message; the templates in `prepared` have no Parse message.
    pub with_parse: RequestTemplates,
    pub prepared: RequestTemplates,
    /// Index of the command's prepared statement among all prepared statements; `None` if the command is not prepared.
    pub statement: Option<usize>,
    /// True if the command ends a transaction block with COMMIT or END.
    pub commits: bool,
    pub keep: Option<ResultStore>,
}

/// Templates for a single request, and for a request in a pipeline. The latter has no Sync.
#[derive(Debug)]
pub(crate) struct RequestTemplates {
    pub alone: Template,
    pub piped: Template,
}

/// Properties of the statements of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScriptTraits {
    /// True if a statement is empty, so that the server responds with EmptyQueryResponse.
    pub sends_empty: bool,
    /// True if a statement has `SKIP LOCKED`: the script takes rows from a queue, which may be empty.
    pub takes_from_queue: bool,
}

impl ScriptTraits {
    pub fn from_script(script: &Script) -> ScriptTraits {
        let statements = || {
            script.commands.iter().filter_map(|command| match &command.kind {
                CommandKind::Sql(sql) => Some(sql),
                _ => None,
            })
        };
        let skips_locked = |sql: &Sql| {
            let words: Vec<&[u8]> =
                sql.text.split(|it| !it.is_ascii_alphabetic()).filter(|it| !it.is_empty()).collect();
            words
                .windows(2)
                .any(|it| it[0].eq_ignore_ascii_case(b"skip") && it[1].eq_ignore_ascii_case(b"locked"))
        };
        ScriptTraits {
            sends_empty: statements().any(Sql::is_empty),
            takes_from_queue: statements().any(skips_locked),
        }
    }
}

impl SqlRequest {
    pub fn new(sql: &Sql, mode: Mode, names: &VariableNames, statements: usize) -> SqlRequest {
        let commits = is_commit(&sql.text);
        let keep = sql.store.clone();
        if mode == Mode::Simple {
            let mut args = Vec::new();
            let pieces: Vec<_> = sql
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => compile::SqlPiece::Text(text),
                    Piece::Var { slot } => {
                        args.push(*slot);
                        compile::SqlPiece::Arg(args.len() as u16 - 1)
                    }
                })
                .collect();
            let ask = || template(|it| compile::simple(it, &pieces));
            let templates = || RequestTemplates { alone: ask(), piped: ask() };
            let unset = args.iter().map(|&slot| format!(":{}", &names[slot as usize]).into()).collect();
            let (fresh, prepared) = (templates(), templates());
            let (args, places) = (args.into(), quoting::contexts(&sql.pieces).into());
            return SqlRequest {
                args,
                unset,
                places,
                with_parse: fresh,
                prepared,
                statement: None,
                commits,
                keep,
            };
        }
        let (text, args) = sql.parameterize();
        let statement = (mode == Mode::Prepared).then_some(statements);
        let name = statement.map_or(String::new(), |it| format!("P_{it}"));
        let ask = |parse: bool, sync: bool| {
            template(|builder| {
                if parse {
                    compile::parse(builder, &name, &text);
                }
                let numbers: Vec<u16> = (0..args.len() as u16).collect();
                compile::bind(builder, &name, &numbers);
                if keep.is_some() {
                    compile::describe_portal(builder);
                }
                compile::execute(builder);
                if sync {
                    compile::sync(builder);
                }
            })
        };
        let templates = |parse| RequestTemplates { alone: ask(parse, true), piped: ask(parse, false) };
        let (fresh, prepared) = (templates(true), templates(false));
        let (args, unset, places) = (args.into(), [].into(), [].into());
        SqlRequest { args, unset, places, with_parse: fresh, prepared, statement, commits, keep }
    }

    /// Template of the request. `prepared` is true if the statement is already prepared on this connection.
    #[inline]
    pub fn template(&self, prepared: bool, piped: bool) -> &Template {
        let templates = if prepared { &self.prepared } else { &self.with_parse };
        if piped { &templates.piped } else { &templates.alone }
    }
}

/// Template of the messages that `build` appends.
pub(crate) fn template(build: impl FnOnce(&mut TemplateBuilder)) -> Template {
    let mut builder = TemplateBuilder::default();
    build(&mut builder);
    builder.build()
}

/// True if the statement's text begins with COMMIT or END.
fn is_commit(text: &[u8]) -> bool {
    let word = text.trim_ascii_start().split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
    word.eq_ignore_ascii_case(b"commit") || word.eq_ignore_ascii_case(b"end")
}
