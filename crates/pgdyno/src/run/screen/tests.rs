//! Terminal contents after the screen's output

use super::*;
use model::Nanos;
use report::lang::english;
use report::live::{Activity, RunProgress};

fn canvas(moves: bool) -> Canvas {
    let style = LiveStyle { characters: CharacterSet::Utf8, colour: true };
    Canvas {
        has_cursor: moves,
        style,
        lang: english(),
        frame: Vec::new(),
        columns: None,
        last_line: Duration::ZERO,
    }
}

fn live(doing: Activity) -> LiveView {
    LiveView {
        trial: 1,
        cell: "transaction, 125 of many".to_owned(),
        progress: Some(RunProgress { trials: 2, elapsed_share: 0.5, remaining: Nanos::from_secs(9) }),
        search: None,
        objectives: Vec::new(),
        latency_objective: None,
        activity: doing,
        second: None,
        rates: Vec::new(),
        medians: Vec::new(),
        p99s: Vec::new(),
        quotas: Vec::new(),
        events: Vec::new(),
    }
}

/// Emulator of the terminal features that the screen uses. When it becomes narrower, it wraps existing lines again.
struct TerminalEmulator {
    size: TerminalSize,
    /// All rows, including those that scrolled away.
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl TerminalEmulator {
    fn new(size: TerminalSize, before: &str) -> TerminalEmulator {
        let mut terminal = TerminalEmulator { size, rows: vec![Vec::new()], row: 0, column: 0 };
        terminal.write(before);
        terminal
    }

    fn write(&mut self, text: &str) {
        let mut left = text.chars().peekable();
        while let Some(character) = left.next() {
            match character {
                '\r' => self.column = 0,
                '\n' => self.down(),
                '\x1b' => {
                    assert_eq!(left.next(), Some('['), "{text:?}");
                    let mut code = String::new();
                    while let Some(digit) = left.next_if(|it| !it.is_ascii_alphabetic()) {
                        code.push(digit);
                    }
                    self.execute(left.next().expect("a letter ends it"), &code);
                }
                character => {
                    if self.column == self.size.columns {
                        self.down();
                        self.column = 0;
                    }
                    let row = &mut self.rows[self.row];
                    row.resize(row.len().max(self.column + 1), ' ');
                    row[self.column] = character;
                    self.column += 1;
                }
            }
        }
    }

    fn execute(&mut self, letter: char, code: &str) {
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

    fn resize(&mut self, columns: usize) {
        self.size.columns = columns;
        let broken = |row: &Vec<char>| match row.is_empty() {
            true => vec![Vec::new()],
            false => row.chunks(columns).map(<[char]>::to_vec).collect(),
        };
        self.rows = self.rows.iter().flat_map(broken).collect();
        self.row = self.rows.len() - 1;
    }

    fn text(&self) -> String {
        self.rows.iter().map(|it| it.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
    }
}

#[test]
fn draws_each_frame_over_the_last_one() {
    let size = TerminalSize { columns: 44, rows: 24 };
    let mut canvas = canvas(true);
    let mut terminal = TerminalEmulator::new(size, "$ pgdyno run\r\n");
    let mut check = |lines: &[&str], live: Option<LiveView>, size: TerminalSize, expected: &str| {
        let lines: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
        if terminal.size != size {
            terminal.resize(size.columns);
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
        Some(live(Activity::SettingUp)),
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
        Some(live(Activity::Keys)),
        size,
        "\
$ pgdyno run
2 trials
a line that takes more than one row of this
  terminal
███████████░░░░░░░░░░░  1/2  about 9 s left
transaction, 125 of many: building keys an…

",
    );
    // The terminal wraps existing rows itself; the canvas redraws its own rows.
    check(
        &[],
        Some(live(Activity::Keys)),
        TerminalSize { columns: 30, rows: 24 },
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
        TerminalSize { columns: 30, rows: 24 },
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

/// In a short terminal, the upper part of a frame may have scrolled away.
#[test]
fn does_not_draw_over_rows_that_scrolled_away() {
    let size = TerminalSize { columns: 44, rows: 4 };
    let (mut canvas, mut terminal) = (canvas(true), TerminalEmulator::new(size, "a\r\nb\r\nc\r\nd\r\n"));
    for doing in [Activity::SettingUp, Activity::Keys] {
        terminal.write(&canvas.update(Duration::ZERO, &[], Some(&live(doing)), size));
    }
    let expected = "\
a
b
c
d
███████████░░░░░░░░░░░  1/2  about 9 s left
transaction, 125 of many: building keys an…

";
    assert_eq!(terminal.text(), expected);
}

#[test]
fn writes_a_log_line_every_ten_seconds() {
    let mut canvas = canvas(false);
    let size = TerminalSize { columns: 80, rows: 24 };
    let (doing, done) = (live(Activity::SettingUp), "1/2  done".to_owned());
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
fn counts_lines_that_were_not_written() {
    let mut pending = PendingOutput::default();
    (0..LINES_MAX + 7).for_each(|it| pending.push_line(it.to_string()));
    assert_eq!(
        (pending.lines.len(), pending.lost_lines, pending.lines.back().map(String::as_str)),
        (LINES_MAX, 7, Some("999"))
    );
}
