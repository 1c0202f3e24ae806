// SPDX-License-Identifier: MIT
// Loads the texts that a source will probably include: what earlier readings asked for, then what
// lines of the texts name, file after file. Each text is read from the store once and lives as long
// as the reading. Guesses are bounded by number and bytes; what the source really asks for is not a
// guess.
#include "server/compile/programs/include_texts.h"

#include <utility>

#include "compiler/base/threads/stop.h"
#include "compiler/source/include_lines.h"

namespace kiln::compile {
namespace {

// Texts that are guessed, in sources of the largest size: as many as a module may have.
constexpr uint64_t kMostGuessed = 16;

}  // namespace

// Loads a declared file once, and puts what its lines include on the list of guesses. Files that
// the source asked for are loaded whatever was guessed; the front end bounds them itself
// (spec/daemon 10).
Result<bool> IncludeTexts::LoadOne(const std::string& path, Reason why) {
  const ListedFile* const file = declared_.Find(path);
  // Both bounds concern guesses alone.
  const bool too_much =
      bytes_ > kMostGuessed * limits_.source_bytes || loaded_.size() >= limits_.include_files;
  if (file == nullptr || (why == Reason::kGuessed && too_much) || !seen_.insert(path).second) {
    return false;
  }
  const Result<cache::Blob> blob = store_.Get(cache::ContentKey(file->digest), call_);
  if (!blob.ok() && blob.error().code != ErrorCode::kNotFound) {
    return blob.error();
  }
  const bool is_empty = file->digest == DigestOf(std::string_view());  // needs no upload
  if (!blob.ok() && !is_empty) {
    missing_.push_back({.path = path, .digest = file->digest, .text = nullptr});
    return false;
  }
  const std::string_view text = is_empty ? std::string_view() : AsText(blob->bytes);
  ChargeMemory(text.size());
  bytes_ += text.size();
  owned_.push_back(std::make_unique<const SourceFile>(path, std::string(text)));
  loaded_.push_back(owned_.back().get());
  Guess(path, loaded_.back()->text);
  return true;
}

// Lines that are read without a preprocessor: those in branches that are not taken count, too.
// Every place that such a line may mean is a guess if it is declared; duplicates are dropped by
// `guessed_`, so a circle of includes ends.
void IncludeTexts::Guess(std::string_view path, std::string_view text) {
  std::set<std::pair<std::string_view, bool>> lines;  // a hostile text says the same thing often
  for (const IncludeLine& line : IncludeLinesOf(text)) {
    CheckStop();
    if (!lines.emplace(line.path, line.quoted).second) {
      continue;
    }
    for (std::string& place : PlacesOf(line, path, roots_)) {
      if (declared_.Find(place) != nullptr && guessed_.insert(place).second) {
        guesses_.push_back(std::move(place));
      }
    }
  }
}

// A list and no recursion, since includes may be as deep as the sender likes.
Result<void> IncludeTexts::LoadGuesses() {
  while (!guesses_.empty()) {
    CheckStop();
    const std::string path = std::move(guesses_.back());
    guesses_.pop_back();
    KILN_TRY_VOID(LoadOne(path, Reason::kGuessed));
  }
  return {};
}

Result<bool> IncludeTexts::Load(const std::string& path, Reason why) {
  KILN_TRY(const bool is_new, LoadOne(path, why));
  KILN_TRY_VOID(LoadGuesses());
  return is_new;
}

Result<void> IncludeTexts::LoadFor(std::string_view path, std::string_view text) {
  Guess(path, text);
  return LoadGuesses();
}

}  // namespace kiln::compile
