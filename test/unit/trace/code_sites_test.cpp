// SPDX-License-Identifier: BSD-3-Clause
// Addresses of this program: with debug information, with a symbol table only, stripped, and
// deleted.
#include "trace/code/code_sites.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "test/unit/base/scratch_folder.h"
#include "test/unit/trace/own_code.h"
#include "trace/code/demangled.h"

extern "C" {
// A name of C that gfortran might have made.
[[gnu::noinline]] std::uint64_t coarsen_() {
  const std::uint64_t address = return_address();
  asm volatile("" ::: "memory");
  return address;
}

// __cxa_demangle() takes this for the type float.
[[gnu::noinline]] std::uint64_t f() {
  const std::uint64_t address = return_address();
  asm volatile("" ::: "memory");
  return address;
}

// call_sites.f90
std::uint64_t __mesh_MOD_relax_once();
std::uint64_t smooth_();
std::uint64_t smooth_inside_();
}

namespace {

using fathom::test::OwnPlace;
using fathom::test::segment_of;
using fathom::trace::CodeSegment;
using fathom::trace::CodeSite;
using fathom::trace::CodeSites;
using fathom::trace::demangled;

[[gnu::noinline]] OwnPlace where_it_calls() {
  const int line = __LINE__ + 1;
  const std::uint64_t address = return_address();
  asm volatile("" ::: "memory");
  return {address, line};
}

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

}  // namespace

TEST_CASE("a call is found with its function, file and line") {
  const OwnPlace place = where_it_calls();
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
  const OwnPlace place = where_it_calls();
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
  const OwnPlace place = where_it_calls();

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

TEST_CASE("a Fortran procedure has the name that the source gives it") {
  const fathom::test::Scratch scratch;
  const std::string lean = scratch / "lean";
  REQUIRE(run("strip -g -o " + lean + " /proc/" + std::to_string(getpid()) + "/exe"));
  const auto name = [](std::uint64_t address, const std::string& file) {
    return CodeSites({segment_of(address, file)}).of_call(address).function;
  };
  const std::string whole = "/proc/self/exe";
  CHECK(name(__mesh_MOD_relax_once(), whole) == "mesh::relax_once");
  CHECK(name(__mesh_MOD_relax_once(), lean) == "mesh::relax_once");
  CHECK(name(smooth_(), whole) == "smooth");
  CHECK(name(smooth_(), lean) == "smooth_");  // it might be a function of C
  CHECK(name(smooth_inside_(), whole) == "smooth_inside::step");
  CHECK(name(coarsen_(), whole) == "coarsen_");
  CHECK(name(f(), whole) == "f");
}

TEST_CASE("symbols of C++, gfortran and flang are demangled, and no others") {
  CHECK(demangled("_ZN4mesh5relaxEv") == "mesh::relax()");
  CHECK(demangled("__mesh_MOD_relax") == "mesh::relax");
  CHECK(demangled("__mesh.parts_MOD_relax") == "mesh.parts::relax");
  CHECK(demangled("_QPrelax") == "relax");
  CHECK(demangled("_QMmeshPrelax") == "mesh::relax");
  CHECK(demangled("_QMmeshSpartsFrelaxPstep") == "mesh::parts::relax::step");
  for (const char* other : {"relax", "relax_", "MAIN__", "f", "_Q", "_Quick", "_QPrelax2P",
                            "_QQmain", "_QMmesh", "__MOD_relax", "__mesh_MOD_", "__Mesh_MOD_relax"})
    CHECK(demangled(other) == other);
}

TEST_CASE("a file other than the one that ran is not used") {
  const OwnPlace place = where_it_calls();
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
  const OwnPlace place = where_it_calls();
  CodeSites sites({segment_of(place.address, "/proc/self/exe")}, 2);
  const std::string first = describe(sites.of_call(place.address));
  for (std::uint64_t i = 1; i < 100; ++i) sites.of_call(place.address + i);
  CHECK(describe(sites.of_call(place.address)) == first);
}
