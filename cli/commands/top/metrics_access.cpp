// SPDX-License-Identifier: BSD-3-Clause
#include "cli/commands/top/metrics_access.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace fathom::cli {
namespace {

constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kTokenDigits = 2 * kTokenBytes;
class TokenFile {
 public:
  explicit TokenFile(int descriptor) : descriptor_(descriptor) {}
  ~TokenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

base::Error token_failure(const std::string& path, const char* what) {
  return {fmt::format("cannot {} the token '{}': {}", what, path, std::strerror(errno))};
}

base::Result<std::string> existing_token(const std::string& path) {
  const TokenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.descriptor() < 0) return token_failure(path, "read");
  struct stat status;
  if (fstat(file.descriptor(), &status) != 0) return token_failure(path, "read");
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return base::Error{"others may read or have made the token '" + path + "'; remove it"};
  std::array<char, kTokenDigits> token;
  if (read(file.descriptor(), token.data(), token.size()) != static_cast<ssize_t>(token.size()))
    return base::Error{"the token '" + path + "' is too short; remove it"};
  return std::string(token.data(), token.size());
}

}  // namespace

base::Result<MetricsAddress> parse_metrics_address(const std::string& text) {
  MetricsAddress address;
  const auto colon = text.rfind(':');
  std::string host = colon == text.npos ? "" : text.substr(0, colon);
  const std::string port = colon == text.npos ? text : text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (read.ec != std::errc() || read.ptr != port.data() + port.size() || address.port < 0 ||
      address.port > 65535)
    return base::Error{"'" + text + "' is not [HOST]:PORT with a port from 0 to 65535"};
  if (!host.empty()) address.host = host;
  return address;
}

base::Result<std::string> metrics_token(const std::string& path) {
  const TokenFile file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.descriptor() < 0 && errno == EEXIST) return existing_token(path);
  if (file.descriptor() < 0) return token_failure(path, "write");
  std::array<unsigned char, kTokenBytes> random;
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return token_failure(path, "make");
  std::string token;
  for (const unsigned char byte : random) token += fmt::format("{:02x}", byte);
  if (write(file.descriptor(), (token + "\n").data(), token.size() + 1) !=
      static_cast<ssize_t>(token.size() + 1)) {
    const base::Error error = token_failure(path, "write");
    unlink(path.c_str());
    return error;
  }
  return token;
}

}  // namespace fathom::cli
