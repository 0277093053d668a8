// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/share.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/atomic_file.h"
#include "base/text_lines.h"

namespace fathom::scenario {
namespace {

// Each text is preceded by its length, little-endian, so it may contain any bytes.
void put_size(base::AtomicFile& file, std::uint64_t size) {
  char bytes[sizeof size];
  std::memcpy(bytes, &size, sizeof size);
  file.append({bytes, sizeof bytes});
}

void put_text(base::AtomicFile& file, const std::string& text) {
  put_size(file, text.size());
  file.append(text);
}

class PartFile {
 public:
  explicit PartFile(std::string_view bytes) : rest_(bytes) {}
  bool size(std::uint64_t& size) {
    if (rest_.size() < sizeof size) return false;
    std::memcpy(&size, rest_.data(), sizeof size);
    rest_.remove_prefix(sizeof size);
    return true;
  }
  bool text(std::string& text) {
    std::uint64_t length = 0;
    if (!size(length) || length > rest_.size()) return false;
    text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
  }

 private:
  std::string_view rest_;
};

std::string part_path(const Share& share, const std::string& folder, std::size_t process) {
  return folder + "/.part-" + share.job + '-' + std::to_string(process);
}

bool read_parts(std::string_view bytes, std::vector<Part>& parts, std::string& failure) {
  PartFile file(bytes);
  std::uint64_t count = 0;
  if (!file.text(failure) || !file.size(count)) return false;
  for (; count > 0; --count) {
    Part part;
    std::uint64_t combination = 0, texts = 0;
    if (!file.size(combination) || !file.size(texts)) return false;
    part.combination = combination;
    for (; texts > 0; --texts) {
      if (!file.text(part.texts.emplace_back())) return false;
    }
    parts.push_back(std::move(part));
  }
  return true;
}

}  // namespace

Share share_from(const base::Environment& environment) {
  const auto launched = base::launched_job(environment);
  if (!launched) return {};
  Share share{launched->rank, launched->size, ""};
  for (const char c : launched->job.empty() ? "job" : launched->job) {
    if (std::isalnum(static_cast<unsigned char>(c))) share.job += c;
  }
  return share;
}

base::Status leave_parts(const Share& share, const std::string& folder,
                         const std::vector<Part>& parts, const std::string& failure) {
  base::AtomicFile file;
  const std::string path = part_path(share, folder, share.process);
  if (auto opened = file.open(path, base::AtomicFile::Existing::kReplace); !opened) return opened;
  put_text(file, failure);
  put_size(file, parts.size());
  for (const Part& part : parts) {
    put_size(file, part.combination);
    put_size(file, part.texts.size());
    for (const std::string& text : part.texts) put_text(file, text);
  }
  return file.commit();
}

base::Status gather_parts(const Share& share, const std::string& folder, double patience_s,
                          std::vector<Part>& parts) {
  using Clock = std::chrono::steady_clock;
  auto news = Clock::now();
  for (std::size_t process = 1; process < share.processes;) {
    const std::string path = part_path(share, folder, process);
    std::error_code failed;
    if (!std::filesystem::exists(path, failed)) {
      if (std::chrono::duration<double>(Clock::now() - news).count() > patience_s) {
        return base::Error{"process " + std::to_string(process) + " wrote no results to " + folder +
                           "; check that all processes see the same folder"};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      continue;
    }
    const auto bytes = base::read_text(path);
    if (!bytes) return bytes.error();
    std::filesystem::remove(path, failed);
    std::string failure;
    if (!read_parts(*bytes, parts, failure)) return base::Error{path + ": is damaged"};
    if (!failure.empty()) return base::Error{failure};
    news = Clock::now();
    ++process;
  }
  std::sort(parts.begin(), parts.end(), [](const Part& left, const Part& right) {
    return left.combination < right.combination;
  });
  return base::Done{};
}

}  // namespace fathom::scenario
