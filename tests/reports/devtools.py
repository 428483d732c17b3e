"""A Chromium that a test drives: over the pipe of its DevTools protocol, which needs no package.

Words: a *tab* is a page in it; it notes what its console reports as errors. Waiting is for a fact, never for a time.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.reports.browser import CHROMIUM, OPTIONS

PATIENCE = 60.0
"""Seconds after which a fact that does not come true fails a test."""
KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27}


class Tab:
    """A page."""

    def __init__(self, devtools: DevTools, width: int, *, dark: bool = False) -> None:
        self.devtools, self.errors = devtools, list[str]()
        target = devtools.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = devtools.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        devtools.tabs[self.session] = self
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def ask(self, method: str, **given: Any) -> Any:
        """The result of a method of the protocol."""
        return self.devtools.ask(method, self.session, **given)

    def open(self, address: str) -> None:
        """Load a page."""
        self.ask("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def value(self, script: str) -> Any:
        """The value of an expression, after its promise is settled."""
        found = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.value(script)):
            assert time.monotonic() < end, (script, self.value("document.body.innerText.slice(0, 2000)"), self.errors)
            time.sleep(0.05)
        return found

    def press(self, key: str) -> None:
        """Press a key."""
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        code = {"windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()))}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **code)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def click(self, selector: str) -> None:
        """Click on the first element of a selector."""
        act = "dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))"
        self.value(f"document.querySelector({json.dumps(selector)}).{act}")

    def scrolls_sideways(self) -> bool:
        """Whether the page is wider than the window."""
        return self.value("document.documentElement.scrollWidth > document.documentElement.clientWidth")

    def picture(self) -> str:
        """A PNG picture of the page, in base64."""
        return self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]

    def heard(self, event: dict[str, Any]) -> None:
        """Note an error that the page reports."""
        given = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            self.errors.append(str(given["exceptionDetails"].get("exception", {}).get("description")))
        elif event["method"] == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning"):
            self.errors.append(str(given["args"]))
        elif event["method"] == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.errors.append(given["entry"]["text"])


class DevTools:
    """The protocol: one JSON message after another, each followed by a zero byte."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self.process, self.write, self.read = process, write, read
        self.numbers, self.rest = itertools.count(1), b""
        self.tabs: dict[str, Tab] = {}

    def ask(self, method: str, session: str | None = None, **given: Any) -> Any:
        """The result of a method."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": given, **({"sessionId": session} if session else {})}
        os.write(self.write, json.dumps(message).encode() + b"\0")
        for answer in self._messages():
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if answer.get("sessionId") in self.tabs:
                self.tabs[answer["sessionId"]].heard(answer)
        raise AssertionError("Chromium has ended.")

    def _messages(self) -> Iterator[dict[str, Any]]:
        while True:
            while b"\0" in self.rest:
                message, self.rest = self.rest.split(b"\0", 1)
                yield json.loads(message)
            content = os.read(self.read, 1 << 16)
            if not content:
                return
            self.rest += content

    def tab(self, width: int = 1280, *, dark: bool = False) -> Tab:
        """A new page in a window of that width."""
        return Tab(self, width, dark=dark)


@contextmanager
def chromium(folder: Path) -> Iterator[DevTools]:
    """A Chromium with a profile of its own in a folder."""
    (from_test, to_browser), (from_browser, to_test) = os.pipe(), os.pipe()
    options = [*OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'driven'}", "about:blank"]
    # The protocol is on the file descriptors 3 and 4.
    shell = f'exec 3<&{from_test} 4>&{to_test}; exec "$0" "$@"'
    process = subprocess.Popen(
        ["bash", "-c", shell, str(CHROMIUM), *options],
        pass_fds=(from_test, to_test),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(from_test)
    os.close(to_test)
    try:
        yield DevTools(process, to_browser, from_browser)
    finally:
        process.terminate()
        process.wait()
        os.close(to_browser)
        os.close(from_browser)
