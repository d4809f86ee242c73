//! Texts with variables

use model::percent_encode;

/// Text of a request with variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct RequestTemplate(Vec<TemplatePart>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TemplatePart {
    Plain(String),
    /// Captured or computed variable.
    Variable(String),
    /// Environment variable.
    Secret(String),
}

impl RequestTemplate {
    pub fn plain(text: impl Into<String>) -> RequestTemplate {
        let mut template = RequestTemplate::default();
        template.push(TemplatePart::Plain(text.into()));
        template
    }

    pub fn push(&mut self, piece: TemplatePart) {
        match (self.0.last_mut(), piece) {
            (_, TemplatePart::Plain(text)) if text.is_empty() => {}
            (Some(TemplatePart::Plain(last)), TemplatePart::Plain(text)) => last.push_str(&text),
            (_, piece) => self.0.push(piece),
        }
    }

    pub fn append(&mut self, other: RequestTemplate) {
        other.0.into_iter().for_each(|piece| self.push(piece));
    }

    pub fn pieces(&self) -> &[TemplatePart] {
        &self.0
    }

    /// True if the text has no variables.
    pub fn is_plain(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, TemplatePart::Plain(_)))
    }

    /// Copy in which the text between variables is percent-encoded.
    pub fn encoded(self) -> RequestTemplate {
        self.map(percent_encode)
    }

    /// Copy with `change` applied to the text between variables.
    pub fn map(self, change: impl Fn(&str) -> String) -> RequestTemplate {
        let mut template = RequestTemplate::default();
        for piece in self.0 {
            template.push(match piece {
                TemplatePart::Plain(text) => TemplatePart::Plain(change(&text)),
                piece => piece,
            });
        }
        template
    }

    /// Text as the experiment file contains it.
    pub fn text(&self) -> String {
        self.0.iter().map(TemplatePart::text).collect()
    }
}

impl TemplatePart {
    fn text(&self) -> String {
        match self {
            TemplatePart::Plain(text) => text.replace('$', "$$"),
            TemplatePart::Variable(name) => format!("${{{name}}}"),
            TemplatePart::Secret(name) => format!("${{env:{name}}}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_dollar_signs() {
        let mut template = RequestTemplate::plain("$5 ");
        template.push(TemplatePart::Variable("a".to_owned()));
        template.push(TemplatePart::Secret("B".to_owned()));
        template.push(TemplatePart::Plain(String::new()));
        template.push(TemplatePart::Plain("${".to_owned()));
        assert_eq!(template.text(), "$$5 ${a}${env:B}$${");
        assert_eq!(template.encoded().text(), "%245%20${a}${env:B}%24%7B");
        assert!(RequestTemplate::plain("a").is_plain() && RequestTemplate::default().is_plain());
    }
}
