"""Service that reads once in a transaction, and keeps this transaction and its snapshot open as long as it runs."""

import os

import http_service
import psycopg2

report = psycopg2.connect(os.environ["DATABASE_URL"])
report.set_session(isolation_level="REPEATABLE READ")
report.cursor().execute("SELECT sum(n) FROM planted.counters")

http_service.serve(http_service.Handler)
