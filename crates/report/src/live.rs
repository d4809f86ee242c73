//! How does a run look while it goes on?
//!
//! A few lines for a terminal, redrawn in place, or one line for a log. Words of foreign origin are made harmless here.

use crate::lang::Lang;
use crate::lang::live::Heading;
use crate::plot::Characters;
use model::live::Second;
use model::summary::{Doubt, Reason};
use model::{Leftover, Nanos, PerSecond};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A run at one moment, while a trial is set up or measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Which trial, from 1.
    pub trial: usize,
    /// Of foreign origin.
    pub cell: String,
    /// How far the run is; `None` where what is measured decides what follows.
    pub way: Option<Way>,
    pub doing: Doing,
    /// The last one, once there is one.
    pub second: Option<Second>,
    /// By second, the last ones: what of [`Live::second`] is drawn over time. Seconds of time.
    pub rates: Vec<Option<f64>>,
    pub medians: Vec<Option<f64>>,
    pub p99s: Vec<Option<f64>>,
    /// By node, in processors.
    pub quotas: Vec<(String, f64)>,
    /// The last ones, in order of time.
    pub events: Vec<Event>,
}

/// How much of a run is over, and how much is to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    pub trials: usize,
    /// Share of the whole time, 0..=1.
    pub over: f64,
    pub left: Nanos,
}

/// A line of a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Since the trial's window began.
    pub at: Nanos,
    pub node: String,
    /// Of foreign origin.
    pub text: String,
}

/// What takes a while.
#[derive(Clone, Debug, PartialEq)]
pub enum Doing {
    SettingUp,
    Fetching {
        major: u32,
    },
    Starting {
        node: String,
    },
    Dropping,
    Loading {
        sent: u64,
        of: u64,
    },
    Keys,
    Statistics,
    Restored {
        took: Nanos,
    },
    /// Nothing was written since.
    Kept,
    Warmed,
    WarmingUp,
    Measuring {
        second: u64,
        of: Nanos,
    },
}

/// What is worth keeping on the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Milestone {
    Ready {
        node: String,
        took: Nanos,
    },
    There {
        rows: u64,
    },
    Loaded {
        rows: u64,
        took: Nanos,
        rate: PerSecond,
    },
    /// A cold cache was asked for and cannot be had.
    NotCold,
    /// Files of a run that was killed, removed or left where they are.
    Leftover(Leftover),
}

/// A trial that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub trial: usize,
    /// Of how many, where that is known.
    pub trials: Option<usize>,
    pub cell: String,
    /// Absent where nothing was measured.
    pub figures: Option<Figures>,
    pub end: End,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    pub rate: PerSecond,
    pub p99: Option<Nanos>,
    /// Failed and unknown.
    pub failed: u64,
    /// Why they are not of the system: the first reason that was found.
    pub invalid: Option<Reason>,
    /// Time without a success, [`Doubt::Outage`].
    pub outage: Option<Doubt>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Complete,
    /// Of a search: the level was held, or it is too much.
    Held,
    TooMuch,
    /// Of a search: nothing can be said of the system, and why; empty where the user ended it.
    NotCounted(String),
    /// By a stop rule, at the end of this second, counted from 0.
    Stopped {
        rule: String,
        second: u64,
    },
    Interrupted,
    Skipped(String),
    Failed(String),
}

/// Of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub characters: Characters,
    pub colour: bool,
}

/// More lines are no longer a glance.
const LINES: usize = 10;
/// Log events at once.
const EVENTS: usize = 3;
/// Columns of the bar.
const BAR: usize = 40;
const LEAST_BAR: usize = 4;

/// How much of what there is to see a line matters: the least is the last to go.
type Rank = u8;

/// The lines of a terminal of this size, at most half of its rows; none is as wide as the terminal.
pub fn frame(it: &Live, size: Size, style: Style, lang: &dyn Lang) -> Vec<String> {
    let characters = style.characters;
    let it = it.harmless(characters);
    let columns = size.columns.saturating_sub(1).max(1);
    let room = (size.rows / 2).clamp(1, LINES);
    if room == 1 {
        return vec![fit(&one_line(&it, lang), columns, characters)];
    }
    let mut lines: Vec<(Rank, Ink, String)> = vec![
        (0, Ink::Plain, progress(&it, columns, characters, lang)),
        (1, Ink::Strong, format!("{}: {}", it.cell, lang.doing(&it.doing))),
    ];
    if let Some(second) = &it.second {
        let [rate, median, p99] = rows(&it, second, columns, characters, lang);
        let bad = second.failed + second.dropped + second.refused > 0;
        let ink = if bad { Ink::Alarm } else { Ink::Plain };
        let counts = lang.live_counts(second);
        lines.extend([
            (2, Ink::Plain, rate),
            (7, Ink::Plain, median),
            (3, Ink::Plain, p99),
            (4, ink, counts),
        ]);
        lines.extend(pools(second, lang).map(|it| (5, Ink::Plain, it)));
        lines.extend(processors(&it, second, lang).map(|it| (8, Ink::Plain, it)));
    }
    for (older, event) in it.events.iter().rev().take(EVENTS).enumerate().rev() {
        let rank = if older == 0 { 6 } else { 8 + older as Rank };
        lines.push((rank, Ink::Faint, told(event, lang)));
    }
    let mut ranks: Vec<Rank> = lines.iter().map(|it| it.0).collect();
    ranks.sort_unstable();
    let least = ranks[room.min(ranks.len()) - 1];
    let lines = lines.into_iter().filter(|it| it.0 <= least);
    lines.map(|(_, ink, text)| ink.paint(&fit(&text, columns, characters), style)).collect()
}

/// The same in one line, of whatever width it comes out.
pub fn line(it: &Live, characters: Characters, lang: &dyn Lang) -> String {
    one_line(&it.harmless(characters), lang)
}

/// The line that stays when a trial is over.
pub fn finished(it: &Finished, characters: Characters, lang: &dyn Lang) -> String {
    let end = match &it.end {
        End::Skipped(why) => End::Skipped(clean(why, characters)),
        End::Failed(why) => End::Failed(clean(why, characters)),
        End::NotCounted(why) => End::NotCounted(clean(why, characters)),
        End::Stopped { rule, second } => End::Stopped { rule: clean(rule, characters), second: *second },
        other => other.clone(),
    };
    let it = Finished { cell: clean(&it.cell, characters), end, ..it.clone() };
    format!("{}  {}: {}", position(it.trial, it.trials), it.cell, lang.trial_finished(&it))
}

impl Live {
    /// With nothing in it that a terminal would obey.
    fn harmless(&self, characters: Characters) -> Live {
        let clean = |it: &mut String| *it = clean(it, characters);
        let mut it = self.clone();
        clean(&mut it.cell);
        if let Doing::Starting { node } = &mut it.doing {
            clean(node);
        }
        if let Some(second) = &mut it.second {
            second.pools.iter_mut().for_each(|it| clean(&mut it.node));
            second.processors.iter_mut().for_each(|it| clean(&mut it.node));
        }
        it.quotas.iter_mut().for_each(|it| clean(&mut it.0));
        for event in &mut it.events {
            clean(&mut event.node);
            clean(&mut event.text);
        }
        it
    }
}

/// Without what a terminal would obey, and without what would turn or hide the words around it.
pub fn clean(text: &str, characters: Characters) -> String {
    let harmless = |it: char| match it {
        '\t' | '\n' | '\r' => Some(' '),
        it if it.is_control() => Some('?'),
        it if is_format(it) => None,
        // A terminal that does not read UTF-8 may obey the bytes of any letter.
        it if characters == Characters::Ascii && !it.is_ascii() => Some('?'),
        it => Some(it),
    };
    text.chars().filter_map(harmless).collect()
}

/// Columns that a line of a [`frame`] takes.
pub fn width(line: &str) -> usize {
    let mut parts = line.split("\x1b[");
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    let behind = parts.map(|it| it.split_once('m').map_or(it, |it| it.1).width());
    first + behind.sum::<usize>()
}

/// Three significant digits of milliseconds, more or less.
pub(crate) fn decimals(value: f64) -> usize {
    match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    }
}

/// ` 3/12`, or ` 3` where nobody knows how many there will be.
fn position(trial: usize, trials: Option<usize>) -> String {
    match trials {
        Some(trials) => format!("{trial:>width$}/{trials}", width = trials.to_string().len()),
        None => format!("{trial:>2}"),
    }
}

fn one_line(it: &Live, lang: &dyn Lang) -> String {
    let mut parts = vec![format!("{}: {}", it.cell, lang.doing(&it.doing))];
    if let Some(second) = &it.second {
        parts.push(lang.live_rate(second.rate));
        for (heading, time) in [(Heading::Median, second.p50), (Heading::P99, second.p99)] {
            parts.extend(time.map(|it| format!("{} {}", lang.live_heading(heading), lang.live_time(it))));
        }
        parts.push(lang.live_counts(second));
        parts.extend(pools(second, lang));
    }
    let left = it.way.map_or(String::new(), |it| format!("; {}", lang.live_left(it.left)));
    format!("{}  {}{left}", position(it.trial, it.way.map(|it| it.trials)), parts.join(", "))
}

fn progress(it: &Live, columns: usize, characters: Characters, lang: &dyn Lang) -> String {
    let Some(way) = it.way else { return lang.live_step(it.trial) };
    let words = format!("{}/{}  {}", it.trial, way.trials, lang.live_left(way.left));
    let width = columns.saturating_sub(words.width() + 2).min(BAR);
    let (full, empty) = match characters {
        Characters::Utf8 => ("█", "░"),
        Characters::Ascii => ("#", "."),
    };
    if width < LEAST_BAR {
        return words;
    }
    let done = (way.over.clamp(0.0, 1.0) * width as f64) as usize;
    format!("{}{}  {words}", full.repeat(done), empty.repeat(width - done))
}

/// What is timed, with its past behind it.
fn rows(it: &Live, second: &Second, columns: usize, characters: Characters, lang: &dyn Lang) -> [String; 3] {
    let nothing = match characters {
        Characters::Utf8 => "–",
        Characters::Ascii => "-",
    };
    let time = |it: Option<Nanos>| it.map_or(nothing.to_owned(), |it| lang.live_time(it));
    let rows = [
        (Heading::Rate, lang.live_rate(second.rate), &it.rates),
        (Heading::Median, time(second.p50), &it.medians),
        (Heading::P99, time(second.p99), &it.p99s),
    ]
    .map(|(heading, value, past)| (lang.live_heading(heading), value, past));
    let heading = rows.iter().map(|it| it.0.width()).max().unwrap_or(0);
    let value = rows.iter().map(|it| it.1.width()).max().unwrap_or(0);
    let room = columns.saturating_sub(heading + value + 4);
    rows.map(|(word, figure, past)| {
        let before = " ".repeat(heading - word.width() + 2 + value - figure.width());
        let line = format!("{word}{before}{figure}  {}", spark(past, room, characters));
        line.trim_end().to_owned()
    })
}

fn pools(second: &Second, lang: &dyn Lang) -> Option<String> {
    let all: Vec<String> = second.pools.iter().map(|it| lang.live_pool(it)).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn processors(it: &Live, second: &Second, lang: &dyn Lang) -> Option<String> {
    let of = |node: &str| it.quotas.iter().find(|it| it.0 == node).map(|it| it.1);
    let all: Vec<String> = second.processors.iter().map(|it| lang.live_used(it, of(&it.node))).collect();
    (!all.is_empty()).then(|| format!("{}: {}", lang.live_heading(Heading::Processors), all.join(", ")))
}

fn told(it: &Event, lang: &dyn Lang) -> String {
    let seconds = lang.number(&(it.at.0 / 1_000_000_000).to_string());
    format!("{seconds:>4}  {}: {}", it.node, it.text)
}

/// The last values, as many as there is room for, from 0 to their greatest. What was not measured is a gap.
fn spark(values: &[Option<f64>], room: usize, characters: Characters) -> String {
    let heights: &[char] = match characters {
        Characters::Utf8 => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        Characters::Ascii => &['_', '.', '-', '=', '#'],
    };
    let values = &values[values.len().saturating_sub(room)..];
    let top = values.iter().flatten().copied().fold(0.0, f64::max);
    let full = (heights.len() - 1) as f64;
    let height = |it: f64| if top > 0.0 { heights[(it / top * full).round() as usize] } else { heights[0] };
    values.iter().map(|it| it.map_or(' ', height)).collect()
}

/// How a line is painted, where it may be.
#[derive(Clone, Copy, Debug)]
enum Ink {
    Plain,
    Strong,
    Faint,
    Alarm,
}

impl Ink {
    fn paint(self, text: &str, style: Style) -> String {
        let code = match self {
            Ink::Strong => 1,
            Ink::Faint => 2,
            Ink::Alarm => 31,
            Ink::Plain => 0,
        };
        if style.colour && code > 0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Unicode's format characters (category Cf) and separators of lines: without width, and able to reorder a line.
fn is_format(it: char) -> bool {
    matches!(it,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The beginning of a line, where it has more than so many columns.
fn fit(text: &str, columns: usize, characters: Characters) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let end = match characters {
        Characters::Utf8 => '…',
        Characters::Ascii => '~',
    };
    let mut left = columns - 1;
    let fits = |it: &char| {
        let wide = it.width().unwrap_or(0);
        let fits = wide <= left;
        left = if fits { left - wide } else { 0 };
        fits
    };
    text.chars().take_while(fits).chain([end]).collect()
}

#[cfg(test)]
mod tests;
