"""A reverse proxy for tests: it offers a server below a path of its own, and strips that path, as companies' do."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

ELSEWHERE = "another program of the company"
"""What the proxy answers outside the path."""
_OF_A_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length", "date")


@contextmanager
def stripping_proxy(server: str, path: str) -> Iterator[str]:
    """Offer a server's URL below a path; yield the proxy's URL, without the path."""
    host = urlsplit(server).netloc

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not f"{self.path}/".startswith(f"{path}/"):
                self._answer(404, [("Content-Type", "text/html")], ELSEWHERE.encode())
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            upstream = http.client.HTTPConnection(host, timeout=30)
            try:
                headers = {name: value for name, value in self.headers.items() if name.lower() not in _OF_A_HOP}
                upstream.request(self.command, self.path.removeprefix(path) or "/", body or None, headers)
                answer = upstream.getresponse()
                kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OF_A_HOP]
                self._answer(answer.status, kept, answer.read())
            finally:
                upstream.close()

        do_POST = do_GET

        def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as proxy:
        proxy.daemon_threads = True
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{proxy.server_port}"
        finally:
            proxy.shutdown()
            thread.join()
