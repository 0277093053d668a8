// SPDX-License-Identifier: BSD-3-Clause
// Every export format against a file in test/golden, byte for byte.
//
// FATHOM_GOLDEN names that folder. With FATHOM_GOLDEN_UPDATE set the files are rewritten; review
// the difference before committing it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "exporters/profile/pfprof.h"
#include "exporters/profile/registry.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/sample.h"

namespace fathom::exporters {
namespace {

using test::contents;
using test::Scratch;

std::string golden(const std::string& name) {
  const char* folder = std::getenv("FATHOM_GOLDEN");
  return std::string(folder ? folder : "test/golden") + "/" + name;
}

void check_golden(const std::string& written, const std::string& name) {
  if (std::getenv("FATHOM_GOLDEN_UPDATE")) {
    std::filesystem::copy_file(written, golden(name),
                               std::filesystem::copy_options::overwrite_existing);
  }
  CAPTURE(name);
  REQUIRE(std::filesystem::exists(golden(name)));
  CHECK(contents(written) == contents(golden(name)));
}

TEST_CASE("profile.json equals the golden file, and the golden file can be read") {
  Scratch folder;
  REQUIRE(profile::write_profile(test::sample_profile(), folder / "profile.json"));
  check_golden(folder / "profile.json", "profile-1.json");
  auto loaded = profile::load_profile(golden("profile-1.json"));
  REQUIRE_MESSAGE(loaded, loaded.error().message);
  REQUIRE(profile::write_profile(test::timed_sample_profile(), folder / "times.json"));
  check_golden(folder / "times.json", "profile-1-times.json");
  REQUIRE(profile::write_profile(test::waiting_sample_profile(), folder / "waits.json"));
  check_golden(folder / "waits.json", "profile-1-waits.json");
}

TEST_CASE("each single-file format writes its golden file") {
  Scratch folder;
  for (const Exporter& exporter : all()) {
    if (exporter.write == export_pfprof) continue;
    const std::string name = std::string("export") + exporter.extension;
    Notes notes;
    auto status = exporter.write(test::waiting_sample_profile(), {}, folder / name, notes);
    REQUIRE_MESSAGE(status, status.error().message);
    check_golden(folder / name, name);
  }
}

TEST_CASE("files for the reference profiler equal the golden ones") {
  Scratch folder;
  Notes notes;
  REQUIRE(export_pfprof(test::sample_profile(), {}, folder / "run", notes));
  CHECK(Scratch().entries() == 0);
  check_golden(folder / "run/oxton-result0.json", "oxton-result0.json");
  check_golden(folder / "run/oxton-result4.json", "oxton-result4.json");
  REQUIRE(notes.size() == 2);
  CHECK(notes[1] == "Processes of other worlds follow as ranks 4 and up.");
}

TEST_CASE("no format replaces existing output unless forced") {
  for (const Exporter& exporter : all()) {
    CAPTURE(exporter.name);
    Scratch folder;
    const std::string path = folder / (std::string("out") + exporter.extension);
    Notes notes;
    test::write_file(path, "before");
    CHECK_FALSE(exporter.write(test::waiting_sample_profile(), {}, path, notes));
    CHECK(contents(path) == "before");
    CHECK(folder.entries() == 1);
    if (exporter.write == export_pfprof) continue;  // would be a folder: never replaced
    Options replace;
    replace.force = true;
    CHECK(exporter.write(test::waiting_sample_profile(), replace, path, notes));
    CHECK(contents(path) != "before");
  }
}

TEST_CASE("a selection limits every format") {
  Options hidden;
  hidden.selection.origin = profile::Origin::kHidden;
  Scratch folder;
  Notes notes;
  REQUIRE(find("csv")->write(test::sample_profile(), hidden, folder / "hidden.csv", notes));
  CHECK(contents(folder / "hidden.csv") ==
        "source,destination,class,hidden,communicator,phase,bytes,messages\n"
        "0,1,MPI_Allreduce,1,0,\"solve, outer\",8000,80\n"
        "1,0,MPI_Allreduce,1,0,\"solve, outer\",8000,80\n");
  REQUIRE(find("metis")->write(test::sample_profile(), hidden, folder / "hidden.graph", notes));
  CHECK(contents(folder / "hidden.graph") == "5 1 001\n2 16000\n1 16000\n\n\n\n");
  hidden.metric = Metric::kMessages;
  REQUIRE(find("scotch")->write(test::sample_profile(), hidden, folder / "hidden.grf", notes));
  CHECK(contents(folder / "hidden.grf") == "0\n5 2\n0 010\n1 160 1\n1 160 0\n0\n0\n0\n");
}

TEST_CASE("a quote in a CSV field is doubled") {
  Scratch folder;
  Notes notes;
  profile::Profile profile;
  profile.world_size = 1;
  profile.traffic = {{"c", false, 0, "say \"x\"", {0}, {0}, {1}, {1}}};
  REQUIRE(find("csv")->write(profile, {}, folder / "quoted.csv", notes));
  CHECK(contents(folder / "quoted.csv").ends_with("\n0,0,c,0,0,\"say \"\"x\"\"\",1,1\n"));
}

TEST_CASE("weights beyond 32 bits are scaled with a note, and never to zero") {
  Scratch folder;
  Notes notes;
  REQUIRE(find("metis")->write(test::sample_profile(), {}, folder / "big.graph", notes));
  // 0-4 carries 18e18 bytes, 0-1 16180: both directions together must stay below 2^31.
  CHECK(contents(folder / "big.graph") == "5 2 001\n2 1 5 1073741822\n1 1\n\n\n1 1073741822\n");
  CHECK(notes.back() ==
        "Weights are divided by 16763806383 and rounded up, so that their sum fits 32 bits.");
}

TEST_CASE("OpenMetrics takes any name as a label and counts lengths beyond all buckets") {
  Scratch folder;
  Notes notes;
  profile::Profile profile;
  profile.world_size = 2;
  profile.application.executable = "/a \"b\"\\c\nd\xff";
  profile.traffic = {{"c", false, 0, "", {0}, {1}, {7}, {2}}};
  profile.message_sizes = {
      {"c", false, {0, 3, UINT64_MAX}, {1, 1, 1}, {std::uint64_t{1} << 63}, {1}}};
  REQUIRE(find("openmetrics")->write(profile, {}, folder / "odd.prom", notes));
  const std::string text = contents(folder / "odd.prom");
  CHECK(text.find(R"({executable="/a \"b\"\\c\nd)"
                  "\xEF\xBF\xBD\",") != std::string::npos);
  CHECK(text.find("le=\"0.0\"} 1\n") != std::string::npos);
  CHECK(text.find("le=\"1.0\"} 1\n") != std::string::npos);
  CHECK(text.find("le=\"8.0\"} 2\n") != std::string::npos);
  CHECK(text.find("le=\"8589934592.0\"} 2\n") != std::string::npos);
  CHECK(text.find("le=\"+Inf\"} 4\n") != std::string::npos);
  CHECK(text.find("_sum{") == std::string::npos);  // not known exactly
}

TEST_CASE("an unknown format is refused") {
  CHECK(find("nonsense") == nullptr);
  CHECK(find("csv") != nullptr);
}

TEST_CASE("a profile that claims a billion ranks is refused by formats that list all ranks") {
  Scratch folder;
  profile::Profile huge;
  huge.world_size = 1'000'000'000;
  for (const Exporter& exporter : all()) {
    CAPTURE(exporter.name);
    Notes notes;
    const bool written = exporter.write(huge, {}, folder / exporter.name, notes).ok();
    const std::string_view name = exporter.name;
    CHECK(written == (name == "csv" || name == "openmetrics"));  // their size follows the traffic
  }
  CHECK(folder.entries() == 2);
}

}  // namespace
}  // namespace fathom::exporters
