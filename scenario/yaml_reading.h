// SPDX-License-Identifier: BSD-3-Clause
// A YAML document read with lists standing for alternatives: where one value is expected and a list
// stands, each of its elements is read in turn, and all combinations of all such lists come about.
//
//     YamlDocument document = …;
//     Alternatives alternatives;
//     do {
//       YamlReading reading(document, alternatives);
//       YamlSection root = reading.root();
//       … root.text("name") … root.finish();      // asks for keys in a fixed order
//       if (!reading.status()) …
//     } while (alternatives.next());
//
// The list met first varies slowest. A list within a chosen alternative counts only while that is
// chosen. Errors name file, line and column: "jobs.yml:3:5: …"; a reading remembers its first and
// gives harmless values back from then on. What is missing is said only if nothing that is there is
// wrong: a key that nobody knows is most often the missing one, misspelt. yaml-cpp stays in this
// folder, its exceptions in yaml_reading.cpp.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace fathom::scenario {

class YamlDocument {
 public:
  // An Error if the file cannot be read, is not YAML, or is no mapping.
  static base::Result<YamlDocument> read(const std::string& path);

  const std::string& path() const { return path_; }
  const YAML::Node& root() const { return root_; }
  base::Error error(const YAML::Node& where, const std::string& what) const;

 private:
  std::string path_;
  YAML::Node root_;
};

// Which element of each list is chosen, in the order in which a reading meets the lists.
class Alternatives {
 public:
  std::size_t choose(std::size_t count);
  // The next combination; false when all have been.
  bool next();

 private:
  struct Choice {
    std::size_t chosen, count;
  };
  std::vector<Choice> choices_;
  std::size_t met_ = 0;
};

using Varied = std::vector<std::pair<std::string, std::string>>;  // key, chosen value

class YamlSection;

class YamlReading {
 public:
  YamlReading(const YamlDocument& document, Alternatives& alternatives)
      : document_(document), alternatives_(alternatives) {}

  YamlSection root();
  base::Status status() const;
  const Varied& varied() const { return varied_; }  // what was chosen from lists

 private:
  friend class YamlSection;
  void complain(const YAML::Node& where, const std::string& what);
  void miss(const YAML::Node& where, const std::string& what);
  YAML::Node chosen(YAML::Node node, const std::string& key);

  const YamlDocument& document_;
  Alternatives& alternatives_;
  Varied varied_;
  std::string complaint_, missing_;
};

// A mapping. Every key that is asked for is known; finish() refuses all others.
class YamlSection {
 public:
  bool has(const std::string& key);
  bool is_section(const std::string& key);  // of the chosen alternative

  std::string text(const std::string& key);  // must be there
  std::string text(const std::string& key, const std::string& otherwise);
  double number(const std::string& key);  // must be there; finite
  double number(const std::string& key, double otherwise);
  std::uint64_t count(const std::string& key, std::uint64_t otherwise);
  bool flag(const std::string& key, bool otherwise);
  YamlSection section(const std::string& key);  // must be there

  // These are lists themselves: alternatives are lists of lists. One value stands for a list of it.
  std::vector<double> numbers(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::vector<YamlSection> sections(const std::string& key);  // never alternatives

  // The row that the value names; `find` gives an Error with the known names.
  template <typename Row, typename Find>
  const Row* row(const std::string& key, const std::string& otherwise, Find find) {
    const auto found = find(text(key, otherwise));
    if (found) return *found;
    complain_at(key, found.error().message);
    return nullptr;
  }

  std::vector<std::string> keys() const;
  std::string where() const;                                          // "file:line:column"
  void complain_at(const std::string& key, const std::string& what);  // at the key's value
  void complain(const std::string& what) { reading_->complain(node_, what); }
  void miss(const std::string& what) {
    reading_->miss(node_, what);
  }  // said only if nothing else is wrong
  void finish();

 private:
  friend class YamlReading;
  YamlSection(YamlReading& reading, YAML::Node node, std::string path)
      : reading_(&reading), node_(std::move(node)), path_(std::move(path)) {}

  std::optional<YAML::Node> find(const std::string& key);
  std::optional<YAML::Node> value(const std::string& key, bool is_list);
  std::optional<YAML::Node> needed(const std::string& key, bool is_list);
  double to_number(const YAML::Node& node, const std::string& key);

  YamlReading* reading_;
  YAML::Node node_;
  std::string path_;  // of keys, with a dot at the end
  std::map<std::string, std::optional<YAML::Node>> asked_;
};

}  // namespace fathom::scenario
