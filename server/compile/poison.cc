// SPDX-License-Identifier: MIT
// Inputs that ended the compiler three times (spec/daemon 12): the record that says so, and what
// its requester is told.
#include "server/compile/poison.h"

#include <fmt/format.h>

#include "cache/record.h"

namespace kiln::compile {

// Nothing is known of the input but its key: what would have been read or made of it was never
// found out.
cache::Item PoisonItem(const cache::Key& key) {
  if (key.level == cache::Level::kModule) {
    return cache::ModuleItem(
        key.space, key.id,
        {.kind = cache::RecordKind::kPoison, .products = {}, .semantic_id = {}, .build_id = {}});
  }
  return cache::RecordItem(key.level, key.space, key.id,
                           {.kind = cache::RecordKind::kPoison,
                            .products = {},
                            .live_options = {},
                            .layout_hash = {},
                            .state_id = {},
                            .limits = {},
                            .build_id = {}});
}

PlacedDiagnostic PoisonDiagnostic(std::string_view what) {
  PlacedDiagnostic diagnostic;
  // The reason of an error and no code of the language: the sources may be right.
  diagnostic.code = "INPUT_POISON";
  diagnostic.name = "input-poison";
  diagnostic.message =
      fmt::format("{} ended the compiler three times, or took too long, and is left alone", what);
  diagnostic.notes.emplace_back(
      "help: --retry-failed tries it once more, 'kiln cache gc --failed' forgets it; it is a bug "
      "of kiln");
  return diagnostic;
}

}  // namespace kiln::compile
