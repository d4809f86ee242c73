"""Service that reads once in a transaction, and keeps this transaction and its snapshot open as long as it runs."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


report = psycopg2.connect(os.environ["DATABASE_URL"])
report.set_session(isolation_level="REPEATABLE READ")
report.cursor().execute("SELECT sum(n) FROM planted.counters")

host, port = os.environ["ADDRESS"].rsplit(":", 1)
ThreadingHTTPServer((host.strip("[]"), int(port)), Handler).serve_forever()
