// SPDX-License-Identifier: BSD-3-Clause
#include "base/text_lines.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace fathom::base {

Result<std::string> read_text(const std::string& path) {
  const auto failure = [&](int number) {
    return Error{path + ": cannot be read: " + std::strerror(number)};
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) return failure(errno);
  struct stat status {};
  if (fstat(fileno(file.get()), &status) != 0) return failure(errno);
  if (S_ISDIR(status.st_mode)) return failure(EISDIR);
  const bool is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
  if (is_device && isatty(fileno(file.get())) == 0)
    return Error{path + ": is a device, not a file"};
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, got);
    if (!S_ISREG(status.st_mode) && text.size() > kMostFromPipe) {
      return Error{path + ": gives more than " + std::to_string(kMostFromPipe >> 20) +
                   " MiB; save it in a file"};
    }
  }
  if (std::ferror(file.get())) return failure(errno);
  return text;
}

Status for_each_line(
    const std::string& path,
    const std::function<Status(const std::string& line, std::size_t number)>& take) {
  const auto text = read_text(path);
  if (!text) return text.error();
  std::size_t number = 0;
  for (const std::string& line : split(*text, '\n')) {
    if (auto status = take(line, ++number); !status) return status;
  }
  return Done{};
}

Error line_error(const std::string& path, std::size_t line, const std::string& what) {
  return {path + ":" + std::to_string(line) + ": " + what};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  // Carriage returns count as blanks, so that files from Windows read the same.
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace fathom::base
