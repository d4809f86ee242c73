//! Storage, sending and removal of cookies, and bounds on what a server can cause.

use proptest::prelude::*;
use wire::http::{CookieJar, Origin, SetCookieContext};

const SECOND: u64 = 1_000_000_000;
const PLAIN: Origin<'_> = Origin { host: "www.shop.test:8080", tls: false };
const SECURE: Origin<'_> = Origin { host: "www.shop.test", tls: true };

fn set(jar: &mut CookieJar, origin: Origin<'_>, target: &str, now: u64, header: &str) {
    let date = Some(&b"Wed, 21 Oct 2015 07:28:00 GMT"[..]);
    jar.store(header.as_bytes(), &SetCookieContext { origin, target: target.as_bytes(), date, now });
}

fn sent(jar: &CookieJar, target: &str, now: u64) -> String {
    let mut to = Vec::new();
    jar.write(target.as_bytes(), now, &mut to);
    let line = String::from_utf8(to).expect("the cookies are UTF-8");
    match line.strip_prefix("Cookie: ") {
        None => line,
        Some(it) => it.strip_suffix("\r\n").expect("a line has an end").to_owned(),
    }
}

/// Checks the cookies of a request one second later, after these headers of responses to `GET /a/b?c`.
fn check_of(origin: Origin<'_>, headers: &[&str], target: &str, expected: &str) {
    let mut jar = CookieJar::default();
    headers.iter().for_each(|it| set(&mut jar, origin, "/a/b?c=/d/e", 0, it));
    assert_eq!(sent(&jar, target, SECOND), expected, "{headers:?} at {target}");
}

#[test]
fn sends_cookies_that_were_set() {
    let check = |headers: &[&str], expected| check_of(PLAIN, headers, "/a/x", expected);
    check(&["id=7"], "id=7");
    check(&["id=7; HttpOnly; SameSite=Lax; Priority=High"], "id=7");
    check(&[" id = a=b ;Path=/"], "id=a=b");
    check(&["id=\"7, 8\""], "id=\"7, 8\"");
    check(&["id="], "id=");
    check(&["id=1", "other=2", "id=3"], "id=3; other=2");
    check(&["=7"], "");
    check(&["id"], "");
    check(&[""], "");
    check(&["id=a\tb"], "");
    check(&["id=1", "ID=2"], "id=1; ID=2");
}

#[test]
fn matches_cookie_paths() {
    let check = |header, target, expected| check_of(PLAIN, &[header], target, expected);
    // Without a Path attribute, a cookie applies to the directory of the request's path.
    check("id=1", "/a", "id=1");
    check("id=1", "/a/", "id=1");
    check("id=1", "/a?x", "id=1");
    check("id=1", "/ab", "");
    check("id=1", "/", "");
    check("id=1; Path=/", "/anything?at=all", "id=1");
    check("id=1; path=/shop/", "/shop/x", "id=1");
    check("id=1; path=/shop/", "/shop", "");
    check("id=1; Path=shop", "/a/x", "id=1");
    check("id=1; Path=/x; Path=/y", "/y", "id=1");
    let jar =
        ["a=1; Path=/", "b=2; Path=/a", "c=3; Path=/a/b", "d=4; Path=/a", "a=5; Path=/a/b", "b=6; Path=/a"];
    check_of(PLAIN, &jar, "/a/b", "c=3; a=5; b=6; d=4; a=1");
}

#[test]
fn matches_cookie_domains() {
    check_of(PLAIN, &["id=1; Domain=shop.test"], "/a", "id=1");
    check_of(PLAIN, &["id=1; Domain=.SHOP.test"], "/a", "id=1");
    check_of(PLAIN, &["id=1; Domain=www.shop.test"], "/a", "id=1");
    check_of(PLAIN, &["id=1; Domain="], "/a", "id=1");
    for other in ["hop.test", "other.test", "my.www.shop.test", "a-much-longer-name.www.shop.test"] {
        check_of(PLAIN, &[&format!("id=1; Domain={other}")], "/a", "");
    }
    let address = Origin { host: "127.0.0.1:80", tls: false };
    check_of(address, &["id=1; Domain=127.0.0.1"], "/a", "id=1");
    check_of(address, &["id=1; Domain=0.1"], "/a", "");
    // Secure cookies are neither accepted nor sent without TLS.
    check_of(PLAIN, &["id=1; Secure"], "/a", "");
    check_of(SECURE, &["id=1; Secure"], "/a", "id=1");
}

#[test]
fn honours_cookie_lifetimes() {
    // Each cookie is set at the start. Requests are sent one, ten and a hundred seconds later.
    let check = |attributes: &str, expected: [bool; 3]| {
        let mut jar = CookieJar::default();
        set(&mut jar, PLAIN, "/", 0, &format!("id=1{attributes}"));
        let lives = [1, 10, 100].map(|it| !sent(&jar, "/", it * SECOND).is_empty());
        assert_eq!(lives, expected, "{attributes}");
    };
    let (always, never, briefly) = ([true; 3], [false; 3], [true, false, false]);
    check("", always);
    check("; Max-Age=5", briefly);
    check("; max-age=50", [true, true, false]);
    check("; Max-Age=0", never);
    check("; Max-Age=-1", never);
    check("; Max-Age=99999999999999999999", always);
    for none in ["", "x", "5x", "+5", "-"] {
        check(&format!("; Max-Age={none}"), always);
    }
    // Expires is relative to the Date of the response, in every date format.
    check("; Expires=Wed, 21 Oct 2015 07:28:05 GMT", briefly);
    check("; Expires=Wednesday, 21-Oct-15 07:28:05 GMT", briefly);
    check("; Expires=Wed Oct 21 07:28:05 2015", briefly);
    check("; expires=Wed, 21-Oct-2015 07:28:05 UTC", briefly);
    check("; Expires=Thu, 01 Jan 1970 00:00:00 GMT", never);
    check("; Expires=Wed, 21 Oct 2015 07:28:00 GMT", never);
    check("; Expires=Mon, 29 Feb 2016 00:00:00 GMT", always);
    check("; Expires=Tue, 19 Jan 2038 03:14:07 GMT", always);
    for none in [
        "0",
        "",
        "tomorrow",
        "Wed, 32 Oct 2015 07:28:05 GMT",
        "21 Oct 2015",
        "21 Oct 1500 00:00:00",
        "30 Feb 2015 00:00:00",
    ] {
        check(&format!("; Expires={none}"), always);
    }
    check("; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=5", briefly);
    // In a response without a Date, only Expires values that remove the cookie count.
    let mut jar = CookieJar::default();
    let setting = SetCookieContext { origin: PLAIN, target: b"/", date: None, now: 0 };
    jar.store(b"a=1; Expires=Wed, 21 Oct 2015 07:28:05 GMT", &setting);
    jar.store(b"b=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT", &setting);
    assert_eq!(sent(&jar, "/", SECOND), "a=1");
}

#[test]
fn removes_expired_cookies() {
    for attributes in ["Max-Age=0", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"] {
        let mut jar = CookieJar::default();
        set(&mut jar, PLAIN, "/", 0, "a=1");
        set(&mut jar, PLAIN, "/", 0, "id=7");
        set(&mut jar, PLAIN, "/", 0, "b=2");
        set(&mut jar, PLAIN, "/", 0, &format!("id=; Path=/x; {attributes}"));
        assert_eq!(sent(&jar, "/", 1), "a=1; id=7; b=2", "another's path");
        set(&mut jar, PLAIN, "/", 0, &format!("id=; {attributes}"));
        assert_eq!((sent(&jar, "/", 1).as_str(), jar.len()), ("a=1; b=2", 2), "{attributes}");
        jar.clear();
        assert!(jar.is_empty() && sent(&jar, "/", 1).is_empty());
    }
}

#[test]
fn jar_size_is_bounded() {
    let mut jar = CookieJar::default();
    for n in 0..10_000 {
        set(&mut jar, PLAIN, "/", 0, &format!("c{n}={n}; Max-Age=10"));
    }
    assert_eq!(jar.len(), CookieJar::MAX_COOKIES);
    assert!(sent(&jar, "/", 1).starts_with("c0=0; c1=1; "), "the first cookies stay");
    // Removing expired cookies makes room for new ones.
    set(&mut jar, PLAIN, "/", 11 * SECOND, "new=1");
    assert_eq!((sent(&jar, "/", 12 * SECOND).as_str(), jar.len()), ("new=1", 1));
    let mut jar = CookieJar::default();
    set(&mut jar, PLAIN, "/", 0, &format!("large={}", "x".repeat(CookieJar::MAX_BYTES)));
    set(&mut jar, PLAIN, "/", 0, &format!("huge={}", "x".repeat(1 << 17)));
    assert!(jar.is_empty());
    for n in 0..10 {
        set(&mut jar, PLAIN, "/", 0, &format!("c{n}={}", "x".repeat(1000)));
    }
    assert_eq!(jar.len(), 8);
    // A cookie that grows too large is removed, not left with its old value.
    set(&mut jar, PLAIN, "/", 0, &format!("c3={}", "y".repeat(3000)));
    assert_eq!(jar.len(), 7);
    assert!(!sent(&jar, "/", 1).contains("c3="));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Compares the jar with a reference implementation that is a plain list.
    #[test]
    fn jar_matches_reference_list(
        steps in prop::collection::vec(("[ab]", "[xyz]{0,40}", "(/|/p|/p/q)", prop::option::of(0_u64..20)), 0..60),
    ) {
        let (mut jar, mut list) = (CookieJar::default(), Vec::<(String, String, String, u64)>::new());
        for (now, (name, value, path, age)) in steps.into_iter().enumerate() {
            let now = now as u64 * SECOND;
            let lives = age.map_or(String::new(), |it| format!("; Max-Age={it}"));
            set(&mut jar, PLAIN, "/", now, &format!("{name}={value}; Path={path}{lives}"));
            let expires = age.map_or(u64::MAX, |it| if it == 0 { 0 } else { now + it * SECOND });
            let known = list.iter().position(|it| it.0 == name && it.2 == path);
            match known {
                Some(known) if expires <= now => drop(list.remove(known)),
                Some(known) => list[known] = (name, value, path, expires),
                None if expires <= now => {}
                None => list.push((name, value, path, expires)),
            }
            list.sort_by_key(|it| std::cmp::Reverse(it.2.len()));
            let is_valid = |it: &&(String, String, String, u64)| it.3 > now;
            let expected: Vec<String> = list.iter().filter(is_valid).map(|it| format!("{}={}", it.0, it.1)).collect();
            prop_assert_eq!(sent(&jar, "/p/q", now), expected.join("; "));
        }
    }

    #[test]
    fn arbitrary_headers_do_not_panic(headers in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..100), target: String) {
        let mut jar = CookieJar::default();
        for (now, header) in headers.iter().enumerate() {
            jar.store(header, &SetCookieContext { origin: PLAIN, target: target.as_bytes(), date: Some(header), now: now as u64 });
            let mut to = Vec::new();
            jar.write(target.as_bytes(), now as u64, &mut to);
            prop_assert!(to.iter().filter(|it| it.is_ascii_control()).count() <= 2, "the jar writes a single line");
        }
        prop_assert!(jar.len() <= CookieJar::MAX_COOKIES);
    }
}
