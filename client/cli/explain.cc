// SPDX-License-Identifier: MIT
// kiln explain: why a request is or was a hit or a miss, as the daemon remembers it; and what a
// diagnostic or an option is about.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/batch_run.h"
#include "client/cli/explain_topics.h"
#include "client/cli/explanation.h"
#include "client/cli/json_line.h"
#include "client/cli/print.h"
#include "client/cli/verbs.h"

namespace kiln::cli {
namespace {

Error Usage(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "USAGE"};
}

bool IsKey(const std::string& text) { return ParseHash128(text).has_value(); }

void PrintBatch(const Global& global, const client::ExplainReply& explained) {
  uint64_t misses = 0;
  for (const client::ExplainReply::CauseCount& row : explained.causes) {
    misses += row.count;
  }
  if (global.json) {
    for (const client::ExplainReply::CauseCount& row : explained.causes) {
      const nlohmann::ordered_json object{
          {"v", 1}, {"type", "cause"}, {"cause", row.cause}, {"count", row.count}};
      PrintLine(object);
    }
    for (const client::Explanation& record : explained.records) {
      PrintExplanation(global, record, {});
    }
    return;
  }
  Print("{} misses of {}\n", misses, explained.results);
  for (const client::ExplainReply::CauseCount& row : explained.causes) {
    const auto example =
        std::find_if(explained.records.begin(), explained.records.end(),
                     [&](const client::Explanation& record) { return record.cause == row.cause; });
    std::string text;
    if (example != explained.records.end() && !example->changes.empty()) {
      const client::Explanation::Change& change = example->changes.front();
      text = fmt::format("   {} {} -> {}{}", change.field, change.before, change.after,
                         change.detail.empty() ? "" : " (" + change.detail + ")");
    } else if (example != explained.records.end()) {
      text = example->detail.empty() ? "" : "   " + example->detail;
    }
    Print("  {:>6}  {:<16}{}\n", row.count, row.cause, text);
  }
}

// `wrong` is set if the sources have errors, which were shown.
Result<client::ExplainReply> Ask(const Global& global, const ExplainArguments& arguments,
                                 bool& wrong) {
  if (arguments.variant.what.size() == 1 && IsKey(arguments.variant.what[0])) {
    KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
    return connected.client->Explain(client::Client::ExplainKey{arguments.variant.what[0]});
  }
  if (!arguments.variant.what.empty()) {
    KILN_TRY(NamedVariant variant, NameVariant(global, arguments.variant));
    if (ShowDiagnostics(global, variant.declared.diagnostics, variant.program.sources,
                        variant.program.name) != 0) {
      wrong = true;
      return client::ExplainReply();
    }
    KILN_TRY_VOID(CheckOptions(variant));
    return variant.connected.client->Explain(
        client::Client::ExplainVariant{.project = variant.project,
                                       .program = std::move(variant.program),
                                       .options = std::move(variant.options)});
  }
  KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
  if (!arguments.batch.empty()) {
    KILN_TRY(const std::string id, BatchNamed(*connected.client, arguments.batch));
    return connected.client->Explain(client::Client::ExplainBatch{id});
  }
  return connected.client->Explain(client::Client::ExplainLast{arguments.last});
}

}  // namespace

int RunExplain(const Global& global, const ExplainArguments& arguments) {
  if (!arguments.code.empty() || !arguments.option.empty()) {
    const bool one = arguments.code.empty() != arguments.option.empty() &&
                     arguments.batch.empty() && arguments.last == 0 &&
                     arguments.variant.what.empty() == arguments.option.empty();
    if (!one) {
      return Fail(global, Usage("name one of: --code CODE, --option NAME and a program"));
    }
    return arguments.option.empty() ? ExplainCode(global, arguments.code)
                                    : ExplainOption(global, arguments.option, arguments.variant);
  }
  const int asked = (arguments.variant.what.empty() ? 0 : 1) + (arguments.batch.empty() ? 0 : 1) +
                    (arguments.last == 0 ? 0 : 1);
  if (asked != 1) {
    return Fail(global, Usage("name one of: a program or a key, --batch ID, --last N, --code CODE, "
                              "--option NAME and a program"));
  }
  bool wrong = false;
  const Result<client::ExplainReply> explained = Ask(global, arguments, wrong);
  if (!explained.ok()) {
    return Fail(global, explained.error());
  }
  if (!arguments.batch.empty()) {
    PrintBatch(global, *explained);
  } else {
    const bool several = explained->records.size() > 1 || arguments.last != 0;
    for (const client::Explanation& record : explained->records) {
      PrintExplanation(
          global, record,
          several ? fmt::format("{} {}", record.program, record.target) : std::string());
    }
  }
  NoteResult("explain", 0, {});
  return wrong ? kWrongSource : kSuccess;
}

}  // namespace kiln::cli
