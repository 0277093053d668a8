#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Draws the README's picture of the viewer into docs/pictures, by the test that drives the pages of a real run in
# Chromium.
#
#   scripts/draw_viewer.sh
set -euo pipefail
. "$(dirname "$0")/lib.sh"

FATHOM_PICTURES=$fathom_root/docs/pictures meson test -C "$fathom_build" --no-rebuild --print-errorlogs 'pages of a real run'
