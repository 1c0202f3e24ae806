// SPDX-License-Identifier: MIT
// Removes the folder of a private daemon at its end. The command that made the folder may be gone
// by then.
#include "server/private_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>

#include "compiler/base/files/file.h"
#include "compiler/base/files/own_folder.h"

namespace kiln::server {
namespace {

constexpr int kTimes = 16;  // more than a start makes files

// "kiln-" and the six letters that mkdtemp chose.
bool IsPrivateName(const std::filesystem::path& folder) {
  constexpr std::string_view kBegin = "kiln-";
  constexpr size_t kChosen = 6;
  const std::string name = folder.filename().string();
  return name.size() == kBegin.size() + kChosen && name.starts_with(kBegin) &&
         std::all_of(name.begin() + kBegin.size(), name.end(),
                     [](unsigned char letter) { return std::isalnum(letter) != 0; });
}

}  // namespace

Result<std::string> MakePrivateFolder(std::string pattern) {
  if (::mkdtemp(pattern.data()) == nullptr) {
    return FileError(pattern, "cannot make", errno);
  }
  return pattern;
}

void RemovePrivateFolder(const std::string& folder) {
  // Again, because a thread that is still there may make a file while the folder is being emptied.
  // Only a folder of this user is removed, whatever the flag says.
  for (int i = 0; i < kTimes && !folder.empty() && OwnFolder::Open(folder).ok(); ++i) {
    std::error_code ignored;  // nobody is left to be told
    std::filesystem::remove_all(folder, ignored);
  }
}

// execve ends all other threads before anything of the new program runs. What it needs is made
// before; of the descriptors those without close-on-exec stay, which end with the process.
void LeavePrivateFolder(const std::string& program, const std::string& folder, int code) {
  if (!folder.empty()) {
    std::string name = "kilnd", flag = kRemoveAfter, path = folder, number = std::to_string(code);
    const std::array<char*, 5> words = {name.data(), flag.data(), path.data(), number.data(),
                                        nullptr};
    (void)::execv(program.c_str(), words.data());
    RemovePrivateFolder(folder);
  }
  ::_exit(code);
}

int RemoveAfter(const std::string& folder, const std::string& code) {
  if (IsPrivateName(folder)) {
    RemovePrivateFolder(folder);
  }
  return std::atoi(code.c_str());
}

}  // namespace kiln::server
