// SPDX-License-Identifier: BSD-3-Clause
// UTF-8 for the text formats: host names, paths and phase names may hold any byte, JSON and XML
// may not.
#pragma once

#include <string>
#include <string_view>

namespace fathom::base {

// The text with every byte that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no
// surrogates, nothing past U+10FFFF) replaced by U+FFFD.
std::string as_utf8(std::string_view text);

bool is_utf8(std::string_view text);  // as_utf8(text) == text, without the copy

}  // namespace fathom::base
