//! How do the list of runs and its notices look in a browser?
//!
//! Plain HTML without a script: it is filtered, compared and stopped by forms.

use crate::lang::Lang;
use crate::lang::serve::Shown;
use model::account::RunState;
use std::fmt::Write as _;

/// One run's line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Of foreign origin: a file may be called anything.
    pub name: String,
    /// As it stands in a URL.
    pub encoded: String,
    /// As in `2026-11-21 11:53:31`; empty where it is not known.
    pub begun: String,
    /// Why it cannot be read, otherwise.
    pub content: Result<Content, String>,
    /// As in `1.5 MiB`.
    pub size: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    pub state: RunState,
    /// That have begun.
    pub trials: usize,
}

/// The list.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    pub lines: &'a [Line],
    /// Only runs are shown whose name contains it.
    pub filter: &'a str,
    /// What a form sends along, to show that it is ours.
    pub form: &'a str,
}

/// All there is to see. The policy that goes with it allows [`STYLE`] and nothing else.
pub fn html(it: &Listing<'_>, lang: &dyn Lang) -> String {
    let shown: Vec<&Line> = it.lines.iter().filter(|line| line.name.contains(it.filter)).collect();
    let mut body = String::new();
    let _ = write!(
        body,
        "<form class=filter><label>{} <input name=filter type=search value=\"{}\"></label> \
         <button>{}</button> <span>{}</span></form>",
        lang.serve(Shown::NameContains),
        escaped(it.filter),
        lang.serve(Shown::Filter),
        lang.runs(shown.len(), it.lines.len()),
    );
    if shown.is_empty() {
        let why = if it.lines.is_empty() { Shown::NoRuns } else { Shown::NoneFits };
        let _ = write!(body, "<p>{}</p>", lang.serve(why));
    } else {
        let heads =
            [Shown::Name, Shown::Begun, Shown::State, Shown::Trials, Shown::Size, Shown::Base, Shown::Others];
        let heads: String = heads.map(|it| format!("<th scope=col>{}", lang.serve(it))).concat();
        let rows: String = shown.iter().enumerate().map(|(n, line)| row(n, line, it.form, lang)).collect();
        // Its fields stand in the table, beside forms of other kinds, which may not be inside of it.
        let _ = write!(
            body,
            "<form id=compare action=/compare></form><div class=wide><table><thead><tr>{heads}</thead>\
             <tbody>{rows}</tbody></table></div>\
             <p class=end><button form=compare>{}</button></p>",
            lang.serve(Shown::Compare),
        );
    }
    frame(lang.serve(Shown::Runs), &body, lang)
}

fn row(number: usize, it: &Line, form: &str, lang: &dyn Lang) -> String {
    let (name, encoded) = (escaped(&it.name), &it.encoded);
    let mut row = String::from("<tr>");
    match &it.content {
        Ok(content) => {
            let class = match content.state {
                RunState::Running => "running",
                RunState::Complete => "good",
                RunState::Stopped | RunState::Interrupted => "doubt",
                RunState::Failed | RunState::Skipped | RunState::Lost => "bad",
            };
            let stop = match content.state {
                RunState::Running => stop(encoded, form, lang),
                _ => String::new(),
            };
            let _ = write!(
                row,
                "<th scope=row><a href=\"/runs/{encoded}\">{name}</a><td>{}<td class={class}>{}{stop}<td class=n>{}\
                 <td class=n>{}<td class=c><input type=radio form=compare name=base value=\"{name}\" aria-label=\"{base}: {name}\">\
                 <td class=c><input type=checkbox form=compare name=run value=\"{name}\" aria-label=\"{others}: {name}\">",
                escaped(&it.begun),
                lang.run_state(content.state),
                lang.number(&content.trials.to_string()),
                escaped(&it.size),
                base = lang.serve(Shown::Base),
                others = lang.serve(Shown::Others),
            );
        }
        Err(why) => {
            let _ = write!(
                row,
                "<th scope=row id=run-{number}>{name}<td><td colspan=2 class=bad>{}<td class=n>{}<td><td>",
                escaped(&lang.unreadable(why)),
                escaped(&it.size)
            );
        }
    }
    row
}

/// A button that asks once more.
fn stop(encoded: &str, form: &str, lang: &dyn Lang) -> String {
    format!(
        "<details><summary>{}</summary><form method=post action=\"/runs/{encoded}/stop\">\
         <input type=hidden name=form value=\"{}\"><button>{}</button></form></details>",
        lang.serve(Shown::Stop),
        escaped(form),
        lang.serve(Shown::StopNow)
    )
}

/// What stands above a run's own page: the way back, and what can be done with it.
pub fn bar(encoded: &str, running: bool, form: &str, lang: &dyn Lang) -> String {
    let stop = if running { stop(encoded, form, lang) } else { String::new() };
    format!(
        "<nav class=pgdyno-bar><a href=/>{}</a> <a href=\"/runs/{encoded}/report.html\">{}</a>{stop}</nav>",
        lang.serve(Shown::AllRuns),
        lang.serve(Shown::Save)
    )
}

/// A sentence, and the way back.
pub fn notice(sentence: &str, lang: &dyn Lang) -> String {
    let body = format!("<p>{}</p><p><a href=/>{}</a></p>", escaped(sentence), lang.serve(Shown::AllRuns));
    frame("pgdyno", &body, lang)
}

/// Who are you?
pub fn login(wrong: bool, lang: &dyn Lang) -> String {
    let wrong = match wrong {
        true => format!("<p class=bad role=alert>{}</p>", lang.serve(Shown::WrongToken)),
        false => String::new(),
    };
    let body = format!(
        "<p>{}</p>{wrong}<form method=post action=/login><label>{} <input name=token type=password \
         autocomplete=current-password autofocus required></label> <button>{}</button></form>",
        lang.serve(Shown::WantsToken),
        lang.serve(Shown::Token),
        lang.serve(Shown::LogIn)
    );
    frame("pgdyno", &body, lang)
}

fn frame(title: &str, body: &str, lang: &dyn Lang) -> String {
    let code = lang.code();
    let title = escaped(title);
    format!(
        "<!doctype html><html lang={code}><head><meta charset=utf-8><meta name=viewport \
         content=\"width=device-width, initial-scale=1\"><title>{title} · pgdyno</title>\
         <style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )
}

/// The whole style of these pages.
pub const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --faint: #57606a; --line: #d0d7de; --good: #1a7f37; \
--doubt: #8a5a00; --bad: #b3261e; --link: #0550ae }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --faint: #9aa4af; --line: #30363d; \
--good: #3fb950; --doubt: #d29922; --bad: #ff7b72; --link: #79b8ff } }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 3rem; font: 16px/1.5 system-ui, sans-serif; \
color: var(--ink); background: var(--paper) }
h1 { font-size: 1.5rem; margin: 0 0 1rem }
a { color: var(--link) }
form { margin: 0 }
.filter { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: 1rem }
.filter span { color: var(--faint) }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; \
font-weight: normal }
thead th { color: var(--faint); font-size: .875rem; white-space: nowrap }
tbody th { overflow-wrap: anywhere; min-width: 14rem }
td { white-space: nowrap }
.n { text-align: right }
.c { text-align: center }
.end { text-align: right }
.good { color: var(--good) }
.doubt { color: var(--doubt) }
.bad { color: var(--bad); white-space: normal }
.running { font-weight: 600 }
.running::before { content: '● '; color: var(--good) }
details { display: inline-block; font-weight: normal; margin-left: .5rem }
summary { cursor: pointer; color: var(--link) }
input, button { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); \
border-radius: .375rem; padding: .25rem .75rem }
input[type=radio], input[type=checkbox] { width: 1.25rem; height: 1.25rem; padding: 0 }
button { cursor: pointer; border-color: var(--faint) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
";

/// Text that stays text wherever it stands, also between double quotes.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            // They would turn the text around them.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.push('\u{fffd}'),
            it if it.is_control() => safe.push('\u{fffd}'),
            it => safe.push(it),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{En, Ru};

    fn line(name: &str, content: Result<Content, &str>) -> Line {
        Line {
            name: name.to_owned(),
            encoded: "x".to_owned(),
            begun: "2026-11-21 11:53:31".to_owned(),
            content: content.map_err(str::to_owned),
            size: "1.5 MiB".to_owned(),
        }
    }

    #[test]
    fn only_what_runs_can_be_stopped() {
        for (state, expected) in
            [(RunState::Running, true), (RunState::Complete, false), (RunState::Lost, false)]
        {
            let lines = [line("a", Ok(Content { state, trials: 3 }))];
            let text = html(&Listing { lines: &lines, filter: "", form: "f0" }, &En);
            assert_eq!(text.contains("action=\"/runs/x/stop\""), expected, "{state:?}");
            assert_eq!(text.contains("value=\"f0\""), expected, "{state:?}");
            assert_eq!(bar("x", state == RunState::Running, "f0", &En).contains("/stop"), expected);
        }
    }

    #[test]
    fn lists_are_filtered() {
        let done = Ok(Content { state: RunState::Complete, trials: 3 });
        let lines = [line("pool-1", done), line("pool-2", done), line("other", Err("is damaged"))];
        for (filter, lang, expected, absent) in [
            ("", &En as &dyn Lang, "3 runs", "\0"),
            ("pool", &En, "2 of 3 runs", "other<"),
            ("none", &En, "No run has a name", "<table"),
            ("", &Ru, "3 прогона", "\0"),
            ("pool", &Ru, "2 из 3 прогонов", "other<"),
            ("\"><b>", &En, "&quot;&gt;&lt;b&gt;", "<b>"),
        ] {
            let text = html(&Listing { lines: &lines, filter, form: "" }, lang);
            assert!(text.contains(expected) && !text.contains(absent), "{filter}: {text}");
        }
    }

    #[test]
    fn hostile_names_are_text() {
        let name = "</th><script>alert(1)</script>\" onfocus='x' \u{202e}\x1b[31m&amp;";
        let lines = [line(name, Ok(Content { state: RunState::Running, trials: 1 })), line(name, Err(name))];
        let list = html(&Listing { lines: &lines, filter: "", form: "" }, &En);
        for text in [list, notice(name, &Ru)] {
            for it in ["<script", "\" on", "' on", "\u{202e}", "\x1b"] {
                assert!(!text.contains(it), "{it:?} in {text}");
            }
            assert!(
                text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onfocus=&#39;x&#39;"),
                "{text}"
            );
            assert!(text.contains("&amp;amp;"));
        }
    }
}
