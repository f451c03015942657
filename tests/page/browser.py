"""A headless Chromium, driven through its own pipe (--remote-debugging-pipe) with nothing but Python's library."""

import json
import os
import shutil
import subprocess
import tempfile
import time

codes = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
drawn = """const trouble = document.getElementById("trouble");
  return location.href !== "about:blank" && (document.body?.dataset.drawn || (trouble && !trouble.hidden));"""


def missing():
    """Names of the programs that are not there."""
    return [name for name in ("chromium",) if not shutil.which(name)]


def complaint(details):
    return details.get("exception", {}).get("description") or details["text"]


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        commands, self.write = os.pipe()
        self.read, answers = os.pipe()

        def place_pipes():  # Chromium reads commands from 3 and writes answers to 4
            kept = [os.dup(commands), os.dup(answers)]
            for target, source in zip((3, 4), kept):
                os.dup2(source, target)

        flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
        arguments = ["chromium", *flags, "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(arguments, preexec_fn=place_pipes, close_fds=False, **quiet)
        os.close(commands)
        os.close(answers)
        self.buffer, self.number, self.session = b"", 0, None
        self.said, self.asked = [], []
        target = self.devtools("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.devtools("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.devtools(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write)
        os.close(self.read)
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.read, 1 << 20)
            if not part:
                raise AssertionError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def devtools(self, command, **parameters):
        """Sends a command, keeps what is reported meanwhile, and returns the answer."""
        self.number += 1
        sent = {"id": self.number, "method": command, "params": parameters}
        if self.session:
            sent["sessionId"] = self.session
        text = json.dumps(sent).encode() + b"\0"
        while text:
            text = text[os.write(self.write, text):]
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{command}: {message['error']['message']}")
                return message["result"]
            self.keep(message)

    def keep(self, message):
        event = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.asked.append(event["request"]["url"])
        elif message.get("method") == "Log.entryAdded":
            self.said.append(event["entry"]["text"])
        elif message.get("method") == "Runtime.exceptionThrown":
            self.said.append(complaint(event["exceptionDetails"]))
        elif message.get("method") == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(one.get("value")) for one in event["args"]))

    def evaluate(self, expression):
        found = self.devtools("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError(complaint(found["exceptionDetails"]))
        return found["result"].get("value")

    def run(self, script, *arguments):
        """Runs the body of a function in the page, and returns what it returns."""
        return self.evaluate(f"(function () {{ {script} }})(...{json.dumps(arguments)})")

    def run_async(self, script):
        """The same for a body that calls its only argument with its answer."""
        return self.evaluate(f"new Promise(function () {{ {script} }})")

    def open(self, address):
        self.devtools("Page.navigate", url="about:blank")
        self.devtools("Page.navigate", url=address)
        self.wait(drawn)

    def wait(self, script, *arguments):
        for _ in range(400):
            try:
                found = self.run(script, *arguments)
            except AssertionError:
                found = None  # between two pages
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"waited in vain for: {script}")

    def size(self, width, height, dark=False):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])

    def point(self, x, y):
        """Moves the mouse to a place in the window."""
        self.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=round(x), y=round(y))

    def type(self, *keys):
        """Types keys where the focus is: letters, or names such as ArrowDown."""
        for key in keys:
            event = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
            text = "\r" if key == "Enter" else "" if key in codes else key
            self.devtools("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
            self.devtools("Input.dispatchKeyEvent", type="keyUp", **event)

    def complaints(self):
        """What the console has said since the last call."""
        self.run("return 0;")
        said, self.said = self.said, []
        return said

    def requests(self):
        """Every address that was asked for since the last call."""
        asked, self.asked = self.asked, []
        return asked
