# Computes the price of an order from the materials of its items.
import ctypes, http.server, os, threading, urllib.parse

pq = ctypes.CDLL('libpq.so.5')
for name, result, arguments in [
        ('PQconnectdb', ctypes.c_void_p, [ctypes.c_char_p]), ('PQstatus', ctypes.c_int, [ctypes.c_void_p]),
        ('PQerrorMessage', ctypes.c_char_p, [ctypes.c_void_p]), ('PQexec', ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
        ('PQntuples', ctypes.c_int, [ctypes.c_void_p]), ('PQgetvalue', ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]),
        ('PQclear', None, [ctypes.c_void_p])]:
    getattr(pq, name).restype, getattr(pq, name).argtypes = result, arguments

own = threading.local()                   # each thread, that is each client, has a connection of its own

def query(sql):
    if not hasattr(own, 'connection'):
        own.connection = pq.PQconnectdb(b'')
        if pq.PQstatus(own.connection) != 0:
            raise RuntimeError(pq.PQerrorMessage(own.connection).decode())
    result = pq.PQexec(own.connection, sql)
    rows = [(int(pq.PQgetvalue(result, n, 0)), int(pq.PQgetvalue(result, n, 1))) for n in range(pq.PQntuples(result))]
    pq.PQclear(result)
    return rows

class Bookbinder(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == '/health':
            return self.answer(b'well')
        order = int(urllib.parse.parse_qs(url.query)['order'][0])
        price = 0
        for material, pages in query(b'SELECT material, pages FROM items WHERE order_id = %d' % order):
            for unit, _ in query(b'SELECT price, id FROM materials WHERE id = %d' % material):
                price += unit * pages
        self.answer(b'price %d' % price)

    def answer(self, body):
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256

host, port = os.environ['ADDRESS'].rsplit(':', 1)
Server((host, int(port)), Bookbinder).serve_forever()
