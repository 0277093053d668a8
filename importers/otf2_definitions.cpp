// SPDX-License-Identifier: BSD-3-Clause
#include "importers/otf2_definitions.h"

#include <algorithm>

namespace fathom::importers::otf2 {
namespace {

Archive& of(void* user_data) { return *static_cast<Archive*>(user_data); }

OTF2_CallbackCode on_clock(void* user, uint64_t resolution, uint64_t offset, uint64_t,
                           uint64_t realtime) {
  of(user).resolution = std::max<std::uint64_t>(resolution, 1);
  of(user).offset = offset;
  of(user).realtime = realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : realtime;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
  of(user).strings[self] = text ? text : "";
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_source(void* user, OTF2_SourceCodeLocationRef self, OTF2_StringRef file,
                            uint32_t line) {
  of(user).sources[self] = {file, line};
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name,
                               OTF2_StringRef, OTF2_Type) {
  of(user).attributes[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_parameter(void* user, OTF2_ParameterRef self, OTF2_StringRef name,
                               OTF2_ParameterType) {
  of(user).parameters[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_node(void* user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                          OTF2_StringRef, OTF2_SystemTreeNodeRef) {
  of(user).nodes[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_location_group(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType, OTF2_SystemTreeNodeRef node,
                                    OTF2_LocationGroupRef) {
  Archive::LocationGroup& group = of(user).location_groups[self];
  group.name = name;
  group.node = node;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_group_property(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_Type, OTF2_AttributeValue value) {
  Archive::LocationGroup& group = of(user).location_groups[self];
  const std::string_view text = of(user).text(name);
  if (text == "fathom::pid") group.pid = value.int64;
  if (text == "fathom::socket") group.socket = value.int32;
  if (text == "fathom::numa") group.numa = value.int32;
  if (text == "fathom::affinity") group.affinity = value.stringRef;
  if (text == "fathom::lost_records") group.lost_records = value.uint64;
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef name,
                              OTF2_LocationType type, uint64_t events,
                              OTF2_LocationGroupRef group) {
  if (type == OTF2_LOCATION_TYPE_CPU_THREAD || type == OTF2_LOCATION_TYPE_UNKNOWN) {
    of(user).locations.push_back({self, events, group, name});
  }
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                            OTF2_StringRef description, OTF2_RegionRole, OTF2_Paradigm paradigm,
                            OTF2_RegionFlag, OTF2_StringRef, uint32_t, uint32_t) {
  of(user).regions[self] = {name, description, paradigm};
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_group(void* user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                           OTF2_Paradigm, OTF2_GroupFlag flags, uint32_t count,
                           const uint64_t* members) {
  // Stored separately, because EZTrace defines another group with the same number.
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && of(user).comm_locations.empty()) {
    of(user).comm_locations.assign(members, members + count);
  }
  of(user).groups[self] = {type, flags, name, std::vector<std::uint64_t>(members, members + count)};
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_comm(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_CommRef parent, OTF2_CommFlag) {
  of(user).comms[self] = {name, group, OTF2_UNDEFINED_GROUP, parent};
  return OTF2_CALLBACK_SUCCESS;
}
OTF2_CallbackCode on_inter_comm(void* user, OTF2_CommRef self, OTF2_StringRef name,
                                OTF2_GroupRef group, OTF2_GroupRef remote, OTF2_CommRef common,
                                OTF2_CommFlag) {
  of(user).comms[self] = {name, group, remote, common};
  return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

bool read_definitions(OTF2_Reader* archive_reader, Archive& archive) {
  OTF2_GlobalDefReader* reader = OTF2_Reader_GetGlobalDefReader(archive_reader);
  OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(callbacks, on_source);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(callbacks, on_parameter);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_location_group);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(callbacks, on_group_property);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
  bool good = reader && OTF2_Reader_RegisterGlobalDefCallbacks(archive_reader, reader, callbacks,
                                                               &archive) == OTF2_SUCCESS;
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  std::uint64_t read = 0;
  good =
      good && OTF2_Reader_ReadAllGlobalDefinitions(archive_reader, reader, &read) == OTF2_SUCCESS;
  if (reader) OTF2_Reader_CloseGlobalDefReader(archive_reader, reader);
  return good;
}

}  // namespace fathom::importers::otf2
