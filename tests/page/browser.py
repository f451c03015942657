"""A headless Chromium, driven over WebDriver with nothing but Python's own library."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request


def missing():
    """Names of the programs that are not there."""
    return [name for name in ("chromium", "chromedriver") if not shutil.which(name)]


class Browser:
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.session = ""
            for _ in range(200):
                try:
                    self.call("GET", "/status")
                    break
                except OSError:
                    time.sleep(0.1)
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
            options = {"goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}, "goog:chromeOptions": {"args": arguments}}
            made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": options}})
            self.session = "/session/" + made["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{self.session}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def run(self, script, *arguments):
        """What a piece of JavaScript returns."""
        return self.call("POST", "/execute/sync", {"script": script, "args": arguments})

    def run_async(self, script, *arguments):
        """What a piece of JavaScript hands to its last argument, a function."""
        return self.call("POST", "/execute/async", {"script": script, "args": arguments})

    def open(self, address):
        """Opens an address anew, though only what is behind # is another, and waits until the page is drawn."""
        self.call("POST", "/url", {"url": "about:blank"})
        self.call("POST", "/url", {"url": address})
        self.wait("return document.body.dataset.drawn || !document.getElementById('trouble').hidden")

    def wait(self, script, *arguments):
        for _ in range(400):
            found = self.run(script, *arguments)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"waited in vain for: {script}")

    def size(self, width, height, dark=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def point(self, x, y):
        """Moves the mouse to a place in the window."""
        move = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y), "origin": "viewport"}
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move]}]})

    def click(self):
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": press}]})

    def type(self, *keys):
        """Types keys where the focus is; special ones by their WebDriver code."""
        steps = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def complaints(self):
        """What stands in the console."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """Every address that was asked for since the last call."""
        asked = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return asked
