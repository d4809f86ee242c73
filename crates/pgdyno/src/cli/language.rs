//! Language of the output
//!
//! Results are in English unless `--lang` or PGDYNO_LANG selects another language. The locale is ignored, so that
//! programs, such as CI jobs, read the same output on every machine.

use super::{ArgumentError, CommandError};
use model::message;
use model::message::Message;
use report::lang::{self, Lang, english};
use std::sync::OnceLock;

/// Environment variable that selects the language.
pub const VARIABLE: &str = "PGDYNO_LANG";

static SELECTED: OnceLock<&Lang> = OnceLock::new();

/// Language of the process: the language that the first call of [`LanguageArgs::lang`] returned. Before this call, it
/// is the default language.
pub fn selected() -> &'static Lang {
    SELECTED.get().copied().unwrap_or_else(english)
}

/// The option of every command that prints text.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LanguageArgs {
    /// Language of the output, such as en [default: PGDYNO_LANG, else en]
    #[arg(long, value_name = "LANG", value_parser = find, global = true)]
    lang: Option<&'static Lang>,
}

impl LanguageArgs {
    /// Selected language. Fails if the environment variable has an unknown language.
    pub fn lang(self) -> Result<&'static Lang, CommandError> {
        let environment = std::env::var(VARIABLE).ok();
        let resolved = self.resolve(environment.as_deref());
        let lang = resolved.map_err(|it| CommandError::usage(format!("{VARIABLE}: {it}")))?;
        Ok(SELECTED.get_or_init(|| lang))
    }

    /// True if the command line selects the language.
    pub fn is_explicit(self) -> bool {
        self.lang.is_some()
    }

    /// Selected language. `environment` is the value of the variable; an empty value counts as unset.
    fn resolve(self, environment: Option<&str>) -> Result<&'static Lang, ArgumentError> {
        match (self.lang, environment) {
            (Some(lang), _) => Ok(lang),
            (None, None | Some("")) => Ok(english()),
            (None, Some(code)) => find(code),
        }
    }
}

/// Language with this code. The error lists the known codes.
pub fn find(code: &str) -> Result<&'static Lang, ArgumentError> {
    lang::find(code).ok_or_else(|| ArgumentError(unknown(code, None)))
}

/// Error for an unknown language code. `source` is the option or variable that contains the code.
pub fn unknown(code: &str, source: Option<&str>) -> Message {
    let codes = lang::all().iter().map(Lang::code).collect::<Vec<_>>().join(", ");
    message!("language-unknown", code, source, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_overrides_environment() {
        for (option, environment, expected) in [
            (None, None, Ok("en")),
            (None, Some(""), Ok("en")),
            (None, Some("ru"), Ok("ru")),
            (Some("en"), Some("ru"), Ok("en")),
            (Some("ru"), Some("de"), Ok("ru")),
            (None, Some("de"), Err("unknown language \"de\"; write one of en, ru".to_owned())),
        ] {
            let spoken = LanguageArgs { lang: option.map(|it| find(it).expect("rows have known ones")) };
            let resolved = spoken.resolve(environment).map(Lang::code).map_err(|error| error.to_string());
            assert_eq!(resolved, expected, "{option:?} {environment:?}");
        }
    }
}
