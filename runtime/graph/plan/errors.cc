// SPDX-License-Identifier: MIT
#include "runtime/graph/plan/errors.h"

#include <utility>

#include <fmt/format.h>

namespace kiln::graph {

// Names are copied out of the rows: errors outlive the frame whose declarations they speak of.
void AddError(const Declarations& rows, std::string_view code, const ErrorNames& names,
              std::string_view detail, std::vector<GraphError>& errors) {
  // A frame with so many errors has one mistake that repeats itself (spec/graph 3.4).
  constexpr size_t kMaxErrors = 32;
  if (errors.size() >= kMaxErrors) {
    return;
  }
  GraphError error;
  error.code = code;
  error.message = fmt::format("{}:", code);
  const auto list = [&](std::string_view word, std::span<const uint32_t> ids, bool versions,
                        std::vector<std::string>& out) {
    for (size_t i = 0; i < ids.size(); ++i) {
      out.emplace_back(versions ? rows.VersionName(ids[i]) : rows.PassName(ids[i]));
      error.message += i == 0 ? fmt::format(" {}{} '{}'", word, ids.size() > 1 ? "s" : "", out[i])
                              : fmt::format(" and '{}'", out[i]);
    }
  };
  list("version", names.versions, true, error.resources);
  if (!names.versions.empty() && !names.passes.empty()) {
    error.message += " in";
  }
  list("pass", names.passes, false, error.passes);
  if (!names.passes.empty()) {
    error.where = rows.pass_notes[names.passes.front()].where;
  }
  error.message += fmt::format(" {}", detail);
  errors.push_back(std::move(error));
}

}  // namespace kiln::graph
