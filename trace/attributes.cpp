// SPDX-License-Identifier: BSD-3-Clause
#include "trace/attributes.h"

#include <sstream>
#include <utility>

#include "base/text.h"

namespace fathom::trace {
namespace {

constexpr std::pair<Group, const char*> kGroups[] = {
    {Group::kOther, "other"},
    {Group::kSend, "send"},
    {Group::kReceive, "receive"},
    {Group::kSendReceive, "sendreceive"},
    {Group::kCompletion, "completion"},
    {Group::kProbe, "probe"},
    {Group::kCollective, "collective"},
    {Group::kOneSided, "onesided"},
    {Group::kIo, "io"},
    {Group::kCommunicator, "communicator"},
    {Group::kEnvironment, "environment"},
};

constexpr std::pair<Attribute, const char*> kAttributes[] = {
    {Attribute::kCommunicator, "comm"}, {Attribute::kPeer, "peer"},
    {Attribute::kTag, "tag"},           {Attribute::kBytes, "bytes"},
    {Attribute::kRoot, "root"},         {Attribute::kPeer2, "peer2"},
    {Attribute::kTag2, "tag2"},         {Attribute::kBytes2, "bytes2"},
    {Attribute::kCount, "count"},       {Attribute::kNewCommunicator, "newcomm"},
    {Attribute::kFlag, "flag"},         {Attribute::kCompleted, "completed"},
    {Attribute::kRequest, "request"},   {Attribute::kWindow, "win"},
    {Attribute::kFile, "file"},         {Attribute::kOffset, "offset"},
    {Attribute::kRequests, "requests"}, {Attribute::kMembers, "members"},
    {Attribute::kLock, "lock"},         {Attribute::kMessage, "message"},
};

std::vector<Attribute> parse_attributes(std::string_view list) {
  std::vector<Attribute> attributes;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    bool known = false;
    for (const auto& [attribute, its_name] : kAttributes) {
      if (name != its_name) continue;
      attributes.push_back(attribute);
      known = true;
    }
    if (!known) break;
  }
  return attributes;
}

std::string attribute_list(const std::vector<Attribute>& attributes) {
  std::string list;
  for (const Attribute attribute : attributes) base::add_to_list(list, name_of(attribute), ",");
  return list;
}

}  // namespace

const char* name_of(Group group) {
  for (const auto& [value, name] : kGroups) {
    if (value == group) return name;
  }
  return "other";
}

const char* name_of(Attribute attribute) {
  for (const auto& [value, name] : kAttributes) {
    if (value == attribute) return name;
  }
  return "";
}

std::optional<NumberedFunction> parse_function(std::string_view line) {
  NumberedFunction numbered;
  std::istringstream words{std::string(line)};
  std::string group;
  if (!(words >> numbered.number >> numbered.function.name >> group)) return std::nullopt;
  if (numbered.number >= kHasSite) return std::nullopt;
  for (const auto& [value, name] : kGroups) {
    if (group == name) numbered.function.group = value;
  }
  constexpr std::string_view kEnterKey = "enter=", kLeaveKey = "leave=";
  // Words with other keys are skipped, so that later versions may add some.
  for (std::string word; words >> word;) {
    const std::string_view text = word;
    if (text.starts_with(kEnterKey)) {
      numbered.function.enter = parse_attributes(text.substr(kEnterKey.size()));
    } else if (text.starts_with(kLeaveKey)) {
      numbered.function.leave = parse_attributes(text.substr(kLeaveKey.size()));
    }
  }
  return numbered;
}

std::string function_line(const NumberedFunction& numbered) {
  return std::to_string(numbered.number) + " " + numbered.function.name + " " +
         name_of(numbered.function.group) + " enter=" + attribute_list(numbered.function.enter) +
         " leave=" + attribute_list(numbered.function.leave);
}

}  // namespace fathom::trace
