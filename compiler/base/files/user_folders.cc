// SPDX-License-Identifier: MIT
#include "compiler/base/files/user_folders.h"

#include <cstdlib>

namespace kiln {
namespace {

// The folder that a variable names; empty: none.
// A relative path is ignored, as the specification of the XDG folders says: it would depend on the
// folder that a program happens to run in.
std::string FolderIn(const Variables& variables, const std::string& name) {
  const std::optional<std::string> value = variables(name);
  return value.has_value() && value->starts_with('/') ? *value : std::string();
}

std::string Below(const Variables& variables, const std::string& name, const char* in_home) {
  if (const std::string base = FolderIn(variables, name); !base.empty()) {
    return base + "/kiln";
  }
  const std::string home = FolderIn(variables, "HOME");
  return home.empty() ? home : home + in_home + "/kiln";
}

}  // namespace

std::optional<std::string> ProcessVariable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The runtime folder is the right place: it is of one user and gone after the session. Without it
// the cache folder has to do, in a folder of its own, whose mode can be narrowed.
std::string UserSocket(const Variables& variables) {
  if (const std::string runtime = FolderIn(variables, "XDG_RUNTIME_DIR"); !runtime.empty()) {
    return runtime + "/kiln/kilnd.sock";
  }
  const std::string cache = UserCacheFolder(variables);
  return cache.empty() ? cache : cache + "/run/kilnd.sock";
}

// The way in of the owner is a second socket in a folder below, whose mode keeps others out.
std::string OwnersSocket(const std::string& socket) {
  const size_t name = socket.rfind('/') + 1;  // 0 without a folder
  return socket.empty() ? socket : socket.substr(0, name) + "own/" + socket.substr(name);
}

std::string UserCacheFolder(const Variables& variables) {
  return Below(variables, "XDG_CACHE_HOME", "/.cache");
}

std::string UserConfigFolder(const Variables& variables) {
  return Below(variables, "XDG_CONFIG_HOME", "/.config");
}

}  // namespace kiln
