// SPDX-License-Identifier: BSD-3-Clause
#include "base/bundle.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "base/text_lines.h"

namespace fathom::base {
namespace {

namespace fs = std::filesystem;

class LimitedSource : public ByteSource {
 public:
  LimitedSource(ByteSource& source, std::string name) : source_(source), name_(std::move(name)) {}
  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    auto bytes = source_.read(buffer, capacity);
    if (bytes) given_ += *bytes;
    if (given_ > kLargestBundledFile) {
      return Error{name_ + ": is larger than 256 MiB, more than any rank's file can be"};
    }
    return bytes;
  }

 private:
  ByteSource& source_;
  std::string name_;
  std::uint64_t given_ = 0;
};

Status for_each_in_folder(const std::string& path, const BundleVisitor& visit) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) names.push_back(entry->path().filename().string());
  }
  if (error) return Error{path + ": cannot be read: " + error.message()};
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string full_name = (fs::path(path) / name).string();
    auto file = open_file(full_name);
    if (!file) return file.error();
    LimitedSource limited(**file, full_name);
    if (Status status = visit(name, full_name, limited); !status) return status;
  }
  return Done{};
}

struct ArchiveCloser {
  void operator()(archive* opened) const { ::archive_read_free(opened); }
};
using Archive = std::unique_ptr<archive, ArchiveCloser>;

Error archive_failure(const std::string& path, archive* opened) {
  const char* reason = ::archive_error_string(opened);
  return Error{path + ": is not a readable tar archive (" + (reason ? reason : "unknown") +
               "); it may be cut short"};
}

class ArchiveSource : public ByteSource {
 public:
  ArchiveSource(archive* opened, std::string name) : archive_(opened), name_(std::move(name)) {}
  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    const la_ssize_t bytes = ::archive_read_data(archive_, buffer, capacity);
    if (bytes < 0) return archive_failure(name_, archive_);
    return static_cast<std::size_t>(bytes);
  }

 private:
  archive* archive_;
  std::string name_;
};

// Filters are listed one by one, because libarchive's "all" would also start other programs.
// `support` adds the format.
Archive new_archive(int (*support)(archive*)) {
  Archive opened(::archive_read_new());
  if (!opened) return opened;
  support(opened.get());
  ::archive_read_support_filter_none(opened.get());
  ::archive_read_support_filter_gzip(opened.get());
  ::archive_read_support_filter_bzip2(opened.get());
  ::archive_read_support_filter_xz(opened.get());
  ::archive_read_support_filter_zstd(opened.get());
  return opened;
}

Status for_each_in_archive(const std::string& path, const BundleVisitor& visit) {
  const Archive opened = new_archive(::archive_read_support_format_tar);
  constexpr std::size_t kReadBytes = 1 << 16;
  if (!opened) return Error{"out of memory"};
  if (::archive_read_open_filename(opened.get(), path.c_str(), kReadBytes) != ARCHIVE_OK) {
    return archive_failure(path, opened.get());
  }
  archive_entry* entry = nullptr;
  for (;;) {
    const int result = ::archive_read_next_header(opened.get(), &entry);
    if (result == ARCHIVE_EOF) return Done{};
    if (result < ARCHIVE_WARN) return archive_failure(path, opened.get());
    const char* stored_name = ::archive_entry_pathname(entry);
    if (::archive_entry_filetype(entry) != AE_IFREG || stored_name == nullptr) continue;
    const std::string name = fs::path(stored_name).filename().string();
    const std::string full_name = path + "/" + stored_name;
    ArchiveSource source(opened.get(), full_name);
    LimitedSource limited(source, full_name);
    if (Status status = visit(name, full_name, limited); !status) return status;
  }
}

constexpr std::uint64_t kLargestText = std::uint64_t{4} << 30;

Error unpack_failure(const std::string& path, archive* opened) {
  const char* reason = ::archive_error_string(opened);
  return Error{path + ": cannot be unpacked (" + (reason ? reason : "unknown") +
               "); it may be cut short"};
}

}  // namespace

// libarchive's "raw" format is one file without a name, after its filters.
Result<std::string> read_unpacked_text(const std::string& path) {
  auto packed = read_text(path);
  if (!packed || packed->empty()) return packed;
  const Archive opened = new_archive(::archive_read_support_format_raw);
  if (!opened) return Error{"out of memory"};
  if (::archive_read_open_memory(opened.get(), packed->data(), packed->size()) != ARCHIVE_OK)
    return unpack_failure(path, opened.get());
  if (::archive_filter_code(opened.get(), 0) == ARCHIVE_FILTER_NONE) return packed;
  archive_entry* entry = nullptr;
  if (::archive_read_next_header(opened.get(), &entry) < ARCHIVE_WARN)
    return unpack_failure(path, opened.get());
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const la_ssize_t got = ::archive_read_data(opened.get(), buffer, sizeof buffer);
    if (got < 0) return unpack_failure(path, opened.get());
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kLargestText) return Error{path + ": holds more than 4 GiB of text"};
  }
}

Status for_each_file(const std::string& path, const BundleVisitor& visit) {
  std::error_code error;
  const fs::file_status there = fs::status(path, error);
  if (!fs::exists(there)) {
    return Error{path + ": does not exist; give a folder or a tar archive"};
  }
  return fs::is_directory(there) ? for_each_in_folder(path, visit)
                                 : for_each_in_archive(path, visit);
}

}  // namespace fathom::base
