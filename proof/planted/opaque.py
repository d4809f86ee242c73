"""HTTP service that serves one request at a time, whatever its number of threads, and shows nothing about itself."""

import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path != "/health":
            with LOCK:
                time.sleep(0.02)
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
