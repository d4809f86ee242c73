//! Non-blocking output on standard error
//!
//! A separate thread writes. Callers queue their output and continue. Only the newest live view is drawn, and the
//! number of pending lines is limited. A stopped terminal or a pipe without a reader blocks only this thread.

use crate::{cli, terminal};
use report::lang::Lang;
use report::live::{self, LiveStyle, LiveView, TerminalSize};
use report::plot::CharacterSet;
use report::terminal::sanitise;
use report::wrap::wrap;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{isatty, tcgetwinsize};
use signal_hook::consts::SIGCONT;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Interval between two frames. A resized terminal is noticed after at most this time.
const FRAME_INTERVAL: Duration = Duration::from_millis(250);
/// Interval between two progress lines without a terminal.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of pending lines. Further lines are only counted.
const LINES_MAX: usize = 1000;

/// Writer of the progress display. Dropping it writes all pending output, and blocks until the output is written.
#[derive(Debug)]
pub struct Screen {
    shared: Arc<ScreenState>,
    characters: CharacterSet,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct ScreenState {
    pending: Mutex<PendingOutput>,
    changed: Condvar,
}

/// Output that the thread has not written yet.
#[derive(Debug, Default)]
struct PendingOutput {
    lines: VecDeque<String>,
    lost_lines: u64,
    live: Option<LiveView>,
    /// True if output was added since the thread last took the output.
    changed: bool,
    ended: bool,
}

impl Screen {
    pub fn start(lang: &'static Lang) -> Screen {
        let shared = Arc::new(ScreenState { pending: Mutex::default(), changed: Condvar::new() });
        let canvas = Canvas::detect(lang);
        let characters = canvas.style.characters;
        let continued = Arc::new(AtomicBool::new(false));
        // Register SIGCONT, so that a frame does not overwrite the shell's output after Ctrl-Z.
        let _ = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
        let looked_at = Arc::clone(&shared);
        let thread = thread::Builder::new().name("screen".to_owned());
        // If the thread cannot be started, the run continues without a display.
        let thread = thread.spawn(move || draw(&looked_at, canvas, &continued)).ok();
        Screen { shared, characters, thread }
    }

    pub fn characters(&self) -> CharacterSet {
        self.characters
    }

    /// Prints a permanent line.
    pub fn print_line(&self, line: &str) {
        let line = sanitise(line, false);
        self.enqueue(|pending| pending.push_line(line));
    }

    /// Replaces the live view.
    pub fn show_live(&self, view: LiveView) {
        self.enqueue(|pending| pending.live = Some(view));
    }

    /// Removes the live view and prints a permanent line.
    pub fn print_final_line(&self, line: &str) {
        let line = sanitise(line, false);
        self.enqueue(|pending| {
            pending.live = None;
            pending.push_line(line);
        });
    }

    fn enqueue(&self, change: impl FnOnce(&mut PendingOutput)) {
        let mut pending = self.shared.pending();
        change(&mut pending);
        pending.changed = true;
        self.shared.changed.notify_one();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.enqueue(|pending| {
            pending.live = None;
            pending.ended = true;
        });
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ScreenState {
    fn pending(&self) -> MutexGuard<'_, PendingOutput> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingOutput {
    fn push_line(&mut self, line: String) {
        if self.lines.len() < LINES_MAX {
            self.lines.push_back(line);
        } else {
            self.lost_lines += 1;
        }
    }
}

/// Main loop of the thread. It ends with the screen, or when standard error can no longer be written.
fn draw(shared: &ScreenState, mut canvas: Canvas, continued: &AtomicBool) {
    let begun = Instant::now();
    loop {
        let (lines, lost, live, ended) = {
            let mut pending = shared.pending();
            if !pending.changed {
                let waited = shared.changed.wait_timeout(pending, FRAME_INTERVAL);
                pending = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            pending.changed = false;
            (
                std::mem::take(&mut pending.lines),
                std::mem::take(&mut pending.lost_lines),
                pending.live.clone(),
                pending.ended,
            )
        };
        if continued.swap(false, Ordering::Relaxed) {
            canvas.invalidate();
        }
        let lost = (lost > 0).then(|| canvas.lang.live_lost(lost));
        let lines: Vec<String> = lines.into_iter().chain(lost).collect();
        let text = canvas.update(begun.elapsed(), &lines, live.as_ref(), size());
        if write_stderr(text.as_bytes()).is_err() || ended {
            return;
        }
        // Draw at most one frame per interval, even if many updates arrive.
        let deadline = Instant::now() + FRAME_INTERVAL;
        let mut pending = shared.pending();
        while let Some(left) = deadline.checked_duration_since(Instant::now()).filter(|it| !it.is_zero()) {
            if pending.ended {
                break;
            }
            pending = shared.changed.wait_timeout(pending, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Writes to standard error without the lock, because the holder of the lock may block forever.
fn write_stderr(mut bytes: &[u8]) -> Result<(), Errno> {
    let out = std::io::stderr();
    while !bytes.is_empty() {
        match rustix::io::write(&out, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&out, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn size() -> TerminalSize {
    let known = tcgetwinsize(std::io::stderr()).ok().filter(|it| it.ws_col > 0 && it.ws_row > 0);
    known.map_or(TerminalSize { columns: 80, rows: 24 }, |size| TerminalSize {
        columns: usize::from(size.ws_col),
        rows: usize::from(size.ws_row),
    })
}

/// Current contents of the screen. They determine the bytes that change the screen to the next contents.
#[derive(Debug)]
struct Canvas {
    /// True if the cursor can be moved.
    has_cursor: bool,
    style: LiveStyle,
    lang: &'static Lang,
    /// Frame above the cursor.
    frame: Vec<String>,
    /// Width of a log, in columns; `None` without a limit.
    columns: Option<usize>,
    /// Time of the last printed line since the start of the display.
    last_line: Duration,
}

impl Canvas {
    fn detect(lang: &'static Lang) -> Canvas {
        let out = std::io::stderr();
        let style = LiveStyle { characters: cli::characters(), colour: terminal::is_styled(&out) };
        let has_cursor = isatty(&out) && !terminal::is_dumb();
        let columns = terminal::columns(&out);
        Canvas { has_cursor, style, lang, frame: Vec::new(), columns, last_line: Duration::ZERO }
    }

    /// Marks the frame as unknown, because other output may have overwritten it.
    fn invalidate(&mut self) {
        self.frame.clear();
    }

    /// Terminal output that updates the display. `now` is the time since the display started.
    fn update(
        &mut self,
        now: Duration,
        lines: &[String],
        live: Option<&LiveView>,
        size: TerminalSize,
    ) -> String {
        if !self.has_cursor {
            return self.lines(now, lines, live);
        }
        let frame = live.map_or(Vec::new(), |it| live::render_frame(it, size, self.style, self.lang));
        let above: usize = self.frame.iter().map(|it| rows(it, size.columns)).sum();
        if lines.is_empty() && frame == self.frame && above == frame.len() {
            return String::new();
        }
        let cursor_up = if above > 0 { format!("\r\x1b[{above}A") } else { "\r".to_owned() };
        let lines: Vec<String> = lines.iter().map(|line| wrap(line, size.columns)).collect();
        let rows = lines.iter().flat_map(|line| line.split('\n')).chain(frame.iter().map(String::as_str));
        let lines = rows.map(|row| format!("{row}\x1b[K\r\n"));
        let text = format!("{cursor_up}{}\x1b[J", lines.collect::<String>());
        self.frame = frame;
        text
    }

    /// Text to write to a log.
    fn lines(&mut self, now: Duration, lines: &[String], live: Option<&LiveView>) -> String {
        let mut text: String = lines.iter().map(|it| format!("{it}\n")).collect();
        if !lines.is_empty() {
            self.last_line = now;
        } else if let Some(live) = live
            && now >= self.last_line + LOG_INTERVAL
        {
            text = format!("{}\n", live::render_line(live, self.style.characters, self.lang));
            self.last_line = now;
        }
        self.columns.map_or(text.clone(), |columns| wrap(&text, columns))
    }
}

/// Number of rows that a line takes at this width. A terminal that became narrower has wrapped the line.
fn rows(line: &str, columns: usize) -> usize {
    live::width(line).div_ceil(columns).max(1)
}

#[cfg(test)]
mod tests;
