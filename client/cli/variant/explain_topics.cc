// SPDX-License-Identifier: MIT
// Three kinds of topics beside variants: codes of diagnostics, reasons of errors, and options of a
// program. The first two are pages that this command carries; the third asks the daemon and
// compiles one variant for each value, with all other options as given.
#include "client/cli/variant/explain_topics.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/failure.h"
#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/project/project.h"
#include "client/cli/variant/code_pages.h"
#include "client/includes/include_set.h"
#include "compiler/base/reasons.h"
#include "compiler/base/text/closest_name.h"
#include "compiler/diag/diagnostic.h"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostValues = 16;  // of an option are built

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// "rpl6022" and "operator-types" mean the same. Codes are written in capitals and names in small
// letters; both are accepted as they stand.
std::optional<Code> CodeNamed(const std::string& text) {
  const std::string upper = Upper(text);
  for (const Code code : AllCodes()) {
    if (CodeText(code) == upper || CodeName(code) == text) {
      return code;
    }
  }
  return std::nullopt;
}

// Codes, their names and the reasons of errors are all accepted, so all of them are offered.
Error NoSuchCode(const std::string& text) {
  ClosestName search(text);
  for (const Code code : AllCodes()) {
    search.Offer(CodeText(code));
    search.Offer(CodeName(code));
  }
  for (const Reason& reason : AllReasons()) {
    search.Offer(reason.word);
  }
  const std::string_view closest = search.best();
  return {.code = ErrorCode::kNotFound,
          .context = fmt::format("there is no diagnostic '{}'{}", text,
                                 closest.empty() ? "" : fmt::format("; did you mean {}?", closest)),
          .reason = "UNKNOWN_CODE"};
}

// The page of the code; those of the layout engine share one of their own.
std::string PageOf(Code code) {
  const std::span<const CodePage> pages = CodePages();
  const auto page = std::ranges::find(pages, CodeText(code), &CodePage::code);
  return page != pages.end()
             ? std::string(page->text)
             : fmt::format("# {}: {}\n\n*{}*: {}\n\nSee docs/LAYOUT.md.\n", CodeText(code),
                           CodeName(code), SeverityName(CodeSeverity(code)), CodeTemplate(code));
}

// "QUEUE_FULL", as errors name it.
int ExplainReason(const Global& global, const Reason& reason) {
  if (global.json) {
    PrintLine(Json{{"v", 1},
                   {"type", "reason"},
                   {"reason", reason.word},
                   {"status", reason.status},
                   {"repeat", RepeatText(reason.repeat)},
                   {"meaning", reason.meaning},
                   {"help", reason.help.empty() ? Json() : Json(reason.help)}});
  } else {
    Print("{}\n  {}\n", reason.word, reason.meaning);
    if (!reason.help.empty()) {
      Print("  what to do  {}\n", reason.help);
    }
    Print("  status      {}\n  repeat      {}\n", reason.status, RepeatText(reason.repeat));
  }
  NoteResult("explain", 0, {});
  return kSuccess;
}

// What one value of the option makes of the program, by target.
struct Cost {
  std::string value;
  bool is_default = false;
  std::map<std::string, uint64_t> bytes;  // of code; none if it does not compile
};

// Everything that is known of an option.
struct Topic {
  client::OptionInfo option;
  std::optional<double> factor;  // of the manifest's space
  std::string variants;
  std::vector<Cost> costs;
};

// Only values that would be built are compiled.
std::vector<client::Option> ValuesOf(const client::OptionInfo& option, const client::Axis* axis) {
  std::vector<client::Option> values;
  const auto add = [&](auto value) {
    values.push_back({.name = option.name, .value = std::move(value), .scope = option.scope});
  };
  // All values where there are few; of a number those of its axis, or the default alone.
  if (option.type == "flag") {
    add(false);
    add(true);
  } else if (option.type == "enum") {
    std::ranges::for_each(option.values, add);
  } else if (axis != nullptr && !axis->all) {
    values = axis->values;
  } else {
    values.push_back(option.default_value);
  }
  values.resize(std::min(values.size(), kMostValues));
  return values;
}

Result<Cost> CostOf(const NamedVariant& variant, const client::OptionInfo& info,
                    const client::Option& value) {
  Cost cost{.value = client::ValueText(value),
            .is_default = value.value == info.default_value.value};
  std::vector<client::Option> options = variant.options;
  options.push_back(value);
  // Each value is compiled with the other options as they were given. Most are in the cache, and
  // equal code costs nothing twice.
  KILN_TRY(const client::Outcome outcome,
           variant.connected.client->Compile(variant.program, options, {}));
  for (const client::Artifact& artifact : outcome.artifacts) {
    uint64_t& bytes = cost.bytes[artifact.target];
    for (const client::StageCode& code : artifact.code) {
      bytes += code.digest.size;
    }
  }
  return cost;
}

// The space of a program of the manifest; nothing for files. A file that belongs to no project has
// no axes, hence no factor.
Result<std::optional<client::ProgramSpace>> SpaceNamed(const Global& global,
                                                       const NamedVariant& variant) {
  if (variant.project.empty()) {
    return std::optional<client::ProgramSpace>();
  }
  KILN_TRY(const project::Manifest manifest, LoadManifest(global));
  KILN_TRY(const project::ManifestProgram* program, ProgramNamed(manifest, variant.program.name));
  KILN_TRY(const LoadedProgram loaded, LoadProgram(manifest, *program));
  KILN_TRY(client::ProgramSpace space, SpaceOf(loaded, variant.declared));
  return std::optional(std::move(space));
}

// Two kinds of questions: what the daemon knows of the option, and what its values cost.
Result<Topic> Ask(const Global& global, const std::string& name, const NamedVariant& variant) {
  const auto info = std::ranges::find(variant.declared.options, name, &client::OptionInfo::name);
  if (info == variant.declared.options.end()) {
    return Error{.code = ErrorCode::kNotFound,
                 .context = fmt::format("'{}' has no option '{}'; see 'kiln options'",
                                        variant.program.name, name),
                 .reason = "UNKNOWN_OPTION"};
  }
  Topic topic{.option = *info};
  KILN_TRY(const std::optional<client::ProgramSpace> space, SpaceNamed(global, variant));
  const client::Axis* axis = nullptr;
  if (space.has_value()) {
    const auto found = std::ranges::find(space->axes, name, &client::Axis::name);
    axis = found == space->axes.end() ? nullptr : &*found;
    KILN_TRY(const client::VariantCount count, variant.connected.client->CountVariants(*space, ""));
    const auto row = std::ranges::find(count.axes, name, &client::AxisCount::name);
    // An option that is no axis is fixed and multiplies nothing.
    topic.factor = row == count.axes.end() ? 1.0 : row->factor;
    topic.variants = count.variants;
  }
  for (const client::Option& value : ValuesOf(*info, axis)) {
    KILN_TRY(Cost cost, CostOf(variant, *info, value));
    topic.costs.push_back(std::move(cost));
  }
  return topic;
}

std::string Joined(const std::vector<std::string>& words) {
  return words.empty() ? "nothing" : fmt::format("{}", fmt::join(words, " "));
}

void PrintText(const Topic& topic) {
  const client::OptionInfo& option = topic.option;
  Print("{}   {} {}, default {}, {}\n", option.name,
        option.scope == client::OptionScope::kInstance ? "instance" : "global", option.type,
        client::ValueText(option.default_value), option.declared_at);
  Print("  live in   {}\n  targets   {}\n", Joined(option.affects), Joined(option.targets));
  for (size_t i = 0; i < option.readers.size(); ++i) {
    Print("  {:<8}  {}\n", i == 0 ? "read by" : "", option.readers[i]);
  }
  if (topic.factor.has_value()) {
    Print("  factor    {:.1f} of {} variants\n", *topic.factor, topic.variants);
  }
  // Sizes are told as differences to the default, where the default is among the values and
  // compiles for that target.
  const auto base = std::ranges::find(topic.costs, true, &Cost::is_default);
  for (const Cost& cost : topic.costs) {
    Print("  {:<8}  {}", &cost == topic.costs.data() ? "bytes" : "", cost.value);
    for (const auto& [target, bytes] : cost.bytes) {
      Print("   {} {}", target, bytes);
      if (cost.is_default) {
        Print(" (default)");
      } else if (base != topic.costs.end() && base->bytes.contains(target)) {
        Print(" ({:+})", static_cast<int64_t>(bytes - base->bytes.at(target)));
      }
    }
    Print("{}\n", cost.bytes.empty() ? "   does not compile" : "");
  }
}

// The same facts as the text, under names that stay (spec/cli 7).
void PrintJson(const Topic& topic) {
  const client::OptionInfo& option = topic.option;
  Json values = Json::array();
  for (const Cost& cost : topic.costs) {
    values.push_back({{"value", cost.value}, {"default", cost.is_default}, {"bytes", cost.bytes}});
  }
  const Json object{
      {"v", 1},
      {"type", "option"},
      {"name", option.name},
      {"scope", option.scope == client::OptionScope::kInstance ? "instance" : "global"},
      {"kind", option.type},
      {"default", client::ValueText(option.default_value)},
      {"values", values},
      {"live_in", option.affects},
      {"factor", topic.factor.has_value() ? Json(*topic.factor) : Json()},
      {"targets", option.targets},
      {"readers", option.readers},
      {"declared_at", option.declared_at}};
  PrintLine(object);
}

}  // namespace

// The words of the page are those of the repository's documentation; nothing is asked of a daemon.
int ExplainCode(const Global& global, const std::string& text) {
  const std::optional<Code> code = CodeNamed(text);
  if (!code.has_value()) {
    if (const Reason* reason = FindReason(Upper(text)); reason != nullptr) {
      return ExplainReason(global, *reason);
    }
    return Fail(global, NoSuchCode(text));
  }
  const std::string page = PageOf(*code);
  if (global.json) {
    const Json object{{"v", 1},
                      {"type", "code"},
                      {"code", CodeText(*code)},
                      {"name", CodeName(*code)},
                      {"severity", SeverityName(CodeSeverity(*code))},
                      {"message", CodeTemplate(*code)},
                      {"page", page}};
    PrintLine(object);
  } else {
    Print("{}", Lines{page});
  }
  NoteResult("explain", 0, {});
  return kSuccess;
}

// Wrong sources are shown as by a compile.
int ExplainOption(const Global& global, const std::string& option,
                  const VariantArguments& arguments) {
  return RunTimed(global, "explain", [&]() -> Result<int> {
    KILN_TRY(const NamedVariant variant, NameVariant(global, arguments));
    if (ShowDiagnostics(global, variant.declared.diagnostics, client::TextsOf(variant.program),
                        variant.program.name) != 0) {
      return int{kWrongSource};
    }
    KILN_TRY(const Topic topic, Ask(global, option, variant));
    if (global.json) {
      PrintJson(topic);
    } else {
      PrintText(topic);
    }
    return int{kSuccess};
  });
}

}  // namespace kiln::cli
