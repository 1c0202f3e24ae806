// SPDX-License-Identifier: MIT
// `kiln explain` (spec/cli 6.6, spec/cache 11): why a variant, a key, a batch or the latest
// requests were hits or misses, and what a code or an option means. A question never compiles
// anything.
#include "client/cli/variant/explain.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/batch/batch_run.h"
#include "client/cli/failure.h"
#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/session.h"
#include "client/cli/variant/explain_topics.h"
#include "client/cli/variant/explanation.h"
#include "client/includes/include_set.h"

namespace kiln::cli {
namespace {

struct ExplainArguments {
  VariantArguments variant;  // `what` may be one key too
  std::string batch;         // id, or how it begins
  bool misses = false;       // of the batch; there is nothing else to tell
  uint32_t last = 0;         // so many of the latest requests
  std::string code;          // of a diagnostic
  std::string option;        // of the program
};

Error Usage(std::string text) {
  return {.code = ErrorCode::kInvalidArgument, .context = std::move(text), .reason = "USAGE"};
}

bool IsKey(const std::string& text) { return ParseHash128(text).has_value(); }

// The counts are exact, whatever the number of records that came along.
void PrintBatch(const Global& global, const client::ExplainReply& explained) {
  // Causes are counted by the daemon over all misses of the batch. Records are examples, of which
  // it keeps some.
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
    // The first change of the first record of that cause: the field and its two values say more
    // than the cause.
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

// `wrong` is set if the sources have errors, which were shown. Each branch returns the same reply,
// so the printing does not know what was asked but for a batch.
Result<client::ExplainReply> Ask(const Global& global, const ExplainArguments& arguments,
                                 bool& wrong) {
  // 32 hex digits are a key and can be no name of a file or of a program that anybody would choose.
  if (arguments.variant.what.size() == 1 && IsKey(arguments.variant.what[0])) {
    KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
    return connected.client->Explain(client::Client::ExplainKey{arguments.variant.what[0]});
  }
  if (!arguments.variant.what.empty()) {
    KILN_TRY(NamedVariant variant, NameVariant(global, arguments.variant));
    if (ShowDiagnostics(global, variant.declared.diagnostics, client::TextsOf(variant.program),
                        variant.program.name) != 0) {
      wrong = true;
      return client::ExplainReply();
    }
    // Explaining compiles nothing, so the daemon would not say that a value is wrong.
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

int RunExplain(const Global& global, const ExplainArguments& arguments) {
  if (!arguments.code.empty() || !arguments.option.empty()) {
    // A code stands alone; an option needs its program and nothing else.
    const bool one = arguments.code.empty() != arguments.option.empty() &&
                     arguments.batch.empty() && arguments.last == 0 &&
                     arguments.variant.what.empty() == arguments.option.empty();
    if (!one) {
      return Fail(global, Usage("name one of: --code CODE, --option NAME and a program"));
    }
    return arguments.option.empty() ? ExplainCode(global, arguments.code)
                                    : ExplainOption(global, arguments.option, arguments.variant);
  }
  // The forms exclude each other. The parser cannot say so in words that help, so it is checked
  // here.
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
    // One record answers a question that named its subject; several need a name each.
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

}  // namespace

void AddExplain(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* explain = AddVerb(app, line,
                              {"explain", "Why a hit, why a miss",
                               "  kiln explain rock/forward -o fog\n"
                               "  kiln explain 0aef25953033d800bca6c36a9de0ca3d\n"
                               "  kiln explain --batch 7c1e --misses\n"
                               "  kiln explain --code RPL6022\n"
                               "  kiln explain --option fog rock/forward"},
                              [&line, arguments] { return RunExplain(line.global, *arguments); });
  AddVariant(*explain, arguments->variant, "-o");
  explain->add_option("--code", arguments->code,
                      "What a diagnostic or a reason means, such as RPL6022 or QUEUE_FULL");
  explain->add_option("--option", arguments->option,
                      "Who reads this option of the program, and what it costs");
  explain->add_option("--batch", arguments->batch, "What a batch missed, by cause");
  explain->add_flag("--misses", arguments->misses, "With --batch: misses by cause, as without it");
  explain->add_option("--last", arguments->last, "The latest requests of the daemon")
      ->expected(0, 1)
      ->default_str("1")
      ->check(CLI::Range(1, 1000));
}

}  // namespace kiln::cli
