// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer over the readers: any bytes are an Error or a Profile, and a Profile that was read can
// be written and read again.
//
//   test/fuzz/run.sh [SECONDS]       builds this with clang and runs it
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "profile/reader.h"
#include "profile/writer.h"

using namespace fathom::profile;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fathom::base::MemorySource source(bytes);
  auto profile = load_profile(source, "input");
  if (!profile) return 0;
  static const std::string path =
      std::string(std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "/tmp") + "/fathom-fuzz.json";
  if (!write_profile(*profile, path)) std::abort();
  if (!load_profile(path)) std::abort();
  return 0;
}
