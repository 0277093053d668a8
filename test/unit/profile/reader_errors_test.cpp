// SPDX-License-Identifier: BSD-3-Clause
// Each defect of a profile.json gives one sentence with the byte and what was expected.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/json/reader.h"
#include "profile/reader.h"
#include "profile/writer.h"
#include "test/unit/base/scratch_folder.h"
#include "test/unit/profile/sample.h"

namespace fathom::profile {
namespace {

constexpr char kDamaged[] = "the file is damaged or was not written by Fathom";
constexpr char kNotAProfile[] =
    "this is not a Fathom profile; give the run directory or its profile.json";

base::Result<Profile> load_text(std::string_view text) {
  base::MemorySource source(text);
  return load_profile(source, "f");
}

std::string error_of(std::string_view text) {
  auto loaded = load_text(text);
  return loaded ? "no error" : loaded.error().message;
}

// A profile of two ranks with `more` at its end.
std::string with(const std::string& more) {
  return R"({"schema":"fathom-profile/1","world_size":2,"communicators":[{"id":0}],)" + more + "}";
}
std::string block(const std::string& columns) {
  return with(R"("traffic":[{"class":"c",)" + columns + "}]");
}

TEST_CASE("a foreign, newer or missing schema is refused with what to do") {
  CHECK(error_of(R"({"schema":"fathom-profile/2"})") ==
        "f, byte 28: \"schema\" is \"fathom-profile/2\" and this Fathom reads "
        "\"fathom-profile/1\"; use the Fathom that wrote the file, or a newer one");
  CHECK(error_of(R"({"schema":"otf"})") ==
        std::string("f, byte 15: \"schema\" is \"otf\" instead of \"fathom-profile/1\"; ") +
            kNotAProfile);
  CHECK(error_of(R"({"traceEvents":[]})") ==
        std::string("f, byte 17: \"schema\" is missing; ") + kNotAProfile);
}

TEST_CASE("text that is not JSON, or ends early, is refused") {
  CHECK(error_of("") == std::string("f, byte 0: the file is empty; ") + kDamaged);
  CHECK(error_of("hello") == std::string("f, byte 0: not valid JSON (Invalid value); ") + kDamaged);
  CHECK(error_of("[1]") == std::string("f, byte 0: the document is not an object; ") + kDamaged);
  CHECK(error_of(R"({"schema":"fathom-profile/1")") ==
        "f, byte 28: not valid JSON (Missing a comma or '}' after an object member); the file ends "
        "too early: it was cut short");
  CHECK(error_of(R"({"schema":"fathom-profile/1"} {})").find("must not be followed") !=
        std::string::npos);
  CHECK(error_of("{\"schema\":\"\xFF\"}").find("Invalid encoding") != std::string::npos);
}

TEST_CASE("a zero byte is not taken for the end of the file") {
  using namespace std::string_literals;
  CHECK(error_of(R"({"schema":"fathom-profile/1"})"s + "\0{"s) ==
        std::string("f, byte 29: a zero byte follows the document; ") + kDamaged);
}

TEST_CASE("columns of different lengths are refused with their names and lengths") {
  CHECK(
      error_of(block(R"("source":[0,0,0,0],"destination":[0,0,0,0],"bytes":[1,2,3],"messages":[])"))
          .find("\"traffic[0].bytes\" has 3 values but \"source\" has 4; ") != std::string::npos);
  CHECK(error_of(block(R"("source":[0],"destination":[]})"))
            .find("\"traffic[0].destination\" has 0") != std::string::npos);
  CHECK(error_of(block(R"("source":[0],"destination":[1],"bytes":[1])"))
            .find("\"traffic[0].messages\" has 0 values") != std::string::npos);
  CHECK(error_of(with(R"("message_sizes":[{"class":"c","size":[1],"messages":[]}])"))
            .find("\"message_sizes[0].messages\" has 0 values but \"size\" has 1") !=
        std::string::npos);
  CHECK(error_of(with(R"("message_sizes":[{"class":"c","bin_low":[1]}])"))
            .find("\"message_sizes[0].bin_messages\" has 0 values but \"bin_low\" has 1") !=
        std::string::npos);
  CHECK(error_of(with(R"("coverage":{"unreceived":{"pairs":{"source":[1]}}})"))
            .find("\"coverage.unreceived.pairs.destination\" has 0 values") != std::string::npos);
  CHECK(error_of(with(R"("coverage":{"differences":{"source":[1],"destination":[1]}})"))
            .find("\"coverage.differences.sent_bytes\" has 0 values") != std::string::npos);
  CHECK(error_of(with(R"("performance_variables":[{"rank":[0,1],"values":[[1]]}])"))
            .find("\"performance_variables[0].values\" has 1 values but \"rank\" has 2") !=
        std::string::npos);
}

TEST_CASE("numbers that cannot be counts are refused") {
  for (const char* number :
       {"-1", "1.5", "1e3", "9223372036854775808", "true", "\"1\"", "null", "[]", "{}"}) {
    CAPTURE(number);
    const std::string error = error_of(block(std::string("\"source\":[0,") + number + "]"));
    CHECK(error.find("\"traffic[0].source[1]\" is not a whole number from 0 to 2^63 - 1") !=
          std::string::npos);
  }
  CHECK(error_of(block(R"("bytes":[18446744073709551616])"))
            .find("\"traffic[0].bytes[0]\" is not a whole number from 0 to 2^64 - 1") !=
        std::string::npos);
  CHECK(error_of(block(R"("bytes":[1e999])")).find("Number too big") != std::string::npos);
  const std::string endless = "1" + std::string(100'000, '0');
  CHECK(error_of(block("\"bytes\":[" + endless + "]")).find("not valid JSON") != std::string::npos);
}

TEST_CASE("a value of the wrong type is refused with its name and type") {
  CHECK(error_of(with(R"("traffic":{})")).find("\"traffic\" is not a list") != std::string::npos);
  CHECK(error_of(with(R"("traffic":[3])")).find("\"traffic[0]\" is not an object") !=
        std::string::npos);
  CHECK(error_of(with(R"("application":{"seconds":"1"})"))
            .find("\"application.seconds\" is not a number") != std::string::npos);
  CHECK(error_of(with(R"("application":{"arguments":[1]})"))
            .find("\"application.arguments[0]\" is not a string") != std::string::npos);
  CHECK(error_of(block(R"("hidden":1)")).find("\"traffic[0].hidden\" is not true or false") !=
        std::string::npos);
  CHECK(
      error_of(with(R"("communicators":[{"parent":"x"}])"))
          .find("\"communicators[0].parent\" is not a whole number from 0 to 2^63 - 1, or null") !=
      std::string::npos);
  CHECK(error_of(with(R"("traffic":[{"source":[]}])")).find("\"traffic[0].class\" is missing") !=
        std::string::npos);
}

TEST_CASE("ranks and communicators that the job lacks are refused") {
  CHECK(error_of(block(R"("source":[0],"destination":[2],"bytes":[1],"messages":[1])"))
            .find("\"traffic[0].destination\" names rank 2 of a job with 2 ranks") !=
        std::string::npos);
  CHECK(error_of(block(R"("communicator":7)"))
            .find("\"traffic[0].communicator\" is 7, which \"communicators\" does not list") !=
        std::string::npos);
  CHECK(error_of(with(R"("ranks":[{"rank":1},{"rank":1}])")).find("\"ranks\" lists rank 1 twice") !=
        std::string::npos);
  CHECK(error_of(with(R"("communicators":[{"id":3},{"id":3}])"))
            .find("\"communicators\" lists communicator 3 twice") != std::string::npos);
  CHECK(error_of(with(R"("communicators":[{"id":5,"world_ranks":[5]}])"))
            .find("\"communicators[1].world_ranks\" names rank 5") != std::string::npos);
  CHECK(error_of(with(R"("coverage":{"differences":{"source":[2],"destination":[0],"sent_bytes":[0],
            "sent_messages":[0],"received_bytes":[0],"received_messages":[0]}})"))
            .find("\"coverage.differences\" names rank 2") != std::string::npos);
  CHECK(error_of(R"({"schema":"fathom-profile/1","world_size":2147483648})")
            .find("\"world_size\" is larger than MPI allows") != std::string::npos);
}

TEST_CASE("a process of another world is a rank beyond world_size") {
  CHECK(error_of(with(R"("ranks":[{"rank":0},{"rank":1},{"rank":2}],"traffic":[{"class":"c",
            "source":[2],"destination":[0],"bytes":[1],"messages":[1]}])")) == "no error");
}

TEST_CASE("the header may come after the traffic, as a tool that sorts keys would write it") {
  CHECK(error_of(R"({"communicators":[{"id":0}],"schema":"fathom-profile/1","traffic":[{"class":"c",
            "source":[1],"destination":[0],"bytes":[1],"messages":[1]}],"world_size":2})") ==
        "no error");
}

TEST_CASE("unknown keys of any shape are ignored") {
  CHECK(error_of(with(R"("later":{"a":[1,{"b":null}],"c":-1.5e3},"also":"x")")) == "no error");
  CHECK(error_of(block(R"("later":[[1],"x",true],"source":[])")) == "no error");
}

TEST_CASE("endless nesting is refused") {
  const std::string deep = with("\"later\":" + std::string(1'000'000, '['));
  CHECK(error_of(deep).find("brackets nest deeper than 32") != std::string::npos);
}

TEST_CASE("the offset counts bytes of the whole file, beyond the reader's buffer") {
  const std::string text = "{" + std::string(200'000, ' ') + R"("schema":3})";
  CHECK(error_of(text).starts_with("f, byte 200011: "));
}

TEST_CASE("a file that cannot be opened, or is a folder, is an error") {
  test::Scratch folder;
  CHECK(load_profile(folder / "none").error().message ==
        folder / "none: cannot be read: No such file or directory");
  CHECK(load_profile(folder.path()).error().message ==
        folder.path() + ": cannot be read: Is a directory");
}

// Every possible truncation and, at every byte, a few damages: an Error or a Profile, never a crash
// (test/fuzz looks further). A truncated file is always an Error.
TEST_CASE("a damaged profile is an error or a valid profile") {
  test::Scratch folder;
  REQUIRE(write_profile(test::sample_profile(), folder / "whole.json"));
  const std::string whole = test::contents(folder / "whole.json");
  const std::size_t last_bracket = whole.rfind('}');
  for (std::size_t size = 0; size <= last_bracket; ++size) {
    REQUIRE_FALSE(load_text(std::string_view(whole).substr(0, size)));
  }
  std::size_t errors = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int damage : {0x01, 0x04, 0x20, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ damage);
      auto loaded = load_text(damaged);
      if (!loaded) {
        ++errors;
        REQUIRE(loaded.error().message.starts_with("f, byte "));
      }
    }
  }
  CHECK(errors > whole.size());
}

}  // namespace
}  // namespace fathom::profile
