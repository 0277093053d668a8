// SPDX-License-Identifier: BSD-3-Clause
// The files of a folder or of a tar archive, one after the other, without unpacking to disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace fathom::base {

// A larger file in a bundle is an Error: a few KiB of archive can unpack to any length.
inline constexpr std::uint64_t kLargestBundledFile = 256ull << 20;

// Called with the name of each regular file (without its folders), what to call it in errors, and
// its bytes. Files it does not read are skipped. An Error ends the walk.
using BundleVisitor =
    std::function<Status(const std::string& name, const std::string& full_name, ByteSource& bytes)>;

// A folder is walked without its subfolders, in the order of the names; an archive as it is stored.
Status for_each_file(const std::string& path, const BundleVisitor& visit);

}  // namespace fathom::base
