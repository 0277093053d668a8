// SPDX-License-Identifier: BSD-3-Clause
// Streams a JSON document of any size into Targets. Memory: what the Targets keep, one string, and
// a frame for each open bracket.
//
// Any bytes are safe: truncated, binary, foreign, endlessly nested, numbers of any length. An Error
// is one sentence with the name of the input, the byte offset and the path of the value, such as
//   run/profile.json, byte 1234: "traffic[0].bytes[7]" is not a non-negative whole number; …
#pragma once

#include <cstddef>
#include <string>

#include "base/byte_source.h"
#include "base/json/target.h"
#include "base/result.h"

namespace fathom::base {

// Deeper documents are rejected; a profile needs 5 levels.
inline constexpr std::size_t kDeepestNesting = 32;

// `name`: the input's name in errors; `advice`: the end of errors about its content.
Status read_json(ByteSource& source, const std::string& name, const Object& root,
                 const std::string& advice);

}  // namespace fathom::base
