//! What stands on a terminal after all that was written to it.

use super::*;
use model::Nanos;
use report::lang::En;
use report::live::{Doing, Way};

fn canvas(moves: bool) -> Canvas {
    let style = Style { characters: Characters::Utf8, colour: true };
    Canvas { moves, style, lang: &En, drawn: Vec::new(), told: Duration::ZERO }
}

fn live(doing: Doing) -> Live {
    Live {
        trial: 1,
        cell: "transaction, 125 of many".to_owned(),
        way: Some(Way { trials: 2, over: 0.5, left: Nanos::from_secs(9) }),
        doing,
        second: None,
        rates: Vec::new(),
        medians: Vec::new(),
        p99s: Vec::new(),
        quotas: Vec::new(),
        events: Vec::new(),
    }
}

/// A terminal that knows what we use of one, and breaks lines anew when it becomes narrower.
struct Terminal {
    size: Size,
    /// Everything above and on the screen.
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Terminal {
    fn new(size: Size, before: &str) -> Terminal {
        let mut it = Terminal { size, rows: vec![Vec::new()], row: 0, column: 0 };
        it.write(before);
        it
    }

    fn write(&mut self, text: &str) {
        let mut left = text.chars().peekable();
        while let Some(it) = left.next() {
            match it {
                '\r' => self.column = 0,
                '\n' => self.down(),
                '\x1b' => {
                    assert_eq!(left.next(), Some('['), "{text:?}");
                    let mut code = String::new();
                    while let Some(digit) = left.next_if(|it| !it.is_ascii_alphabetic()) {
                        code.push(digit);
                    }
                    self.obey(left.next().expect("a letter ends it"), &code);
                }
                it => {
                    if self.column == self.size.columns {
                        self.down();
                        self.column = 0;
                    }
                    let row = &mut self.rows[self.row];
                    row.resize(row.len().max(self.column + 1), ' ');
                    row[self.column] = it;
                    self.column += 1;
                }
            }
        }
    }

    fn obey(&mut self, letter: char, code: &str) {
        match (letter, code) {
            ('A', n) => {
                let top = self.rows.len().saturating_sub(self.size.rows);
                self.row = (self.row - n.parse::<usize>().expect("a number")).max(top);
            }
            ('K', "") => self.rows[self.row].truncate(self.column),
            ('J', "") => {
                self.rows[self.row].truncate(self.column);
                self.rows.truncate(self.row + 1);
            }
            ('m', _) => {}
            other => panic!("{other:?}"),
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }

    fn narrow(&mut self, columns: usize) {
        self.size.columns = columns;
        let broken = |it: &Vec<char>| match it.is_empty() {
            true => vec![Vec::new()],
            false => it.chunks(columns).map(<[char]>::to_vec).collect(),
        };
        self.rows = self.rows.iter().flat_map(broken).collect();
        self.row = self.rows.len() - 1;
    }

    fn text(&self) -> String {
        self.rows.iter().map(|it| it.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
    }
}

#[test]
fn a_frame_is_drawn_over_the_last_one() {
    let size = Size { columns: 44, rows: 24 };
    let mut canvas = canvas(true);
    let mut terminal = Terminal::new(size, "$ pgdyno run\r\n");
    let mut check = |lines: &[&str], live: Option<Live>, size: Size, expected: &str| {
        let lines: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
        if terminal.size != size {
            terminal.narrow(size.columns);
        }
        terminal.write(&canvas.update(Duration::ZERO, &lines, live.as_ref(), size));
        let shown = terminal.text();
        assert!(shown == expected, "\n{shown}");
        assert_eq!(
            (terminal.row, terminal.column),
            (terminal.rows.len() - 1, 0),
            "the cursor has a row for itself"
        );
        canvas.update(Duration::ZERO, &[], live.as_ref(), size)
    };
    let again = check(
        &["2 trials"],
        Some(live(Doing::SettingUp)),
        size,
        "\
$ pgdyno run
2 trials
███████████░░░░░░░░░░░  1/2  about 9 s left
transaction, 125 of many: setting up

",
    );
    assert_eq!(again, "", "nothing is written where nothing is new");
    check(
        &["a line that takes more than one row of this terminal"],
        Some(live(Doing::Keys)),
        size,
        "\
$ pgdyno run
2 trials
a line that takes more than one row of this
terminal
███████████░░░░░░░░░░░  1/2  about 9 s left
transaction, 125 of many: building keys

",
    );
    // The terminal itself breaks what stands there; what we have drawn is drawn anew.
    check(
        &[],
        Some(live(Doing::Keys)),
        Size { columns: 30, rows: 24 },
        "\
$ pgdyno run
2 trials
a line that takes more than on
e row of this
terminal
████░░░░  1/2  about 9 s left
transaction, 125 of many: bu…

",
    );
    check(
        &["1/2  done"],
        None,
        Size { columns: 30, rows: 24 },
        "\
$ pgdyno run
2 trials
a line that takes more than on
e row of this
terminal
1/2  done

",
    );
}

/// In a low terminal the upper part may have left the screen.
#[test]
fn what_has_left_the_screen_is_not_drawn_over() {
    let size = Size { columns: 44, rows: 4 };
    let (mut canvas, mut terminal) = (canvas(true), Terminal::new(size, "a\r\nb\r\nc\r\nd\r\n"));
    for doing in [Doing::SettingUp, Doing::Keys] {
        terminal.write(&canvas.update(Duration::ZERO, &[], Some(&live(doing)), size));
    }
    let expected = "\
a
b
c
d
███████████░░░░░░░░░░░  1/2  about 9 s left
transaction, 125 of many: building keys

";
    assert_eq!(terminal.text(), expected);
}

#[test]
fn a_log_gets_a_line_every_ten_seconds() {
    let mut canvas = canvas(false);
    let size = Size { columns: 80, rows: 24 };
    let (doing, done) = (live(Doing::SettingUp), "1/2  done".to_owned());
    let line = "1/2  transaction, 125 of many: setting up; about 9 s left\n";
    for (second, lines, live, expected) in [
        (0, vec![], Some(&doing), ""),
        (9, vec![], Some(&doing), ""),
        (10, vec![], Some(&doing), line),
        (11, vec![], Some(&doing), ""),
        (19, vec![done], Some(&doing), "1/2  done\n"),
        (28, vec![], Some(&doing), ""),
        (29, vec![], None, ""),
        (30, vec![], Some(&doing), line),
    ] {
        assert_eq!(
            canvas.update(Duration::from_secs(second), &lines, live, size),
            expected,
            "second {second}"
        );
    }
}

#[test]
fn what_nobody_reads_is_counted() {
    let mut desk = Desk::default();
    (0..LINES + 7).for_each(|it| desk.whole(it.to_string()));
    assert_eq!((desk.lines.len(), desk.lost, desk.lines.back().map(String::as_str)), (LINES, 7, Some("999")));
}
