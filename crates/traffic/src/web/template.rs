//! Texts with variables

use model::percent_encode;

/// Text of a request with variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece {
    Plain(String),
    /// Captured or computed variable.
    Variable(String),
    /// Environment variable.
    Secret(String),
}

impl Template {
    pub fn plain(text: impl Into<String>) -> Template {
        let mut template = Template::default();
        template.push(Piece::Plain(text.into()));
        template
    }

    pub fn push(&mut self, piece: Piece) {
        match (self.0.last_mut(), piece) {
            (_, Piece::Plain(text)) if text.is_empty() => {}
            (Some(Piece::Plain(last)), Piece::Plain(text)) => last.push_str(&text),
            (_, piece) => self.0.push(piece),
        }
    }

    pub fn append(&mut self, other: Template) {
        other.0.into_iter().for_each(|piece| self.push(piece));
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// True if the text has no variables.
    pub fn is_plain(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Plain(_)))
    }

    /// Copy in which the text between variables is percent-encoded.
    pub fn encoded(self) -> Template {
        self.map(percent_encode)
    }

    /// Copy with `change` applied to the text between variables.
    pub fn map(self, change: impl Fn(&str) -> String) -> Template {
        let mut template = Template::default();
        for piece in self.0 {
            template.push(match piece {
                Piece::Plain(text) => Piece::Plain(change(&text)),
                piece => piece,
            });
        }
        template
    }

    /// Text as the experiment file contains it.
    pub fn text(&self) -> String {
        self.0.iter().map(Piece::text).collect()
    }
}

impl Piece {
    fn text(&self) -> String {
        match self {
            Piece::Plain(text) => text.replace('$', "$$"),
            Piece::Variable(name) => format!("${{{name}}}"),
            Piece::Secret(name) => format!("${{env:{name}}}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_dollar_signs() {
        let mut template = Template::plain("$5 ");
        template.push(Piece::Variable("a".to_owned()));
        template.push(Piece::Secret("B".to_owned()));
        template.push(Piece::Plain(String::new()));
        template.push(Piece::Plain("${".to_owned()));
        assert_eq!(template.text(), "$$5 ${a}${env:B}$${");
        assert_eq!(template.encoded().text(), "%245%20${a}${env:B}%24%7B");
        assert!(Template::plain("a").is_plain() && Template::default().is_plain());
    }
}
