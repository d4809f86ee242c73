"""HTTP service that reads large results over four connections, and processes each row before it reads the next."""

import os
import queue
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2

EXPORT = "COPY (SELECT repeat('x', 100000) FROM generate_series(1, 80)) TO STDOUT (FORMAT binary)"
CONNECTIONS = queue.Queue()


class Rows:
    def write(self, row):
        time.sleep(0.002)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path != "/health":
            connection = CONNECTIONS.get()
            try:
                connection.cursor().copy_expert(EXPORT, Rows())
            finally:
                CONNECTIONS.put(connection)
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


for _ in range(4):
    connection = psycopg2.connect(os.environ["DATABASE_URL"])
    connection.autocommit = True
    # A fixed buffer does not grow to the size of a result.
    with socket.socket(fileno=os.dup(connection.fileno())) as of_connection:
        of_connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    CONNECTIONS.put(connection)

host, port = os.environ["ADDRESS"].rsplit(":", 1)
Server((host.strip("[]"), int(port)), Handler).serve_forever()
