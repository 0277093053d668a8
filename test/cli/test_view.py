# SPDX-License-Identifier: BSD-3-Clause
"""fathom view: who may ask, and what it says; and the file that fathom export makes of it."""
import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import fixtures
import harness
from viewer import HOSTILE, ViewTest


class Access(ViewTest):
    def test_without_the_token_everything_is_refused(self):
        self.write_run("r1")
        self.serve("r1")
        for path in ("/", "/app.js", "/api/runs", "/api/meta", "/favicon.ico", "/?token=", "/?token=" + "0" * 32,
                     "/?once=", "/..%2f..%2fetc/passwd"):
            for headers in ({}, {"Authorization": "Bearer " + "0" * 32}, {"Authorization": self.token},
                            {"Cookie": f"fathom-view-{self.port}="}, {"Cookie": "a=b; c"}):
                status, _, body = self.raw(path, **headers)
                self.assertEqual(status, 401, path)
                self.assertNotIn(b"hpcc", body)
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            self.assertEqual(self.raw("/api/views", method, b"")[0], 401, method)

    def test_the_first_address_sets_a_cookie_and_leaves_no_token_behind(self):
        self.write_run("r1")
        self.serve("r1")
        status, headers, _ = self.raw(f"/?token={self.token}")
        self.assertEqual((status, headers["Location"]), (303, "/"))
        cookie = headers["Set-Cookie"]
        for word in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(word, cookie)
        cookie = cookie.split(";")[0]
        status, headers, body = self.raw("/", Cookie=f"other=1; {cookie}")
        self.assertEqual(status, 200)
        self.assertIn(b"<!DOCTYPE html>", body)
        self.assertNotIn(self.token.encode(), body)
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        # Nothing on the page comes from elsewhere, and no code stands in it.
        self.assertNotRegex(body.decode(), r"(src|href)=.?(https?:)?//|<script>|onclick=|style=")

    def test_two_viewers_do_not_share_a_cookie(self):
        self.write_run("r1")
        names = set()
        for place in (self.path("a.sock"), self.path("b.sock")):  # both at port 8642 of ssh
            server = subprocess.Popen([harness.FATHOM, "view", "r1", "--bind", place], cwd=self.folder, text=True,
                                      stdout=subprocess.PIPE)
            token = re.search(r"token=(\w+)", server.stdout.readline())[1]
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(place)
                client.sendall(f"GET /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:8642\r\n\r\n".encode())
                names.add(re.search(rb"Set-Cookie: ([^=]+)=", client.recv(4096))[1])
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=60)
        self.assertEqual(len(names), 2)

    def test_a_name_that_leads_to_this_machine_is_refused(self):
        self.write_run("r1")
        self.serve("r1")
        token = f"Bearer {self.token}"
        for host in ("evil.example", f"evil.example:{self.port}", f"127.0.0.1.evil.example:{self.port}",
                     f"localhost:{self.port + 1}", "", f"localhost:{self.port}@evil"):
            self.assertEqual(self.raw("/api/runs", Host=host, Authorization=token)[0], 403, host)
        for host in (f"localhost:{self.port}", f"127.0.0.1:{self.port}"):
            self.assertEqual(self.raw("/api/runs", Host=host, Authorization=token)[0], 200, host)

    def test_no_request_leads_out_of_the_run(self):
        self.write_run("r1")
        with open(self.path("secret.html"), "w", encoding="utf-8") as file:
            file.write("the secret")
        self.serve("r1")
        for path in ("/../secret.html", "/..%2fsecret.html", "/%2e%2e/secret.html", "//secret.html", "/./secret.html",
                     "/r1/profile.json", "/view/views.json", "/app.js/../../secret.html", "/\\..\\secret.html",
                     "/%00", "/api/", "/api/../../secret.html", "/" + "a" * 4000):
            status, _, body = self.raw(path, Authorization=f"Bearer {self.token}")
            self.assertIn(status, (400, 404, 414), path)
            self.assertNotIn(b"secret", body)
        for number in ("1", "-1", "x", "../r1", "99999999999999999999", ""):
            self.assertIn("error", self.ask("/api/meta", 404, run=number))

    def test_what_is_not_a_request_harms_nothing(self):
        self.write_run("r1")
        self.serve("r1")
        for garbage in (b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00" * 50,
                        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100_000, b"GET /" + b"a" * 500_000,
                        b"PUT /api/views HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
                        b"PUT /api/views HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
                try:
                    client.sendall(garbage)
                    client.shutdown(socket.SHUT_WR)
                    said = client.recv(65536)
                except ConnectionError:
                    said = b""
                self.assertNotIn(b"200", said[:15])
        self.assertEqual(self.ask("/api/runs")["runs"][0]["name"], "r1")

    def test_clients_that_drip_or_do_nothing_keep_nobody_out(self):
        self.write_run("r1")
        self.serve("r1")
        slow = []
        for _ in range(60):  # more than the server takes at once
            client = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            self.addCleanup(client.close)
            try:
                client.sendall(b"G")
            except ConnectionError:
                pass
            slow.append(client)
        # They lose their places after some seconds, however they drip.
        deadline = time.time() + 60
        while True:
            for client in slow:
                try:
                    client.sendall(b"E")
                except OSError:
                    pass
            try:
                status = self.raw("/api/runs", Authorization=f"Bearer {self.token}")[0]
                break
            except (ConnectionError, http.client.HTTPException):
                self.assertLess(time.time(), deadline, "dripping clients keep others out")
                time.sleep(0.2)
        self.assertEqual(status, 200)

    def test_idle_connections_make_room_for_others(self):
        self.write_run("r1")
        self.serve("r1")
        for _ in range(40):  # more than there are threads
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.addCleanup(connection.close)
            self.assertEqual(self.exchange(connection, "/", "GET", None, {})[0], 401)
        self.assertEqual(self.raw("/api/runs", Authorization=f"Bearer {self.token}")[0], 200)

    def test_only_this_machine_can_reach_it(self):
        self.write_run("r1")
        for address in ("0.0.0.0", "192.0.2.1", "example.org", "::"):
            self.assert_refused(self.fathom("view", "r1", "--bind", address, "--no-browser"), 1, "loopback")
        self.serve("r1")
        with open("/proc/net/tcp", encoding="ascii") as table:
            listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
        own = [address for address in listening if address.endswith(f":{self.port:04X}")]
        self.assertEqual(own, [f"0100007F:{self.port:04X}"])

    def test_a_scan_of_all_that_the_server_listens_to_finds_one_port_that_needs_the_token(self):
        self.write_run("r1")
        self.serve("r1")
        sockets = set()
        for name in os.listdir(f"/proc/{self.server.pid}/fd"):
            try:
                found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"/proc/{self.server.pid}/fd/{name}"))
            except FileNotFoundError:
                continue
            if found:
                sockets.add(found[1])
        bound = []  # of it: whatever takes connections or datagrams
        for table, inode, listens in (("tcp", 9, "0A"), ("tcp6", 9, "0A"), ("udp", 9, None), ("udp6", 9, None), ("raw", 9, None), ("unix", 6, "00010000")):
            with open(f"/proc/net/{table}", encoding="ascii") as file:
                for line in list(file)[1:]:
                    words = line.split()
                    if words[inode] in sockets and listens in (None, words[3]):
                        bound.append((table, words[1]))
        self.assertEqual(bound, [("tcp", f"0100007F:{self.port:04X}")])
        for path in ("/", "/api/runs", "/metrics", "/favicon.ico"):
            self.assertEqual(self.raw(path)[0], 401, path)

    def test_a_unix_socket_is_its_users_alone(self):
        self.write_run("r1")
        place = self.path("view.sock")
        server = subprocess.Popen([harness.FATHOM, "view", "r1", "--bind", place], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE)
        said = server.stdout.readline() + server.stdout.readline()
        self.assertIn(f"ssh -L 8642:{place} ", said)
        self.assertEqual(os.stat(place).st_mode & 0o777, 0o600)
        token = re.search(r"token=(\w+)", said)[1]
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(place)
            client.sendall(f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1:8642\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            self.assertIn(b"200 OK", client.recv(100))
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
        self.assertEqual(server.returncode, 0)
        self.assertFalse(os.path.exists(place))

    def test_the_address_is_said_and_ctrl_c_ends_it(self):
        self.write_run("r1")
        self.serve("r1")
        self.assertRegex(self.said[1], rf"ssh -L {self.port}:127\.0\.0\.1:{self.port} \S+@\S+\n")
        self.server.send_signal(signal.SIGINT)
        self.server.communicate(timeout=60)
        self.assertEqual(self.server.returncode, 0)


# What another user gets: of each request to the port that is named first, what comes back; of each path, its content.
STRANGER = """
import json, socket, sys
port, token, cookie, paths = json.loads(sys.argv[1])
found = {"uid": __import__("os").getuid(), "said": [], "read": {}}
for line in ("", "Authorization: Bearer " + token, "Cookie: " + cookie + "=" + token):
    said = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(("GET /api/runs HTTP/1.1\\r\\nHost: 127.0.0.1:%d\\r\\nConnection: close\\r\\n%s\\r\\n\\r\\n" % (port, line + "\\r\\n" if line else "")).encode())
            while part := client.recv(65536):
                said += part
    except OSError:
        pass
    found["said"].append(said.decode())
for path in paths:
    try:
        if path.endswith(".sock"):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
            found["read"][path] = "connected"
            continue
        with open(path, "rb") as file:
            found["read"][path] = file.read().decode(errors="replace")
    except OSError as error:
        found["read"][path] = error.__class__.__name__
print(json.dumps(found))
"""


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "only root can be somebody else")
class AnotherUser(ViewTest):
    def as_user(self, number, *given):
        words = [] if number == 0 else ["setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups"]
        said = subprocess.run([*words, "/usr/bin/python3", "-c", STRANGER, json.dumps(given)], text=True,
                              capture_output=True, timeout=120, cwd="/", check=True)
        return json.loads(said.stdout)

    def test_another_user_of_the_machine_gets_nothing_even_with_the_token(self):
        self.write_run("r1")
        os.chmod(self.folder, 0o755)
        self.serve("r1")
        cookie = self.raw(f"/?token={self.token}")[1]["Set-Cookie"].split("=")[0]
        place = self.path("view.sock")
        second = subprocess.Popen([harness.FATHOM, "view", "r1", "--bind", place], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE)
        self.addCleanup(second.communicate, timeout=60)
        self.addCleanup(second.send_signal, signal.SIGTERM)
        second.stdout.readline()
        # All that stands anywhere about these servers: what the kernel tells of them, the run, temporary files.
        paths = [place, *(f"/proc/{self.server.pid}/{name}" for name in ("cmdline", "environ", "maps"))]
        for root in (self.folder, tempfile.gettempdir()):
            for folder, _, names in os.walk(root):
                paths += [os.path.join(folder, name) for name in names[:200] if root == self.folder or folder == root]
        paths = [path for path in paths if path == place or not path.endswith(".sock")]
        given = (self.port, self.token, cookie, sorted(set(paths)))
        self.assertIn(self.path("r1", "profile.json"), paths)
        own = self.as_user(0, *given)
        self.assertEqual([said.split(" ")[1] for said in own["said"]], ["401", "200", "200"])
        other = self.as_user(65534, *given)
        self.assertEqual((other["uid"], other["said"]), (65534, ["", "", ""]))
        self.assertEqual(other["read"][place], "PermissionError")
        self.assertIn("view", other["read"][f"/proc/{self.server.pid}/cmdline"])  # it could look
        self.assertEqual(other["read"][f"/proc/{self.server.pid}/environ"], "PermissionError")
        self.assertEqual([path for path, text in other["read"].items() if self.token in text], [])
        # To its own user it still answers.
        self.assertEqual(self.raw("/api/runs", Authorization=f"Bearer {self.token}")[0], 200)


class Display(ViewTest):
    def opened(self, environment, *words, browser=None):
        """(what fathom view printed, where xdg-open notes its arguments), with the server still there"""
        self.write_run("r1")
        os.makedirs(self.path("bin"), exist_ok=True)
        note = self.path("opened")
        # In place of the one before, which may be about to be executed.
        with open(self.path("bin", "new"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + (browser or f"printf '%s\\n' \"$@\" > '{note}.part' && /bin/mv '{note}.part' '{note}'\n"))
        os.chmod(self.path("bin", "new"), 0o755)
        os.replace(self.path("bin", "new"), self.path("bin", "xdg-open"))
        inherited = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.server = subprocess.Popen(
            [harness.FATHOM, "view", "r1", *words], cwd=self.folder, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**inherited, "PATH": self.path("bin"), **environment})
        self.addCleanup(self.end)
        said = []
        while not said or not said[-1].startswith("Ctrl-C"):
            said.append(self.server.stdout.readline())
            self.assertTrue(said[-1], said)
        self.port, self.token = re.search(r":(\d+)/\?token=(\w+)", said[0]).groups()
        return said, note

    def test_a_browser_is_opened_where_there_is_a_display_and_the_token_stays_off_command_lines(self):
        for environment in ({"DISPLAY": ":99"}, {"WAYLAND_DISPLAY": "wayland-9"}):
            said, note = self.opened(environment)
            self.assertEqual(len(said), 2, said)  # the address, and how to end it: no line for ssh
            deadline = time.time() + 60
            while not os.path.exists(note):
                self.assertLess(time.time(), deadline, "no browser was opened")
                time.sleep(0.05)
            with open(note, encoding="utf-8") as file:
                address = file.read()
            self.assertRegex(address, rf"^http://127\.0\.0\.1:{self.port}/\?once=[0-9a-f]{{32}}\n$")
            self.assertNotIn(self.token, address)
            # Whoever reads the browser's command line comes too late.
            path = address.strip().partition(f":{self.port}")[2]
            status, headers, _ = self.raw(path)
            self.assertEqual((status, headers["Location"]), (303, "/"))
            cookie = headers["Set-Cookie"].split(";")[0]
            self.assertEqual(self.raw("/api/runs", Cookie=cookie)[0], 200)
            self.assertEqual(self.raw(path)[0], 401)
            self.end()
            os.unlink(note)

    def test_without_a_display_or_with_no_browser_none_is_opened(self):
        for environment, words, ssh in (({}, [], True), ({"DISPLAY": ""}, [], True), ({"DISPLAY": ":99"}, ["--no-browser"], False)):
            said, note = self.opened(environment, *words)
            self.assertEqual([line.startswith("from another machine, first: ssh -L ") for line in said], [False, True, False] if ssh else [False, False])
            self.assertEqual(self.raw("/api/runs", Authorization=f"Bearer {self.token}")[0], 200)
            self.end()
            self.assertFalse(os.path.exists(note))

    def test_a_browser_that_fails_harms_nothing(self):
        for browser in ("exit 3\n", "kill -SEGV $$\n", "#!/no/such/interpreter\nno-such-command\n"):
            said, _ = self.opened({"DISPLAY": ":99"}, browser=browser)
            self.assertEqual(len(said), 2, said)
            self.assertEqual(self.raw("/api/runs", Authorization=f"Bearer {self.token}")[0], 200)
            self.end()
            self.assertEqual(self.server.returncode, 0)


class ShareableFile(ViewTest):
    def test_one_file_holds_pages_and_answers_and_asks_for_nothing(self):
        self.generate("run", "--ranks", "4", "--events", "20000", "--suffix", HOSTILE)
        self.assertEqual(self.fathom("export", "run", "-o", "run.html").returncode, 0)
        with open(self.path("run.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertLess(len(page.encode()), 20_000_000)
        self.assertNotIn("onerror=alert(1)>\"'\\\u2028</", page)
        blocks = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
        self.assertEqual([kind for kind, _ in blocks], [' type="application/json" id="fathom-answers"', ""])
        style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        self.assertIn("default-src 'none'", policy)
        for code in (blocks[1][1], style):
            digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
            self.assertIn(f"'sha256-{digest}'", policy)
        self.assertNotRegex(policy, "unsafe|https?:|connect-src")
        self.assertNotRegex(page[:page.index("<style>")], r'(src|href)="(?!data:)')
        answers = json.loads(blocks[0][1])
        self.serve("run")
        self.when_ready()
        for key in ("/api/report?run=0", "/api/window?run=0", "/api/findings?run=0", "/api/strip?run=0",
                    "/api/matrix?by=rank&run=0&what=bytes"):
            self.assertEqual(answers[key], self.ask(key), key)
        self.assertEqual(base64.b64decode(answers["/api/tile?column=0&level=0&row=0&run=0"]["base64"]),
                         self.ask("/api/tile"))
        self.assertIn(HOSTILE, answers["/api/meta?run=0"]["hosts"][0])

    def test_a_large_matrix_is_found_as_the_page_asks_for_it(self):
        traffic = fixtures.block("point-to-point", False, [(0, 1999, 5, 1)])
        self.write_run("big", fixtures.profile(2000, [traffic], [], hosts=2))
        self.assertEqual(self.fathom("export", "big", "-o", "big.html").returncode, 0)
        with open(self.path("big.html"), encoding="utf-8") as file:
            answers = json.loads(re.search(r'id="fathom-answers">(.*?)</script>', file.read(), re.S)[1])
        tile = base64.b64decode(answers["/api/matrix?by=rank&column=0&level=0&row=0&run=0&what=bytes"]["base64"])
        self.assertEqual(tile[:4], b"FVM1")

    def test_an_existing_file_stays_and_a_bad_run_is_refused(self):
        self.write_run("r1")
        with open(self.path("there.html"), "w", encoding="utf-8") as file:
            file.write("mine")
        self.assertEqual(self.fathom("export", "r1", "-o", "there.html").returncode, 1)
        with open(self.path("there.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(self.fathom("export", "r1", "-o", "there.html", "--force").returncode, 0)
        os.makedirs(self.path("empty"))
        self.assert_refused(self.fathom("export", "empty", "--format", "html", "-o", "e.html"), 1)
        self.assertFalse(os.path.exists(self.path("e.html")))


if __name__ == "__main__":
    harness.main()
