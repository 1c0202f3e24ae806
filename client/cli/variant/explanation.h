// SPDX-License-Identifier: MIT
// Explanations of the cache as text and as JSON. See spec/cli 6.6, 7, spec/cache 11.3, 11.4
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cache/explain/explain.h"
#include "client/cli/global.h"
#include "client/types.h"

namespace kiln::cli {

// What a daemon would have sent of it.
client::Explanation ExplanationOf(const cache::Explanation& explanation);

// "hit (local, 2 h old): same live options fog; not consulted here: lights"
// "miss: source_changed   rock.rpl 3f2a11c0… → 91c07be4…, module re-parsed"
// Several lines for several changes, without a newline at the end.
std::string TextOf(const client::Explanation& explanation);

// The `explain` object of docs/schema.
nlohmann::ordered_json JsonOf(const client::Explanation& explanation);

// Prints one, as text or as an `explain` object. `subject` goes before the text, if it is not
// empty.
void PrintExplanation(const Global& global, const client::Explanation& explanation,
                      const std::string& subject);

}  // namespace kiln::cli
