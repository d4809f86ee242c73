//! Cookie jar of one client.
//!
//! Source: RFC 6265, limited to one client of one service. Such a client needs no public suffix list, because it
//! contacts no other host.

use super::location::{Origin, split_query};
use time::{Date, Month, Time, UtcDateTime};

/// Cookies that one client stores for one service.
///
/// Their number and memory are bounded, and all memory is allocated once. Cookies that do not fit are dropped.
#[derive(Clone, Debug)]
pub struct CookieJar {
    /// Names, values and paths of the cookies, concatenated.
    bytes: Vec<u8>,
    /// Cookies in the order in which they are sent: longer paths first, then older cookies.
    cookies: Vec<Cookie>,
}

/// Position and lengths of a cookie within `bytes`.
#[derive(Clone, Copy, Debug)]
struct Cookie {
    at: u16,
    name: u16,
    value: u16,
    path: u16,
    /// Expiry time by the caller's clock.
    expires: u64,
}

/// Response that sets a cookie, and its request.
#[derive(Clone, Copy, Debug)]
pub struct SetCookieContext<'a> {
    pub origin: Origin<'a>,
    /// Path and query of the request.
    pub target: &'a [u8],
    /// Value of the response's Date header. Expires is relative to this date, because the server's clock may be wrong.
    pub date: Option<&'a [u8]>,
    /// Time of the response, in nanoseconds of a monotonic clock.
    pub now: u64,
}

impl Default for CookieJar {
    fn default() -> CookieJar {
        CookieJar {
            bytes: Vec::with_capacity(CookieJar::MAX_BYTES),
            cookies: Vec::with_capacity(CookieJar::MAX_COOKIES),
        }
    }
}

impl CookieJar {
    /// Maximum total size of names, values and paths, in bytes: as much as servers accept in one header.
    pub const MAX_BYTES: usize = 8 << 10;
    pub const MAX_COOKIES: usize = 32;

    /// Stores the cookie of a Set-Cookie header, or removes a stored cookie if the header makes it expire.
    pub fn store(&mut self, header: &[u8], setting: &SetCookieContext<'_>) {
        let Some(received) = SetCookie::parse(header, setting) else { return };
        let known = self
            .cookies
            .iter()
            .position(|stored| self.name(stored) == received.name && self.path(stored) == received.path);
        if let Some(known) = known {
            self.remove(known);
        }
        if received.expires <= setting.now {
            return;
        }
        let length = received.name.len() + received.value.len() + received.path.len();
        if !self.has_room(length) {
            self.forget_expired(setting.now);
        }
        if !self.has_room(length) {
            return;
        }
        let longer = |stored: &Cookie| usize::from(stored.path) >= received.path.len();
        let place = self.cookies.iter().take_while(|stored| longer(stored)).count();
        // A cookie that is set again keeps its position in the order.
        let place = known.filter(|known| *known < place).unwrap_or(place);
        let short = |it: &[u8]| u16::try_from(it.len()).expect("lengths fit in 16 bits");
        let cookie = Cookie {
            at: short(&self.bytes),
            name: short(received.name),
            value: short(received.value),
            path: short(received.path),
            expires: received.expires,
        };
        for part in [received.name, received.value, received.path] {
            self.bytes.extend_from_slice(part);
        }
        self.cookies.insert(place, cookie);
    }

    /// Appends the Cookie header line for a request to `target`, with its line ending; nothing if no cookie matches.
    pub fn write(&self, target: &[u8], now: u64, to: &mut Vec<u8>) {
        let path = split_query(target).0;
        let mut before: &[u8] = b"Cookie: ";
        for cookie in self.cookies.iter().filter(|it| it.expires > now && path_matches(path, self.path(it))) {
            to.extend_from_slice(before);
            to.extend_from_slice(self.name(cookie));
            to.push(b'=');
            to.extend_from_slice(self.value(cookie));
            before = b"; ";
        }
        if before == b"; " {
            to.extend_from_slice(b"\r\n");
        }
    }

    /// Number of cookies, including expired ones.
    pub fn len(&self) -> usize {
        self.cookies.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Removes all cookies.
    pub fn clear(&mut self) {
        self.cookies.clear();
        self.bytes.clear();
    }

    fn name(&self, cookie: &Cookie) -> &[u8] {
        &self.bytes[usize::from(cookie.at)..][..usize::from(cookie.name)]
    }

    fn value(&self, cookie: &Cookie) -> &[u8] {
        &self.bytes[usize::from(cookie.at + cookie.name)..][..usize::from(cookie.value)]
    }

    fn path(&self, cookie: &Cookie) -> &[u8] {
        &self.bytes[usize::from(cookie.at + cookie.name + cookie.value)..][..usize::from(cookie.path)]
    }

    fn has_room(&self, length: usize) -> bool {
        self.cookies.len() < CookieJar::MAX_COOKIES && self.bytes.len() + length <= CookieJar::MAX_BYTES
    }

    fn remove(&mut self, index: usize) {
        let removed = self.cookies.remove(index);
        let length = removed.name + removed.value + removed.path;
        self.bytes.drain(usize::from(removed.at)..usize::from(removed.at + length));
        self.cookies.iter_mut().filter(|it| it.at > removed.at).for_each(|it| it.at -= length);
    }

    fn forget_expired(&mut self, now: u64) {
        for index in (0..self.cookies.len()).rev() {
            if self.cookies[index].expires <= now {
                self.remove(index);
            }
        }
    }
}

/// Parsed Set-Cookie header, with defaults for omitted attributes.
struct SetCookie<'a> {
    name: &'a [u8],
    value: &'a [u8],
    path: &'a [u8],
    expires: u64,
}

/// Number of seconds in a day. A cookie that expires before the second day of 1970 is removed regardless of the current
/// time.
const DAY: i64 = 86_400;

impl<'a> SetCookie<'a> {
    /// Parses a header; `None` if its cookie would never be sent.
    fn parse(header: &'a [u8], setting: &SetCookieContext<'a>) -> Option<SetCookie<'a>> {
        let mut parts = header.split(|it| *it == b';');
        let (name, value) = split_pair(parts.next()?)?;
        if name.is_empty() || header.iter().any(u8::is_ascii_control) {
            return None;
        }
        let mut path = default_path(setting.target);
        let (mut age, mut date) = (None, None);
        for part in parts {
            let (name, value) = split_pair(part).unwrap_or((part.trim_ascii(), b""));
            let is_attribute = |it: &str| name.eq_ignore_ascii_case(it.as_bytes());
            if is_attribute("max-age") {
                age = parse_max_age(value).or(age);
            } else if is_attribute("expires") {
                date = parse_date(value).or(date);
            } else if is_attribute("path") {
                path = if value.starts_with(b"/") { value } else { default_path(setting.target) };
            } else {
                // A cookie for another host, or for TLS on a plain connection, would never be sent.
                let foreign = is_attribute("domain") && !domain_matches(value, setting.origin.name());
                if foreign || (is_attribute("secure") && !setting.origin.tls) {
                    return None;
                }
            }
        }
        // Max-Age takes precedence. The lifetime from Expires begins at the response's date.
        let from = setting.date.and_then(parse_date);
        let lives = age.or_else(|| {
            let date = date?;
            match from {
                Some(from) => Some(date - from),
                None if date < DAY => Some(0),
                None => None,
            }
        });
        let expires = match lives {
            None => u64::MAX,
            Some(..=0) => 0,
            Some(it) => setting.now.saturating_add((it as u64).saturating_mul(1_000_000_000)),
        };
        Some(SetCookie { name, value, path, expires })
    }
}

/// Name and value without surrounding blanks.
fn split_pair(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|it| *it == b'=')?;
    Some((text[..at].trim_ascii(), text[at + 1..].trim_ascii()))
}

/// Default path of a cookie: RFC 6265, section 5.1.4.
fn default_path(target: &[u8]) -> &[u8] {
    let path = split_query(target).0;
    match path.iter().rposition(|it| *it == b'/') {
        None | Some(0) => b"/",
        Some(at) => &path[..at],
    }
}

/// True if a cookie with this path is sent with a request for `path`: section 5.1.4.
fn path_matches(path: &[u8], cookie_path: &[u8]) -> bool {
    let Some(rest) = path.strip_prefix(cookie_path) else { return false };
    rest.is_empty() || cookie_path.ends_with(b"/") || rest.starts_with(b"/")
}

/// True if `host` may set a cookie for this domain: section 5.1.3.
fn domain_matches(domain: &[u8], host: &str) -> bool {
    let domain = domain.strip_prefix(b".").unwrap_or(domain);
    let host = host.as_bytes();
    let Some(at) = host.len().checked_sub(domain.len()) else { return false };
    let is_address = host.starts_with(b"[") || host.iter().all(|it| it.is_ascii_digit() || *it == b'.');
    let at_label_start = at == 0 || (host[at - 1] == b'.' && !is_address);
    domain.is_empty() || (at_label_start && host[at..].eq_ignore_ascii_case(domain))
}

/// Number of seconds in a Max-Age attribute: section 5.2.2.
fn parse_max_age(text: &[u8]) -> Option<i64> {
    let (digits, sign) = text.strip_prefix(b"-").map_or((text, 1), |it| (it, -1));
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |sum: i64, it: &u8| sum.saturating_mul(10).saturating_add(i64::from(it - b'0'));
    Some(sign * digits.iter().fold(0, number))
}

/// Date in any of the usual formats, as seconds since 1970: section 5.1.1.
fn parse_date(text: &[u8]) -> Option<i64> {
    const MONTHS: &[u8; 36] = b"janfebmaraprmayjunjulaugsepoctnovdec";
    let delimits = |it: &u8| matches!(it, b'\t' | b' '..=b'/' | b';'..=b'@' | b'['..=b'`' | b'{'..=b'~');
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(delimits).filter(|it| !it.is_empty()) {
        let is_prefix = |month: &[u8]| token.get(..3).is_some_and(|it| it.eq_ignore_ascii_case(month));
        let named = MONTHS.chunks(3).position(is_prefix);
        match (parse_time(token), parse_number(token), named) {
            (Some(it), ..) if time.is_none() => time = Some(it),
            (_, Some((it, 1 | 2)), _) if day.is_none() => day = Some(it),
            (.., Some(it)) if month.is_none() => month = Some(Month::January.nth_next(it as u8)),
            (_, Some((it, 2)), _) if year.is_none() => year = Some(it + if it < 70 { 2000 } else { 1900 }),
            (_, Some((it, 4)), _) if year.is_none() => year = Some(it),
            _ => {}
        }
    }
    let (day, month, year) = (day?, month?, year?);
    let date = Date::from_calendar_date(year as i32, month, day as u8).ok().filter(|_| year >= 1601)?;
    Some(UtcDateTime::new(date, Time::MIDNIGHT).unix_timestamp() + time?)
}

/// Time such as `23:59:59`, as seconds since midnight.
fn parse_time(token: &[u8]) -> Option<i64> {
    let mut sum = 0;
    let mut fields = token.split(|it| *it == b':');
    for below in [24, 60, 61] {
        let (number, _) = parse_number(fields.next()?).filter(|it| it.0 < below && it.1 <= 2)?;
        sum = sum * 60 + number;
    }
    fields.next().is_none().then_some(sum)
}

/// Value of a number with at most four digits, and the number of its digits.
fn parse_number(token: &[u8]) -> Option<(i64, usize)> {
    let is_one = (1..=4).contains(&token.len()) && token.iter().all(u8::is_ascii_digit);
    is_one.then(|| (token.iter().fold(0, |sum, it| sum * 10 + i64::from(it - b'0')), token.len()))
}
