//! Live view of a run in a terminal or a log
//!
//! The view consists of a few lines that a terminal redraws in place, or of one line for a log. Text from other sources
//! is sanitised.

use crate::lang::Lang;
pub use crate::lang::live::{Activity, FinishedTrial, Milestone, TrialEnd, TrialFigures};
use crate::say;
use crate::style::CharacterSet;
use model::Nanos;
use model::live::{LatencyObjective, LiveSecond, SearchBracket};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// State of a run at one moment, while a trial is set up or measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveView {
    /// Number of the trial, from 1.
    pub trial: usize,
    /// Name of the cell; untrusted input.
    pub cell: String,
    /// Progress of the run; `None` if the number of trials depends on results.
    pub progress: Option<RunProgress>,
    /// Levels between which the maximum lies; `None` outside of a search.
    pub search: Option<SearchBracket>,
    /// Objectives of the cell, as the user wrote them.
    pub objectives: Vec<String>,
    pub latency_objective: Option<LatencyObjective>,
    pub activity: Activity,
    /// The last measured second, if any.
    pub second: Option<LiveSecond>,
    /// Values of the last seconds, which are drawn as sparklines. Times are in seconds.
    pub rates: Vec<Option<f64>>,
    pub medians: Vec<Option<f64>>,
    pub p99s: Vec<Option<f64>>,
    /// CPU quota of each node, in CPUs.
    pub quotas: Vec<(String, f64)>,
    /// The latest events, in order of time.
    pub events: Vec<LogLine>,
}

/// Elapsed share and remaining time of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    pub trials: usize,
    /// Share of the total time, 0..=1.
    pub elapsed_share: f64,
    pub remaining: Nanos,
}

/// Line of a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Time since the trial's window began.
    pub at: Nanos,
    pub node: String,
    /// Text of the line; untrusted input.
    pub text: String,
}

/// Size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: usize,
    pub rows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveStyle {
    pub characters: CharacterSet,
    pub colour: bool,
}

/// Maximum number of lines. More lines could not be read at a glance.
const LINES_MAX: usize = 10;
/// Maximum number of log events that are shown at once.
const EVENTS_MAX: usize = 3;
/// Width of the progress bar, in columns.
const BAR: usize = 40;
const BAR_MIN: usize = 4;

/// Rank of a line: lines with the highest rank are dropped first.
type LineRank = u8;

/// Renders lines for a terminal of this size: at most half of its rows, each narrower than the terminal.
pub fn render_frame(view: &LiveView, size: TerminalSize, style: LiveStyle, lang: &Lang) -> Vec<String> {
    let characters = style.characters;
    let sanitised = view.sanitised(characters);
    let columns = size.columns.saturating_sub(1).max(1);
    let room = (size.rows / 2).clamp(1, LINES_MAX);
    if room == 1 {
        return vec![truncate(&one_line(&sanitised, lang), columns, characters)];
    }
    let mut lines: Vec<(LineRank, LineStyle, String)> = vec![
        (0, LineStyle::Plain, progress(&sanitised, columns, characters, lang)),
        (1, LineStyle::Strong, format!("{}: {}", sanitised.cell, lang.activity(&sanitised.activity))),
    ];
    if let Some(second) = &sanitised.second {
        let [rate, median, p99] = rows(&sanitised, second, columns, characters, lang);
        let bad = second.failed + second.dropped + second.refused > 0;
        let ink = if bad { LineStyle::Alarm } else { LineStyle::Plain };
        let counts = lang.live_counts(second);
        lines.extend([
            (2, LineStyle::Plain, rate),
            (7, LineStyle::Plain, median),
            (3, LineStyle::Plain, p99),
            (4, ink, counts),
        ]);
        lines.extend(pools(second, lang).map(|it| (5, LineStyle::Plain, it)));
        lines.extend(processors(&sanitised, second, lang).map(|it| (8, LineStyle::Plain, it)));
    }
    lines.extend(objectives(&sanitised, lang).map(|(ink, text)| (3, ink, text)));
    for (older, event) in sanitised.events.iter().rev().take(EVENTS_MAX).enumerate().rev() {
        let rank = if older == 0 { 6 } else { 8 + older as LineRank };
        lines.push((rank, LineStyle::Faint, event_line(event, lang)));
    }
    let mut ranks: Vec<LineRank> = lines.iter().map(|it| it.0).collect();
    ranks.sort_unstable();
    let least = ranks[room.min(ranks.len()) - 1];
    let lines = lines.into_iter().filter(|it| it.0 <= least);
    lines.map(|(_, ink, text)| ink.paint(&truncate(&text, columns, characters), style)).collect()
}

/// Renders the view in one line of any width.
pub fn render_line(view: &LiveView, characters: CharacterSet, lang: &Lang) -> String {
    one_line(&view.sanitised(characters), lang)
}

/// Renders the line that remains after a trial.
pub fn finished_line(trial: &FinishedTrial, characters: CharacterSet, lang: &Lang) -> String {
    let end = match &trial.end {
        TrialEnd::Skipped(reason) => TrialEnd::Skipped(sanitise(reason, characters)),
        TrialEnd::Failed(reason) => TrialEnd::Failed(sanitise(reason, characters)),
        TrialEnd::NotCounted(reason) => TrialEnd::NotCounted(sanitise(reason, characters)),
        TrialEnd::TooMuch(reason) => TrialEnd::TooMuch(sanitise(reason, characters)),
        TrialEnd::Stopped { rule, second } => {
            TrialEnd::Stopped { rule: sanitise(rule, characters), second: *second }
        }
        other => other.clone(),
    };
    let shown = FinishedTrial { cell: sanitise(&trial.cell, characters), end, ..trial.clone() };
    format!("{}  {}: {}", position(shown.trial, shown.trials), shown.cell, lang.trial_finished(&shown))
}

impl LiveView {
    /// Returns the view without control sequences.
    fn sanitised(&self, characters: CharacterSet) -> LiveView {
        let clean = |it: &mut String| *it = sanitise(it, characters);
        let mut view = self.clone();
        clean(&mut view.cell);
        view.objectives.iter_mut().for_each(clean);
        view.latency_objective.iter_mut().for_each(|it| clean(&mut it.metric));
        if let Activity::Starting { node } = &mut view.activity {
            clean(node);
        }
        if let Some(second) = &mut view.second {
            second.pools.iter_mut().for_each(|it| clean(&mut it.node));
            second.processors.iter_mut().for_each(|it| clean(&mut it.node));
        }
        view.quotas.iter_mut().for_each(|it| clean(&mut it.0));
        for event in &mut view.events {
            clean(&mut event.node);
            clean(&mut event.text);
        }
        view
    }
}

/// Removes control sequences and format characters, which could reorder or hide text.
pub fn sanitise(text: &str, characters: CharacterSet) -> String {
    let harmless = |character: char| match character {
        '\t' | '\n' | '\r' => Some(' '),
        character if character.is_control() => Some('?'),
        character if is_format(character) => None,
        // A terminal without UTF-8 may interpret the bytes of any non-ASCII character.
        character if characters == CharacterSet::Ascii && !character.is_ascii() => Some('?'),
        character => Some(character),
    };
    text.chars().filter_map(harmless).collect()
}

/// Width of a line of [`render_frame`], in columns.
pub fn width(line: &str) -> usize {
    let mut parts = line.split("\x1b[");
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    let behind = parts.map(|part| part.split_once('m').map_or(part, |(_, text)| text).width());
    first + behind.sum::<usize>()
}

/// Formats the number of a trial: ` 3/12`, or ` 3` if the total is unknown.
fn position(trial: usize, trials: Option<usize>) -> String {
    match trials {
        Some(trials) => format!("{trial:>width$}/{trials}", width = trials.to_string().len()),
        None => format!("{trial:>2}"),
    }
}

fn one_line(view: &LiveView, lang: &Lang) -> String {
    let mut parts = vec![format!("{}: {}", view.cell, lang.activity(&view.activity))];
    if let Some(second) = &view.second {
        parts.push(lang.live_rate(second.rate));
        for (heading, time) in [("p50", second.p50), ("p99", second.p99)] {
            parts.extend(time.map(|it| format!("{heading} {}", lang.live_time(it))));
        }
        parts.push(lang.live_counts(second));
        parts.extend(pools(second, lang));
    }
    let left = match (view.progress, view.search.and_then(|it| it.remaining)) {
        (Some(progress), _) => format!("; {}", lang.live_left(progress.remaining)),
        (None, Some(remaining)) => format!("; {}", lang.live_search_left(remaining)),
        (None, None) => String::new(),
    };
    format!("{}  {}{left}", position(view.trial, view.progress.map(|it| it.trials)), parts.join(", "))
}

fn progress(view: &LiveView, columns: usize, characters: CharacterSet, lang: &Lang) -> String {
    let Some(way) = view.progress else {
        let step = lang.live_step(view.trial, view.search.as_ref());
        let left = view.search.and_then(|it| it.remaining).map(|it| lang.live_search_left(it));
        return [Some(step), left].into_iter().flatten().collect::<Vec<_>>().join("; ");
    };
    let words = format!("{}/{}  {}", view.trial, way.trials, lang.live_left(way.remaining));
    let width = columns.saturating_sub(words.width() + 2).min(BAR);
    let (full, empty) = match characters {
        CharacterSet::Utf8 => ("█", "░"),
        CharacterSet::Ascii => ("#", "."),
    };
    if width < BAR_MIN {
        return words;
    }
    let done = (way.elapsed_share.clamp(0.0, 1.0) * width as f64) as usize;
    format!("{}{}  {words}", full.repeat(done), empty.repeat(width - done))
}

/// Renders rate and response times of the last second, each with a sparkline.
fn rows(
    view: &LiveView,
    second: &LiveSecond,
    columns: usize,
    characters: CharacterSet,
    lang: &Lang,
) -> [String; 3] {
    let nothing = match characters {
        CharacterSet::Utf8 => "–",
        CharacterSet::Ascii => "-",
    };
    let time = |time: Option<Nanos>| time.map_or(nothing.to_owned(), |time| lang.live_time(time));
    let rows = [
        (say!(lang, "live-completed"), lang.live_rate(second.rate), &view.rates),
        ("p50".to_owned(), time(second.p50), &view.medians),
        ("p99".to_owned(), time(second.p99), &view.p99s),
    ];
    let heading = rows.iter().map(|it| it.0.width()).max().unwrap_or(0);
    let value = rows.iter().map(|it| it.1.width()).max().unwrap_or(0);
    let room = columns.saturating_sub(heading + value + 4);
    rows.map(|(word, figure, values)| {
        let before = " ".repeat(heading - word.width() + 2 + value - figure.width());
        let line = format!("{word}{before}{figure}  {}", sparkline(values, room, characters));
        line.trim_end().to_owned()
    })
}

/// Line with the objectives, and with the recent value of the quantile that one of them limits.
fn objectives(view: &LiveView, lang: &Lang) -> Option<(LineStyle, String)> {
    if view.objectives.is_empty() {
        return None;
    }
    let list = view.objectives.join(", ");
    let recent = view.second.as_ref().and_then(|second| second.recent_quantile);
    let Some((recent, objective)) = recent.zip(view.latency_objective.as_ref()) else {
        return Some((LineStyle::Plain, say!(lang, "live-objectives", list)));
    };
    let is_violated = recent.value > objective.bound;
    let style = if is_violated { LineStyle::Alarm } else { LineStyle::Plain };
    let (metric, time) = (objective.metric.as_str(), lang.live_time(recent.value));
    Some((style, say!(lang, "live-objectives-quantile", list, metric, time, seconds = recent.seconds)))
}

fn pools(second: &LiveSecond, lang: &Lang) -> Option<String> {
    let all: Vec<String> = second.pools.iter().map(|it| lang.live_pool(it)).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn processors(view: &LiveView, second: &LiveSecond, lang: &Lang) -> Option<String> {
    let quota = |node: &str| view.quotas.iter().find(|it| it.0 == node).map(|it| it.1);
    let all: Vec<String> = second.processors.iter().map(|it| lang.live_used(it, quota(&it.node))).collect();
    (!all.is_empty()).then(|| format!("{}: {}", say!(lang, "live-processors"), all.join(", ")))
}

fn event_line(line: &LogLine, lang: &Lang) -> String {
    let seconds = lang.number(&(line.at.0 / 1_000_000_000).to_string());
    format!("{seconds:>4}  {}: {}", line.node, line.text)
}

/// Draws the last values that fit, from 0 to their maximum. Missing values leave a gap.
fn sparkline(values: &[Option<f64>], room: usize, characters: CharacterSet) -> String {
    let heights: &[char] = match characters {
        CharacterSet::Utf8 => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
        CharacterSet::Ascii => &['_', '.', '-', '=', '#'],
    };
    let values = &values[values.len().saturating_sub(room)..];
    let top = values.iter().flatten().copied().fold(0.0, f64::max);
    let full = (heights.len() - 1) as f64;
    let height = |it: f64| if top > 0.0 { heights[(it / top * full).round() as usize] } else { heights[0] };
    values.iter().map(|it| it.map_or(' ', height)).collect()
}

/// Style of a line, if styles are allowed.
#[derive(Clone, Copy, Debug)]
enum LineStyle {
    Plain,
    Strong,
    Faint,
    Alarm,
}

impl LineStyle {
    fn paint(self, text: &str, style: LiveStyle) -> String {
        let code = match self {
            LineStyle::Strong => 1,
            LineStyle::Faint => 2,
            LineStyle::Alarm => 31,
            LineStyle::Plain => 0,
        };
        if style.colour && code > 0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// True for Unicode's format characters (category Cf) and line separators, which have no width and can reorder a line.
fn is_format(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
        | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Truncates a line to the given number of columns.
pub fn truncate(text: &str, columns: usize, characters: CharacterSet) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let end = match characters {
        CharacterSet::Utf8 => '…',
        CharacterSet::Ascii => '~',
    };
    let mut left = columns - 1;
    let fits = |character: &char| {
        let wide = character.width().unwrap_or(0);
        let fits = wide <= left;
        left = if fits { left - wide } else { 0 };
        fits
    };
    text.chars().take_while(fits).chain([end]).collect()
}

#[cfg(test)]
mod tests;
