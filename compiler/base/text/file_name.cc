// SPDX-License-Identifier: MIT
#include "compiler/base/text/file_name.h"

#include <algorithm>

#include "compiler/base/bytes.h"
#include "compiler/base/digest.h"

namespace kiln {
namespace {

constexpr size_t kMostKept = 119;  // and '~' and sixteen digits: 136
constexpr size_t kMostDigits = 16;

bool IsSafe(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

// Two different names must not become one file. A name that only exchanged '/' for '.' stays
// readable without a digest; it could meet only a name that is spelled with the dot.
std::string FileNameOf(std::string_view name) {
  std::string cleaned(name);
  std::ranges::replace(cleaned, '/', '.');
  if (IsTargetName(cleaned)) {
    return cleaned;
  }
  std::ranges::replace_if(
      cleaned, [](char c) { return !IsSafe(c); }, '_');
  // A leading '.' would hide the file, and ".." would lead out of the folder.
  if (cleaned.empty() || cleaned.front() == '.') {
    cleaned.insert(cleaned.begin(), '_');
  }
  // After all characters are ASCII, so that no character is cut in the middle.
  cleaned.resize(std::min(cleaned.size(), kMostKept));
  // The digest is of the name before it was changed; sixteen digits are 64 bits of it.
  return cleaned + "~" + DigestOf(name).id.hex().substr(0, kMostDigits);
}

bool IsTargetName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxTargetName && name.front() != '.' &&
         std::ranges::all_of(name, IsSafe);
}

}  // namespace kiln
