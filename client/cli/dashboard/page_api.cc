// SPDX-License-Identifier: MIT
#include "client/cli/dashboard/page_api.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "client/cli/dashboard/page_json.h"
#include "client/cli/project/project.h"
#include "client/cli/variant/variant.h"

namespace kiln::cli {
namespace {

using page::ListOf;
using Json = PageApi::Json;

constexpr std::chrono::milliseconds kOverviewAge{900};
constexpr size_t kShownItems = 200;  // of a batch and of one kind
constexpr uint32_t kVariantsPerPage = 100;
constexpr uint32_t kMostLatest = 200;

Error Wrong(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "USAGE"};
}

Result<std::string> Named(const PageQuery& query, const std::string& name) {
  const auto found = query.find(name);
  if (found == query.end() || found->second.empty()) {
    return Wrong(fmt::format("the query has no '{}'", name));
  }
  return found->second;
}

std::string NamedOr(const PageQuery& query, const std::string& name) {
  const auto found = query.find(name);
  return found == query.end() ? std::string() : found->second;
}

// "program=rock&o=fog=true&o=lights=4": what the command line would say with -o. A program of the
// manifest and never a file: what a page says leads to no other path.
Result<VariantArguments> VariantOf(const Global& global, const PageQuery& query) {
  VariantArguments arguments;
  KILN_TRY(const std::string program, Named(query, "program"));
  KILN_TRY(const project::Manifest manifest, LoadManifest(global));
  KILN_TRY_VOID(ProgramNamed(manifest, program));
  arguments.what = {program};
  const auto [begin, end] = query.equal_range("o");
  std::transform(begin, end, std::back_inserter(arguments.options),
                 [](const auto& row) { return row.second; });
  return arguments;
}

// The first items of one kind: a batch may have a million.
Result<Json> ItemsOf(client::Client& client, const std::string& batch, const std::string& kind) {
  Json items = Json::array();
  const Result<void> all =
      client.EachBatchItem(batch, {kind}, [&](const client::BatchItem& item) -> Result<void> {
        items.push_back(page::JsonOf(item));
        // An error of this side ends the call when there are enough.
        return items.size() < kShownItems
                   ? Result<void>()
                   : Result<void>(
                         Error{.code = ErrorCode::kCancelled, .context = {}, .reason = {}});
      });
  if (!all.ok() && items.size() < kShownItems) {
    return all.error();
  }
  return Result<Json>(std::move(items));
}

// A program of the manifest with its declared options and its space.
struct ProgramSpace {
  client::OptionList declared;
  client::ProgramSpace space;  // empty if the sources are wrong
};

Result<ProgramSpace> SpaceNamed(const Global& global, client::Client& client,
                                const std::string& name) {
  KILN_TRY(const project::Manifest manifest, LoadManifest(global));
  KILN_TRY(const project::ManifestProgram* program, ProgramNamed(manifest, name));
  KILN_TRY(const LoadedProgram loaded, LoadProgram(manifest, *program));
  ProgramSpace result;
  KILN_TRY(result.declared, Declared(client, loaded.program));
  if (!client::HasErrors(result.declared)) {
    KILN_TRY(result.space, SpaceOf(loaded, result.declared));
  }
  return Result<ProgramSpace>(std::move(result));
}

Json AxesOf(const client::ProgramSpace& space) {
  Json axes = Json::array();
  for (const client::Axis& axis : space.axes) {
    Json values = Json::array();
    for (const client::Option& value : axis.values) {
      values.push_back(client::WordOf(value));
    }
    axes.push_back({{"name", axis.name}, {"all", axis.all}, {"values", values}});
  }
  return axes;
}

}  // namespace

Result<Json> PageApi::Answer(const std::string& name, const PageQuery& query) {
  using Handler = Result<Json> (*)(PageApi&, const PageQuery&);
  struct Row {
    std::string_view name;
    Handler handler;
  };
  static constexpr std::array<Row, 9> kRows{{
      {"overview", [](PageApi& api, const PageQuery&) { return api.Overview(); }},
      {"batch", [](PageApi& api, const PageQuery& asked) { return api.Batch(asked); }},
      {"cache", [](PageApi& api, const PageQuery&) { return api.Cache(); }},
      {"programs", [](PageApi& api, const PageQuery&) { return api.Programs(); }},
      {"program", [](PageApi& api, const PageQuery& asked) { return api.Program(asked); }},
      {"variants", [](PageApi& api, const PageQuery& asked) { return api.Variants(asked); }},
      {"latest", [](PageApi& api, const PageQuery& asked) { return api.Latest(asked); }},
      {"explain", [](PageApi& api, const PageQuery& asked) { return api.Explain(asked); }},
      {"inspect", [](PageApi& api, const PageQuery& asked) { return api.Inspect(asked); }},
  }};
  const auto row = std::ranges::find(kRows, name, &Row::name);
  if (row == kRows.end()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = fmt::format("there is no /api/v1/{}", name),
                 .reason = {}};
  }
  return row->handler(*this, query);
}

Result<Json> PageApi::Overview() {
  const MutexLock lock(overview_mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!overview_.has_value() || now - looked_ > kOverviewAge) {
    overview_.reset();
    KILN_TRY(overview_, AskOverview());
    looked_ = now;
  }
  return *overview_;
}

Result<Json> PageApi::AskOverview() {
  KILN_TRY(const client::ServerInfo info, client_.Ping(client::kPing));
  KILN_TRY(const client::ServerStatus status, client_.Status());
  Json overview{{"info", page::JsonOf(info)},
                {"status", page::JsonOf(status)},
                {"jobs", Json::array()},
                {"batches", Json::array()}};
  // A daemon that starts has neither yet, and says so itself.
  if (const auto jobs = client_.Jobs(); jobs.ok()) {
    overview["jobs"] = ListOf(std::span(*jobs).first(std::min(jobs->size(), kShownItems)));
  }
  if (const auto batches = client_.ListBatches({}); batches.ok()) {
    overview["batches"] = ListOf(std::span(*batches).first(std::min(batches->size(), kShownItems)));
  }
  return Result<Json>(std::move(overview));
}

Result<Json> PageApi::Batch(const PageQuery& query) {
  KILN_TRY(const std::string id, Named(query, "id"));
  KILN_TRY(const client::BatchInfo batch, client_.GetBatch(id));
  Json json{{"batch", page::JsonOf(batch)}};
  for (const char* const kind : {"failed", "slow"}) {
    KILN_TRY(json[kind], ItemsOf(client_, id, kind));
  }
  // Nobody remembers the causes of an old batch; the rest is told all the same.
  const auto explained = client_.Explain(client::Client::ExplainBatch{id});
  json["explained"] = explained.ok() ? page::JsonOf(*explained) : Json();
  return Result<Json>(std::move(json));
}

Result<Json> PageApi::Cache() {
  KILN_TRY(const client::CacheStats stats, client_.CacheStatistics());
  KILN_TRY(const std::vector<client::PinnedSet> pins, client_.Pins());
  return Json{{"stats", page::JsonOf(stats)}, {"pins", ListOf(pins)}};
}

// Without a manifest there are none, and the page says how to come to some.
Result<Json> PageApi::Programs() {
  const Result<project::Manifest> manifest = LoadManifest(global_);
  if (!manifest.ok()) {
    return Json{
        {"project", nullptr}, {"problem", manifest.error().context}, {"programs", Json::array()}};
  }
  Json programs = Json::array();
  for (const project::ManifestProgram& program : manifest->programs) {
    programs.push_back({{"name", program.name},
                        {"sources", program.sources},
                        {"pipeline", program.pipeline},
                        {"axes", program.axes.size()},
                        {"family", program.family},
                        {"tags", program.tags}});
  }
  return Json{{"project", manifest->name}, {"programs", programs}};
}

Result<Json> PageApi::Program(const PageQuery& query) {
  const MutexLock lock(project_mutex_);
  KILN_TRY(const std::string name, Named(query, "program"));
  KILN_TRY(const ProgramSpace named, SpaceNamed(global_, client_, name));
  Json json{{"program", name},
            {"options", ListOf(named.declared.options)},
            {"diagnostics", ListOf(named.declared.diagnostics)},
            {"axes", AxesOf(named.space)},
            {"count", nullptr}};
  if (!client::HasErrors(named.declared)) {
    KILN_TRY(const client::VariantCount count,
             client_.CountVariants(named.space, NamedOr(query, "where")));
    json["count"] = page::JsonOf(count);
    json["mistakes"] = ListOf(count.diagnostics);
  }
  return Result<Json>(std::move(json));
}

Result<Json> PageApi::Variants(const PageQuery& query) {
  const MutexLock lock(project_mutex_);
  KILN_TRY(const std::string name, Named(query, "program"));
  KILN_TRY(const ProgramSpace named, SpaceNamed(global_, client_, name));
  if (client::HasErrors(named.declared)) {
    return Json{
        {"rows", Json::array()}, {"next", ""}, {"diagnostics", ListOf(named.declared.diagnostics)}};
  }
  KILN_TRY(const client::VariantPage page,
           client_.ListVariants(named.space, NamedOr(query, "where"), kVariantsPerPage,
                                NamedOr(query, "page")));
  return Json{{"rows", ListOf(page.rows)}, {"next", page.next}};
}

Result<Json> PageApi::Latest(const PageQuery& query) {
  const std::string text = NamedOr(query, "count");
  uint32_t count = kMostLatest;
  if (!text.empty() && (std::from_chars(text.data(), text.data() + text.size(), count).ptr !=
                            text.data() + text.size() ||
                        count == 0 || count > kMostLatest)) {
    return Wrong(fmt::format("'count' is a number from 1 to {}", kMostLatest));
  }
  KILN_TRY(const client::ExplainReply reply, client_.Explain(client::Client::ExplainLast{count}));
  return page::JsonOf(reply);
}

Result<Json> PageApi::Explain(const PageQuery& query) {
  const MutexLock lock(project_mutex_);
  KILN_TRY(const VariantArguments arguments, VariantOf(global_, query));
  KILN_TRY(const NamedVariant variant, NameVariant(global_, arguments));
  if (client::HasErrors(variant.declared)) {
    return Json{{"records", Json::array()}, {"diagnostics", ListOf(variant.declared.diagnostics)}};
  }
  KILN_TRY_VOID(CheckOptions(variant));
  KILN_TRY(
      const client::ExplainReply reply,
      client_.Explain(client::Client::ExplainVariant{
          .project = variant.project, .program = variant.program, .options = variant.options}));
  return page::JsonOf(reply);
}

// Views of a variant that was compiled; one that was not is NOT_FOUND, and the page says so.
Result<Json> PageApi::Inspect(const PageQuery& query) {
  const MutexLock lock(project_mutex_);
  KILN_TRY(const VariantArguments arguments, VariantOf(global_, query));
  KILN_TRY(const std::string view, Named(query, "view"));
  KILN_TRY(const NamedVariant variant, NameVariant(global_, arguments));
  if (client::HasErrors(variant.declared)) {
    return Json{{"views", Json::array()}, {"diagnostics", ListOf(variant.declared.diagnostics)}};
  }
  KILN_TRY_VOID(CheckOptions(variant));
  KILN_TRY(const std::vector<client::InspectedView> views,
           client_.Inspect(client::Client::InspectVariant{.program = variant.program,
                                                          .options = variant.options},
                           std::span(&view, 1)));
  Json list = Json::array();
  for (const client::InspectedView& one : views) {
    list.push_back(
        {{"view", one.view}, {"target", one.target}, {"text", one.text}, {"json", one.json}});
  }
  return Json{{"views", list}};
}

}  // namespace kiln::cli
