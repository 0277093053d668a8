// SPDX-License-Identifier: BSD-3-Clause
// JSON as it is read: values that are taken as text.
#include "base/json/reader.h"

#include <doctest/doctest.h>

namespace fathom::base {
namespace {

// The text of the member "v" of a document.
std::string taken(const std::string& document) {
  std::string text;
  const Object root{[&](std::string_view key) -> Target {
                      if (key == "v") return JsonText{&text};
                      return std::monostate();
                    },
                    {}};
  MemorySource source(document);
  const Status read = read_json(source, "document", root, "");
  CHECK(read.ok());
  return text;
}

TEST_CASE("any value can be taken as its JSON text") {
  for (const std::string value :
       {"null", "true", "-1.50e3", "18446744073709551616", R"("a\"\\,{[:")", "[]", "{}",
        R"([1,[],{},[[2]],"x",{"a":[{"b":1},{"b":2}],"":null}])",
        R"({"a":{"b":[1,2,{"c":""}]},"d:":":","e":[false,null]})"})
    CHECK(taken(R"({"u":[1,{"v":2}],"v":)" + value + R"(,"w":{"v":3}})") == value);
  CHECK(taken("{ \"v\" : [ 1 ,\n { \"a\" : \"\\u00e9\" } ] }") == "[1,{\"a\":\"\xC3\xA9\"}]");
}

}  // namespace
}  // namespace fathom::base
