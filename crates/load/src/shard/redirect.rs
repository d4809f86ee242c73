//! Redirects and cookies of HTTP responses

use super::Shard;
use crate::recorder::Recorder;
use model::{Code, Nanos};
use wire::http::{RedirectError, SetCookieContext};

impl<R: Recorder> Shard<R> {
    /// Stores the cookies that the response on HTTP connection `w` sets, and removes the cookies that it deletes.
    pub(super) fn store_cookies(&mut self, now: Nanos, w: usize) {
        let services = &self.work.services;
        let origin = services[w % services.len()].origin();
        let connection = &mut self.http_connections[w];
        let (reader, jar) = (
            connection.channel.reader(),
            connection.cookies.as_mut().expect("a service with cookies has a jar"),
        );
        let setting =
            SetCookieContext { origin, target: &connection.target, date: reader.header("date"), now: now.0 };
        reader.each_header("set-cookie", |it| jar.store(it, &setting));
    }

    /// Follows a redirect in the response on HTTP connection `w`. Returns true if a further request must be sent, and
    /// false if the response is final.
    ///
    /// Returns a code and a message if the redirect exceeds the limit or leads to another origin.
    pub(super) fn follow_redirect(
        &mut self,
        w: usize,
        status: u16,
        most: u8,
    ) -> Result<bool, (Code, String)> {
        let services = &self.work.services;
        let origin = services[w % services.len()].origin();
        let connection = &mut self.http_connections[w];
        let Some(hop) = connection.hop.next(status, connection.method) else { return Ok(false) };
        let Some(location) = connection.channel.reader().header("location") else { return Ok(false) };
        if connection.hops >= most {
            return Err((Code::TOO_MANY_REDIRECTS, format!("too many redirects (maximum is {most})")));
        }
        origin.resolve(&connection.target, location, &mut connection.location).map_err(|lost| {
            let code = match lost {
                RedirectError::CrossOrigin(_) => Code::CROSS_ORIGIN_REDIRECT,
                RedirectError::Malformed => Code::PROTOCOL,
            };
            (code, lost.to_string())
        })?;
        let client = &self.clients[connection.client as usize];
        let tx = client.tx.as_ref().expect("a request belongs to a transaction");
        connection.hop = hop;
        connection.hops += 1;
        connection.method = self.work.call(tx.script, tx.command).method(hop, &client.variables);
        Ok(true)
    }

    /// Removes the cookies of client `i`, which represents another user from now on.
    pub(super) fn clear_cookies(&mut self, i: u32) {
        for w in self.http_connections_of(i) {
            if let Some(jar) = &mut self.http_connections[w].cookies {
                jar.clear();
            }
        }
    }
}

/// Copies the path and query of a request to `target`.
pub(super) fn store_target(target: &mut Vec<u8>, request: &[u8]) {
    target.clear();
    target.extend_from_slice(request.split(|it| *it == b' ').nth(1).unwrap_or_default());
}
