// SPDX-License-Identifier: MIT
// All places of one name in all programs that have the file: what references and rename work on.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/lsp/analysis/analysis.h"

namespace kiln::lsp {

struct Mention {
  Span bytes;
  NameRole role = NameRole::kUse;
  friend auto operator<=>(const Mention& a, const Mention& b) {
    return std::pair(a.bytes.begin, a.bytes.end) <=> std::pair(b.bytes.begin, b.bytes.end);
  }
  friend bool operator==(const Mention&, const Mention&) = default;
};

// The name at a byte.
struct NameHere {
  FileView file;
  std::shared_ptr<const Names> names;
  Occurrence at;
  std::string key;
  std::string text;
};
std::optional<NameHere> NameAt(Analysis& analysis, const std::string& path, uint32_t offset);

// Programs of a file that are looked through.
inline constexpr size_t kMaxProgramsLookedThrough = 256;

struct Mentions {
  // By path; sorted, each place once. The sources are the versions that were looked at.
  std::map<std::string, std::vector<Mention>> by_path;
  std::map<std::string, std::shared_ptr<const Source>> sources;
  // The programs, as they were linked.
  std::vector<std::shared_ptr<const LinkedSources>> programs;
};
// `local` names are those of the file alone.
Mentions FindMentions(Analysis& analysis, const std::string& path, const std::string& key);

}  // namespace kiln::lsp
