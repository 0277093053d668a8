// SPDX-License-Identifier: BSD-3-Clause
// The words that definitions use for functions: groups, attributes, and the line "function ID NAME
// GROUP enter=A,B leave=C" (format/format.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/definitions.h"

namespace fathom::trace {

const char* name_of(Group group);
const char* name_of(Attribute attribute);

struct NumberedFunction {
  std::uint32_t number = 0;
  Function function;
};

// A group added by a later version reads as kOther. An unknown attribute ends its list, because
// what follows it cannot be found in the payload.
std::optional<NumberedFunction> parse_function(std::string_view line);
std::string function_line(const NumberedFunction& numbered);  // without the key

}  // namespace fathom::trace
