"""HTTP service that serves one request at a time, whatever its number of threads, and shows nothing about itself."""

import threading
import time

import http_service

LOCK = threading.Lock()


class Handler(http_service.Handler):
    def work(self):
        with LOCK:
            time.sleep(0.02)


http_service.serve(Handler)
