// SPDX-License-Identifier: MIT
// What the pages of `kiln dashboard` may ask: a path and its query -> JSON, by calls of the client
// with the rights of whoever runs the command. Every row only looks; none changes the daemon.
// See spec/cli 6.15
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "client/cli/global.h"
#include "client/client.h"
#include "compiler/base/mutex.h"
#include "compiler/base/result.h"

namespace kiln::cli {

using PageQuery = std::multimap<std::string, std::string>;

// Calls may come from any thread.
class PageApi {
 public:
  using Json = nlohmann::ordered_json;

  // Both outlive it.
  PageApi(const Global& global, client::Client& client) : global_(global), client_(client) {}

  // `name`: what follows /api/v1/. Errors: kNotFound for a name that is none; kInvalidArgument for
  // a query that lacks something; those of the daemon.
  Result<Json> Answer(const std::string& name, const PageQuery& query);

 private:
  Result<Json> Overview() KILN_EXCLUDES(overview_mutex_);
  Result<Json> AskOverview();
  Result<Json> Batch(const PageQuery& query);
  Result<Json> Cache();
  Result<Json> Programs();
  Result<Json> Program(const PageQuery& query) KILN_EXCLUDES(project_mutex_);
  Result<Json> Variants(const PageQuery& query) KILN_EXCLUDES(project_mutex_);
  Result<Json> Latest(const PageQuery& query);
  Result<Json> Explain(const PageQuery& query) KILN_EXCLUDES(project_mutex_);
  Result<Json> Inspect(const PageQuery& query) KILN_EXCLUDES(project_mutex_);

  const Global& global_;
  client::Client& client_;
  // All pages share one look at the daemon, which is taken once in a while: fifty pages that are
  // open ask it no more often than one.
  Mutex overview_mutex_;
  std::optional<Json> overview_ KILN_GUARDED_BY(overview_mutex_);
  std::chrono::steady_clock::time_point looked_ KILN_GUARDED_BY(overview_mutex_);
  // Reading a project connects anew and may start a daemon, as its verbs do: one at a time.
  Mutex project_mutex_;
};

}  // namespace kiln::cli
