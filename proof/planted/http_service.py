"""HTTP server of the planted services. Requests for /health do no work."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def work(self):
        pass

    def do_GET(self):
        if self.path != "/health":
            self.work()
        body = b"done\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def serve(handler):
    host, port = os.environ["ADDRESS"].rsplit(":", 1)
    Server((host.strip("[]"), int(port)), handler).serve_forever()
