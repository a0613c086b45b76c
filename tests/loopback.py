"""A chat-completions server on this machine, in a thread: what it will say is enqueued."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def said(text: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A body in which the model says `text`."""
    return {"choices": [{"message": {"content": text, **message}, "finish_reason": finish}]}


@dataclass(frozen=True)
class Answer:
    """What the server sends; `body` as JSON, or as it is if it is a text."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass
class Server:
    """Answers in the order of `answers`, then with `default`; keeps what it was sent."""

    url: str = ""
    answers: list[Answer] = field(default_factory=list)
    default: Any = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enqueue(self, *answers: Any, **how: Any) -> None:
        self.answers += [one if isinstance(one, Answer) else Answer(one, **how) for one in answers]

    def take(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Answer:
        with self._lock:
            self.requests.append({"path": path, **body})
            self.headers.append(headers)
            self.times.append(time.monotonic())
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            if self.answers:
                return self.answers.pop(0)
        default = self.default(body) if callable(self.default) else self.default
        return default if isinstance(default, Answer) else Answer(default)

    def done(self) -> None:
        with self._lock:
            self._now -= 1


@contextmanager
def serving() -> Iterator[Server]:
    """Runs a `Server` until the block ends."""
    script = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {key.lower(): value for key, value in self.headers.items()}
            answer = script.take(self.path, body, headers)
            time.sleep(answer.delay)
            script.done()
            text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            data = text.encode()
            try:
                self.send_response(answer.status)
                for key, value in answer.headers.items():
                    self.send_header(key, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client has lost patience

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
