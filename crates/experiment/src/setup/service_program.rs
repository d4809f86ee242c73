//! Programs and files of a service, and the variables in their texts.

use super::SetupBuilder;
use super::stack::words;
use crate::GrammarDiagnostic;
use crate::datum::OrderedMap;
use crate::diagnostic::{Diagnostic, Source, Span, any_of, quote};
use crate::file;
use crate::path;
use crate::tree::{self, Value};
use crate::unit::Word;
use model::message;
use model::message::Message;
use model::plan::{
    AddressPart, Node, NodeKind, ProgramReadiness, ProgramScope, Service, ServiceFile, ServiceProgram,
    ServiceText, ServiceVariable, StatsAddress, VariableUse, service_text,
};
use std::path::{Component, Path};

const PROGRAMS: &str = "stack.service.programs";

/// Values that the variables of a text may have.
#[derive(Clone, Copy, Debug)]
struct Scope<'a> {
    programs: &'a [ServiceProgram],
    has_database: bool,
    has_read_database: bool,
    /// True if every user of the machine can read the text.
    is_public: bool,
    /// True if the text belongs to a program that runs once per stack.
    is_shared: bool,
}

pub(super) fn scope(source: file::ProgramScope) -> ProgramScope {
    match source {
        file::ProgramScope::Copy => ProgramScope::Copy,
        file::ProgramScope::Stack => ProgramScope::Stack,
    }
}

impl SetupBuilder<'_> {
    /// Programs of a service in the order of the file.
    pub(super) fn programs(
        &mut self,
        source: OrderedMap<file::Program>,
        common_files: &[ServiceFile],
        common_env: &OrderedMap<Word>,
    ) -> Vec<ServiceProgram> {
        let mut programs = Vec::new();
        for (name, source) in source.0 {
            let path = format!("{PROGRAMS}.{name}");
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
            if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_plain) {
                self.report_key(PROGRAMS, &name, message!("experiment-program-name", name = quote(&name)));
            } else if ServiceVariable::DATABASES.contains(&name.as_str()) {
                self.report_key(
                    PROGRAMS,
                    &name,
                    message!("experiment-program-reserved", name = quote(&name)),
                );
            }
            if source.command.is_empty() {
                self.report(&format!("{path}.command"), message!("experiment-program-command", name = &name));
            }
            self.check_env(&format!("{path}.env"), &source.env);
            let limits = self.limits(&format!("{path}.limits"), source.limits);
            let ready = source.ready.and_then(|text| self.readiness(&format!("{path}.ready"), &text));
            let scope = scope(source.per.unwrap_or(file::ProgramScope::Copy));
            let files = self.service_files(&format!("{path}.files"), source.files);
            let program = ServiceProgram {
                command: self.command(source.command),
                env: words(source.env),
                files,
                scope,
                ready: ready.clone().unwrap_or(ProgramReadiness::Running),
                limits,
                name,
            };
            programs.push((program, ready.is_some()));
        }
        let serving = programs.iter().rposition(|it| it.0.scope == ProgramScope::Copy);
        match serving {
            None if !programs.is_empty() => {
                self.report(PROGRAMS, message!("experiment-programs-none-serves"));
            }
            Some(serving) if programs[serving].1 => {
                let path = format!("{PROGRAMS}.{}.ready", programs[serving].0.name);
                let name = &programs[serving].0.name;
                self.report(&path, message!("experiment-program-ready-serving", name));
            }
            _ => {}
        }
        let all: Vec<ServiceProgram> = programs.iter().map(|it| it.0.clone()).collect();
        let common_texts = common_files.iter().map(|it| it.text.as_str());
        let common_texts: Vec<&str> =
            common_texts.chain(common_env.0.iter().map(|it| it.1.0.as_str())).collect();
        let with_default = |(program, is_given): (ServiceProgram, bool)| match is_given {
            true => program,
            false => ServiceProgram { ready: default_readiness(&program, &all, &common_texts), ..program },
        };
        programs.into_iter().map(with_default).collect()
    }

    /// Readiness of a program: a path, `port`, `running` or a socket in the program's directory.
    fn readiness(&mut self, path: &str, text: &str) -> Option<ProgramReadiness> {
        let socket = text.strip_prefix("${dir}/").filter(|it| is_inside(it));
        match (text, socket) {
            ("port", _) => Some(ProgramReadiness::Port),
            ("running", _) => Some(ProgramReadiness::Running),
            (_, Some(name)) => Some(ProgramReadiness::Socket(name.to_owned())),
            _ if text.starts_with('/') => {
                self.check_path(path, text, "/health");
                Some(ProgramReadiness::Path(text.to_owned()))
            }
            _ => {
                self.report(path, message!("experiment-program-ready", text = quote(text)));
                None
            }
        }
    }

    /// Files with the texts of their templates.
    pub(super) fn service_files(&mut self, path: &str, source: OrderedMap<String>) -> Vec<ServiceFile> {
        let folder = self.request.path.parent().unwrap_or("".as_ref());
        let mut files = Vec::new();
        for (name, template) in source.0 {
            if !is_inside(&name) {
                self.report_key(path, &name, message!("experiment-file-name", name = quote(&name)));
            }
            let origin = folder.join(&template);
            match (self.request.read)(&origin) {
                Ok(text) => files.push(ServiceFile { name, origin, text }),
                Err(error) => {
                    let (file, error) = (quote(&origin.display().to_string()), Message::from(&error));
                    let message = message!("experiment-template-file", file, error);
                    let at = self.entry(path, &name).map_or_else(|| self.span_of(path), |it| it.1);
                    self.diagnostics.push(Diagnostic::new(&at, message));
                }
            }
        }
        files
    }

    /// Checks the names of environment variables.
    pub(super) fn check_env(&mut self, path: &str, env: &OrderedMap<Word>) {
        for name in ["ADDRESS", "DATABASE_URL"] {
            if env.0.iter().any(|it| it.0 == name) {
                self.report(&format!("{path}.{name}"), message!("experiment-env-reserved", name));
            }
        }
        for (name, _) in env.0.iter().filter(|it| it.0.is_empty() || it.0.contains(['=', '\0'])) {
            let message = message!("experiment-env-name", name = quote(name));
            self.report(&format!("{path}.{name}"), message);
        }
    }

    /// Checks the variables in all texts of the stack's service, and that no file is written twice.
    pub(super) fn check_service_texts(&mut self, nodes: &[Node], has_replicas: bool) {
        let service = nodes.iter().enumerate().find_map(|(place, node)| match &node.kind {
            NodeKind::Service(service) if service.url.is_none() => Some((place, service)),
            _ => None,
        });
        let Some((place, service)) = service else { return };
        let is_balancer = |it: &Node| matches!(it.kind, NodeKind::Balancer(_));
        let scope = Scope {
            programs: &service.programs,
            has_database: nodes.len() > place + 1,
            has_read_database: has_replicas && nodes.get(place + 1).is_some_and(is_balancer),
            is_public: false,
            is_shared: false,
        };
        let path = "stack.service";
        self.check_words(&format!("{path}.command"), scope);
        self.check_entries(&format!("{path}.env"), scope);
        self.check_files(&service.files, scope);
        for program in &service.programs {
            let scope = Scope { is_shared: program.scope == ProgramScope::Stack, ..scope };
            let path = format!("{PROGRAMS}.{}", program.name);
            self.check_words(&format!("{path}.command"), scope);
            self.check_entries(&format!("{path}.env"), scope);
            self.check_files(&program.files, scope);
        }
        self.check_file_names(service);
        self.check_pages(service);
    }

    fn check_words(&mut self, path: &str, scope: Scope<'_>) {
        let Some(Value::List(items)) = path::node(self.tree, path).map(|it| &it.value) else { return };
        let texts: Vec<(Span, String)> = items.iter().filter_map(scalar).collect();
        for (span, text) in texts {
            self.check_text(&span, &text, Scope { is_public: true, ..scope });
        }
    }

    fn check_entries(&mut self, path: &str, scope: Scope<'_>) {
        let Some(Value::Map(entries)) = path::node(self.tree, path).map(|it| &it.value) else { return };
        let texts: Vec<(Span, String)> = entries.iter().filter_map(|it| scalar(&it.1)).collect();
        for (span, text) in texts {
            self.check_text(&span, &text, scope);
        }
    }

    fn check_files(&mut self, files: &[ServiceFile], scope: Scope<'_>) {
        for file in files {
            for (at, message) in errors(&file.text, scope) {
                let name = file.origin.display().to_string();
                let known = self.sources.iter().position(|it| it.name == name);
                let source = known.unwrap_or_else(|| {
                    self.sources.push(Source { name, text: file.text.clone() });
                    self.sources.len() - 1
                });
                self.diagnostics.push(Diagnostic::new(&Span { source, bytes: at }, message));
            }
        }
    }

    fn check_text(&mut self, span: &Span, text: &str, scope: Scope<'_>) {
        let errors = errors(text, scope).into_iter();
        let errors = errors.map(|(span, message)| GrammarDiagnostic { span, message });
        self.report_in_text(span, text, errors.collect());
    }

    /// Reports files that would be written to one place.
    fn check_file_names(&mut self, service: &Service) {
        let of_copy = service.programs.iter().filter(|it| it.scope == ProgramScope::Copy);
        let of_copy = of_copy.map(|it| (format!("{PROGRAMS}.{}.files", it.name), &it.files));
        let all = [("stack.service.files".to_owned(), &service.files)].into_iter().chain(of_copy);
        let all: Vec<(String, String)> = all
            .flat_map(|(path, files)| files.iter().map(move |file| (path.clone(), file.name.clone())))
            .collect();
        for (i, (path, name)) in all.iter().enumerate() {
            if all[..i].iter().any(|it| it.1 == *name) {
                self.report_key(path, name, message!("experiment-file-twice", name = quote(name)));
            }
        }
    }

    /// Checks the programs that pages describe, and the variables in their URLs.
    fn check_pages(&mut self, service: &Service) {
        for (i, page) in service.stats.iter().enumerate() {
            let path = match path::node(self.tree, "stack.service.stats").map(|it| &it.value) {
                Some(Value::List(_)) => format!("stack.service.stats[{i}]"),
                _ => "stack.service.stats".to_owned(),
            };
            let known = |name: &String| service.programs.iter().any(|program| program.name == *name);
            if let Some(name) = page.program.as_ref().filter(|it| !known(it)) {
                let programs = any_of(service.programs.iter().map(|it| it.name.clone()));
                let program = quote(name);
                let message = match programs.is_empty() {
                    true => message!("experiment-stats-no-programs", program),
                    false => message!("experiment-stats-program", program, programs),
                };
                self.report(&format!("{path}.program"), message);
            }
            if let StatsAddress::Url(url) = &page.address {
                let names: Vec<&str> = service.programs.iter().map(|it| it.name.as_str()).collect();
                for piece in service_text(url, &names) {
                    let ServiceText::Variable(used) = piece else { continue };
                    if !matches!(used.variable, Ok(ServiceVariable::Address(..))) {
                        let variables =
                            known_variables(&names, |it| matches!(it, ServiceVariable::Address(..)));
                        let message =
                            message!("experiment-service-variable", variable = &url[used.at], variables);
                        self.report(&format!("{path}.url"), message);
                    }
                }
            }
        }
    }

    /// Reports an error at the key of an entry. The key may contain dots.
    pub(super) fn report_key(&mut self, path: &str, key: &str, message: Message) {
        let at = self.entry(path, key).map_or_else(|| self.span_of(path), |it| it.0);
        self.diagnostics.push(Diagnostic::new(&at, message));
    }

    /// Places of the key and of the value of an entry.
    fn entry(&self, path: &str, key: &str) -> Option<(Span, Span)> {
        let (key, value) = path::node(self.tree, path)?.get(key)?;
        Some((key.span.clone(), value.span.clone()))
    }
}

/// Text of a scalar with its place.
fn scalar(node: &tree::Node) -> Option<(Span, String)> {
    match &node.value {
        Value::Scalar(text, _) => Some((node.span.clone(), text.clone())),
        _ => None,
    }
}

/// True for a path that leads to a file inside of a directory.
fn is_inside(name: &str) -> bool {
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_));
    !name.is_empty() && !name.ends_with('/') && Path::new(name).components().all(is_plain)
}

/// Readiness of a program without the key `ready`: its port, if a text mentions it. `common_texts` belong to all programs.
fn default_readiness(
    program: &ServiceProgram,
    all: &[ServiceProgram],
    common_texts: &[&str],
) -> ProgramReadiness {
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    let mentions = |text: &str, is_own: bool| {
        service_text(text, &names).iter().any(|piece| match piece {
            ServiceText::Variable(VariableUse {
                variable: Ok(ServiceVariable::Address(name, part)), ..
            }) => {
                let is_port = *part != AddressPart::Host;
                is_port && name.as_ref().map_or(is_own, |it| *it == program.name)
            }
            _ => false,
        })
    };
    let is_mentioned_by = |other: &ServiceProgram| {
        let env = other.env.iter().map(|it| it.1.as_str());
        let files = other.files.iter().map(|it| it.text.as_str());
        let mut texts = other.command.iter().map(String::as_str).chain(env).chain(files);
        texts.any(|it| mentions(it, other.name == program.name))
    };
    match common_texts.iter().any(|it| mentions(it, false)) || all.iter().any(is_mentioned_by) {
        true => ProgramReadiness::Port,
        false => ProgramReadiness::Running,
    }
}

/// Variables of these programs that `accept` accepts, as alternatives in a message.
fn known_variables(programs: &[&str], accept: impl Fn(&ServiceVariable) -> bool) -> Vec<Message> {
    any_of(ServiceVariable::all(programs).iter().filter(|it| accept(it)).map(ToString::to_string))
}

/// Errors in the variables of a text, with their places.
fn errors(text: &str, scope: Scope<'_>) -> Vec<(std::ops::Range<usize>, Message)> {
    let names: Vec<&str> = scope.programs.iter().map(|it| it.name.as_str()).collect();
    let is_copy = |name: &String| {
        scope.programs.iter().any(|program| program.name == *name && program.scope == ProgramScope::Copy)
    };
    let is_usable = |variable: &ServiceVariable| match variable {
        ServiceVariable::Address(Some(name), _) => !(scope.is_shared && is_copy(name)),
        ServiceVariable::Copy => !scope.is_shared,
        ServiceVariable::Database { read_only: true, .. } => scope.has_read_database,
        ServiceVariable::Database { read_only: false, .. } => scope.has_database,
        ServiceVariable::Address(None, _) | ServiceVariable::Directory => true,
    };
    let is_usable = |it: &ServiceVariable| is_usable(it) && !(scope.is_public && it.is_secret());
    let error = |piece: ServiceText<'_>| {
        let ServiceText::Variable(VariableUse { at, variable }) = piece else { return None };
        let used = &text[at.clone()];
        let message = match &variable {
            Ok(it) if is_usable(it) => return None,
            Ok(secret) if secret.is_secret() && scope.is_public => {
                message!("experiment-variable-secret", variable = used)
            }
            Ok(ServiceVariable::Database { read_only: true, .. }) => {
                message!("experiment-variable-no-replicas", variable = used)
            }
            Ok(ServiceVariable::Database { .. }) => {
                message!("experiment-variable-no-database", variable = used)
            }
            Ok(_) => message!("experiment-variable-of-copy", variable = used),
            Err(_) => {
                let variables = known_variables(&names, is_usable);
                message!("experiment-service-variable", variable = used, variables)
            }
        };
        Some((at, message))
    };
    service_text(text, &names).into_iter().filter_map(error).collect()
}
