// SPDX-License-Identifier: BSD-3-Clause
// Reads the files of a folder or a tar archive one after the other, and compressed text, without
// unpacking to disk.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace fathom::base {

// A larger file in a bundle is an Error, because a few KiB of archive can unpack to any length.
inline constexpr std::uint64_t kLargestBundledFile = 256ull << 20;

// Called for each regular file with its name (without folders), its name in error messages, and its
// bytes. It need not read them. An Error ends the walk.
using BundleVisitor =
    std::function<Status(const std::string& name, const std::string& full_name, ByteSource& bytes)>;

// Walks a folder in the order of names, without its subfolders, and an archive in its own order.
Status for_each_file(const std::string& path, const BundleVisitor& visit);

// A text file in memory as a whole; unpacked if its content is gzip, bzip2, xz or zstd, whatever its
// name. More than 4 GiB are an Error.
Result<std::string> read_unpacked_text(const std::string& path);

}  // namespace fathom::base
