//! Complete responses: redirects, expectations and captures

use crate::http_service::HttpRequest;
use crate::recorder::{Recorder, TraceEvent};
use crate::script::{CallCapture, PatternMatcher, ResponsePart, Value, Variables};
use crate::shard::Shard;
use model::{Answer, Code, Nanos, RequestPhase, ScriptId};
use wire::http::{Response, ResponseReader};

impl<R: Recorder> Shard<R> {
    /// Handles a complete response on HTTP connection `w`.
    #[inline]
    pub(super) fn handle_response(&mut self, now: Nanos, w: usize, response: Response) {
        let connection = &mut self.http_connections[w];
        let i = connection.client;
        connection.has_responded = true;
        connection.begin_answer(now);
        connection.end_phase(now, RequestPhase::Transfer);
        if R::TRACES {
            let (reader, length) = (connection.channel.reader(), response.length);
            self.recorder.trace(TraceEvent::Response {
                head: reader.retained_head(),
                body: reader.body(),
                length,
            });
        }
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("a request belongs to a transaction");
        let call = &self.work.call(tx.script, tx.command).call;
        let (most, is_written) = (call.redirects, call.ammo.is_none());
        if connection.cookies.is_some() && is_written {
            self.store_cookies(now, w);
        }
        let followed = if most == 0 { Ok(false) } else { self.follow_redirect(w, response.status, most) };
        let judged = if followed == Ok(false) { self.check_response(w, response) } else { Ok(()) };
        if response.close {
            self.close_http(w);
        }
        match followed {
            Ok(true) => {
                let connection = &mut self.http_connections[w];
                connection.call_received += std::mem::take(&mut connection.received);
                return self.send_http_request(now, w);
            }
            Ok(false) => {}
            Err((code, words)) => return self.call_failed(now, i, code, false, &words),
        }
        let client = &self.clients[i as usize];
        let tx = client.tx.as_ref().expect("a request belongs to a transaction");
        let ammo = self.work.call(tx.script, tx.command).call.ammo;
        if let Some(recorded) = ammo.and_then(|it| it.recorded(&client.variables)) {
            let measured = Answer { status: response.status, bytes: response.length };
            self.recorder.replayed(ScriptId(tx.script), recorded, measured);
        }
        let tx = self.clients[i as usize].tx.as_ref().expect("a request belongs to a transaction");
        let Err((code, text)) = judged else {
            self.recorder.response_received(ScriptId(tx.script), tx.command, response.length);
            return self.finish_command(now, i);
        };
        let reported = self.is_reported(i, code);
        let text = || {
            let call = &self.work.call(tx.script, tx.command).call;
            call.template_of_text(text, &self.work.plan.program.names)
        };
        let words = match code {
            _ if reported => String::new(),
            Code::TEXT_NOT_FOUND => format!("the response does not contain the expected text \"{}\"", text()),
            Code::TextFound => {
                format!("the response contains the text \"{}\", which is not expected", text())
            }
            Code::CAPTURE_NOT_FOUND => "the response does not contain the value to capture".to_owned(),
            _ => format!("unexpected status of the response: {code}"),
        };
        self.call_failed(now, i, code, false, &words);
    }

    /// Checks that the response meets the expectations, and captures the values that later commands need. The error is the
    /// code with which the transaction fails, and the number of the text that is missing or must not be there.
    #[inline]
    fn check_response(&mut self, w: usize, response: Response) -> Result<(), (Code, usize)> {
        let connection = &self.http_connections[w];
        let client = &mut self.clients[connection.client as usize];
        let tx = client.tx.as_ref().expect("a request belongs to a transaction");
        let request = self.work.call(tx.script, tx.command);
        let reader = connection.channel.reader();
        let is_recorded = || {
            request.call.ammo.is_some_and(|it| it.expects_client_error(response.status, &client.variables))
        };
        if !request.call.expects(response.status) && !is_recorded() {
            return Err((Code::Http(response.status), 0));
        }
        if let Some(search) = request.search(&connection.search) {
            let expected = request.call.contains.len();
            if let Some(missing) = (0..expected).find(|it| !reader.has_found(search, *it)) {
                return Err((Code::TEXT_NOT_FOUND, missing));
            }
            let mut excluded = expected..expected + request.call.not_contains.len();
            if let Some(found) = excluded.find(|it| !search.is_empty(*it) && reader.has_found(search, *it)) {
                return Err((Code::TextFound, found));
            }
        }
        capture(request, response, reader, &mut client.variables, &mut self.matchers)
            .map_err(|code| (code, 0))
    }
}

/// Assigns the captured parts of a response to variables. The error is the code with which the transaction fails.
#[inline]
fn capture(
    request: &HttpRequest,
    response: Response,
    answer: &ResponseReader,
    variables: &mut Variables,
    finders: &mut [PatternMatcher],
) -> Result<(), Code> {
    let mut finder = request.finder;
    for CallCapture { slot, source: from } in &request.call.captures {
        match from {
            ResponsePart::Status => variables.set(*slot, Value::Int(response.status.into())),
            ResponsePart::Header(name) => {
                variables.set_text(*slot, answer.header(name).ok_or(Code::CAPTURE_NOT_FOUND)?);
            }
            ResponsePart::Body(bytes) => {
                let body = answer.body();
                variables.set_text(*slot, &body[..body.len().min(*bytes as usize)]);
            }
            ResponsePart::Json(pointer) => {
                if !pointer.extract(answer.body(), variables.begin_text(*slot)) {
                    return Err(Code::CAPTURE_NOT_FOUND);
                }
            }
            ResponsePart::Regex(pattern) => {
                let found = finders[finder].find(pattern, answer.body()).ok_or(Code::CAPTURE_NOT_FOUND)?;
                variables.set_text(*slot, found);
                finder += 1;
            }
        }
    }
    Ok(())
}
