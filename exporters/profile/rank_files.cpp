// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/rank_files.h"

#include <archive.h>
#include <archive_entry.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/atomic_file.h"
#include "exporters/common/text_file.h"

namespace fathom::exporters {
namespace {

namespace fs = std::filesystem;
using base::AtomicFile;

// Writes into a temporary folder beside the destination, which gets the destination's name at last.
class FolderOfFiles : public RankFiles {
 public:
  explicit FolderOfFiles(std::string path) : path_(std::move(path)) {
    while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
    temporary_ = path_ + ".partial-" + std::to_string(::getpid());
  }
  ~FolderOfFiles() override {
    std::error_code ignored;
    if (created_) fs::remove_all(temporary_, ignored);
  }

  base::Status open() {
    std::error_code error;
    if (fs::exists(path_, error) &&
        !(fs::is_directory(path_, error) && fs::is_empty(path_, error))) {
      return base::Error{path_ +
                         ": is there already and is not an empty folder; give another path"};
    }
    created_ = fs::create_directory(temporary_, error);
    if (!created_) return failure(temporary_, error);
    return base::Done{};
  }

  base::Status add(const std::string& name, std::string_view bytes) override {
    base::AtomicFile file;
    auto status = file.open(temporary_ + "/" + name, base::AtomicFile::Existing::kKeep);
    if (!status) return status;
    file.append(bytes);
    return file.commit();
  }

  base::Status commit() override {
    std::error_code error;
    fs::rename(temporary_, path_, error);  // replaces an empty folder and nothing else
    if (error) return failure(path_, error);
    created_ = false;
    return base::Done{};
  }

 private:
  static base::Error failure(const std::string& path, const std::error_code& error) {
    return base::Error{
        path + ": cannot be written: " +
        (error ? error.message() : "is there already, left by a run that was killed")};
  }

  std::string path_;
  std::string temporary_;
  bool created_ = false;
};

la_ssize_t append_to_file(archive*, void* file, const void* bytes, size_t size) {
  static_cast<base::AtomicFile*>(file)->append({static_cast<const char*>(bytes), size});
  return static_cast<la_ssize_t>(size);
}

// Times and owners are fixed, so that the same profile gives the same archive.
class TarOfFiles : public RankFiles {
 public:
  ~TarOfFiles() override { ::archive_write_free(tar_); }

  base::Status open(const std::string& path, const Options& options, bool compressed) {
    if (auto status = file_.open(path, existing(options)); !status) return status;
    tar_ = ::archive_write_new();
    ::archive_write_set_format_ustar(tar_);
    if (compressed) {
      ::archive_write_add_filter_gzip(tar_);
      ::archive_write_set_filter_option(tar_, "gzip", "timestamp", nullptr);
    }
    return checked(::archive_write_open(tar_, &file_, nullptr, append_to_file, nullptr));
  }

  base::Status add(const std::string& name, std::string_view bytes) override {
    archive_entry* entry = ::archive_entry_new();
    ::archive_entry_set_pathname(entry, name.c_str());
    ::archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    ::archive_entry_set_filetype(entry, AE_IFREG);
    ::archive_entry_set_perm(entry, 0644);
    ::archive_entry_set_mtime(entry, 0, 0);
    const int result = ::archive_write_header(tar_, entry);
    ::archive_entry_free(entry);
    if (result != ARCHIVE_OK) return checked(result);
    const la_ssize_t written = ::archive_write_data(tar_, bytes.data(), bytes.size());
    return checked(written == static_cast<la_ssize_t>(bytes.size()) ? ARCHIVE_OK : ARCHIVE_FATAL);
  }

  base::Status commit() override {
    if (auto status = checked(::archive_write_close(tar_)); !status) return status;
    return file_.commit();
  }

 private:
  base::Status checked(int result) const {
    if (result == ARCHIVE_OK) return base::Done{};
    const char* reason = ::archive_error_string(tar_);
    return base::Error{std::string("archive cannot be written: ") + (reason ? reason : "unknown")};
  }

  base::AtomicFile file_;
  archive* tar_ = nullptr;
};

}  // namespace

base::Result<std::unique_ptr<RankFiles>> open_rank_files(const std::string& path,
                                                         const Options& options) {
  const bool compressed = path.ends_with(".tar.gz") || path.ends_with(".tgz");
  if (compressed || path.ends_with(".tar")) {
    auto archive = std::make_unique<TarOfFiles>();
    if (auto status = archive->open(path, options, compressed); !status) return status.error();
    return std::unique_ptr<RankFiles>(std::move(archive));
  }
  auto folder = std::make_unique<FolderOfFiles>(path);
  if (auto status = folder->open(); !status) return status.error();
  return std::unique_ptr<RankFiles>(std::move(folder));
}

}  // namespace fathom::exporters
