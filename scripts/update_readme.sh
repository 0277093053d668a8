#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes anew what README.md shows of real runs: the report between its markers and the pictures (also docs/'s); and takes
# over the overhead tables of docs/overhead.md (measured by `bench/overhead.py --write`).
#
#   scripts/update_readme.sh [--tables-only]
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$fathom_root/scripts/env.sh"
export LANG=C.UTF-8

tables_only=${1:-}
take_tables() {
  /usr/bin/python3 - "$fathom_root/README.md" "$fathom_root/docs/overhead.md" <<'PYTHON'
import re
import sys

readme, overhead = (open(path, encoding='utf-8').read() for path in sys.argv[1:])
tables = re.search(r'<!-- overhead -->(.*?)<!-- /overhead -->', overhead, re.S)[1].strip()
block = f'<!-- overhead-summary -->\n{tables}\n<!-- /overhead-summary -->'
readme = re.sub(r'<!-- overhead-summary -->.*<!-- /overhead-summary -->', lambda _: block, readme, flags=re.S)
open(sys.argv[1], 'w', encoding='utf-8').write(readme)
PYTHON
}
take_tables
[ "$tables_only" != --tables-only ] || exit 0

run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
cd "$run"
cp /usr/share/doc/hpcc/examples/_hpccinf.txt hpccinf.txt
fathom run -o "$run/run" -- mpirun --oversubscribe -n 4 hpcc
fathom report "$run/run" >report.txt
fathom plot "$run/run" -o plots
PYTHONPATH="$fathom_root/bench" /usr/bin/python3 -c '
import exactness
for name, text in exactness.programs()["lammps"].files.items():
    open(name, "w").write(text)'
fathom run --trace -o "$run/lammps" -- mpirun --oversubscribe -n 4 lmp -in melt -log none
fathom plot "$run/lammps" -o lammps-plots
mv lammps-plots/timeline.png plots/
fathom simulate --cluster 'dragonfly:switches=4;globals=2;hosts=2' --job "$fathom_root/docs/examples/halo.json" \
  --selection random --routing greedy-max --graphml -o sim
fathom plot sim -o sim-plots
mv sim-plots/network-links-1.png plots/network.png
mkdir -p "$fathom_root/docs/pictures"
cp plots/*.png "$fathom_root/docs/pictures/"
/usr/bin/python3 - "$fathom_root/README.md" report.txt <<'PYTHON'
import re
import sys

readme, report = (open(path, encoding='utf-8').read() for path in sys.argv[1:])
block = f'<!-- report -->\n```\n{report.rstrip()}\n```\n<!-- /report -->'
readme = re.sub(r'<!-- report -->.*<!-- /report -->', lambda _: block, readme, flags=re.S)
open(sys.argv[1], 'w', encoding='utf-8').write(readme)
PYTHON
