// SPDX-License-Identifier: BSD-3-Clause
// A file appears whole or not at all, and no failure to write it can hurt the process.
#include <doctest/doctest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/sample.h"

namespace fathom::profile {
namespace {

using test::contents;
using test::Scratch;
using test::write_file;

TEST_CASE("no file has the name before commit, and no other file is left after it") {
  Scratch folder;
  base::AtomicFile file;
  REQUIRE(file.open(folder / "out", base::AtomicFile::Existing::kKeep));
  const std::string long_text(200'000, 'x');
  file.append(long_text);
  file.put('!');
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
  CHECK(file.size_bytes() == 200'001);
  REQUIRE(file.commit());
  CHECK(contents(folder / "out") == long_text + "!");
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that is not committed leaves the old one in place") {
  Scratch folder;
  write_file(folder / "out", "before");
  {
    base::AtomicFile file;
    REQUIRE(file.open(folder / "out", base::AtomicFile::Existing::kReplace));
    file.append("after");
  }
  CHECK(contents(folder / "out") == "before");
  CHECK(folder.entries() == 1);
}

TEST_CASE("an existing file is kept by default, even one that appears meanwhile") {
  Scratch folder;
  write_file(folder / "out", "before");
  base::AtomicFile file;
  CHECK(file.open(folder / "out", base::AtomicFile::Existing::kKeep).error().message ==
        folder / "out: exists already; give another path, or replace it with --force");
  REQUIRE(file.open(folder / "new", base::AtomicFile::Existing::kKeep));
  write_file(folder / "new", "somebody else's");
  CHECK_FALSE(file.commit());
  CHECK(contents(folder / "new") == "somebody else's");
  CHECK(folder.entries() == 2);
}

TEST_CASE("only a regular file is ever replaced") {
  Scratch folder;
  base::AtomicFile file;
  CHECK_FALSE(file.open("/dev/null", base::AtomicFile::Existing::kReplace));
  CHECK_FALSE(file.open(folder.path(), base::AtomicFile::Existing::kReplace));
  CHECK(
      file.open(folder / "no/such/folder", base::AtomicFile::Existing::kReplace).error().message ==
      folder /
          "no/such/folder: cannot be written: No such file or directory; check that the "
          "folder exists and is writable");
}

TEST_CASE("a temporary file left by a killed process is no obstacle") {
  Scratch folder;
  write_file(folder / "out.partial-" + std::to_string(::getpid()) + "-0", "stale");
  base::AtomicFile file;
  REQUIRE(file.open(folder / "out", base::AtomicFile::Existing::kReplace));
  REQUIRE(file.commit());
  CHECK(contents(folder / "out.partial-" + std::to_string(::getpid()) + "-0") == "stale");
}

// In a child, because the limit applies to the whole process. SIGXFSZ would end it.
TEST_CASE("beyond the file size limit the writer reports an error and the process survives") {
  Scratch folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const base::Status status = write_profile(test::sample_profile(), folder / "profile.json");
    const bool reported =
        !status && status.error().message.find("File too large") != std::string::npos;
    ::_exit(reported ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(folder.entries() == 0);
}

TEST_CASE("calls out of order are errors and leave no file") {
  Scratch folder;
  Writer writer;
  CHECK_FALSE(writer.begin({}));
  REQUIRE(writer.open(folder / "a"));
  CHECK_FALSE(writer.add(Traffic{}));
  CHECK(folder.entries() == 0);

  REQUIRE(writer.open(folder / "a"));
  REQUIRE(writer.begin({}));
  REQUIRE(writer.add(MessageSizes{}));
  CHECK_FALSE(writer.add(Traffic{}));
  CHECK(folder.entries() == 0);

  REQUIRE(writer.open(folder / "a"));
  REQUIRE(writer.begin({}));
  Traffic uneven;
  uneven.source = {1};
  CHECK_FALSE(writer.add(uneven));
  CHECK_FALSE(writer.finish({}));
  CHECK(folder.entries() == 0);
}

}  // namespace
}  // namespace fathom::profile
