// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch/other_mpi.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>

#include "base/text_lines.h"
#include "cli/launch/captured_output.h"
#include "cli/launch/overlay.h"

namespace fathom::cli {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(30);

// $1: the library folder; the others: overlays. Debian's libmpi is two folders above that. Since
// Open MPI 6, the table mca_pml is in libopen_mpi.
constexpr char kLook[] = R"sh(
folder=$1; shift
for file in "$folder/libmpi.so.40" "$folder/../../libmpi.so.40"; do
  [ -f "$file" ] || continue
  printf 'path %s\n' "$file"
  if grep -aqs PERUSE_Event_comm_register "$file"; then echo peruse; fi
  if grep -aqsP '\x00mca_pml\x00' "$file" "${file%/*}/libopen_mpi.so.40"; then echo mca_pml; fi
  sum=$(sha256sum <"$file")
  for overlay; do
    [ "$(sha256sum <"$overlay/replaces/libmpi.so.40")" != "$sum" ] || printf 'overlay %s\n' "$overlay"
  done
  break
done
)sh";

// What follows `prefix` in the first line that begins with it.
std::optional<std::string> after(const std::vector<std::string>& lines, std::string_view prefix) {
  for (const std::string& line : lines) {
    if (line.starts_with(prefix)) return line.substr(prefix.size());
  }
  return std::nullopt;
}

}  // namespace

bool PmlSettings::takes_part(const std::string& component) const {
  const auto holds = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), component) != names.end();
  };
  if (!holds(components)) return false;
  if (chosen.empty()) return true;
  const bool leaves_out = chosen.starts_with('^');
  return holds(base::split(chosen.substr(leaves_out ? 1 : 0), ',')) != leaves_out;
}

std::optional<PmlSettings> pml_settings(const std::string& launcher) {
  const fs::path ompi_info = fs::path(find_on_path(launcher)).parent_path() / "ompi_info";
  const auto said = captured_output(
      {ompi_info, "--parsable", "--path", "libdir", "--param", "pml", "all", "--level", "9"},
      kPatience);
  if (!said) return std::nullopt;
  const std::vector<std::string> lines = base::split(*said, '\n');
  PmlSettings settings;
  settings.library_folder = after(lines, "path:libdir:").value_or("");
  settings.chosen = after(lines, "mca:pml:base:param:pml:value:").value_or("");
  settings.set_by = after(lines, "mca:pml:base:param:pml:source:").value_or("");
  for (const std::string& line : lines) {
    const std::vector<std::string> parts = base::split(line, ':');
    const bool is_version =
        parts.size() > 3 && parts[0] == "mca" && parts[1] == "pml" && parts[3] == "version";
    if (is_version && (settings.components.empty() || settings.components.back() != parts[2]))
      settings.components.push_back(parts[2]);
  }
  if (settings.components.empty()) return std::nullopt;
  return settings;
}

std::optional<OtherMpi> look_through_launcher(const std::string& launcher,
                                              const std::string& library_folder) {
  std::vector<std::string> command = {launcher, "-n", "1", "sh", "-c", kLook, "sh", library_folder};
  const std::vector<std::string> offered = overlays();
  command.insert(command.end(), offered.begin(), offered.end());
  const auto said = captured_output(command, kPatience);
  if (!said) return std::nullopt;
  const std::vector<std::string> lines = base::split(*said, '\n');
  const auto path = after(lines, "path ");
  if (!path) return std::nullopt;
  const auto says = [&](const char* word) {
    return std::find(lines.begin(), lines.end(), word) != lines.end();
  };
  return OtherMpi{{fs::path(*path).lexically_normal(), "Open MPI v" + launcher_release(launcher),
                   says("peruse"), says("mca_pml")},
                  after(lines, "overlay ")};
}

}  // namespace fathom::cli
