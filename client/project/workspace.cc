// SPDX-License-Identifier: MIT
// The id of a workspace, which a daemon uses to tell checkouts of one project apart. It tells
// nothing about the machine to those who only see the id, since it is a hash.
#include "client/project/workspace.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "compiler/base/bytes.h"
#include "compiler/base/sha256.h"

namespace kiln::project {
namespace {

constexpr std::string_view kDomain = "kiln.workspace.1";
constexpr size_t kDigits = 32;

// systemd's; empty where there is none, as in many containers.
std::string MachineId() {
  for (const char* const path : {"/etc/machine-id", "/var/lib/dbus/machine-id"}) {
    std::string line;
    if (std::getline(std::ifstream(path), line); !line.empty()) {
      return line;
    }
  }
  return {};
}

// Empty where the system gives none; the id is then that of machine and folder.
std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

}  // namespace

// What names this checkout on this machine: two folders, or one folder on two machines, get
// different ids. 32 digits are 128 bits.
std::string WorkspaceId(const std::string& folder) {
  std::error_code ignored;
  const std::filesystem::path path =
      std::filesystem::weakly_canonical(folder.empty() ? "." : folder, ignored);
  std::string named(kDomain);
  for (const std::string& part : {MachineId(), HostName(), path.string()}) {
    named += '\0' + part;
  }
  return Sha256Hex(Sha256(AsBytes(named))).substr(0, kDigits);
}

}  // namespace kiln::project
