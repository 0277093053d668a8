# SPDX-License-Identifier: BSD-3-Clause
"""fathom top --metrics: OpenMetrics with a token; read by Debian's Prometheus and its Python parser."""
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import harness
import job_states

try:
    from prometheus_client.openmetrics import parser
except ImportError:
    parser = None


class MetricsTest(harness.CliTest):
    def serve(self, state, *words):
        with open(self.path("new"), "w", encoding="utf-8") as file:
            json.dump(state, file)
        os.rename(self.path("new"), self.path("state.json"))
        server = subprocess.Popen([harness.FATHOM, "top", "state.json", "--metrics", ":0", "--interval", "50ms", *words],
                                  cwd=self.folder, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, server)
        said = server.stderr.readline()
        self.assertIn("http://127.0.0.1:", said, said)
        if "without cpp-httplib" in said:
            self.skipTest(said)
        self.port = int(said.split("127.0.0.1:")[1].split("/")[0])
        with open(self.path("state.json.metrics-token"), encoding="utf-8") as file:
            self.token = file.read().strip()
        return server

    def end(self, server):
        if os.path.exists(self.path("state.json")):
            os.unlink(self.path("state.json"))  # the job has ended
        server.communicate(timeout=30)

    def get(self, path="/metrics", token=None, method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, None, error.read().decode()

    def metrics(self):
        """Once the first sample is there."""
        for _ in range(200):
            status, kind, text = self.get(token=self.token)
            self.assertEqual(status, 200)
            if text:
                return kind, text
            time.sleep(0.05)
        return self.fail("no metrics")

    def raw(self, request):
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(request)
            answer = b""
            try:
                while some := connection.recv(4096):
                    answer += some
            except ConnectionResetError:
                pass
            return answer


class Metrics(MetricsTest):
    @unittest.skipUnless(parser, "there is no prometheus_client")
    def test_are_openmetrics(self):
        self.serve(job_states.stuck())
        kind, text = self.metrics()
        self.assertTrue(kind.startswith("application/openmetrics-text; version=1.0.0"), kind)
        samples = {(sample.name, *sorted(sample.labels.items())): sample.value
                   for family in parser.text_string_to_metric_families(text) for sample in family.samples}
        self.assertEqual(samples[("fathom_hung",)], 1)
        self.assertEqual(samples[("fathom_ranks",)], 4)
        self.assertEqual(samples[("fathom_held_up_ranks", ("cause", "missing-participant"))], 4)
        self.assertEqual(samples[("fathom_threads", ("function", "MPI_Barrier"))], 3)
        self.assertEqual(samples[("fathom_rank_sent_bytes_total", ("rank", "3"))], 1000)
        self.assertEqual(samples[("fathom_unexpected_messages",)], 6)
        self.assertEqual(samples[("fathom_rank_unexpected_messages", ("rank", "3"))], 3)
        self.assertEqual(samples[("fathom_rank_posted_receives", ("rank", "3"))], 1)

    def test_what_is_not_known_is_left_out(self):
        unknown = {"unexpected": None, "posted": None, "queues": "unknown"}
        self.serve(job_states.job([job_states.rank(0), job_states.rank(1, **unknown)]))
        text = self.metrics()[1]
        self.assertIn('fathom_rank_unexpected_messages{rank="0"} 0\n', text)
        self.assertNotIn('fathom_rank_unexpected_messages{rank="1"}', text)

    def test_names_cannot_break_the_format(self):
        state = job_states.slow()
        state["pairs"][0]["kind"] = 'a"b\\c\nd'
        self.serve(state)
        self.assertIn('class="a\\"b\\\\c\\nd"', self.metrics()[1])

    def test_series_are_bounded(self):
        self.serve(job_states.job([job_states.rank(number, threads=[]) for number in range(2000)]))
        self.assertNotIn("fathom_rank_", self.metrics()[1])

    def test_end_with_the_job(self):
        server = self.serve(job_states.slow())
        self.metrics()
        os.unlink(self.path("state.json"))
        self.assertEqual((server.communicate(timeout=30)[1], server.returncode), ("fathom: the job of state.json has ended\n", 0))


    def test_the_dashboard_and_the_document_name_no_other_metrics(self):
        self.serve(job_states.stuck())
        served = set(re.findall(r"^(fathom_\w+)", self.metrics()[1], re.M))
        docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")
        with open(os.path.join(docs, "grafana-dashboard.json"), encoding="utf-8") as file:
            queries = [target["expr"] for panel in json.load(file)["panels"] for target in panel["targets"]]
        with open(os.path.join(docs, "live.md"), encoding="utf-8") as file:
            named = set(re.findall(r"`(fathom_\w+)`", file.read()))
        traffic = {"fathom_sent_messages_total", "fathom_sent_bytes_total"}  # a job without traffic has no series of these
        self.assertEqual(set(re.findall(r"fathom_\w+", " ".join(queries))) - served - traffic, set())
        self.assertEqual(named ^ served, traffic)


class Access(MetricsTest):
    def test_needs_the_token(self):
        self.serve(job_states.slow())
        self.assertEqual(stat.S_IMODE(os.stat(self.path("state.json.metrics-token")).st_mode), 0o600)
        for token in (None, "", self.token[:-1], self.token + "0", "0" * len(self.token)):
            status, _, text = self.get(token=token)
            self.assertEqual((status, text), (401, "the token of the run is missing or wrong\n"))
        self.assertEqual(self.get("/other")[0], 401)
        self.assertEqual(self.get("/other", token=self.token)[0], 404)
        self.assertEqual(self.get(token=self.token)[0], 200)

    def test_a_token_that_others_can_read_is_refused(self):
        with open(self.path("state.json"), "w", encoding="utf-8") as file:
            json.dump(job_states.slow(), file)
        with open(self.path("state.json.metrics-token"), "w", encoding="utf-8") as file:
            file.write("0" * 32)
        os.chmod(file.name, 0o644)
        self.assert_refused(self.fathom("top", "state.json", "--metrics", ":0"), 1, "others may read", "remove it")

    def test_the_token_stays(self):
        server = self.serve(job_states.slow())
        first = self.token
        self.end(server)
        self.serve(job_states.slow())
        self.assertEqual(self.token, first)

    def test_malformed_requests_are_refused(self):
        self.serve(job_states.slow())
        allowed = f"Authorization: Bearer {self.token}\r\n".encode()
        for request in (b"\x00\xff\x00\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
                        b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n" + allowed + b"\r\n",
                        b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n" + allowed + b"\r\n",
                        b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 100000 + b"\r\n" + allowed + b"\r\n\r\n"):
            answer = self.raw(request)
            self.assertNotIn(b" 200 ", answer[:20], request[:60])
        self.assertEqual(self.get(token=self.token)[0], 200)  # it is still there

    def test_addresses(self):
        with open(self.path("state.json"), "w", encoding="utf-8") as file:
            json.dump(job_states.slow(), file)
        for address in ("x", ":", ":65536", ":-1", ":80x"):
            self.assert_refused(self.fathom("top", "state.json", "--metrics", address), 2, "is not [HOST]:PORT")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.assert_refused(self.fathom("top", "state.json", "--metrics", f":{taken.getsockname()[1]}"), 1, "cannot listen on")


@unittest.skipUnless(shutil.which("prometheus"), "there is no prometheus")
class Prometheus(MetricsTest):
    def test_reads_them(self):
        self.serve(job_states.stuck())
        with open(self.path("prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(f"""
scrape_configs:
  - job_name: fathom
    scrape_interval: 200ms
    scrape_timeout: 200ms
    authorization: {{credentials_file: {self.path("state.json.metrics-token")}}}
    static_configs: [{{targets: ["127.0.0.1:{self.port}"]}}]
""")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        prometheus = subprocess.Popen(["prometheus", f"--config.file={self.path('prometheus.yml')}",
                                       f"--storage.tsdb.path={self.path('data')}", f"--web.listen-address=127.0.0.1:{port}"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.kill)
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query=fathom_rank_waiting_seconds_total", timeout=30) as answer:
                    found = json.load(answer)["data"]["result"]
            except (urllib.error.URLError, ConnectionError):
                found = []
            if found:
                break
            time.sleep(0.1)
        self.assertEqual({row["metric"]["rank"]: row["value"][1] for row in found}, {"0": "0", "1": "1", "2": "2", "3": "3"})
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/targets", timeout=30) as answer:
            target, = json.load(answer)["data"]["activeTargets"]
        self.assertEqual((target["health"], target["lastError"]), ("up", ""))


if __name__ == "__main__":
    harness.main()
