#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Draws the pictures of docs/simulator.md and docs/placement.md, with the commands that these show, into
# docs/pictures.
#
#   scripts/draw_simulator.sh
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$fathom_root/scripts/env.sh"
export LANG=C.UTF-8

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
pictures=$fathom_root/docs/pictures
job=$fathom_root/docs/examples/halo.json
cluster='dragonfly:switches=4;globals=2;hosts=2'

fathom simulate --cluster "$cluster" --job "$job" --selection random --routing greedy-max --graphml -o sim
fathom plot sim -o plots
fathom simulate --cluster "$cluster" --job "$job" --selection random --placement block,random,search \
  --routing dmodk,greedy-max,valiant -o several
fathom plot several -o several-plots
fathom place "$job" --cluster "$cluster" --selection random --routing dmodk,greedy-max -o placed.json
fathom plot placed.json -o plots
mkdir -p "$pictures"
cp plots/network-links-1.png "$pictures/network.png"
cp plots/links-1.png "$pictures/links.png"
cp several-plots/combinations.png "$pictures/combinations.png"
cp plots/placement.png "$pictures/placement.png"
