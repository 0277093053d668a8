// SPDX-License-Identifier: BSD-3-Clause
#include "live/code_places.h"

#include <cstdio>
#include <fstream>

namespace fathom::live {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// The file is in the order of the addresses, and the kernel makes it line by line as it is read: one page
// of it mostly says where the program itself is, all of it takes a fifth of a millisecond.
std::optional<CodePlaces::Mapping> CodePlaces::mapping_at(std::int64_t pid, std::uint64_t address) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    unsigned long long begin = 0, end = 0, offset = 0;
    char mode[8] = "";
    int path = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx", &begin, &end) != 2 || address >= end) continue;
    if (address < begin) break;
    const bool is_code =
        std::sscanf(line.c_str(), "%*x-%*x %7s %llx %*s %*s %n", mode, &offset, &path) == 2 &&
        mode[2] == 'x' && path > 0 && line[static_cast<std::size_t>(path)] == '/';
    if (!is_code) break;
    return Mapping{begin, offset, line.substr(static_cast<std::size_t>(path))};
  }
  return std::nullopt;
}

std::string CodePlaces::described(const Mapping& mapping, std::uint64_t address) {
  const auto offset =
      files_.virtual_address(mapping.path, "", address - mapping.begin + mapping.file_offset);
  trace::CodeSite site;
  site.module = mapping.path;
  site.offset = offset.value_or(address - mapping.begin + mapping.file_offset);
  if (offset) files_.look_up("", site);
  if (!site.file.empty() && site.line > 0)
    return file_name(site.file) + ":" + std::to_string(site.line);
  char place[32];
  std::snprintf(place, sizeof place, "+0x%llx", static_cast<unsigned long long>(site.offset));
  return file_name(mapping.path) + place;
}

std::string CodePlaces::place_of(std::int64_t pid, std::uint64_t process_started,
                                 std::uint64_t return_address) {
  if (return_address == 0) return {};
  const std::pair key{Process{pid, process_started}, return_address};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  // The call itself ends just before the address that it returns to.
  const std::uint64_t address = return_address - 1;
  const auto mapping = mapping_at(pid, address);
  if (!mapping) return {};
  return known_[key] = described(*mapping, address);
}

}  // namespace fathom::live
