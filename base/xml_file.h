// SPDX-License-Identifier: BSD-3-Clause
// An XML file in memory, with the line of each element for errors.
//
// Keeps pugixml out of other headers: only readers of XML (simulator/formats) include this one.
#pragma once

#include <cstddef>
#include <memory>
#include <pugixml.hpp>
#include <string>

#include "base/result.h"

namespace fathom::base {

class XmlFile {
 public:
  // An Error, with its line if known, if the file cannot be read or is not well-formed.
  static Result<XmlFile> read(const std::string& path);

  pugi::xml_node root() const { return document_->document_element(); }

  // An Error: "path:line: what".
  Error error(pugi::xml_node where, const std::string& what) const;

  // `text` as a finite number; the Error names the value (`name`) and the line.
  Result<double> number(pugi::xml_node where, const std::string& name,
                        const std::string& text) const;

 private:
  std::size_t line_at(std::ptrdiff_t offset) const;

  std::string path_;
  std::string text_;
  std::unique_ptr<pugi::xml_document> document_;
};

}  // namespace fathom::base
