# Opens the turnstile of a gym, if the card is valid.
import ctypes, http.server, os, time, urllib.parse

pq = ctypes.CDLL('libpq.so.5')
for name, result, arguments in [
        ('PQconnectdb', ctypes.c_void_p, [ctypes.c_char_p]), ('PQstatus', ctypes.c_int, [ctypes.c_void_p]),
        ('PQerrorMessage', ctypes.c_char_p, [ctypes.c_void_p]), ('PQexec', ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
        ('PQntuples', ctypes.c_int, [ctypes.c_void_p]), ('PQclear', None, [ctypes.c_void_p])]:
    getattr(pq, name).restype, getattr(pq, name).argtypes = result, arguments

connection = pq.PQconnectdb(b'')          # PGHOST, PGPORT, PGUSER, PGDATABASE and PGPASSWORD
if pq.PQstatus(connection) != 0:
    raise SystemExit(pq.PQerrorMessage(connection).decode())

class Gym(http.server.BaseHTTPRequestHandler):
    timeout = 5

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == '/health':
            return self.answer(200, b'well')
        card = int(urllib.parse.parse_qs(url.query)['card'][0])
        result = pq.PQexec(connection, b'SELECT name FROM members WHERE card = %d AND valid_until > date \'2026-01-01\'' % card)
        known = pq.PQntuples(result) == 1
        pq.PQclear(result)
        if known:
            time.sleep(0.006)             # the controller of the turnstile answers
        self.answer(200 if known else 404, b'open' if known else b'unknown')

    def answer(self, status, body):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

class Server(http.server.HTTPServer):
    request_queue_size = 256

host, port = os.environ['ADDRESS'].rsplit(':', 1)
Server((host, int(port)), Gym).serve_forever()
