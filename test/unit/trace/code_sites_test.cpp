// SPDX-License-Identifier: BSD-3-Clause
// Addresses of this program: with debug information, with a symbol table only, stripped, and
// deleted.
#include "trace/code/code_sites.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "test/unit/base/scratch_folder.h"

namespace {

using fathom::trace::CodeSegment;
using fathom::trace::CodeSite;
using fathom::trace::CodeSites;

[[gnu::noinline]] std::uint64_t return_address() {
  const auto address = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  asm volatile("" ::: "memory");
  return address;
}

struct Place {
  std::uint64_t address;
  int line;
};

[[gnu::noinline]] Place where_it_calls() {
  const int line = __LINE__ + 1;
  const std::uint64_t address = return_address();
  asm volatile("" ::: "memory");
  return {address, line};
}

// The executable mapping of this program that holds an address, as if it came from `path`.
CodeSegment segment_of(std::uint64_t address, const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0, offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &offset) != 3) continue;
    if (address < begin || address >= end) continue;
    CodeSegment segment;
    segment.base = begin;
    segment.size = end - begin;
    segment.offset = offset;
    segment.path = path;
    return segment;
  }
  return {};
}

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

}  // namespace

TEST_CASE("a call is found with its function, file and line") {
  const Place place = where_it_calls();
  CodeSites sites({segment_of(place.address, "/proc/self/exe")});
  const CodeSite& site = sites.of_call(place.address);
  CHECK(site.function.find("where_it_calls") != std::string::npos);
  CHECK(site.file.find("code_sites_test.cpp") != std::string::npos);
  CHECK(site.line == place.line);
  CHECK(describe(site).find("(code_sites_test.cpp:" + std::to_string(place.line) + ")") !=
        std::string::npos);
}

TEST_CASE("lines are found in programs of clang, which writes no .debug_aranges") {
  const fathom::test::Scratch scratch;
  const std::string copy = scratch / "copy";
  REQUIRE(run("objcopy --remove-section .debug_aranges /proc/" + std::to_string(getpid()) +
              "/exe " + copy));
  const Place place = where_it_calls();
  CodeSites sites({segment_of(place.address, copy)});
  const CodeSite& site = sites.of_call(place.address);
  CHECK(site.file.find("code_sites_test.cpp") != std::string::npos);
  CHECK(site.line == place.line);
}

TEST_CASE(
    "without debug information the symbol table names a call, and a stripped file gives its "
    "address") {
  const fathom::test::Scratch scratch;
  const std::string lean = scratch / "lean", stripped = scratch / "stripped";
  REQUIRE(run("strip -g -o " + lean + " /proc/" + std::to_string(getpid()) + "/exe"));
  REQUIRE(run("strip -s -o " + stripped + " /proc/" + std::to_string(getpid()) + "/exe"));
  const Place place = where_it_calls();

  CodeSites of_lean({segment_of(place.address, lean)});
  const CodeSite named = of_lean.of_call(place.address);
  CHECK(named.function.find("where_it_calls") != std::string::npos);
  CHECK(named.line == 0);

  CodeSites of_stripped({segment_of(place.address, stripped)});
  const CodeSite bare = of_stripped.of_call(place.address);
  CHECK(bare.function.empty());
  CHECK(bare.file.empty());
  CHECK(bare.module == stripped);
  CHECK(bare.offset == named.offset);
  char expected[64];
  std::snprintf(expected, sizeof expected, "stripped+0x%llx",
                static_cast<unsigned long long>(bare.offset));
  CHECK(describe(bare) == expected);
}

TEST_CASE("a file other than the one that ran is not used") {
  const Place place = where_it_calls();
  CodeSegment segment = segment_of(place.address, "/proc/self/exe");
  segment.build_id = "0123456789abcdef";
  CodeSites rebuilt({segment});
  CHECK(rebuilt.of_call(place.address).function.empty());
  segment.path = "/nowhere/at/all";
  CodeSites gone({segment});
  CHECK(describe(gone.of_call(place.address)).starts_with("all+0x"));
}

TEST_CASE("an address that no file holds remains a number") {
  CodeSites sites({});
  CHECK(describe(sites.of_call(0x1234)) == "0x1234");
}

TEST_CASE("answers are the same however few are cached") {
  const Place place = where_it_calls();
  CodeSites sites({segment_of(place.address, "/proc/self/exe")}, 2);
  const std::string first = describe(sites.of_call(place.address));
  for (std::uint64_t i = 1; i < 100; ++i) sites.of_call(place.address + i);
  CHECK(describe(sites.of_call(place.address)) == first);
}
