//! How are findings told in a terminal?

use crate::lang::Lang;
use crate::matrix::names;
use model::finding::Finding;
use model::matrix::Matrix;

/// One paragraph each, not wider than `width` columns; empty without findings.
pub fn text(findings: &[Finding], matrix: &Matrix, width: usize, lang: &dyn Lang) -> String {
    let names = names(matrix);
    findings.iter().map(|it| paragraph("- ", &lang.finding(it, &names), width)).collect()
}

/// Lines of at most `width` columns, the first after `begin`, the others below it. A longer word has a line of its own.
pub(crate) fn paragraph(begin: &str, text: &str, width: usize) -> String {
    let margin = begin.chars().count();
    let mut out = begin.to_owned();
    let mut column = margin;
    for (number, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if number > 0 && column + 1 + length > width {
            out += &format!("\n{:margin$}", "");
            column = margin;
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out + "\n"
}
