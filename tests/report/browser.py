"""A headless Chromium, driven through the pipe that it opens for debugging: nothing to install beside it."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
PATIENCE = 60.0  # seconds for one answer


def _at_3_and_4(commands: int, answers: int) -> None:
    os.dup2(commands, 3)
    os.dup2(answers, 4)


class Browser:
    """One page; ``events`` holds all that it said unasked."""

    def __init__(self, profile: Path, width: int = 1280, height: int = 900) -> None:
        self._numbers = iter(range(1, 10**9))
        self._unread = b""
        self.events: list[dict[str, Any]] = []
        self._profile, self._size = profile, f"{width},{height}"

    def __enter__(self) -> Self:
        # Chromium reads commands from descriptor 3 and answers on 4; ours stay clear of both
        theirs_in, self._write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in os.pipe())
        self._read, theirs_out = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in os.pipe())
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            "--no-first-run",
        ]
        options += [f"--user-data-dir={self._profile}", f"--window-size={self._size}", "--disable-extensions"]
        self._process = subprocess.Popen(
            [CHROMIUM, *options],
            pass_fds=(3, 4),
            preexec_fn=partial(_at_3_and_4, theirs_in, theirs_out),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable", page=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, *, page: bool = False, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if page:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._unread:
            if not select.select([self._read], [], [], max(until - time.monotonic(), 0.0))[0]:
                raise TimeoutError("Chromium does not answer.")
            more = os.read(self._read, 1 << 20)
            if not more:
                raise ConnectionError("Chromium has gone.")
            self._unread += more
        first, _, self._unread = self._unread.partition(b"\0")
        return json.loads(first)

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.call("Page.navigate", page=True, url=path.as_uri())
        until = time.monotonic() + PATIENCE
        while self.value("document.readyState + location.protocol") != "completefile:":
            if time.monotonic() > until:
                raise TimeoutError(f"{path} does not load.")

    def value(self, expression: str) -> Any:
        """Return what an expression is worth on the page."""
        found = self.call("Runtime.evaluate", page=True, expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key and let it go, as a person would."""
        codes = {"Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, "Enter": 13, " ": 32}
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", page=True, type=kind, key=key,
                windowsVirtualKeyCode=codes.get(key, ord(text) if text else 0),
                **({"text": text} if text and kind == "keyDown" else {}),
            )  # fmt: skip

    def mouse(self, kind: str, x: float, y: float) -> None:
        """Move the pointer, or press or release its button."""
        self.call(
            "Input.dispatchMouseEvent", page=True, type=kind, x=x, y=y, button="left",
            buttons=1, clickCount=int(kind != "mouseMoved"),
        )  # fmt: skip

    def said(self, *methods: str) -> list[dict[str, Any]]:
        """Return the events of some kinds."""
        return [event for event in self.events if event.get("method") in methods]
