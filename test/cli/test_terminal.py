# SPDX-License-Identifier: BSD-3-Clause
"""What a person at a terminal sees: pages as wide as the terminal, errors in our words, commands to copy, names of programs."""
import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import termios
import unicodedata

import fixtures
import harness

GENERATE = os.environ["FATHOM_TRACE_GENERATE"]
# Sentences of CLI11, which say neither what a value is for nor what to write instead.
RAW = re.compile(r"not in \{|not in range|Could not convert|required but|At Most|At Least|was not expected|were not expected|"
                 r"\bexcludes\b|disallowed|flag override|is required|\d required|Should be true|cannot be understood", re.I)


def columns(line):
    return sum(unicodedata.combining(c) == 0 for c in re.sub("\x1b\\[[0-9;]*[mK]", "", line))


class TerminalTest(harness.CliTest):
    def printed(self, *words, **variables):
        result = self.fathom(*words, **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def generate(self, name="t"):
        subprocess.run([GENERATE, self.path(name), "--ranks", "4", "--events", "4000"], check=True,
                       stdout=subprocess.DEVNULL, timeout=60)
        return name

    def on_terminal(self, width, *words):
        """What the command prints on a terminal of so many columns, as lines."""
        pid, terminal = pty.fork()
        if pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
            os.chdir(self.folder)
            environment = {k: v for k, v in os.environ.items() if not k.startswith(("FATHOM_", "OMPI_", "SLURM_", "PMI"))}
            os.execve(harness.FATHOM, [harness.FATHOM, *words],
                      {**environment, "LC_ALL": "C.UTF-8", "TERM": "xterm"})
        said = b""
        with open(terminal, "rb", buffering=0) as screen:
            try:
                while some := screen.read(4096):
                    said += some
            except OSError:  # the last process has closed it
                pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0, said)
        return said.decode().replace("\r\n", "\n").splitlines()


class Width(TerminalTest):
    PAGES = (("report", "r"), ("report", "wide"), ("report", "phases"), ("analyze", "r"), ("analyze", "t", "--only", "wait-states,flat-profile"),
             ("compare", "r", "wide"), ("compare", "t", "t"), ("critical-path", "t"), ("trace", "info", "t"),
             ("report", "--help"), ("run", "--help"), ("status", "r"), ("place", "r", "--cluster", "torus:dims=2,2;slots=4"),
             ("simulate", "--compare", "sim", "sim2"), ("simulate", "--compare", "sim"))

    def setUp(self):
        super().setUp()
        self.write_run("r")
        self.write_run("wide", fixtures.stencil())
        self.write_run("phases", phases())
        self.generate()
        for name, cluster in (("sim", "torus:dims=2,2"), ("sim2", "dragonfly:switches=2;globals=2;hosts=2")):
            self.printed("simulate", "--cluster", cluster, "--job", "r", "--placement", "block,search", "--routing", "dmodk,greedy-max",
                         "-o", name)

    def without_examples(self, lines):
        """A command to copy is not broken."""
        return lines[:lines.index("Examples:")] if "Examples:" in lines else lines

    def test_follows_the_terminal(self):
        for words in self.PAGES:
            for width in (80, 131, 200) if "--help" in words else (60, 80, 131, 200):  # a long value fills a line
                lines = self.without_examples(self.on_terminal(width, *words))
                longest = max(lines, key=columns)
                self.assertLessEqual(columns(longest), width, (words, longest))
                if words[0] == "report" and words[-1] != "--help":
                    self.assertGreaterEqual(columns(longest), width - 12, (words, width))

    def test_has_bounds(self):
        self.assertEqual(self.on_terminal(20, "report", "r"), self.on_terminal(60, "report", "r"))
        self.assertEqual(self.on_terminal(300, "report", "r"), self.on_terminal(200, "report", "r"))

    def test_without_a_terminal_it_is_80(self):
        plain = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in self.on_terminal(80, "report", "r")]
        self.assertEqual(self.printed("report", "r").splitlines(), plain)
        for words in self.PAGES:
            lines = self.without_examples(self.printed(*words).splitlines())
            self.assertLessEqual(max(map(columns, lines)), 80, words)

    def test_a_number_and_its_unit_stay_on_one_line(self):
        units = re.compile(r"\s*(%|[nmu]?s|min|[kM]?B)([ ,.;:)]|$)")
        for width in range(60, 100, 3):
            apart = [line for line in self.on_terminal(width, "analyze", "t") if units.match(line)]
            self.assertEqual(apart, [], width)

    def test_what_does_not_fit_is_named(self):
        self.assertIn("columns that did not fit", self.printed("compare", "r", "wide"))
        self.assertNotIn("left out", "\n".join(self.on_terminal(200, "compare", "r", "wide")))


class OurWords(TerminalTest):
    def subcommands(self):
        names = re.findall(r"^  ([a-z-]+) {2,}", self.printed("--help").split("Options:")[0], re.M)
        parts = re.findall(r"^  ([a-z]+) {2,}", self.printed("trace", "--help").split("Subcommands:")[1], re.M)
        self.assertGreater(len(names), 10)
        return [(name,) for name in names if name != "trace"] + [("trace", part) for part in parts]

    def test_every_option_that_is_given_wrongly(self):
        tried = 0
        for words in self.subcommands():
            for option, value in re.findall(r"^  (?:-\w, ?)?(--[\w-]+)(?: (\S+))?", self.printed(*words, "--help"), re.M):
                if option == "--help":
                    continue
                wrong = [[option]] if value else [[option + "=much"]]
                if value in ("N", "NUMBER", "0..1", "TIME", "RANKS"):
                    wrong += [[option, "much"], [option, "-3"]]
                for more in wrong:
                    result = self.fathom(*words, *more)
                    tried += 1
                    self.assertEqual(result.returncode, 2, (words, more, result))
                    self.assertNotRegex(result.stderr, RAW, (words, more))
                    if more[-1] != "-3":  # some numbers may be negative
                        self.assertIn(option, result.stderr, (words, more))
        self.assertGreater(tried, 80)

    def test_what_is_missing_is_named(self):
        self.assert_refused(self.fathom("report"), 2, "RUN is missing (run directory or profile.json)", "fathom report --help")
        self.assert_refused(self.fathom("plot", "r"), 2, "--output DIR is missing")
        self.assert_refused(self.fathom("report", "r", "--top"), 2, "--top needs a value, N")
        self.assert_refused(self.fathom("report", "r", "--top", "0"), 2, "--top: '0' is not a whole number from 1 to 1000000")
        self.assert_refused(self.fathom("simulate", "--seed", "x"), 2, "--seed: 'x' is not a number")
        self.assert_refused(self.fathom("report", "r", "--json=yes"), 2, "--json takes no value")
        self.assert_refused(self.fathom("export", "r", "--hidden", "--user", "-o", "x.csv"), 2, "exclude each other")

    def test_did_you_mean(self):
        open(self.path("lib.so"), "w", encoding="utf-8").close()
        for words, meant in ((("repotr",), "report"), (("help", "repotr"), "report"), (("trace", "prin"), "print"),
                             (("report", "r", "--jsn"), "--json"), (("trace", "print", "--rank", "0"), "--ranks"),
                             (("run", "--trase", "--", "x"), "--trace"), (("run", "--then", "repotr", "--", "x"), "report"),
                             (("run", "--then", "report --jsn", "--", "x"), "--json"), (("run", "--source", "perus", "--", "x"), "peruse"),
                             (("plot", "r", "-o", "x", "--format", "pgn"), "png"), (("export", "r", "--format", "graphm"), "graphml")):
            self.assert_refused(self.fathom(*words, FATHOM_LIBRARY=self.path("lib.so")), 2, f"did you mean {meant}?")

    def test_analyse_is_analyze(self):
        self.write_run("r")
        self.assertEqual(self.printed("analyse", "r", "--json"), self.printed("analyze", "r", "--json"))
        self.assertEqual(self.printed("help", "analyse"), self.printed("analyze", "--help"))


class Suggestions(TerminalTest):
    def test_are_quoted_for_the_shell(self):
        self.write_run("p")
        self.printed("export", "p", "--format", "pfprof", "-o", "pf")
        for folder in ("my run", "it's $HOME; `x`", "tab\there", "-dash"):
            result = self.fathom("import", "pf", "-o", "./" + folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            command = result.stderr.split("next: ")[1].rstrip("\n")
            again = subprocess.run(["bash", "-c", command.replace("fathom", harness.FATHOM, 1)], cwd=self.folder, text=True,
                                   capture_output=True, check=False)
            self.assertEqual(again.returncode, 0, (command, again.stderr))
            self.assertEqual(again.stdout, self.printed("report", "./" + folder))

    def test_plain_names_stay_plain(self):
        self.write_run("p")
        self.printed("export", "p", "--format", "pfprof", "-o", "pf")
        self.assertIn("next: fathom report r-1.2_x\n", self.fathom("import", "pf", "-o", "r-1.2_x").stderr)


class Programs(TerminalTest):
    def name_of(self, executable, *arguments):
        self.write_run("r", fixtures.profile(2, [fixtures.block("point-to-point", False, [(0, 1, 8, 1)])], [], application={
            "executable": executable, "arguments": list(arguments), "started_unix_ns": 0, "seconds": 1.5}))
        name = os.path.basename(json.loads(self.printed("report", "r", "--json"))["application"])
        self.assertEqual(self.printed("report", "r").split()[0], name)
        self.assertEqual(self.printed("analyze", "r").split()[0], name)
        return name

    def test_go_by_their_script(self):
        python = "/usr/bin/python3.11"
        for arguments, name in (("solver.py -c x", "solver.py"), ("-u /a/solver.py", "solver.py"), ("-m mpi4py solver.py", "solver.py"),
                                ("-um mpi4py.run --rc threads=0 solver.py", "solver.py"),
                                ("-W ignore -X dev solver.py", "solver.py"), ("-m package.tool -v", "package.tool"),
                                ("-c pass", "python3.11"), ("", "python3.11"), ("-", "python3.11")):
            self.assertEqual(self.name_of(python, *arguments.split()), name, arguments)
        self.assertEqual(self.name_of("/usr/bin/julia", "--project=.", "-t", "2", "halo.jl"), "halo.jl")
        self.assertEqual(self.name_of("/x/pythonic", "input.py"), "pythonic")
        self.assertEqual(self.name_of("/x/solver", "job.py"), "solver")


def phases():
    block = fixtures.block
    made = fixtures.profile(3, [block("point-to-point", False, [(0, 1, 600, 6), (1, 2, 100, 1)], phase="solve"),
                                block("MPI_Bcast", True, [(0, 1, 50, 5)], phase="solve"),
                                block("point-to-point", False, [(0, 2, 40, 4)], communicator=1, phase="write"),
                                block("MPI_Bcast", True, [(0, 2, 7, 7)])],
                            [{"class": "point-to-point", "size": [100], "messages": [11]},
                             {"class": "MPI_Bcast", "hidden": True, "size": [1, 10], "messages": [7, 5]}])
    made["communicators"].append({"id": 1, "name": "solver comm", "made_by": "MPI_Comm_split", "parent": 0, "world_ranks": [0, 1, 2]})
    return made


class Parts(TerminalTest):
    """--classes, --communicators and --phases choose the same traffic in every subcommand."""

    CHOICES = ((["--phases", "solve"], 750), (["--phase", "solve"], 750), (["--phases", "-solve"], 47), (["--phases", ""], 7),
               (["--phases", "write,solve"], 790), (["--classes", "MPI_*"], 57), (["--class", "MPI_Bcast"], 57),
               (["--communicators", "solver*"], 40), (["--communicator", "1"], 40), (["--communicators", "MPI_COMM_WORLD"], 757),
               (["--classes", "MPI_Bcast", "--phases", "solve"], 50), (["--class", "point-to-point", "--communicators", "0"], 700))

    def setUp(self):
        super().setUp()
        self.write_run("r", phases())

    def test_report_has_a_table_of_phases(self):
        page = self.printed("report", "r")
        rows = re.findall(r"^(solve|write|\(outside of phases\)) +(\S+ \S+) .*? (\d+) +\S+ B$", page, re.M)
        self.assertEqual(rows, [("solve", "750 B", "12"), ("write", "40 B", "4"), ("(outside of phases)", "7 B", "7")])
        table = json.loads(self.printed("report", "r", "--json"))["phases"]
        self.assertEqual([(row["phase"], row["bytes"], row["hidden"]["bytes"]) for row in table],
                         [("solve", 750, 50), ("write", 40, 0), ("", 7, 7)])
        self.write_run("none")
        self.assertNotIn("phase ", self.printed("report", "none"))

    def test_one_choice_everywhere(self):
        for number, (choice, expected) in enumerate(self.CHOICES):
            report = json.loads(self.printed("report", "r", "--json", *choice))
            self.assertEqual(report["total"]["bytes"], expected, choice)
            self.printed("export", "r", "-o", f"{number}.csv", *choice)
            with open(self.path(f"{number}.csv"), encoding="utf-8") as file:
                header, *rows = file.read().splitlines()
            column = header.split(",").index("bytes")
            self.assertEqual(sum(int(row.split(",")[column]) for row in rows), expected, choice)
            found = json.loads(self.printed("analyze", "r", "--only", "matrices", "--json", *choice))
            self.assertEqual(sum(found["analyses"]["matrices"]["all_pairs"]["bytes"]), expected, choice)

    def test_a_wrong_name_is_one_sentence_everywhere(self):
        for words in (("report", "r"), ("plot", "r", "-o", "x"), ("export", "r", "-o", "x.csv"), ("analyze", "r")):
            for option, name, what in (("--phases", "solv", "phase 'solv' with traffic; did you mean solve?"),
                                       ("--classes", "MPI_Bcst", "class 'MPI_Bcst' with traffic; did you mean MPI_Bcast?"),
                                       ("--communicators", "7", "communicator '7' with traffic; there are MPI_COMM_WORLD, solver comm")):
                self.assert_refused(self.fathom(*words, option, name), 1, "the run has no " + what)

    def test_sizes_go_with_classes_only(self):
        sizes = json.loads(self.printed("report", "r", "--json", "--classes", "MPI_Bcast"))["message_sizes"]
        self.assertEqual(sum(row["messages"] for row in sizes), 12)
        self.assertEqual(json.loads(self.printed("report", "r", "--json", "--phases", "solve"))["message_sizes"], [])

    def test_analyses_of_time_cannot_choose_traffic(self):
        self.generate()
        self.assert_refused(self.fathom("analyze", "t", "--only", "wait-states", "--classes", "point-to-point"), 2,
                            "'wait-states' is about times")
        self.printed("analyze", "t", "--classes", "point-to-point")

    def test_plot(self):
        try:
            subprocess.run(["/usr/bin/python3", "-c", "import matplotlib"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("there is no matplotlib")
        self.printed("plot", "r", "-o", "all", "--format", "svg")
        self.printed("plot", "r", "-o", "solve", "--format", "svg", "--phases", "solve")
        with open(self.path("solve", "traffic.svg"), encoding="utf-8") as some, \
                open(self.path("all", "traffic.svg"), encoding="utf-8") as everything:
            some, everything = some.read(), everything.read()
        self.assertNotEqual(some, everything)


if __name__ == "__main__":
    harness.main()
