//! How is standard error written to without anybody waiting for it?
//!
//! A thread of its own writes. Whoever has something to show leaves it and goes on: of what changes only the newest is
//! drawn, and of lines so many are kept. A terminal that is stopped, or a pipe that nobody reads, stops that thread only.

use crate::cli;
use report::lang::Lang;
use report::live::{self, LiveStyle, LiveView, TerminalSize};
use report::plot::CharacterSet;
use report::terminal::sanitise;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{isatty, tcgetwinsize};
use signal_hook::consts::SIGCONT;
use std::collections::VecDeque;
use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two frames; a terminal that was resized is noticed this soon too.
const FRAME_INTERVAL: Duration = Duration::from_millis(250);
/// Without a terminal: between two lines that tell how far it is.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Lines that wait for their reader; those beyond are counted only.
const LINES_MAX: usize = 1000;

/// Ends with everything written, once it is dropped; that may take as long as its reader likes.
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

/// What was left to be shown.
#[derive(Debug, Default)]
struct PendingOutput {
    lines: VecDeque<String>,
    lost_lines: u64,
    live: Option<LiveView>,
    /// Something was left since the thread last looked.
    changed: bool,
    ended: bool,
}

impl Screen {
    pub fn start(lang: &'static dyn Lang) -> Screen {
        let shared = Arc::new(ScreenState { pending: Mutex::default(), changed: Condvar::new() });
        let canvas = Canvas::detect(lang);
        let characters = canvas.style.characters;
        let continued = Arc::new(AtomicBool::new(false));
        // Without it a frame may be drawn over the shell's words after Ctrl-Z.
        let _ = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
        let looked_at = Arc::clone(&shared);
        let thread = thread::Builder::new().name("screen".to_owned());
        // Without a thread to spare there is nothing to see; the run is worth more.
        let thread = thread.spawn(move || draw(&looked_at, canvas, &continued)).ok();
        Screen { shared, characters, thread }
    }

    pub fn characters(&self) -> CharacterSet {
        self.characters
    }

    /// A line that stays.
    pub fn print_line(&self, it: &str) {
        let it = sanitise(it, false);
        self.enqueue(|desk| desk.push_line(it));
    }

    /// What changes.
    pub fn show_live(&self, it: LiveView) {
        self.enqueue(|desk| desk.live = Some(it));
    }

    /// A line that stays, after which nothing changes.
    pub fn print_final_line(&self, it: &str) {
        let it = sanitise(it, false);
        self.enqueue(|desk| {
            desk.live = None;
            desk.push_line(it);
        });
    }

    fn enqueue(&self, what: impl FnOnce(&mut PendingOutput)) {
        let mut desk = self.shared.pending();
        what(&mut desk);
        desk.changed = true;
        self.shared.changed.notify_one();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.enqueue(|desk| {
            desk.live = None;
            desk.ended = true;
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
    fn push_line(&mut self, it: String) {
        if self.lines.len() < LINES_MAX {
            self.lines.push_back(it);
        } else {
            self.lost_lines += 1;
        }
    }
}

/// The thread's work, until the screen ends or nobody can read it any more.
fn draw(shared: &ScreenState, mut canvas: Canvas, continued: &AtomicBool) {
    let begun = Instant::now();
    loop {
        let (lines, lost, live, ended) = {
            let mut desk = shared.pending();
            if !desk.changed {
                let waited = shared.changed.wait_timeout(desk, FRAME_INTERVAL);
                desk = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            desk.changed = false;
            (
                std::mem::take(&mut desk.lines),
                std::mem::take(&mut desk.lost_lines),
                desk.live.clone(),
                desk.ended,
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
        // So many frames per second, however much is left meanwhile.
        let until = Instant::now() + FRAME_INTERVAL;
        let mut desk = shared.pending();
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|it| !it.is_zero()) {
            if desk.ended {
                break;
            }
            desk = shared.changed.wait_timeout(desk, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Standard error, without its lock: who holds that may wait for ever.
fn write_stderr(mut bytes: &[u8]) -> Result<(), Errno> {
    let out = std::io::stderr();
    while !bytes.is_empty() {
        match rustix::io::write(&out, bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&out, PollFlags::OUT)], None);
            }
            Err(why) => return Err(why),
        }
    }
    Ok(())
}

fn size() -> TerminalSize {
    let known = tcgetwinsize(std::io::stderr()).ok().filter(|it| it.ws_col > 0 && it.ws_row > 0);
    known.map_or(TerminalSize { columns: 80, rows: 24 }, |it| TerminalSize {
        columns: usize::from(it.ws_col),
        rows: usize::from(it.ws_row),
    })
}

/// What stands on the screen, and what is to be written so that something else does.
#[derive(Debug)]
struct Canvas {
    /// The cursor can be moved.
    has_cursor: bool,
    style: LiveStyle,
    lang: &'static dyn Lang,
    /// The frame that stands above the cursor.
    frame: Vec<String>,
    /// When the last line was written, since the beginning.
    last_line: Duration,
}

impl Canvas {
    fn detect(lang: &'static dyn Lang) -> Canvas {
        let terminal = isatty(std::io::stderr());
        let dumb = env::var_os("TERM").is_none_or(|it| it.is_empty() || it == "dumb");
        let colour = env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        let style = LiveStyle { characters: cli::characters(), colour };
        Canvas { has_cursor: terminal && !dumb, style, lang, frame: Vec::new(), last_line: Duration::ZERO }
    }

    /// Something else may stand above the cursor now.
    fn invalidate(&mut self) {
        self.frame.clear();
    }

    /// What to write. `now`: since the beginning.
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
        let up = if above > 0 { format!("\r\x1b[{above}A") } else { "\r".to_owned() };
        let lines = lines.iter().chain(&frame).map(|it| format!("{it}\x1b[K\r\n"));
        let text = format!("{up}{}\x1b[J", lines.collect::<String>());
        self.frame = frame;
        text
    }

    /// For a log.
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
        text
    }
}

/// Rows that a line takes where there are so many columns: a terminal that became narrower has broken it.
fn rows(line: &str, columns: usize) -> usize {
    live::width(line).div_ceil(columns).max(1)
}

#[cfg(test)]
mod tests;
