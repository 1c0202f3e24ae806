// SPDX-License-Identifier: MIT
// Removes the folder of a private daemon at its end. The command that made the folder may be gone
// by then.
#include "server/private_folder.h"

#include <filesystem>

#include "compiler/base/files/own_folder.h"

namespace kiln::server {
namespace {

constexpr int kTimes = 16;  // more than a start makes files

}  // namespace

void RemovePrivateFolder(const std::string& folder) {
  // Again, because a thread that is still there may make a file while the folder is being emptied.
  // Only a folder of this user is removed, whatever the flag says.
  for (int i = 0; i < kTimes && !folder.empty() && OwnFolder::Open(folder).ok(); ++i) {
    std::error_code ignored;  // nobody is left to be told
    std::filesystem::remove_all(folder, ignored);
  }
}

}  // namespace kiln::server
