// SPDX-License-Identifier: BSD-3-Clause
#include "base/text_lines.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <thread>

#include "test/unit/base/scratch_folder.h"

namespace fathom::base {
namespace {

TEST_CASE("a device is not read as a text without end") {
  for (const char* path : {"/dev/zero", "/dev/null"})
    CHECK(read_text(path).error().message == std::string(path) + ": is a device, not a file");
  CHECK(read_text("/dev").error().message == "/dev: cannot be read: Is a directory");
}

TEST_CASE("a pipe is read to its end") {
  test::Scratch folder;
  const std::string path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(path) << "a: 1\n"; });
  const auto text = read_text(path);
  writer.join();
  REQUIRE(text);
  CHECK(*text == "a: 1\n");
}

}  // namespace
}  // namespace fathom::base
