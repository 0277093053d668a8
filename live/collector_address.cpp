// SPDX-License-Identifier: BSD-3-Clause
#include "live/collector_address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

namespace fathom::live {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kMostAddresses = 64, kMostTextBytes = 8192;
constexpr char kFirstLine[] = "fathom-collector 1";

std::string path_of_address(const std::string& run) { return run + "/.collector"; }

std::string hex_of(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

// Empty unless all of it is hexadecimal.
std::string bytes_of_hex(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned value = 0;
    const auto read = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (read.ec != std::errc() || read.ptr != text.data() + i + 2) return "";
    bytes += static_cast<char>(value);
  }
  return text.size() % 2 == 0 ? bytes : "";
}

base::Result<CollectorAddress> address_in(const std::string& text) {
  const base::Error damaged{"the address of the collector is damaged"};
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kFirstLine) return damaged;
  CollectorAddress address;
  while (std::getline(lines, line)) {
    const auto blank = line.find(' ');
    if (blank == line.npos) return damaged;
    const std::string key = line.substr(0, blank), value = line.substr(blank + 1);
    if (key == "token") {
      address.token = bytes_of_hex(value);
    } else if (key == "port") {
      const auto read = std::from_chars(value.data(), value.data() + value.size(), address.port);
      if (read.ec != std::errc()) return damaged;
    } else if (key == "summaries-above") {
      const auto read =
          std::from_chars(value.data(), value.data() + value.size(), address.summaries_above);
      if (read.ec != std::errc()) return damaged;
    } else if (key == "address" && address.addresses.size() < kMostAddresses) {
      address.addresses.push_back(value);
    }
  }
  if (address.token.size() != kTokenBytes || address.port == 0) return damaged;
  return address;
}

}  // namespace

std::string random_bytes() {
  std::string bytes(kTokenBytes, '\0');
  return getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()) ? bytes
                                                                                        : "";
}

base::Status write_collector_address(const std::string& run, const CollectorAddress& address) {
  std::string text = std::string(kFirstLine) + "\ntoken " + hex_of(address.token) + "\nport " +
                     std::to_string(address.port) + "\nsummaries-above " +
                     std::to_string(address.summaries_above) + "\n";
  for (const std::string& each : address.addresses) text += "address " + each + "\n";
  const std::string path = path_of_address(run), temporary = path + ".new";
  unlink(temporary.c_str());
  const int file =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0 && close(file) == 0 && written && rename(temporary.c_str(), path.c_str()) == 0)
    return base::Done{};
  const base::Error error{"cannot write '" + path + "': " + std::strerror(errno)};
  unlink(temporary.c_str());
  return error;
}

base::Result<CollectorAddress> read_collector_address(const std::string& run) {
  const std::string path = path_of_address(run);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return base::Error{"cannot read '" + path + "': " + std::strerror(errno)};
  struct stat status {};
  const bool is_own = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                      status.st_uid == geteuid() && (status.st_mode & 077) == 0;
  std::string text(kMostTextBytes, '\0');
  const ssize_t size = is_own ? read(file, text.data(), text.size()) : -1;
  close(file);
  if (size < 0) return base::Error{"others may read or have made '" + path + "'"};
  text.resize(static_cast<std::size_t>(size));
  return address_in(text);
}

void remove_collector_address(const std::string& run) { unlink(path_of_address(run).c_str()); }

base::Digest proof_of(std::string_view token, Side side, std::string_view collectors_bytes,
                      std::string_view hosts_bytes) {
  std::string said = "fathom-live 1 ";
  said += static_cast<char>(side);
  said += collectors_bytes;
  said += hosts_bytes;
  return base::hmac_sha256(token, said);
}

}  // namespace fathom::live
