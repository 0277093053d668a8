// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/profile/rank_files.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/atomic_file.h"
#include "exporters/common/archive_file.h"

namespace fathom::exporters {
namespace {

namespace fs = std::filesystem;
using base::AtomicFile;

// Writes into a temporary folder beside the destination and renames it at the end, so that an export
// that is killed leaves no incomplete set under the destination's name.
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
      return base::Error{path_ + ": exists already and is not an empty folder; give another path"};
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
    return base::Error{path + ": cannot be written: " +
                       (error ? error.message() : "exists already, left by a run that was killed")};
  }

  std::string path_;
  std::string temporary_;
  bool created_ = false;
};

class TarOfFiles : public RankFiles {
 public:
  base::Status open(const std::string& path, const Options& options, bool compressed) {
    return tar_.open(path, options,
                     compressed ? ArchiveFile::Format::kTarGz : ArchiveFile::Format::kTar);
  }
  base::Status add(const std::string& name, std::string_view bytes) override {
    return tar_.add(name, bytes);
  }
  base::Status commit() override { return tar_.commit(); }

 private:
  ArchiveFile tar_;
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
