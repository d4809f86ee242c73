//! Redirects that a browser followed

use super::exchange::{Exchange, Response};
use super::url::Url;

/// Request with the redirects that pgdyno follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hops<'a> {
    pub first: &'a Exchange,
    pub url: &'a Url,
    /// Response after the last redirect.
    pub response: Option<&'a Response>,
    pub redirects: u8,
}

/// Maximum number of redirects of a request in an experiment.
const REDIRECTS_MAX: u8 = 20;
/// Number of later requests among which the request after a redirect is searched. Parallel requests may be between them.
const SEARCHED: usize = 10;

/// Joins each redirect with the request that followed it.
pub(super) fn join<'a>(all: &[(&'a Exchange, &'a Url)]) -> Vec<Hops<'a>> {
    let mut is_hop = vec![false; all.len()];
    let mut joined = Vec::new();
    for at in 0..all.len() {
        if is_hop[at] {
            continue;
        }
        let (first, url) = all[at];
        let mut hops = Hops { first, url, response: first.response.as_ref(), redirects: first.redirects };
        let mut last = at;
        while hops.redirects < REDIRECTS_MAX
            && let Some(next) = next_hop(all, last, &is_hop)
        {
            is_hop[next] = true;
            hops.redirects += 1;
            hops.response = all[next].0.response.as_ref();
            last = next;
        }
        joined.push(hops);
    }
    joined
}

/// Request that followed the redirect at `at`.
fn next_hop(all: &[(&Exchange, &Url)], at: usize, is_hop: &[bool]) -> Option<usize> {
    let (exchange, url) = all[at];
    let response = exchange.response.as_ref()?;
    let method = match (response.status, exchange.method.as_str()) {
        (303, "HEAD") => "HEAD",
        (303, _) | (301 | 302, "POST") => "GET",
        (301 | 302 | 307 | 308, method) => method,
        _ => return None,
    };
    let target = url.join(response.location.as_deref()?)?;
    let is_next = |next: &usize| {
        let (exchange, url) = all[*next];
        !is_hop[*next]
            && exchange.method == method
            && url.origin == target.origin
            && url.target == target.target
    };
    (at + 1..all.len().min(at + 1 + SEARCHED)).find(is_next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests and their redirects, as in `POST /login 303 /home`.
    fn check(lines: &[&str], expected: &[(&str, u8, u16)]) {
        let exchanges: Vec<Exchange> = lines
            .iter()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                let status = words[2].parse().expect("a status");
                let location = words.get(3).map(|&location| location.to_owned());
                let response = Some(Response { status, location, ..Response::default() });
                Exchange { response, ..Exchange::of_request(words[0], &format!("http://a.test{}", words[1])) }
            })
            .collect();
        let all: Vec<(&Exchange, &Url)> =
            exchanges.iter().map(|it| (it, it.url.as_ref().expect("valid"))).collect();
        let joined = join(&all);
        let found: Vec<(&str, u8, u16)> = joined
            .iter()
            .map(|it| (it.url.target.as_str(), it.redirects, it.response.expect("present").status))
            .collect();
        assert_eq!(found, expected, "{lines:?}");
    }

    #[test]
    fn joins_redirects() {
        check(&["POST /login 303 /home", "GET /home 200"], &[("/login", 1, 200)]);
        check(
            &["POST /login 302 home", "GET /x 200", "GET /home 301 /start", "GET /start 404"],
            &[("/login", 2, 404), ("/x", 0, 200)],
        );
        check(&["POST /a 307 /b", "GET /b 200", "POST /b 201"], &[("/a", 1, 201), ("/b", 0, 200)]);
        check(&["PUT /a 302 /b", "GET /b 200"], &[("/a", 0, 302), ("/b", 0, 200)]);
        check(&["HEAD /a 303 /b", "HEAD /b 200"], &[("/a", 1, 200)]);
        check(&["GET /a 302 http://b.test/b", "GET /b 200"], &[("/a", 0, 302), ("/b", 0, 200)]);
        let far = [&["GET /a 302 /b"][..], &["GET /x 200"; 10], &["GET /b 200"]].concat();
        let rest = [&[("/a", 0, 302)][..], &[("/x", 0, 200); 10], &[("/b", 0, 200)]].concat();
        check(&far, &rest);
        check(&["GET /a 304 /b", "GET /b 200"], &[("/a", 0, 304), ("/b", 0, 200)]);
    }
}
