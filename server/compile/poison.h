// SPDX-License-Identifier: MIT
// Inputs that ended a process three times: the record that says so, and what their askers read.
// Such a record stands for a day and gives way to a result. spec/daemon 12.3, 14.9; spec/cache 4.2
#pragma once

#include <cstdint>
#include <string_view>

#include "cache/store.h"
#include "compiler/diag/place.h"

namespace kiln::compile {

// Whether a build believes what is stored of its inputs, or tries them again.
enum class PoisonPolicy : uint8_t { kStands, kIgnored };
inline PoisonPolicy PoisonFor(bool retry_failed) {
  return retry_failed ? PoisonPolicy::kIgnored : PoisonPolicy::kStands;
}

// Requires: a key of a module or a signature.
cache::Item PoisonItem(const cache::Key& key);

// `what`: "source 'a.rpl'".
PlacedDiagnostic PoisonDiagnostic(std::string_view what);

}  // namespace kiln::compile
