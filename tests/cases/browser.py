"""browser.py - a headless Chromium driven through its debugging pipe, on the standard library alone."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_browser():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page. problems is what its console complained of."""

    def __init__(self, program, size="1280,900"):
        self.profile = tempfile.TemporaryDirectory(prefix="colosim-browser-",
                                                   ignore_cleanup_errors=True)
        to_child, self.write_fd = os.pipe()
        self.read_fd, from_child = os.pipe()

        def place_pipes():  # Chromium reads from 3 and writes to 4
            spare = [os.dup(to_child), os.dup(from_child)]
            spare = [os.dup(fd) if fd in (3, 4) else fd for fd in spare]
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.child = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", f"--window-size={size}",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=place_pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.n_sent, self.left, self.events, self.session = 0, b"", [], None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.send("Browser.close", limit_s=10)
            self.child.wait(10)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self.child.kill()
            self.child.wait()
        os.close(self.write_fd)
        os.close(self.read_fd)
        self.profile.cleanup()

    def _receive(self, limit_s):
        end = time.monotonic() + limit_s
        while b"\0" not in self.left:
            ready, _, _ = select.select([self.read_fd], [], [], max(0, end - time.monotonic()))
            more = os.read(self.read_fd, 1 << 20) if ready else b""
            if not more:
                raise TimeoutError("the browser says nothing")
            self.left += more
        message, _, self.left = self.left.partition(b"\0")
        return json.loads(message)

    def send(self, method, limit_s=60, **params):
        """One command and its answer; events met on the way are kept."""
        self.n_sent += 1
        message = {"id": self.n_sent, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")
        while True:
            got = self._receive(limit_s)
            if got.get("id") == self.n_sent:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def open(self, path, limit_s=60):
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + limit_s
        while self.ask("document.readyState") != "complete":
            if time.monotonic() > end:
                raise TimeoutError("the page does not load")
            time.sleep(0.05)

    def ask(self, expression):
        """The value of a JavaScript expression; promises are waited for."""
        got = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                        awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(got["exceptionDetails"])
        return got["result"].get("value")

    def picture(self, path):
        import base64
        got = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(got["data"]))

    def problems(self):
        """Errors and warnings of the console, and exceptions."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description"))
            elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] != "verbose":
                found.append(params["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled" and params["type"] in (
                    "error", "warning", "assert"):
                found.append(str(params["args"]))
        return found

    def fetched(self):
        """Addresses asked for, but the page itself and what is in it."""
        asked = [event["params"]["request"]["url"] for event in self.events
                 if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("data:", "file:", "about:"))]
