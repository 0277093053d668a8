// SPDX-License-Identifier: BSD-3-Clause
// Stands in for simgrid_test where libsimgrid is absent: 77 tells meson that a test is skipped.
#include <cstdio>

int main() {
  std::puts("skipped: SimGrid is not installed (Debian: libsimgrid-dev)");
  return 77;
}
