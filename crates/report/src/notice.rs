//! Short messages of the web server as plain HTML, without a script

use crate::html::escape;
use crate::lang::Lang;
use crate::say;

/// Renders a sentence and a link back.
pub fn notice(sentence: &str, lang: &Lang) -> String {
    let body = format!("<p>{}</p><p><a href=/>{}</a></p>", escape(sentence), say!(lang, "bar-all_runs"));
    frame(&body, lang)
}

/// Renders the login form. `wrong` is true if the previous token was wrong.
pub fn login(wrong: bool, lang: &Lang) -> String {
    let wrong = match wrong {
        true => format!("<p class=bad role=alert>{}</p>", say!(lang, "serve-wrong-token")),
        false => String::new(),
    };
    let body = format!(
        "<p>{}</p>{wrong}<form method=post action=/login><label>{} <input name=token type=password \
         autocomplete=current-password autofocus required></label> <button>{}</button></form>",
        say!(lang, "serve-wants-token"),
        say!(lang, "serve-token"),
        say!(lang, "serve-log-in")
    );
    frame(&body, lang)
}

fn frame(body: &str, lang: &Lang) -> String {
    let code = lang.code();
    format!(
        "<!doctype html>\n<html lang={code}>\n<head>\n<meta charset=utf-8>\n<meta name=viewport \
         content=\"width=device-width, initial-scale=1\">\n<link rel=icon href=\"data:,\">\n<title>pgdyno</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>pgdyno</h1>\n{body}\n</body>\n</html>\n"
    )
}

/// Style sheet of these pages. Their content security policy must allow it.
pub const STYLE: &str = "
:root { color-scheme: light dark }
body { margin: 0 auto; max-width: 40rem; padding: 2rem 1rem; font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: 1.25rem }
p { overflow-wrap: anywhere }
.bad { color: light-dark(#b3261e, #ff7b72) }
input, button { font: inherit; padding: .25rem .75rem }
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{english, russian};

    #[test]
    fn escapes_foreign_text() {
        let page = notice("</p><script>alert(1)</script>&amp;", russian());
        assert!(page.contains("<p>&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;</p>"), "{page}");
        assert!(page.contains("Все прогоны"));
    }

    #[test]
    fn login_page_reports_a_wrong_token() {
        for (wrong, expected) in [(false, false), (true, true)] {
            let page = login(wrong, english());
            assert_eq!(page.contains("not this server's token"), expected);
            assert!(page.contains("action=/login") && page.contains("name=token type=password"), "{page}");
        }
    }
}
