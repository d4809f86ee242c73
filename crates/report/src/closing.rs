//! Last lines of a command: the answer, the verdict with its doubts, and the next commands

use crate::findings::paragraph;
use crate::lang::Lang;
use crate::page;
use crate::say;
use crate::style::TerminalStyle;
use crate::text::to_characters;
use model::run_result::RunResult;

/// Maximum width in columns; longer lines of prose are hard to read.
const WIDTH: usize = 80;
/// Maximum width of a command, in columns. If a command is wider, no purposes are printed.
const COMMAND_MAX: usize = 44;

/// Contents of the last lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// The answer in one or more lines.
    pub answer: Vec<String>,
    /// Verdict on the trials; `None` if nothing was measured.
    pub verdict: Option<String>,
    pub doubts: Vec<String>,
    pub next: Vec<NextCommand>,
}

/// Shell command that the user may run next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextCommand {
    pub command: String,
    pub purpose: String,
}

/// Last lines of a run: the answer, verdict and doubts of its first screen.
pub fn for_run(account: &RunResult, next: Vec<NextCommand>, lang: &Lang) -> Closing {
    let page::ShortAnswer { answer, verdict, doubts } = page::short_answer(account, lang);
    let verdict = verdict.map(|(verdict, trials)| say!(lang, "closing-verdict", verdict, trials));
    Closing { answer, verdict, doubts, next }
}

/// Renders the lines, with an empty line before them.
pub fn render(closing: &Closing, style: TerminalStyle, lang: &Lang) -> String {
    let Closing { answer, verdict, doubts, next } = closing;
    let width = style.width.min(WIDTH);
    let text = |begin: &str, text: &str| paragraph(begin, &to_characters(text, style.characters), width);
    let mut out = String::from("\n");
    for line in answer {
        out += &match style.colour {
            true => format!("\u{1b}[1m{}\u{1b}[0m\n", text("", line).trim_end()),
            false => text("", line),
        };
    }
    out.extend(verdict.iter().map(|it| text("", it)));
    out.extend(doubts.iter().map(|it| text("- ", it)));
    if next.is_empty() {
        return out;
    }
    out += &format!("{}\n", say!(lang, "closing-next"));
    let column = next.iter().map(|it| it.command.chars().count()).max().unwrap_or(0);
    for NextCommand { command, purpose } in next {
        // A command is never wrapped, so that it can be copied.
        out += &match column <= COMMAND_MAX {
            true => paragraph(&format!("  {command:<column$}  "), purpose, width),
            false => format!("  {command}\n"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{english, russian};
    use expect_test::{Expect, expect};

    fn check(next: &[(&str, &str)], lang: &Lang, expected: &Expect) {
        let next = next.iter().map(|(command, purpose)| NextCommand {
            command: (*command).to_owned(),
            purpose: (*purpose).to_owned(),
        });
        let closing = Closing {
            answer: vec!["The system delivers 27\u{202f}460/s, with a p99 of 3.96 ms.".to_owned()],
            verdict: Some(say!(lang, "closing-verdict", verdict = "valid with doubts", trials = "1 of 1")),
            doubts: vec![
                "Thread 1 of the generator waited for a CPU 18 % of the time, and response times include this."
                    .to_owned(),
            ],
            next: next.collect(),
        };
        let text = render(&closing, TerminalStyle::default(), lang);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        expected.assert_eq(&text);
    }

    #[test]
    fn ends_with_the_next_commands() {
        let next = [("pgdyno report last", "the report"), ("pgdyno compare last~1 last", "the changes")];
        check(
            &next,
            english(),
            &expect![[r#"

            The system delivers 27 460/s, with a p99 of 3.96 ms.
            Verdict: valid with doubts (1 of 1)
            - Thread 1 of the generator waited for a CPU 18 % of the time, and response
              times include this.
            Next:
              pgdyno report last          the report
              pgdyno compare last~1 last  the changes
        "#]],
        );
        check(
            &next[..1],
            russian(),
            &expect![[r#"

            The system delivers 27 460/s, with a p99 of 3.96 ms.
            Оценка: valid with doubts (1 of 1)
            - Thread 1 of the generator waited for a CPU 18 % of the time, and response
              times include this.
            Дальше:
              pgdyno report last  the report
        "#]],
        );
        check(
            &[],
            english(),
            &expect![[r#"

            The system delivers 27 460/s, with a p99 of 3.96 ms.
            Verdict: valid with doubts (1 of 1)
            - Thread 1 of the generator waited for a CPU 18 % of the time, and response
              times include this.
        "#]],
        );
    }

    #[test]
    fn does_not_wrap_a_long_command() {
        let next = [("pgdyno report last --dir /var/lib/measurements/of/the/shop", "the report")];
        check(
            &next,
            english(),
            &expect![[r#"

            The system delivers 27 460/s, with a p99 of 3.96 ms.
            Verdict: valid with doubts (1 of 1)
            - Thread 1 of the generator waited for a CPU 18 % of the time, and response
              times include this.
            Next:
              pgdyno report last --dir /var/lib/measurements/of/the/shop
        "#]],
        );
    }
}
