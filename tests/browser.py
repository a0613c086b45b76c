"""Headless Chromium for tests marked `browser`, spoken to over a pipe: no port, no driver package.

    def test_something(page: Page, tmp_path: Path) -> None:
        page.open(tmp_path / "report.html")
        page.click("#failures")
        assert page.js("document.querySelectorAll('.sample:not([hidden])').length") == 3

Whatever a page reports as an error fails the test that opened it. Chromium is $TRIDENT_CHROMIUM or
what is on the PATH; names are not resolved, so only files and 127.0.0.1 can be reached.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

SECONDS = 60.0
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

# Chromium reads commands from descriptor 3 and writes to 4, wherever ours happen to be.
_LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]
for end, wanted in zip(ends, (3, 4)):
    os.dup2(end, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""

_KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "Space": (" ", 32, " "),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
}


class BrowserError(RuntimeError):
    """Chromium refused a command, died or took too long."""


def executable() -> str | None:
    """Where Chromium is, None if it is nowhere."""
    if named := os.environ.get("TRIDENT_CHROMIUM"):
        return named
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


class Browser:
    """One Chromium process. `profile` is a folder of its own, which it fills."""

    def __init__(self, program: str, profile: Path) -> None:
        commands, self._write = os.pipe()
        self._read, replies = os.pipe()
        flags = [
            "--headless=new",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--disable-gpu",
            "--force-color-profile=srgb",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            "--no-default-browser-check",
            "--no-first-run",
        ]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses to have one as root
        with (profile / "stderr.txt").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _LAUNCH, str(commands), str(replies), program, *flags],
                pass_fds=(commands, replies),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "HOME": str(profile)},
            )
        os.close(commands)
        os.close(replies)
        self._log = profile / "stderr.txt"
        self._buffer = b""
        self._number = 0
        self._replies: dict[int, Mapping[str, Any]] = {}
        self._pages: dict[str, Page] = {}
        self.command("Browser.getVersion")

    def page(
        self, *, width: int = 1280, height: int = 900, dark: bool = False, javascript: bool = True
    ) -> "Page":
        """An empty page of so many CSS pixels."""
        target = self.command("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.command("Target.attachToTarget", {"targetId": target, "flatten": True})
        page = Page(self, target, attached["sessionId"])
        self._pages[attached["sessionId"]] = page
        page.begin(width, height, dark, javascript)
        return page

    def command(
        self, method: str, params: Mapping[str, Any] | None = None, session: str | None = None
    ) -> Mapping[str, Any]:
        """Send one command of the DevTools protocol and wait for its reply.

        Raises:
            BrowserError: It was refused, or no reply came.
        """
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        rest = memoryview(json.dumps(message).encode() + b"\0")
        while rest:
            rest = rest[os.write(self._write, rest) :]
        self.wait(lambda: number in self._replies, method)
        reply = self._replies.pop(number)
        if "error" in reply:
            raise BrowserError(f"{method}: {reply['error']['message']}")
        result: Mapping[str, Any] = reply["result"]
        return result

    def wait(self, is_done: Callable[[], bool], what: str) -> None:
        """Listen until `is_done`.

        Raises:
            BrowserError: It took more than a minute, or Chromium ended.
        """
        deadline = time.monotonic() + SECONDS
        while not is_done():
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self._read], [], [], max(0.0, left))
            chunk = os.read(self._read, 2**20) if ready else b""
            if not chunk:
                said = self._log.read_text(errors="replace")[-2000:]
                raise BrowserError(f"{what}: no answer from Chromium. It said: {said}")
            *whole, self._buffer = (self._buffer + chunk).split(b"\0")
            for raw in whole:
                self._receive(json.loads(raw))

    def forget(self, session: str) -> None:
        """Let go of a page that was closed."""
        self._pages.pop(session, None)

    def close(self) -> None:
        """End the process."""
        with suppress(BrowserError, BrokenPipeError):
            self.command("Browser.close")
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def _receive(self, message: Mapping[str, Any]) -> None:
        if "id" in message:
            self._replies[message["id"]] = message
        elif page := self._pages.get(message.get("sessionId", "")):
            page.hear(message["method"], message["params"])


class Page:
    """One tab. `errors` is all that went wrong in it, `requests` every address that it asked for."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session
        self._loaded = False
        self.errors: list[str] = []
        self.requests: list[str] = []

    def begin(self, width: int, height: int, dark: bool, javascript: bool) -> None:
        """Set the page up; `Browser.page` calls it."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._command(f"{domain}.enable")
        self.resize(width, height)
        self.prefer(dark=dark)
        if not javascript:
            self._command("Emulation.setScriptExecutionDisabled", {"value": True})

    def open(self, where: Path | str) -> None:
        """Show a file or an address, and wait until it is loaded."""
        url = where.resolve().as_uri() if isinstance(where, Path) else where
        self._loaded = False
        answer = self._command("Page.navigate", {"url": url})
        if error := answer.get("errorText"):
            raise BrowserError(f"{url}: {error}")
        self._browser.wait(lambda: self._loaded, url)

    def js(self, expression: str) -> Any:
        """The value of an expression, a promise's when it is kept."""
        answer = self._command(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {_told(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Click into the middle of the first element that fits, scrolled into view."""
        found = self.js(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " if (!e) return null; e.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const r = e.getBoundingClientRect();"
            " return [r.left + r.width / 2, r.top + r.height / 2]; })()"
        )
        if found is None:
            raise BrowserError(f"nothing on the page fits {selector}")
        place = {"x": found[0], "y": found[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self._command("Input.dispatchMouseEvent", {"type": kind, **place})

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key: Tab, Enter, Escape, Space, an arrow, or a character."""
        name, code, text = _KEYS.get(key, (key, ord(key[0].upper()), key))
        event = {
            "key": name,
            "code": key,
            "windowsVirtualKeyCode": code,
            "modifiers": 8 if shift else 0,
        }
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self._command("Input.dispatchKeyEvent", {**event, **down})
        self._command("Input.dispatchKeyEvent", {**event, "type": "keyUp"})

    def write(self, text: str) -> None:
        """Enter a text where the focus is."""
        self._command("Input.insertText", {"text": text})

    def resize(self, width: int, height: int) -> None:
        """Make the window so many CSS pixels large."""
        self._command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )

    def prefer(self, *, dark: bool) -> None:
        """Say which colours the user's system has."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._command("Emulation.setEmulatedMedia", {"features": [scheme]})

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write a PNG of what is in view, or of the whole page."""
        answer = self._command(
            "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole}
        )
        if whole:
            size = self._command("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
            answer = self._command(
                "Page.captureScreenshot",
                {"format": "png", "captureBeyondViewport": True, "clip": clip},
            )
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        """Close the tab."""
        self._browser.command("Target.closeTarget", {"targetId": self._target})
        self._browser.forget(self._session)

    def hear(self, method: str, params: Mapping[str, Any]) -> None:
        """Take in an event; `Browser` calls it."""
        match method:
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(_told(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert", "warning"):
                self.errors.append(_said(params["args"]))
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.errors.append(params["entry"]["text"])
            case "Page.javascriptDialogOpening":
                self.errors.append(f"a dialog opened: {params['message']}")

    def _command(self, method: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        return self._browser.command(method, params, self._session)


def _told(details: Mapping[str, Any]) -> str:
    return str(details.get("exception", {}).get("description", details["text"]))


def _said(args: Sequence[Mapping[str, Any]]) -> str:
    return " ".join(str(arg.get("value", arg.get("description"))) for arg in args)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium, started once."""
    program = executable()
    if program is None:
        pytest.fail("no Chromium on the PATH: install it, or name it with TRIDENT_CHROMIUM")
    started = Browser(program, tmp_path_factory.mktemp("chromium"))
    yield started
    started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of 1280 x 900; the test fails if an error shows up in it."""
    opened = browser.page()
    yield opened
    opened.close()
    assert opened.errors == []
