// SPDX-License-Identifier: BSD-3-Clause
#include "scenario/yaml_reading.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/text.h"
#include "base/text_lines.h"

namespace fathom::scenario {
namespace {

std::string at(const std::string& path, const YAML::Mark& mark) {
  if (mark.is_null()) return path + ": ";
  return path + ':' + std::to_string(mark.line + 1) + ':' + std::to_string(mark.column + 1) + ": ";
}

// On one line.
std::string shown(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  YAML::Emitter out;
  out.SetSeqFormat(YAML::Flow);
  out.SetMapFormat(YAML::Flow);
  out << node;
  return out.c_str();
}

}  // namespace

base::Result<YamlDocument> YamlDocument::read(const std::string& path) {
  const auto text = base::read_text(path);
  if (!text) return text.error();
  YamlDocument document;
  document.path_ = path;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(*text);
    if (!documents.empty()) document.root_ = documents.front();
    for (std::size_t at = 1; at < documents.size(); ++at) {
      if (documents[at].IsNull()) continue;
      return document.error(documents[at],
                            "a second document begins here; only one is read, so put this into "
                            "another file");
    }
  } catch (const YAML::Exception& failed) {
    return base::Error{at(path, failed.mark) + failed.msg};
  }
  if (!document.root_.IsMap())
    return document.error(document.root_, "is not a mapping of keys to values");
  return document;
}

base::Error YamlDocument::error(const YAML::Node& where, const std::string& what) const {
  return {at(path_, where.Mark()) + what};
}

std::size_t Alternatives::choose(std::size_t count) {
  if (met_ == choices_.size()) choices_.push_back({0, count});
  return choices_[met_++].chosen;
}

bool Alternatives::next() {
  met_ = 0;
  while (!choices_.empty() && ++choices_.back().chosen == choices_.back().count)
    choices_.pop_back();
  return !choices_.empty();
}

YamlSection YamlReading::root() { return {*this, document_.root(), ""}; }

base::Status YamlReading::status() const {
  if (complaint_.empty() && missing_.empty()) return base::Done{};
  return base::Error{complaint_.empty() ? missing_ : complaint_};
}

void YamlReading::complain(const YAML::Node& where, const std::string& what) {
  if (complaint_.empty()) complaint_ = document_.error(where, what).message;
}

void YamlReading::miss(const YAML::Node& where, const std::string& what) {
  if (missing_.empty()) missing_ = document_.error(where, what).message;
}

YAML::Node YamlReading::chosen(YAML::Node node, const std::string& key) {
  if (!node.IsSequence()) return node;
  if (node.size() == 0) {
    complain(node, "'" + key + "' is an empty list");
    return YAML::Node("");
  }
  const YAML::Node element = node[alternatives_.choose(node.size())];
  if (node.size() > 1) {
    if (!inside_alternative(key)) least_combinations_ *= static_cast<double>(node.size());
    varied_.emplace_back(key, shown(element));
  }
  return element;
}

bool YamlReading::inside_alternative(const std::string& key) const {
  return std::any_of(varied_.begin(), varied_.end(),
                     [&](const auto& one) { return key.starts_with(one.first + '.'); });
}

std::optional<YAML::Node> YamlSection::find(const std::string& key) {
  if (!node_.IsMap()) return std::nullopt;
  for (const auto& entry : node_) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key && !entry.second.IsNull())
      return entry.second;
  }
  return std::nullopt;
}

std::optional<YAML::Node> YamlSection::value(const std::string& key, bool is_list) {
  const auto known = asked_.find(key);
  if (known != asked_.end()) return known->second;
  const std::optional<YAML::Node> node = find(key);
  const bool has_alternatives =
      node && node->IsSequence() && (!is_list || (node->size() > 0 && (*node)[0].IsSequence()));
  // Never assign to a node: that changes the document.
  return asked_.emplace(key, has_alternatives ? reading_->chosen(*node, path_ + key) : node)
      .first->second;
}

std::optional<YAML::Node> YamlSection::needed(const std::string& key, bool is_list) {
  auto node = value(key, is_list);
  if (!node) miss("'" + path_ + key + "' is missing");
  return node;
}

bool YamlSection::has(const std::string& key) {
  if (const auto node = find(key)) return true;
  asked_.try_emplace(key, std::nullopt);
  return false;
}

bool YamlSection::is_section(const std::string& key) {
  const auto node = value(key, false);
  return node && node->IsMap();
}

std::string YamlSection::text(const std::string& key) {
  const auto node = needed(key, false);
  if (!node) return "";
  if (!node->IsScalar()) reading_->complain(*node, "'" + path_ + key + "' must be one value");
  return node->IsScalar() ? node->Scalar() : "";
}

std::string YamlSection::text(const std::string& key, const std::string& otherwise) {
  return has(key) ? text(key) : otherwise;
}

double YamlSection::to_number(const YAML::Node& node, const std::string& key) {
  const std::string text = node.IsScalar() ? node.Scalar() : "";
  const std::size_t sign = text.starts_with('+') ? 1 : 0;  // from_chars accepts none
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data() + sign, text.data() + text.size(), number);
  if (failed == std::errc() && end == text.data() + text.size() && std::isfinite(number))
    return number;
  reading_->complain(node, "'" + path_ + key + "' must be a number, not '" + shown(node) + "'");
  return 1;
}

double YamlSection::number(const std::string& key) {
  const auto node = needed(key, false);
  return node ? to_number(*node, key) : 1;
}

double YamlSection::number(const std::string& key, double otherwise) {
  return has(key) ? number(key) : otherwise;
}

std::uint64_t YamlSection::count(const std::string& key, std::uint64_t otherwise) {
  const double value = number(key, static_cast<double>(otherwise));
  if (value >= 0 && value <= 0x1p53 && value == std::floor(value))
    return static_cast<std::uint64_t>(value);
  complain_at(key, "'" + path_ + key + "' must be a whole number, 0 or more");
  return otherwise;
}

bool YamlSection::flag(const std::string& key, bool otherwise) {
  const std::string value = text(key, otherwise ? "true" : "false");
  if (value != "true" && value != "false") {
    complain_at(key, "'" + path_ + key + "' must be true or false, not '" + value + "'");
  }
  return value == "true";
}

YamlSection YamlSection::section(const std::string& key) {
  const auto node = needed(key, false);
  if (node && !node->IsMap())
    reading_->complain(*node, "'" + path_ + key + "' must be a mapping of keys to values");
  const bool usable = node && node->IsMap();
  return {*reading_, usable ? *node : YAML::Node(YAML::NodeType::Map), path_ + key + '.'};
}

std::vector<double> YamlSection::numbers(const std::string& key) {
  const auto node = value(key, true);
  std::vector<double> result;
  if (!node) return result;
  if (!node->IsSequence()) return {to_number(*node, key)};
  for (const YAML::Node& element : *node) result.push_back(to_number(element, key));
  return result;
}

std::vector<std::string> YamlSection::texts(const std::string& key) {
  const auto node = value(key, true);
  if (!node) return {};
  if (!node->IsSequence()) return {shown(*node)};
  std::vector<std::string> result;
  for (const YAML::Node& element : *node) result.push_back(shown(element));
  return result;
}

std::vector<YamlSection> YamlSection::sections(const std::string& key) {
  std::vector<YamlSection> result;
  const auto node = find(key);
  asked_.emplace(key, node);
  if (!node) return result;
  if (!node->IsSequence()) {
    reading_->complain(*node, "'" + path_ + key + "' must be a list");
    return result;
  }
  for (const YAML::Node& element : *node) {
    const std::string path = path_ + key + '[' + std::to_string(result.size()) + ']';
    if (!element.IsMap())
      reading_->complain(element, "'" + path + "' must be a mapping of keys to values");
    result.push_back({*reading_, element, path + '.'});
  }
  return result;
}

std::string YamlSection::where() const {
  const std::string text = reading_->document_.error(node_, "").message;
  return text.substr(0, text.size() - 2);  // without the colon
}

std::string YamlSection::where_of(const std::string& key) {
  const auto node = value(key, false);
  const std::string text = reading_->document_.error(node ? *node : node_, "").message;
  return text.substr(0, text.size() - 2);
}

std::vector<std::string> YamlSection::keys() const {
  std::vector<std::string> result;
  if (!node_.IsMap()) return result;
  for (const auto& entry : node_) result.push_back(shown(entry.first));
  return result;
}

void YamlSection::complain_at(const std::string& key, const std::string& what) {
  const auto known = asked_.find(key);
  const bool there = known != asked_.end() && known->second;
  reading_->complain(there ? *known->second : node_, what);
}

void YamlSection::finish() {
  if (!node_.IsMap()) return;
  std::set<std::string> known, seen;
  for (const auto& [key, node] : asked_) known.insert(key);
  for (const auto& entry : node_) {
    const std::string key = shown(entry.first);
    const std::string where =
        path_.empty() ? "" : " in '" + path_.substr(0, path_.size() - 1) + "'";
    if (!known.contains(key)) {
      reading_->complain(entry.first, "there is no key '" + key + "'" + where + "; there are " +
                                          base::joined(known));
    }
    if (!seen.insert(key).second)
      reading_->complain(entry.first, "'" + key + "' is given twice" + where);
  }
}

}  // namespace fathom::scenario
