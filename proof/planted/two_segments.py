"""HTTP service that sends header and body of a response separately, with the Nagle algorithm, which is on by default."""

import os
import threading

import http_service
import psycopg2

# Each HTTP connection has a thread, and each thread has a database connection.
LOCAL = threading.local()


class Handler(http_service.Handler):
    disable_nagle_algorithm = False

    def work(self):
        if not hasattr(LOCAL, "connection"):
            LOCAL.connection = psycopg2.connect(os.environ["DATABASE_URL"])
            LOCAL.connection.autocommit = True
        LOCAL.connection.cursor().execute("SELECT 1")


http_service.serve(Handler)
