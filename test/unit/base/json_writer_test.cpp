// SPDX-License-Identifier: BSD-3-Clause
// JSON as it is written: what each kind of value becomes, in both layouts, whole and in pieces.
#include "base/json/writer.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "test/unit/base/scratch_folder.h"

namespace fathom::profile {
namespace {

std::string dense(const auto& value) {
  return base::json_text(0, [&](base::JsonWriter& json) { json.field("v", value); });
}

TEST_CASE("each C++ type becomes its JSON counterpart") {
  CHECK(dense(true) == R"({"v":true})");
  CHECK(dense(-7) == R"({"v":-7})");
  CHECK(dense(std::numeric_limits<std::int64_t>::min()) == R"({"v":-9223372036854775808})");
  CHECK(dense(std::numeric_limits<std::uint64_t>::max()) == R"({"v":18446744073709551615})");
  CHECK(dense(std::size_t{3}) == R"({"v":3})");
  CHECK(dense(0.1) == R"({"v":0.1})");
  CHECK(dense(2.0) == R"({"v":2.0})");
  CHECK(dense(std::vector<std::vector<int>>{{1, 2}, {}}) == R"({"v":[[1,2],[]]})");
  CHECK(dense(std::optional<double>{}) == R"({"v":null})");
  CHECK(dense(std::optional<std::string>{"n1"}) == R"({"v":"n1"})");
  CHECK(dense(std::variant<bool, std::string, double>{0.5}) == R"({"v":0.5})");
}

TEST_CASE("a string literal is written as text, not as a boolean") {
  const char* name = "peruse";
  CHECK(dense(name) == R"({"v":"peruse"})");
  CHECK(base::json_text(0, [](base::JsonWriter& json) { json.field("v", "pml"); }) ==
        R"({"v":"pml"})");
}

TEST_CASE("a number that is not finite is null, and a byte that is not UTF-8 becomes U+FFFD") {
  CHECK(dense(std::nan("")) == R"({"v":null})");
  CHECK(dense(-std::numeric_limits<double>::infinity()) == R"({"v":null})");
  CHECK(dense("a\xff\"\n") == "{\"v\":\"a\xEF\xBF\xBD\\\"\\n\"}");
  CHECK(dense(std::string("a\0b", 3)) == R"({"v":"a\u0000b"})");
}

TEST_CASE("field names and plain text are repaired and escaped like values") {
  CHECK(base::json_text(0, [](base::JsonWriter& json) { json.field("a\xff\"", 1); }) ==
        "{\"a\xEF\xBF\xBD\\\"\":1}");
  CHECK(base::json_string("a\xff\"\x01") == "\"a\xEF\xBF\xBD\\\"\\u0001\"");
  CHECK(base::json_string("") == R"("")");
}

TEST_CASE("objects, lists and text written elsewhere are correct in both layouts") {
  const auto fields = [](base::JsonWriter& json) {
    json.object("in", [&] { json.field("a", 1); });
    json.objects("rows", std::vector<int>{1, 2}, [&](int row) { json.field("row", row); });
    json.list("twice", std::vector<int>{1, 2}, [&](int item) { json.value(2 * item); });
    json.list("none", std::vector<int>{}, [&](int) { json.null(); });
    json.key("raw");
    json.raw(R"({"x":1})");
  };
  CHECK(base::json_text(0, fields) ==
        R"({"in":{"a":1},"rows":[{"row":1},{"row":2}],"twice":[2,4],"none":[],"raw":{"x":1}})");
  CHECK(base::json_text(1, [&](base::JsonWriter& json) {
          json.object("in", [&] { json.field("a", 1); });
        }) == "{\n \"in\": {\n  \"a\": 1\n }\n}");
}

TEST_CASE("a document longer than the buffer reaches the file whole") {
  test::Scratch folder;
  std::vector<std::int64_t> numbers(100'000, 12'345);
  base::AtomicFile file;
  REQUIRE(file.open(folder / "long.json", base::AtomicFile::Existing::kKeep));
  base::JsonWriter json(file);
  json.value(numbers);
  CHECK(file.size_bytes() > 500'000);  // most of it before the end
  json.line_break();
  json.finish();
  REQUIRE(file.commit());
  const std::string text = test::contents(folder / "long.json");
  CHECK(text.size() == 2 + 100'000 * 6 - 1 + 1);
  CHECK(text.substr(0, 13) == "[12345,12345,");
  CHECK(text.substr(text.size() - 8) == ",12345]\n");
}

}  // namespace
}  // namespace fathom::profile
