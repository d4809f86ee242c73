//! Variables in the files, arguments and environment of a service, such as `${database.host}`.
//!
//! Only the names of pgdyno's own namespaces are variables. Other texts in `${…}` belong to the program, for example to
//! nginx, and stay as they are. `$${` stands for `${`.

use std::fmt;
use std::ops::Range;

/// Variable of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceVariable {
    /// `${address}`, or `${web.address}` of the program with this name.
    Address(Option<String>, AddressPart),
    /// `${dir}`: the directory of the copy.
    Directory,
    /// `${copy}`: the number of the copy, from 1.
    Copy,
    /// `${database.host}`: the database, or with `read_only` the entrance of its replicas.
    Database { read_only: bool, part: DatabasePart },
}

/// Part of an address on which a program listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressPart {
    /// `host:port`
    Whole,
    Host,
    Port,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabasePart {
    /// URL without the password.
    Url,
    Host,
    Port,
    Name,
    User,
    Password,
}

/// Name that belongs to one of pgdyno's namespaces, but is not a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownVariable(pub String);

/// Variable in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableUse {
    /// Byte range in the text, `${` and `}` included.
    pub at: Range<usize>,
    pub variable: Result<ServiceVariable, UnknownVariable>,
}

/// Part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceText<'a> {
    Plain(&'a str),
    Variable(VariableUse),
}

impl AddressPart {
    pub const ALL: [AddressPart; 3] = [AddressPart::Whole, AddressPart::Host, AddressPart::Port];

    pub fn key(self) -> &'static str {
        match self {
            AddressPart::Whole => "address",
            AddressPart::Host => "host",
            AddressPart::Port => "port",
        }
    }
}

impl DatabasePart {
    pub const ALL: [DatabasePart; 6] = [
        DatabasePart::Url,
        DatabasePart::Host,
        DatabasePart::Port,
        DatabasePart::Name,
        DatabasePart::User,
        DatabasePart::Password,
    ];

    pub fn key(self) -> &'static str {
        match self {
            DatabasePart::Url => "url",
            DatabasePart::Host => "host",
            DatabasePart::Port => "port",
            DatabasePart::Name => "name",
            DatabasePart::User => "user",
            DatabasePart::Password => "password",
        }
    }
}

impl ServiceVariable {
    /// Namespaces of the database. No program has these names.
    pub const DATABASES: [&str; 2] = ["database", "read_database"];

    /// All variables of a service with these programs.
    pub fn all(programs: &[&str]) -> Vec<ServiceVariable> {
        let own = AddressPart::ALL.map(|it| ServiceVariable::Address(None, it));
        let of_program = |name: &&str| {
            AddressPart::ALL.map(|part| ServiceVariable::Address(Some((*name).to_owned()), part))
        };
        let database =
            |read_only| DatabasePart::ALL.map(|part| ServiceVariable::Database { read_only, part });
        own.into_iter()
            .chain([ServiceVariable::Directory, ServiceVariable::Copy])
            .chain(programs.iter().flat_map(of_program))
            .chain([false, true].into_iter().flat_map(database))
            .collect()
    }

    /// True for the password of the database.
    pub fn is_secret(&self) -> bool {
        matches!(self, ServiceVariable::Database { part: DatabasePart::Password, .. })
    }

    /// Meaning of a name; `None` if the name belongs to the program.
    fn parse(name: &str, programs: &[&str]) -> Option<Result<ServiceVariable, UnknownVariable>> {
        let known = ServiceVariable::all(programs).into_iter().find(|it| it.name() == name);
        if known.is_some() {
            return known.map(Ok);
        }
        let (namespace, key) = name.split_once('.')?;
        let is_own = Self::DATABASES.contains(&namespace)
            || programs.contains(&namespace)
            || !programs.is_empty() && AddressPart::ALL.iter().any(|part| part.key() == key);
        is_own.then(|| Err(UnknownVariable(name.to_owned())))
    }

    /// Name without `${` and `}`.
    pub fn name(&self) -> String {
        match self {
            ServiceVariable::Address(None, part) => part.key().to_owned(),
            ServiceVariable::Address(Some(program), part) => format!("{program}.{}", part.key()),
            ServiceVariable::Directory => "dir".to_owned(),
            ServiceVariable::Copy => "copy".to_owned(),
            ServiceVariable::Database { read_only, part } => {
                format!("{}.{}", Self::DATABASES[usize::from(*read_only)], part.key())
            }
        }
    }
}

/// Formats the variable as in a text: `${dir}`.
impl fmt::Display for ServiceVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${{{}}}", self.name())
    }
}

/// Splits a text of a service at its variables.
pub fn service_text<'a>(text: &'a str, programs: &[&str]) -> Vec<ServiceText<'a>> {
    let mut pieces = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(found) = text[at..].find('$') {
        let begin = at + found;
        if text[begin..].starts_with("$${") {
            pieces.push(ServiceText::Plain(&text[plain..begin]));
            // The text continues after the first dollar sign.
            (plain, at) = (begin + 1, begin + 3);
            continue;
        }
        at = begin + 1;
        let name = text[at..].strip_prefix('{').and_then(|it| it.split_once('}')).map(|it| it.0);
        let Some((name, variable)) = name.and_then(|it| Some((it, ServiceVariable::parse(it, programs)?)))
        else {
            continue;
        };
        let end = begin + name.len() + 3;
        pieces.push(ServiceText::Plain(&text[plain..begin]));
        pieces.push(ServiceText::Variable(VariableUse { at: begin..end, variable }));
        (plain, at) = (end, end);
    }
    pieces.push(ServiceText::Plain(&text[plain..]));
    pieces.retain(|it| *it != ServiceText::Plain(""));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_names_of_own_namespaces() {
        let check = |text: &str, programs: &[&str], expected: &str| {
            let describe = |piece: &ServiceText<'_>| match piece {
                ServiceText::Plain(it) => format!("[{it}]"),
                ServiceText::Variable(VariableUse { at, variable: Ok(variable) }) => {
                    assert_eq!(text[at.clone()], variable.to_string());
                    format!("<{}>", variable.name())
                }
                ServiceText::Variable(VariableUse { variable: Err(it), .. }) => format!("?{}?", it.0),
            };
            let pieces = service_text(text, programs);
            assert_eq!(pieces.iter().map(describe).collect::<String>(), expected, "{text}");
        };
        let web = &["fpm", "web"][..];
        check("listen ${address};", web, "[listen ]<address>[;]");
        check("${dir}/${copy}", &[], "<dir>[/]<copy>");
        check("$uri ${uri} ${args.x} $", web, "[$uri ${uri} ${args.x} $]");
        check("${database.password}${read_database.url}", &[], "<database.password><read_database.url>");
        check("${database.pasword}", &[], "?database.pasword?");
        check("${fpm.port} ${fpm.prot} ${fmp.port}", web, "<fpm.port>[ ]?fpm.prot?[ ]?fmp.port?");
        // Without programs, such names belong to the program itself, such as those of Spring.
        check("${server.port} ${server.port:80}", &[], "[${server.port} ${server.port:80}]");
        check("$${port} $$${port} $$ ${", web, "[${port} $][${port} $$ ${]");
        check("${port ${port}", &[], "[${port ]<port>");
        check("", &[], "");
    }
}
