# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of fathom view share: a server, and questions to it."""
import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import time
import unittest
import urllib.parse

import harness

GENERATE = os.environ["FATHOM_TRACE_GENERATE"]
HOSTILE = "</script><img src=x onerror=alert(1)>\"'\\\u2028"


def has_viewer():
    said = subprocess.run([harness.FATHOM, "view", "nothing-of-this-name"], capture_output=True, text=True)
    return "built without" not in said.stderr


@unittest.skipUnless(has_viewer(), "this fathom was built without its viewer")
class ViewTest(harness.CliTest):
    def generate(self, name="run", *words):
        subprocess.run([GENERATE, self.path(name), *words], check=True, capture_output=True)
        return name

    def serve(self, *words):
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.server = subprocess.Popen([harness.FATHOM, "view", *words, "--no-browser"], cwd=self.folder, text=True,
                                       env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end)
        self.said = [self.server.stdout.readline()]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})\n", self.said[0])
        self.assertTrue(found, self.said[0] or self.server.stderr.read())
        self.port, self.token = int(found[1]), found[2]
        self.said += [self.server.stdout.readline(), self.server.stdout.readline()]

    def end(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGINT)
        self.server.communicate(timeout=60)

    def raw(self, path, method="GET", body=None, **headers):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            return self.exchange(connection, path, method, body, headers)

    def exchange(self, connection, path, method, body, headers):
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def ask(self, path, expect=200, **parameters):
        """The answer, once it is there."""
        if parameters:
            path += "?" + urllib.parse.urlencode(parameters)
        for _ in range(600):
            status, _, body = self.raw(path, Authorization=f"Bearer {self.token}")
            if status != 202:
                break
            time.sleep(0.1)
        self.assertEqual(status, expect, body[:500])
        return json.loads(body) if body.startswith(b"{") else body

    def when_ready(self, run=0):
        for _ in range(600):
            meta = self.ask("/api/meta", run=run)
            if {"raw", "waits"} <= set(meta["timeline"]["ready"]):
                return meta
            time.sleep(0.1)
        self.fail(meta)

    def analyze(self, run, only, *words):
        said = self.fathom("analyze", run, "--json", "--only", only, *words)
        self.assertEqual(said.returncode, 0, said.stderr)
        return json.loads(said.stdout)["analyses"]
