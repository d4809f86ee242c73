"""HTTP service that sends header and body of a response separately, with the Nagle algorithm, which is on by default."""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2

# Each HTTP connection has a thread, and each thread has a database connection.
LOCAL = threading.local()


def query():
    if not hasattr(LOCAL, "connection"):
        LOCAL.connection = psycopg2.connect(os.environ["DATABASE_URL"])
        LOCAL.connection.autocommit = True
    LOCAL.connection.cursor().execute("SELECT 1")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path != "/health":
            query()
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


host, port = os.environ["ADDRESS"].rsplit(":", 1)
Server((host.strip("[]"), int(port)), Handler).serve_forever()
