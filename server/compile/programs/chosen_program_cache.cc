// SPDX-License-Identifier: MIT
// Keys are texts that say the whole choice, so no two choices can meet. Programs of one module
// share it and its link with the pool of programs, which counts those; here a program counts as
// what it has for itself, and with its link, since it keeps that alive.
#include "server/compile/programs/chosen_program_cache.h"

#include <utility>

#include <fmt/format.h>

#include "server/compile/programs/prepared_program.h"

namespace kiln::compile {
namespace {

constexpr uint64_t kOfItself = 4096;

// Names and values are words and numbers, so neither separator is in them.
std::string KeyOf(uint64_t of, const std::vector<hlsl::MacroChoice>& choices) {
  std::string key = fmt::format("{}", of);
  for (const hlsl::MacroChoice& choice : choices) {
    key += ' ';
    key += choice.name;
    if (choice.value.has_value()) {
      key += '=';
      key += *choice.value;
    }
  }
  return key;
}

uint64_t BytesOf(const PreparedProgram& program, const std::string& key) {
  uint64_t bytes = kOfItself + key.size() + program.program().bytes_used();
  for (const std::shared_ptr<const ParsedSource>& source : program.parsed) {
    bytes += source->memory_bytes();
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const PreparedProgram> ChosenProgramCache::Find(
    uint64_t of, const std::vector<hlsl::MacroChoice>& choices, const cache::Call& call) {
  const std::string key = KeyOf(of, choices);
  const MutexLock lock(mutex_);
  // A call that may not write leaves no trace, and the order of use would be one.
  const auto* const found =
      call.may_write ? chosen_.Find(std::string_view(key)) : chosen_.Peek(std::string_view(key));
  ++(found == nullptr ? misses_ : hits_);
  return found == nullptr ? nullptr : *found;
}

// Two threads that choose the same at once keep the one that came first.
void ChosenProgramCache::Keep(uint64_t of, const std::vector<hlsl::MacroChoice>& choices,
                              std::shared_ptr<const PreparedProgram> chosen) {
  std::string key = KeyOf(of, choices);
  const uint64_t bytes = BytesOf(*chosen, key);
  const MutexLock lock(mutex_);
  if (chosen_.Peek(std::string_view(key)) != nullptr) {
    return;
  }
  chosen_.Add(std::move(key), std::move(chosen), bytes);
  while (!chosen_.empty() && (chosen_.cost() > max_bytes_ || chosen_.size() > kMaxPrograms)) {
    chosen_.DropOldest();
  }
}

void ChosenProgramCache::Clear() {
  const MutexLock lock(mutex_);
  chosen_.Clear();
}

CacheUsage ChosenProgramCache::Usage() {
  const MutexLock lock(mutex_);
  return {.name = "programs by macros",
          .bytes = chosen_.cost(),
          .max_bytes = max_bytes_,
          .entries = chosen_.size(),
          .max_entries = kMaxPrograms,
          .hits = hits_,
          .misses = misses_};
}

}  // namespace kiln::compile
