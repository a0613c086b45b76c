"""The site on this machine only: 127.0.0.1, under no other name."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from leaderboards.pages import POLICY

LOOPBACK = "127.0.0.1"


class _Handler(SimpleHTTPRequestHandler):
    """Files of one folder, read only; no listings, no requests for another host's name."""

    def do_GET(self) -> None:
        """Answer, unless a page of another origin sent the browser here."""
        if self._is_ours():
            super().do_GET()

    def do_HEAD(self) -> None:
        """As `do_GET`, without the body."""
        if self._is_ours():
            super().do_HEAD()

    def _is_ours(self) -> bool:
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host in (LOOPBACK, "localhost"):
            return True
        self.send_error(421, "this server is for 127.0.0.1 only")
        return False

    def list_directory(self, path: Any) -> None:
        """A folder without a page is not there."""
        del path
        self.send_error(404)

    def end_headers(self) -> None:
        """Add what a static host should send too."""
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def server(site: Path, port: int) -> ThreadingHTTPServer:
    """A server of the folder `site`; port 0 takes a free one."""
    return ThreadingHTTPServer((LOOPBACK, port), partial(_Handler, directory=str(site)))
