//! Words of shell commands
//!
//! The quoting of bash, without expansions: `'…'`, `"…"`, `$'…'` and backslashes. A `#` at the beginning of a word begins
//! a comment; `;`, `&`, `|` and line ends end a command.

/// Command with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellCommand {
    /// Line on which the command begins, from 1.
    pub line: usize,
    pub words: Vec<String>,
    /// True if a quote is not closed.
    pub unclosed: bool,
}

/// Splits a text into commands.
pub(super) fn commands(text: &str) -> Vec<ShellCommand> {
    let mut reader = ShellReader { rest: text.chars().peekable(), line: 1, word: None, unclosed: false };
    let mut all = Vec::new();
    let mut current = ShellCommand { line: 1, words: Vec::new(), unclosed: false };
    loop {
        let line = reader.line;
        let (word, is_end) = reader.next_word();
        if let Some(word) = word {
            if current.words.is_empty() {
                current.line = line;
            }
            current.words.push(word);
        }
        let Some(at_end) = is_end else { continue };
        if !current.words.is_empty() {
            current.unclosed = reader.unclosed;
            all.push(std::mem::replace(
                &mut current,
                ShellCommand { line: 1, words: Vec::new(), unclosed: false },
            ));
        }
        if at_end {
            return all;
        }
    }
}

struct ShellReader<I: Iterator<Item = char>> {
    rest: std::iter::Peekable<I>,
    line: usize,
    word: Option<String>,
    unclosed: bool,
}

impl<I: Iterator<Item = char>> ShellReader<I> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next();
        if next == Some('\n') {
            self.line += 1;
        }
        next
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    /// Next word, and whether a command (`Some(false)`) or the text (`Some(true)`) ends behind it.
    fn next_word(&mut self) -> (Option<String>, Option<bool>) {
        loop {
            let Some(character) = self.next() else { return (self.word.take(), Some(true)) };
            match character {
                '\n' | ';' | '|' | '&' => return (self.word.take(), Some(false)),
                character if character.is_whitespace() => {
                    if self.word.is_some() {
                        return (self.word.take(), None);
                    }
                    // The line of the next word may be another one.
                    if self.rest.peek().is_none_or(|next| !next.is_whitespace()) {
                        return (None, None);
                    }
                }
                '#' if self.word.is_none() => {
                    while self.rest.peek().is_some_and(|next| *next != '\n') {
                        self.next();
                    }
                }
                '\\' => match self.next() {
                    Some('\n') => {}
                    // Files with the line ends of Windows.
                    Some('\r') if self.rest.peek() == Some(&'\n') => _ = self.next(),
                    Some(character) => self.push(character),
                    None => {}
                },
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '$' if self.rest.peek() == Some(&'\'') => {
                    self.next();
                    self.escaped();
                }
                character => self.push(character),
            }
        }
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                None => return self.unclosed = true,
                Some('\'') => return,
                Some(character) => self.push(character),
            }
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.next() {
                None => return self.unclosed = true,
                Some('"') => return,
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(character) if "\"\\$`!".contains(character) => self.push(character),
                    Some(character) => {
                        self.push('\\');
                        self.push(character);
                    }
                    None => {}
                },
                Some(character) => self.push(character),
            }
        }
    }

    /// Text in `$'…'`. Source: bash manual, section 3.1.2.4, "ANSI-C Quoting".
    fn escaped(&mut self) {
        self.word.get_or_insert_default();
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let Some(character) = self.next() else {
                self.unclosed = true;
                break;
            };
            let character = match character {
                '\'' => break,
                '\\' => match self.next().unwrap_or('\\') {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'e' | 'E' => '\u{1b}',
                    'f' => '\u{c}',
                    'v' => '\u{b}',
                    'x' => {
                        bytes.push(self.digits(16, 2) as u8);
                        continue;
                    }
                    'u' => char::from_u32(self.digits(16, 4)).unwrap_or('\u{fffd}'),
                    'U' => char::from_u32(self.digits(16, 8)).unwrap_or('\u{fffd}'),
                    digit @ '0'..='7' => {
                        let first = digit.to_digit(8).unwrap_or_default();
                        let mut value = first;
                        for _ in 0..2 {
                            let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(8)) else {
                                break;
                            };
                            value = value * 8 + digit;
                            self.next();
                        }
                        bytes.push(value as u8);
                        continue;
                    }
                    other => other,
                },
                character => character,
            };
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        let text = String::from_utf8_lossy(&bytes);
        self.word.get_or_insert_default().push_str(&text);
    }

    /// Value of up to `max` digits.
    fn digits(&mut self, radix: u32, max: usize) -> u32 {
        let mut value: u32 = 0;
        for _ in 0..max {
            let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.next();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(usize, &[&str])]) {
        let found = commands(text);
        let found: Vec<(usize, Vec<&str>)> = found
            .iter()
            .map(|command| (command.line, command.words.iter().map(String::as_str).collect()))
            .collect();
        let expected: Vec<(usize, Vec<&str>)> =
            expected.iter().map(|(line, words)| (*line, words.to_vec())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn splits_words() {
        check("a  'b c' \"d\\\"\\e\" f\\ g h'i'\"j\"", &[(1, &["a", "b c", "d\"\\e", "f g", "hij"])]);
        check("a '' b", &[(1, &["a", "", "b"])]);
        check("$'a\\'\\n\\x41\\u0436\\101\\q\\xd0\\xb6'$x", &[(1, &["a'\nAж\u{41}qж$x"])]);
        check("a \\\n  b \\\r\n c", &[(1, &["a", "b", "c"])]);
        check("'a\nb' c", &[(1, &["a\nb", "c"])]);
    }

    #[test]
    fn splits_commands() {
        check(
            "# x\na #b\n\n  c#d; e & f | g",
            &[(2, &["a"]), (4, &["c#d"]), (4, &["e"]), (4, &["f"]), (4, &["g"])],
        );
        check("", &[]);
        check("a \\", &[(1, &["a"])]);
    }

    #[test]
    fn notices_unclosed_quotes() {
        for text in ["a 'b", "a \"b", "a $'b", "a $'b\\"] {
            assert!(commands(text)[0].unclosed, "{text}");
        }
        assert!(!commands("a 'b'")[0].unclosed);
    }
}
