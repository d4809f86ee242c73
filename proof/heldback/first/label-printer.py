# A service that prints labels on one device. Each request uses the device for 8 ms, one request at a time.
import http.server, os, threading, time

device = threading.Lock()

class Printer(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path != '/health':
            with device:
                time.sleep(0.008)
        body = b'printed\n'
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 200

host, port = os.environ['ADDRESS'].rsplit(':', 1)
Server((host, int(port)), Printer).serve_forever()
