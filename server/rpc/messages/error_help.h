// SPDX-License-Identifier: MIT
// What to do about an error, by its reason: one sentence for ErrorDetail.help. See spec/daemon 2.4
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace kiln::rpc {

// Sorted by reason. Reasons whose message says it all have no row.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kErrorHelp = {{
    {"BAD_PAGE_TOKEN", "begin again without a page token"},
    {"BAD_PATH", "name sources by relative paths with '/', without '.' and '..'"},
    {"BATCH_FORGOTTEN", "start the batch again: what is done is found"},
    {"BUFFERS_FULL", "repeat the call after the time that is named"},
    {"BUG", "report it with the trace id"},
    {"CONTENT_LOST", "repeat the call"},
    {"DAMAGED", "fetch it again, or build it again"},
    {"DEADLINE", "repeat the call with more time: work that is done is kept"},
    {"DRAINING", "repeat the call: the daemon is about to be replaced"},
    {"FENCED", "open the session again"},
    {"LIMIT_EXCEEDED", "send less at once: GetServerInfo lists the limits"},
    {"LIMIT_VARIANTS",
     "fix an axis, exclude combinations, raise the budget, or let it be explored"},
    {"NOT_BUILT_IN", "GetServerInfo.features lists what this build has"},
    {"NOT_YOURS", "choose another name, or ask whoever it belongs to, or an admin"},
    {"NO_TOKEN", "send 'authorization: Bearer' with a token of 'kiln token create'"},
    {"NO_UPSTREAM", "configure upstream.url, or ask for less durability"},
    {"OUT_OF_MEMORY", "ask for less at once, or give the daemon more memory"},
    {"QUEUE_FULL", "repeat the call after the time that is named"},
    {"QUOTA", "repeat the call after the time that is named"},
    {"SCOPE", "ask for a token with the scope that is named, or let a build that has it run first"},
    {"SLOW_READER", "read the stream as it comes, or ask for less"},
    {"SOURCES_MISSING", "upload what is listed with PutSources, then repeat the call"},
    {"STARTING", "repeat the call: the daemon opens its store"},
    {"UNKNOWN_PACK", "build the pack again"},
}};

constexpr std::string_view HelpFor(std::string_view reason) {
  for (const auto& [word, help] : kErrorHelp) {
    if (word == reason) {
      return help;
    }
  }
  return {};
}

}  // namespace kiln::rpc
