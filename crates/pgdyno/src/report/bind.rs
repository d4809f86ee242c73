//! Binds several runs into one document: HTML, PDF or DOCX

use super::{Args, ReportFormat, pdf};
use crate::check::{self, PlanError};
use crate::cli::{CommandError, Terminal};
use crate::diagnostics;
use crate::exit_status::ExitStatus;
use crate::terminal;
use crate::{run_name, run_result};
use clap::ValueEnum;
use model::message;
use model::plan::DocumentTexts;
use model::run_result::RunResult;
use report::bound::docx::to_docx;
use report::bound::html::{PageNumbers, to_html};
use report::bound::{bind, merge_texts};
use report::lang::{self, Lang};
use std::path::{Path, PathBuf};

/// Writes the document. A run that cannot be read is an error, because a document must not silently lack it.
pub(super) fn write(
    args: &Args,
    messages: &Terminal,
    lang: &'static Lang,
) -> Result<ExitStatus, CommandError> {
    let out = args.out.as_deref().ok_or_else(|| CommandError::usage(message!("bind-no-output")))?;
    let format = format(args.format, out)?;
    let paths: Vec<PathBuf> = args
        .runs
        .iter()
        .map(|run| run_name::find(&args.dir, run, messages, lang))
        .collect::<Result<_, _>>()?;
    let runs: Vec<RunResult> =
        paths.iter().map(|path| run_result::from_file(path)).collect::<Result<_, _>>()?;
    let texts = match &args.document {
        Some(file) => match texts_of(file, lang)? {
            Ok(texts) => texts,
            Err(status) => return Ok(status),
        },
        None => merge_texts(runs.iter()),
    };
    // The language of the command line precedes that of the document, which precedes that of the environment.
    let chosen = texts.language.as_deref().filter(|_| !args.language.is_explicit()).and_then(lang::find);
    let document = bind(&runs, &texts, chosen.unwrap_or(lang));
    let bytes = match format {
        DocumentFormat::Html if out.as_os_str() == "-" => {
            terminal::document(&to_html(&document, PageNumbers::None));
            return Ok(ExitStatus::Success);
        }
        DocumentFormat::Html => to_html(&document, PageNumbers::None).into_bytes(),
        DocumentFormat::Docx => to_docx(&document),
        DocumentFormat::Pdf => pdf::print(&document)?,
    };
    super::save(&bytes, Some(out), out, &paths, lang)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentFormat {
    Html,
    Pdf,
    Docx,
}

/// Format of the document: that of the option, or else that of the file's name.
fn format(option: Option<ReportFormat>, out: &Path) -> Result<DocumentFormat, CommandError> {
    let extension = || out.extension().map(|it| it.to_string_lossy().to_lowercase());
    let format = match (option, extension().as_deref()) {
        (Some(ReportFormat::Html), _) | (None, Some("html" | "htm")) => DocumentFormat::Html,
        (Some(ReportFormat::Pdf), _) | (None, Some("pdf")) => DocumentFormat::Pdf,
        (Some(ReportFormat::Docx), _) | (None, Some("docx")) => DocumentFormat::Docx,
        (Some(format), _) => return Err(CommandError::usage(message!("bind-format", format = name(format)))),
        (None, _) => {
            let path = out.display().to_string();
            return Err(CommandError::usage(message!("bind-extension", path)));
        }
    };
    match (format, option) {
        (DocumentFormat::Pdf | DocumentFormat::Docx, Some(option)) if out.as_os_str() == "-" => {
            Err(CommandError::usage(message!("bind-binary-output", format = name(option))))
        }
        _ => Ok(format),
    }
}

/// Name of a format on the command line.
pub(super) fn name(format: ReportFormat) -> String {
    format.to_possible_value().map_or(String::new(), |it| it.get_name().to_owned())
}

/// Texts of an experiment file, or the exit status after its diagnostics were printed.
fn texts_of(path: &Path, lang: &Lang) -> Result<Result<DocumentTexts, ExitStatus>, CommandError> {
    match check::read(path, &[], false) {
        Ok(plan) => match plan.experiment.document {
            Some(texts) => Ok(Ok(*texts)),
            None => {
                let path = path.display().to_string();
                Err(CommandError::usage(message!("bind-no-texts", path)))
            }
        },
        Err(PlanError::Invalid(all)) => {
            err!("{}", diagnostics::render(&all, diagnostics::use_colour(), lang));
            Ok(Err(ExitStatus::Incomplete))
        }
        Err(error @ PlanError::Unreadable { .. }) => Ok(Err(error.print("pgdyno report", lang))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_may_have_every_language() {
        for language in lang::all() {
            let text = format!(
                "stack: {{ postgres: {{}} }}\noperations: {{ a: {{ sql: SELECT 1 }} }}\n\
                 load: {{ model: closed, clients: 1, duration: 1s }}\ndocument: {{ language: {} }}\n",
                language.code()
            );
            let plan = check::plan(Path::new("a.yaml"), &text, &[], false);
            let plan = plan.unwrap_or_else(|error| panic!("{}: {error:?}", language.code()));
            let texts = plan.experiment.document.expect("a document");
            assert_eq!(texts.language.as_deref(), Some(language.code()));
        }
    }
}
