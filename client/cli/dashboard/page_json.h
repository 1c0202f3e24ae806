// SPDX-License-Identifier: MIT
// What the client knows of a daemon -> JSON for the pages of `kiln dashboard`, by the names that it
// has here. Numbers are numbers; counts that may exceed 64 bits are decimal text.
#pragma once

#include <nlohmann/json.hpp>

#include "client/cli/variant/explanation.h"
#include "client/types.h"

namespace kiln::cli::page {

nlohmann::ordered_json JsonOf(const client::ServerInfo& info);
nlohmann::ordered_json JsonOf(const client::ServerStatus& status);
nlohmann::ordered_json JsonOf(const client::JobRow& job);
nlohmann::ordered_json JsonOf(const client::BatchInfo& batch);
nlohmann::ordered_json JsonOf(const client::BatchItem& item);
nlohmann::ordered_json JsonOf(const client::CacheStats& stats);
nlohmann::ordered_json JsonOf(const client::PinnedSet& pin);
nlohmann::ordered_json JsonOf(const client::OptionInfo& option);
nlohmann::ordered_json JsonOf(const client::VariantCount& count);
nlohmann::ordered_json JsonOf(const client::VariantRow& row);
nlohmann::ordered_json JsonOf(const client::ExplainReply& reply);
nlohmann::ordered_json JsonOf(const PlacedDiagnostic& diagnostic);
using cli::JsonOf;  // of explanations: as --json has them

template <class Rows>
nlohmann::ordered_json ListOf(const Rows& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    list.push_back(JsonOf(row));
  }
  return list;
}

}  // namespace kiln::cli::page
