// SPDX-License-Identifier: BSD-3-Clause
#include "base/xml_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text_lines.h"

namespace fathom::base {

Result<XmlFile> XmlFile::read(const std::string& path) {
  auto text = read_text(path);
  if (!text) return text.error();
  XmlFile file;
  file.path_ = path;
  file.text_ = std::move(*text);
  file.document_ = std::make_unique<pugi::xml_document>();
  const pugi::xml_parse_result parsed =
      file.document_->load_buffer(file.text_.data(), file.text_.size());
  if (!parsed) {
    return Error{path + ":" + std::to_string(file.line_at(parsed.offset)) + ": " +
                 parsed.description() + "; the file is not well-formed XML"};
  }
  if (!file.root()) return Error{path + ": holds no XML element"};
  return file;
}

std::size_t XmlFile::line_at(std::ptrdiff_t offset) const {
  const auto end =
      std::min<std::size_t>(offset < 0 ? 0 : static_cast<std::size_t>(offset), text_.size());
  return 1 + static_cast<std::size_t>(
                 std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

Error XmlFile::error(pugi::xml_node where, const std::string& what) const {
  return {path_ + ":" + std::to_string(line_at(where.offset_debug())) + ": " + what};
}

Result<double> XmlFile::number(pugi::xml_node where, const std::string& name,
                               const std::string& text) const {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return error(where, name + " is '" + text + "', which is not a number");
  }
  return value;
}

}  // namespace fathom::base
