// SPDX-License-Identifier: BSD-3-Clause
#include "exporters/common/archive_file.h"

#include <archive.h>
#include <archive_entry.h>

#include "exporters/common/text_file.h"

namespace fathom::exporters {
namespace {

la_ssize_t append_to_file(archive*, void* file, const void* bytes, std::size_t size) {
  static_cast<base::AtomicFile*>(file)->append({static_cast<const char*>(bytes), size});
  return static_cast<la_ssize_t>(size);  // commit() reports a write that failed
}

}  // namespace

void ArchiveFile::Free::operator()(archive* writer) const { ::archive_write_free(writer); }

base::Status ArchiveFile::checked(int result) const {
  if (result == ARCHIVE_OK) return base::Done{};
  const char* reason = ::archive_error_string(writer_.get());
  return base::Error{std::string("archive cannot be written: ") + (reason ? reason : "unknown")};
}

base::Status ArchiveFile::open(const std::string& path, const Options& options, Format format) {
  if (auto status = file_.open(path, existing(options)); !status) return status;
  writer_.reset(::archive_write_new());
  format_ = format;
  archive* writer = writer_.get();
  if (format == Format::kStoredZip) {
    ::archive_write_set_format_zip(writer);
    ::archive_write_zip_set_compression_store(writer);
    ::archive_write_set_bytes_in_last_block(writer, 1);  // no padding
  } else {
    ::archive_write_set_format_ustar(writer);
  }
  if (format == Format::kTarGz) {
    ::archive_write_add_filter_gzip(writer);
    ::archive_write_set_filter_option(writer, "gzip", "timestamp", nullptr);
  }
  return checked(::archive_write_open(writer, &file_, nullptr, append_to_file, nullptr));
}

base::Status ArchiveFile::add(const std::string& name, std::string_view bytes) {
  archive_entry* entry = ::archive_entry_new();
  ::archive_entry_set_pathname(entry, name.c_str());
  ::archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
  ::archive_entry_set_filetype(entry, AE_IFREG);
  ::archive_entry_set_perm(entry, 0644);
  // A zip's times are local ones, which differ from place to place; without one it is 1 January 1980.
  if (format_ != Format::kStoredZip) ::archive_entry_set_mtime(entry, 0, 0);
  const int result = ::archive_write_header(writer_.get(), entry);
  ::archive_entry_free(entry);
  if (result != ARCHIVE_OK) return checked(result);
  const la_ssize_t written = ::archive_write_data(writer_.get(), bytes.data(), bytes.size());
  return checked(written == static_cast<la_ssize_t>(bytes.size()) ? ARCHIVE_OK : ARCHIVE_FATAL);
}

base::Status ArchiveFile::commit() {
  if (auto status = checked(::archive_write_close(writer_.get())); !status) return status;
  return file_.commit();
}

}  // namespace fathom::exporters
