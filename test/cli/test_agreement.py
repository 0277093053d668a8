# SPDX-License-Identifier: BSD-3-Clause
"""--help, the manual page, the completion and the commands that the documents show agree."""
import glob
import os
import re
import shlex
import subprocess
import sys
import unittest

import harness

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))
sys.dont_write_bytecode = True
import update_man  # noqa: E402

HELP = update_man.subcommands(harness.FATHOM)
OPTIONS = {words: {name for names, _, _ in update_man.options(text) for name in names} for words, text in HELP.items()}
PARTS = {words[1] for words in OPTIONS if len(words) > 1}


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def of_family(name):
    """All options of a subcommand and its parts."""
    return set().union(*(shown for words, shown in OPTIONS.items() if words[0] == name))


class Help(harness.CliTest):
    def test_no_line_of_help_is_too_long(self):
        for words, text in HELP.items():
            for line in text.split("\nExample")[0].splitlines():
                self.assertLessEqual(len(line), 100, (words, line))

    def test_an_option_means_the_same_in_every_subcommand(self):
        """Its values are written the same everywhere; place takes one selection and cluster one routing, simulate a list of them."""
        kinds = {}
        for words, text in HELP.items():
            for names, kind, _ in update_man.options(text):
                kinds.setdefault(names[-1], {}).setdefault(kind, []).append(words)
        several = {name for name, found in kinds.items() if len(found) > 1}
        self.assertEqual(several - {"--output", "--routing", "--selection"}, set(), {name: kinds[name] for name in several})


class Manual(harness.CliTest):
    @unittest.skipUnless("otf2" in HELP[("import",)], "built without OTF2, which the manual names")
    def test_the_manual_has_the_options_of_help(self):
        checked = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts/update_man.py"), "--check", harness.FATHOM],
                                 capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_the_manual_describes_every_subcommand(self):
        prose = read("docs/fathom.1").split(".SH SUBCOMMANDS")[1].split(".SH ")[0].split(update_man.BEGIN)[0]
        paragraphs = re.split(r"(?:\.TP\n|\.RS\n)?\.B ([a-z\\-]+)\n", prose)
        found = {}
        for name, text in zip(paragraphs[1::2], paragraphs[2::2]):
            name = name.replace("\\", "")
            subcommand = name if (name,) in OPTIONS else subcommand if "subcommand" in locals() else None
            if subcommand:
                found[subcommand] = found.get(subcommand, "") + text
        self.assertEqual(set(found), {words[0] for words in OPTIONS})

    def test_the_manual_names_no_option_that_help_lacks(self):
        known = set().union(*OPTIONS.values()) | {"--version"}
        named = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", read("docs/fathom.1").replace("\\-", "-")))
        self.assertEqual(named - known, set())


class Completion(harness.CliTest):
    def complete(self, *words):
        """What bash offers for the last word."""
        script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fathom; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", self.path("completion"), "fathom", *words],
                              capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return set(done.stdout.split())

    def setUp(self):
        super().setUp()
        made = self.fathom("completion", "bash")
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        with open(self.path("completion"), "w", encoding="utf-8") as file:
            file.write(made.stdout)

    def test_bash_completes_subcommands(self):
        self.assertEqual(self.complete(""), {words[0] for words in OPTIONS} | {"--help", "--version"})
        self.assertEqual(self.complete("trace", ""), PARTS)
        self.assertEqual(self.complete("com"), {"compare", "completion"})
        self.assertEqual(self.complete("help", "rep"), {"report"})
        self.assertEqual(self.complete("completion", ""), {"bash"})

    def test_bash_completes_the_options_of_help(self):
        for words, shown in OPTIONS.items():
            self.assertEqual(self.complete(*words, "-"), shown, words)

    def test_bash_completes_values(self):
        formats = re.findall(r"^  (\w+)", self.fathom("export", "--list").stdout, re.M)
        self.assertEqual(self.complete("export", "r", "--format", ""), set(formats))
        self.assertEqual(self.complete("analyze", "r", "--only", "patterns,load"), {"patterns,load-imbalance"})
        self.assertEqual(self.complete("trace", "print", "--kinds", "m"), {"messages"})
        for subcommand, option in re.findall(r"^    '([\w-]+) (--[\w-]+)'\) words='[^']", self.fathom("completion", "bash").stdout, re.M):
            self.assertIn(option, of_family(subcommand))

    def test_bash_leaves_the_command_of_run_alone(self):
        self.assertEqual(self.complete("run", "-o", "r", "--", "mpirun", "--fo"), set())

    def test_other_shells_are_refused(self):
        self.assert_refused(self.fathom("completion", "csh"), 2, "'csh'", "only for bash")


def shown_commands(text):
    """Every `fathom ...` of a Markdown document: in fences line by line, in the text between backquotes."""
    fences = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.S | re.M) + re.findall(r"(?:^    .*\n)+", text, re.M)
    for fence in fences:
        yield from re.sub(r"\\\n", " ", fence).splitlines()
    yield from re.findall(r"`([^`\n]*(?:\n[^`\n]+)?)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


def wrong_options(words):
    """The options of a command line after `fathom` that do not exist; None if it is not a command of ours."""
    if not words or (words[0],) not in OPTIONS:
        return None
    path = tuple(words[:2]) if tuple(words[:2]) in OPTIONS else (words[0],)
    known, wrong, stage = OPTIONS[path] if len(path) > 1 else of_family(words[0]), [], False
    for word in words[len(path):]:
        if word in ("--", "|", "#", ">", "&&"):
            break
        if stage:
            wrong += wrong_options(word.split()) or []
        stage = word == "--then"
        for option in re.findall(r"(?:^|\||\[)(--?[a-z][\w-]*)", word):
            if option not in known:
                wrong.append(option)
    return wrong


def without_fences(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def headings(path):
    """The names by which links reach the headings of a Markdown document."""
    lines = re.findall(r"^#+ (.*)", without_fences(read(path)), re.M)
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


class Documents(harness.CliTest):
    def test_commands_in_documents_have_options_that_exist(self):
        checked = 0
        for path in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs/*.md")))]:
            for line in shown_commands(read(path)):
                for command in re.findall(r"(?:^|[\s;(])fathom ([^;`]*)", line):
                    try:
                        words = shlex.split(command, comments=True)
                    except ValueError:  # an apostrophe in a comment
                        words = command.split()
                    wrong = wrong_options(words)
                    checked += wrong is not None
                    self.assertFalse(wrong, f"{os.path.basename(path)}: fathom {command}")
        self.assertGreater(checked, 50)

    def test_links_in_documents_lead_to_files_and_headings(self):
        checked = 0
        for path in [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + glob.glob(os.path.join(ROOT, "docs/*.md")):
            for target, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", without_fences(read(path))):
                if "://" in target:
                    continue
                checked += 1
                target = os.path.join(os.path.dirname(path), target) if target else path
                self.assertTrue(os.path.exists(target), f"{path}: {target}")
                if heading:
                    self.assertIn(heading, headings(target), f"{path}: {target}")
        self.assertGreater(checked, 50)

    def test_the_index_names_every_document(self):
        named = set(re.findall(r"\]\(([\w.-]+)", read("docs/README.md")))
        documents = {os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "docs/*.md"))} - {"README.md"}
        self.assertEqual(documents - named, set())

    def test_the_citation_is_of_this_version(self):
        version = re.search(r"version: '([^']+)'", read("meson.build"))[1]
        self.assertIn(f"\nversion: {version}\n", read("CITATION.cff"))

    def test_examples_of_help_have_options_that_exist(self):
        for words, text in HELP.items():
            for command in re.findall(r"^  (?:mpirun .*)?fathom ((?:.*\\\n)*.*)", text.split("\nExample")[1], re.M):
                self.assertEqual(wrong_options(shlex.split(command.replace("\\\n", " "))), [], (words, command))


if __name__ == "__main__":
    harness.main()
