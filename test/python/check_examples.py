# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples of docs/python.md, in order as one program, in a folder with runs named r1 and r2."""
import os
import re
import subprocess
import sys
import tempfile


def examples_of(path):
    with open(path, encoding="utf-8") as document:
        return re.findall(r"```python\n(.*?)```", document.read(), re.S)


def main():
    examples = examples_of(sys.argv[1])
    if not examples:
        sys.exit("there are no examples")
    with tempfile.TemporaryDirectory(prefix="fathom-examples-") as folder:
        for name, ranks in (("r1", 4), ("r2", 8)):
            subprocess.run([os.environ["FATHOM_TRACE_GENERATE"], os.path.join(folder, name), "--ranks", str(ranks), "--events", "20000"],
                           check=True, capture_output=True)
        os.chdir(folder)
        names = {}
        for number, example in enumerate(examples, 1):
            print(f"example {number}:\n{example}")
            exec(compile(example, f"docs/python.md, example {number}", "exec"), names)
    print(f"{len(examples)} examples ran")


if __name__ == "__main__":
    main()
