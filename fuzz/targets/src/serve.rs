//! Target for requests to `pgdyno serve`: only authorised requests are answered, and encoded names can be decoded.

#[path = "../../../crates/pgdyno/src/http_server/guard.rs"]
#[allow(dead_code)]
mod guard;
#[path = "../../../crates/pgdyno/src/serve/route.rs"]
#[allow(dead_code)]
mod path;

use guard::{Guard, RequestIdentity};
use model::percent_encode;
use path::{Route, fields};
use std::sync::LazyLock;

static GUARD: LazyLock<Guard> = LazyLock::new(|| {
    let address = "127.0.0.1:7400".parse().expect("an address");
    Guard::new(address, Some("bench.test"), Some("token")).expect("random numbers are available")
});

/// Runs one input: six texts, separated by NUL (path, query, `Host`, `Origin`, `Cookie`, `Authorization`). An empty
/// text means that the request lacks this part.
pub fn run(data: &[u8]) {
    let mut parts = crate::text(data).splitn(6, '\0');
    let mut part = || parts.next().filter(|it| !it.is_empty());
    let (path, query) = (part().unwrap_or_default(), part());
    if let Some(Route::Page(name) | Route::Document(name) | Route::Report(name)) = Route::parse(path, query) {
        let again = Route::parse(&format!("/runs/{}", percent_encode(&name)), None);
        assert_eq!(again, Some(Route::Page(name)), "a name survives the round trip");
    }
    fields(query.unwrap_or_default()).for_each(drop);
    let (host, origin, cookie, authorization) = (part(), part(), part(), part());
    for is_write in [false, true] {
        let asking = RequestIdentity { is_write, host, origin, cookie, authorization };
        if GUARD.check_origin(asking).is_ok() {
            let host = host.expect("a missing Host is rejected").to_ascii_lowercase();
            let (name, port) = host.rsplit_once(':').expect("the port is not the default of HTTP");
            let names = ["127.0.0.1", "localhost", "[::1]", "bench.test"];
            assert!(names.contains(&name) && port.parse() == Ok(7400), "{host}");
            assert!(!is_write || origin.is_some());
        }
        if GUARD.check_token(asking).is_ok() {
            let session = cookie.is_some_and(|it| it.contains("pgdyno-7400="));
            assert!(session || authorization.is_some_and(|it| it.contains("token")));
        }
    }
}
