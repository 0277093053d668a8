#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes anew what the documents show of real runs: the findings in README.md, the report in
# docs/exactness.md, each between its markers, and the pictures in docs/pictures.
#
#   scripts/update_readme.sh
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$fathom_root/scripts/env.sh"
export LANG=C.UTF-8

run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
cd "$run"
cp /usr/share/doc/hpcc/examples/_hpccinf.txt hpccinf.txt
fathom run -o "$run/run" -- mpirun --oversubscribe -n 4 hpcc
fathom report "$run/run" | sed "s,$HOME/,~/," >report.txt
fathom plot "$run/run" -o plots
PYTHONPATH="$fathom_root/test" /usr/bin/python3 -c '
import real_programs
for name, text in real_programs.PROGRAMS["lammps"].files.items():
    open(name, "w").write(text)'
fathom run --trace -o "$run/lammps" -- mpirun --oversubscribe -n 4 lmp -in melt -log none
fathom plot "$run/lammps" -o lammps-plots
mv lammps-plots/timeline.png plots/
cp "$fathom_root/docs/examples/heat.c" .
mpicc -g -O2 heat.c -o heat -lm
fathom run --trace -o "$run/heat-run" -- mpirun --oversubscribe -n 4 ./heat
fathom analyze "$run/heat-run" --top 2 | sed "s,$PWD/,," >analyze.txt
# the window of README's picture: around the longest wait that rank 0 causes
window=$(fathom analyze "$run/heat-run" --json | /usr/bin/python3 -c '
import json
import sys
found = json.load(sys.stdin)["findings"]
wait = next(one for one in found if one["culprits"] == [0])["windows"][0]
print("--from %.3fs --to %.3fs" % (wait["from_s"] - 0.025, wait["to_s"] + 0.075))')
fathom plot "$run/heat-run" -o heat-plots $window
mv heat-plots/timeline.png plots/heat.png
mkdir -p "$fathom_root/docs/pictures"
"$fathom_root/scripts/draw_simulator.sh"
cp plots/{traffic,timeline,heat,waits}.png "$fathom_root/docs/pictures/"
put() {  # put FILE NAME TEXT: the text between the markers of that name
  /usr/bin/python3 - "$@" <<'PYTHON'
import re
import sys

path, name, shown = sys.argv[1:]
document, text = (open(each, encoding='utf-8').read() for each in (path, shown))
block = f'<!-- {name} -->\n```\n{text.rstrip()}\n```\n<!-- /{name} -->'
document = re.sub(f'<!-- {name} -->.*<!-- /{name} -->', lambda _: block, document, flags=re.S)
open(path, 'w', encoding='utf-8').write(document)
PYTHON
}
put "$fathom_root/README.md" analyze analyze.txt
put "$fathom_root/docs/exactness.md" report report.txt
