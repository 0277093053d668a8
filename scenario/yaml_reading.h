// SPDX-License-Identifier: BSD-3-Clause
// Reads a YAML document in which a list means alternatives: where one value is expected and the
// document has a list, each element is read in turn, giving all combinations of all such lists.
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
// The first list encountered varies slowest. A list inside an alternative counts only while that
// alternative is chosen. Errors name file, line and column: "jobs.yml:3:5: …"; a reading keeps its
// first error and returns harmless values from then on. A missing key is reported only if there is
// no other error, because an unknown key is usually a misspelling of the missing one. yaml-cpp
// stays in this folder, its exceptions in yaml_reading.cpp.
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
  // An Error if the file cannot be read, is not YAML, or is not a mapping.
  static base::Result<YamlDocument> read(const std::string& path);

  const std::string& path() const { return path_; }
  const YAML::Node& root() const { return root_; }
  base::Error error(const YAML::Node& where, const std::string& what) const;

 private:
  std::string path_;
  YAML::Node root_;
};

// Which element of each list is chosen, in the order in which a reading encounters the lists.
class Alternatives {
 public:
  std::size_t choose(std::size_t count);
  // Advances to the next combination; false after the last.
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
  const Varied& varied() const { return varied_; }  // values chosen from lists
  // The least number of combinations: the product of the lists met, without those that count
  // only while one alternative of another list is chosen.
  double least_combinations() const { return least_combinations_; }

 private:
  friend class YamlSection;
  void complain(const YAML::Node& where, const std::string& what);
  void miss(const YAML::Node& where, const std::string& what);
  YAML::Node chosen(YAML::Node node, const std::string& key);
  bool inside_alternative(const std::string& key) const;

  const YamlDocument& document_;
  Alternatives& alternatives_;
  Varied varied_;
  double least_combinations_ = 1;
  std::string complaint_, missing_;
};

// A mapping. Every key that was asked for is known; finish() rejects all others.
class YamlSection {
 public:
  bool has(const std::string& key);
  bool is_section(const std::string& key);  // of the chosen alternative

  std::string text(const std::string& key);  // required
  std::string text(const std::string& key, const std::string& otherwise);
  double number(const std::string& key);  // required; finite
  double number(const std::string& key, double otherwise);
  std::uint64_t count(const std::string& key, std::uint64_t otherwise);
  bool flag(const std::string& key, bool otherwise);
  YamlSection section(const std::string& key);  // required

  // These are lists themselves: alternatives are lists of lists. A single value is a list of one.
  std::vector<double> numbers(const std::string& key);
  std::vector<std::string> texts(const std::string& key);
  std::vector<YamlSection> sections(const std::string& key);  // never alternatives

  // The row named by the value; `find` returns an Error that lists the known names.
  template <typename Row, typename Find>
  const Row* row(const std::string& key, const std::string& otherwise, Find find) {
    const auto found = find(text(key, otherwise));
    if (found) return *found;
    complain_at(key, found.error().message);
    return nullptr;
  }

  std::vector<std::string> keys() const;
  std::string where() const;  // "file:line:column"
  // The same of a key's value, which for a list of alternatives is the one chosen.
  std::string where_of(const std::string& key);
  void complain_at(const std::string& key, const std::string& what);  // at the key's value
  void complain(const std::string& what) { reading_->complain(node_, what); }
  void miss(const std::string& what) {
    reading_->miss(node_, what);
  }  // reported only if there is no other error
  void finish();

 private:
  friend class YamlReading;
  YamlSection(YamlReading& reading, const YAML::Node& node, std::string path)
      : reading_(&reading), node_(node), path_(std::move(path)) {}

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
