// SPDX-License-Identifier: BSD-3-Clause
// The failures of libotf2, which reports them through a callback of the process and prints them if
// there is none. Not for several threads at once.
#pragma once

#include <otf2/otf2.h>

#include <cstdarg>
#include <cstdio>
#include <string>

namespace fathom::trace {

class Otf2Errors {
 public:
  // Forgets earlier failures and collects those from here on.
  static void listen() {
    OTF2_Error_RegisterCallback(keep, nullptr);
    last_.clear();
  }
  static const std::string& last() { return last_; }

 private:
  static OTF2_ErrorCode keep(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                             const char* format, va_list values) {
    char text[512];
    std::vsnprintf(text, sizeof text, format, values);
    last_ = std::string(OTF2_Error_GetDescription(code)) + ": " + text;
    return code;
  }

  static inline std::string last_;
};

}  // namespace fathom::trace
