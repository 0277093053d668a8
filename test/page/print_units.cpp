// SPDX-License-Identifier: BSD-3-Clause
// Prints numbers as the command line does, for a test that holds the pages' numbers against them. Each line of
// the input is a kind and one or two numbers.
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

#include "cli/terminal/units.h"

int main() {
  std::string kind;
  while (std::cin >> kind) {
    double value = 0;
    std::cin >> value;
    std::string text;
    if (kind == "bytes") text = fathom::cli::human_bytes(value);
    if (kind == "edge") text = fathom::cli::bin_edge(static_cast<std::uint64_t>(value));
    if (kind == "grouped") text = fathom::cli::grouped(static_cast<std::uint64_t>(value));
    if (kind == "seconds") text = fathom::cli::human_seconds(value);
    if (kind == "time") text = fathom::cli::human_time(value);
    if (kind == "percent") {
      double of = 0;
      std::cin >> of;
      text = fathom::cli::percent(value, of);
    }
    std::puts(text.c_str());
  }
}
