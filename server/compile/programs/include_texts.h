// SPDX-License-Identifier: MIT
// Declared files -> those texts of them that a source will ask for, read from the store before it
// is parsed. Which ones is guessed (source/include_lines) and told by earlier readings; what a
// guess misses is loaded when the front end has asked for it in vain. So a source is read once, or
// once more for each level of names that only macros know.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store.h"
#include "compiler/base/language_limits.h"
#include "compiler/base/result.h"
#include "compiler/source/file_list.h"
#include "compiler/source/source_file.h"
#include "server/compile/request.h"

namespace kiln::compile {

class IncludeTexts {
 public:
  // All must outlive the object.
  IncludeTexts(cache::BlobStore& store, const FileList& files, std::span<const std::string> roots,
               const LanguageLimits& limits, const cache::Call& call)
      : store_(store), declared_(files), roots_(roots), limits_(limits), call_(call) {}

  // Loads a declared file, and what its lines may include. Says whether it was new. A guess is left
  // out where there are more texts than a module may have; what was asked for is not. Errors: of
  // the store; a text that is not there is listed as missing.
  enum class Reason : uint8_t { kGuessed, kAsked };
  Result<bool> Load(const std::string& path, Reason why);
  // What the lines of a text may include.
  Result<void> LoadFor(std::string_view path, std::string_view text);

  // What was loaded; pointers stay valid as long as the object.
  const std::vector<const SourceFile*>& files() const { return loaded_; }
  // Files whose texts nobody has.
  const std::vector<Source>& missing() const { return missing_; }

 private:
  Result<bool> LoadOne(const std::string& path, Reason why);
  void Guess(std::string_view path, std::string_view text);
  Result<void> LoadGuesses();

  cache::BlobStore& store_;
  const FileList& declared_;
  const std::span<const std::string> roots_;
  const LanguageLimits& limits_;
  const cache::Call& call_;
  std::vector<std::unique_ptr<const SourceFile>> owned_;
  std::vector<const SourceFile*> loaded_;
  std::set<std::string, std::less<>> seen_;  // loaded or missing
  std::set<std::string> guessed_;            // declared, guessed once
  std::vector<std::string> guesses_;         // of these, to be loaded
  std::vector<Source> missing_;
  uint64_t bytes_ = 0;
};

}  // namespace kiln::compile
