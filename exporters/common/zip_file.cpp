// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/common/zip_file.h"

#include <zlib.h>

#include <concepts>
#include <limits>

#include "exporters/common/text_file.h"

namespace fathom::exporters {
namespace {

template <std::unsigned_integral Number>
void append_little_endian(std::string& bytes, Number number) {
  for (std::size_t at = 0; at < sizeof number; ++at) {
    bytes += static_cast<char>(number >> (8 * at) & 0xFF);
  }
}

// The fields that the local header and the central directory share: from "version needed" to the
// length of the name. The date is 1 January 1980, the earliest one.
std::string common_fields(std::string_view name, std::uint32_t crc, std::uint32_t size) {
  constexpr std::uint16_t kVersion = 20, kFlags = 0, kStored = 0, kTime = 0, kDate = 0x21;
  std::string fields;
  for (const std::uint16_t field : {kVersion, kFlags, kStored, kTime, kDate}) {
    append_little_endian(fields, field);
  }
  for (const std::uint32_t field : {crc, size, size}) append_little_endian(fields, field);
  append_little_endian(fields, static_cast<std::uint16_t>(name.size()));
  return fields;
}

}  // namespace

base::Status ZipFile::open(const std::string& path, const Options& options) {
  path_ = path;
  return file_.open(path, existing(options));
}

void ZipFile::add(std::string_view name, std::string_view bytes) {
  const auto crc = static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  const auto offset = static_cast<std::uint32_t>(file_.size_bytes());
  const std::string fields = common_fields(name, crc, static_cast<std::uint32_t>(bytes.size()));
  constexpr std::string_view kNoExtra("\0\0", 2);

  file_.append("PK\x03\x04");
  file_.append(fields);
  file_.append(kNoExtra);
  file_.append(name);
  file_.append(bytes);

  constexpr std::uint16_t kMadeBy = 20;
  constexpr std::string_view kNoCommentDiskAttributes("\0\0\0\0\0\0\0\0\0\0", 10);
  central_directory_ += "PK\x01\x02";
  append_little_endian(central_directory_, kMadeBy);
  central_directory_ += fields;
  central_directory_ += kNoExtra;
  central_directory_ += kNoCommentDiskAttributes;
  append_little_endian(central_directory_, offset);
  central_directory_ += name;
  ++entries_;
}

base::Status ZipFile::commit() {
  constexpr std::uint64_t kSmallestZip64 = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t offset = file_.size_bytes();
  if (offset + central_directory_.size() >= kSmallestZip64) {
    file_.abandon();
    return base::Error{path_ + ": would be 4 GiB or more, which is too large for a plain zip; " +
                       "select a class or a phase, or use csv"};
  }
  file_.append(central_directory_);
  std::string end = "PK\x05\x06";
  end.append(4, '\0');  // number of this disk, and of the disk where the directory starts
  append_little_endian(end, static_cast<std::uint16_t>(entries_));
  append_little_endian(end, static_cast<std::uint16_t>(entries_));
  append_little_endian(end, static_cast<std::uint32_t>(central_directory_.size()));
  append_little_endian(end, static_cast<std::uint32_t>(offset));
  end.append(2, '\0');  // no comment
  file_.append(end);
  return file_.commit();
}

}  // namespace fathom::exporters
