// SPDX-License-Identifier: MIT
// `kiln options` (spec/cli 6.8): the option space of one program, with what each axis costs. Counts
// come from the daemon, which counts without enumerating (spec/daemon 6.4), so the verb is quick
// for any space. Only --list looks at single variants.
#include "client/cli/project/options.h"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/diagnostics_view.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/output/results.h"
#include "client/cli/project/project.h"
#include "client/cli/project/space_mistakes.h"
#include "client/cli/project/unread_axes.h"
#include "client/cli/session.h"
#include "client/includes/include_set.h"

namespace kiln::cli {
namespace {

struct OptionsArguments {
  std::string program;
  std::string where;      // expression; counts only variants where it is true
  bool values = false;    // one line for each value of an axis
  int64_t list = -1;      // rows of variants to show; below 0: none
  bool distinct = false;  // of these: one of those that have one result
};

// As many as fit into a reply without making it large; a longer list takes several calls.
constexpr uint32_t kRowsPerPage = 500;
constexpr uint64_t kListed = 20;               // unless --list says another number
constexpr uint64_t kMostLookedAt = 1'000'000;  // variants, when those of one result are folded

// One line of the table.
struct Line {
  const client::OptionInfo* option = nullptr;
  std::vector<std::string> values;  // of its axis; none: it is fixed
  std::string fixed;
  double factor = 1;
};

// "*" in the manifest means all values, which only the declaration knows. A number has no such list
// and must name its values.
std::vector<std::string> ValuesOf(const client::Axis& axis, const client::OptionInfo& option) {
  std::vector<std::string> values;
  if (axis.all && option.type == "flag") {
    return {"false", "true"};
  }
  if (axis.all) {
    return option.values;
  }
  for (const client::Option& value : axis.values) {
    values.push_back(client::WordOf(value));
  }
  return values;
}

// Lists are matched by name and not by place: declarations, fixed values, axes and counts each have
// their own order and may each lack an option. The result is sorted by name, so that two runs can
// be compared.
std::vector<Line> LinesOf(const client::OptionList& declared, const client::ProgramSpace& space,
                          const client::VariantCount& count) {
  std::vector<Line> lines;
  for (const client::OptionInfo& option : declared.options) {
    Line line{.option = &option, .values = {}, .fixed = client::WordOf(option.default_value)};
    // A value that the manifest fixes hides the declared default.
    if (const auto fixed =
            std::ranges::find(space.program.options, option.name, &client::Option::name);
        fixed != space.program.options.end()) {
      line.fixed = client::WordOf(*fixed);
    }
    if (const auto axis = std::ranges::find(space.axes, option.name, &client::Axis::name);
        axis != space.axes.end()) {
      line.values = ValuesOf(*axis, option);
    }
    if (const auto counted = std::ranges::find(count.axes, option.name, &client::AxisCount::name);
        counted != count.axes.end()) {
      line.factor = counted->factor;
    }
    lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(lines, {}, [](const Line& line) { return line.option->name; });
  return lines;
}

// As it is declared; the table says of a macro that it is one instead.
std::string_view DeclaredScopeOf(const client::OptionInfo& option) {
  return option.scope == client::OptionScope::kInstance ? "instance" : "global";
}
std::string_view ScopeOf(const client::OptionInfo& option) {
  return option.macro ? "macro" : DeclaredScopeOf(option);
}

std::string AxisText(const Line& line, size_t most) {
  if (line.values.empty()) {
    return fmt::format("(fixed {})", line.fixed);
  }
  const auto end =
      line.values.begin() + static_cast<std::ptrdiff_t>(std::min(most, line.values.size()));
  std::string text = fmt::format("{}", fmt::join(line.values.begin(), end, " "));
  return line.values.size() > most ? fmt::format("{} … ({} values)", text, line.values.size())
                                   : text;
}

// The parts of a result that can depend on it; a dash stands for unknown. The parts are those that
// the compiler found by looking at the code, hence a fixed option may be live, too.
std::string LiveText(const Line& line) {
  return line.option->affects.empty() ? "-"
                                      : fmt::format("{}", fmt::join(line.option->affects, " "));
}

// The first pass measures the columns, the second one prints them.
void PrintTable(const std::vector<Line>& lines, bool all_values) {
  constexpr size_t kShownValues = 6;
  size_t name = 6;
  size_t axis = 4;
  size_t live = 7;
  for (const Line& line : lines) {
    name = std::max(name, line.option->name.size());
    axis = std::max(axis, AxisText(line, kShownValues).size());
    live = std::max(live, LiveText(line).size());
  }
  Print("{:<{}}  {:<8}  {:<5}  {:<8}  {:<{}}  {:<{}}  {:>6}\n", "option", name, "scope", "type",
        "default", "axis", axis, "live in", live, "factor");
  for (const Line& line : lines) {
    // No blanks at the end of a line that nothing follows.
    const size_t width = line.values.empty() ? 0 : live;
    Print("{:<{}}  {:<8}  {:<5}  {:<8}  {:<{}}  {:<{}}", line.option->name, name,
          ScopeOf(*line.option), line.option->type, client::WordOf(line.option->default_value),
          AxisText(line, kShownValues), axis, LiveText(line), width);
    Print("{}\n", line.values.empty() ? ""
                  : line.factor == 0  ? "       -"  // no variant has the default
                                      : fmt::format("  {:>6.1f}", line.factor));
    for (size_t i = 0; all_values && i < line.values.size(); ++i) {
      Print("  {}\n", line.values[i]);
    }
  }
}

// "48 variants after 2 exclusions (of 72), at most 48 results per target, 0 cached"
void PrintCount(const client::ProgramSpace& space, const std::vector<Line>& lines,
                const client::VariantCount& count) {
  const size_t exclusions = space.exclude.size() + space.require.size();
  // The count without exclusions may be beyond 64 bits; a double is exact enough for a text.
  double points = 1;
  for (const Line& line : lines) {
    points *= line.values.empty() ? 1.0 : static_cast<double>(line.values.size());
  }
  Print("{}{} variants", count.exact ? "" : "at most ", count.variants);
  if (exclusions != 0) {
    Print(" after {} exclusion{} (of {:.0f})", exclusions, exclusions == 1 ? "" : "s", points);
  }
  Print(", at most {} results per target", count.results_upper);
  Print("{}\n", count.cached.empty() ? "" : fmt::format(", {} cached", count.cached));
}

// "factor" is null and not left out where there is none, so the first members are always the same.
nlohmann::ordered_json OptionItem(const Line& line) {
  nlohmann::ordered_json item{{"v", 1},
                              {"type", "option"},
                              {"name", line.option->name},
                              {"scope", DeclaredScopeOf(*line.option)},
                              {"kind", line.option->type},
                              {"default", client::WordOf(line.option->default_value)},
                              {"values", line.values},
                              {"live_in", line.option->affects},
                              {"factor", nullptr}};
  if (line.option->macro) {
    item["macro"] = true;
  }
  if (line.values.empty()) {
    item["fixed"] = line.fixed;
  } else if (line.factor != 0) {  // 0: no variant has the default
    item["factor"] = line.factor;
  }
  return item;
}

// The rank is the number of the variant in the space; it is stable as long as the space is the
// same.
void PrintRow(const Global& global, const client::VariantRow& row) {
  if (global.json) {
    const nlohmann::ordered_json item{{"v", 1},
                                      {"type", "variant"},
                                      {"rank", row.rank},
                                      {"options", OptionsJson(row.options)},
                                      {"state", client::StateName(row.state)},
                                      {"signature", row.signature}};
    PrintLine(item);
    return;
  }
  Print("{:>8}  {:<7}  {}\n", row.rank, client::StateName(row.state),
        client::OptionsText(row.options));
}

// What tells results apart: the signature of one that was built, else the options that any code,
// setting or layout can consult.
std::string ResultOf(const client::VariantRow& row, const client::OptionList& declared) {
  if (!row.signature.empty()) {
    return row.signature;
  }
  std::vector<client::Option> live;
  for (const client::Option& option : row.options) {
    const auto info = std::ranges::find(declared.options, option.name, &client::OptionInfo::name);
    // An option that affects nothing cannot tell two results apart. One that is unknown may.
    if (info == declared.options.end() || !info->affects.empty()) {
      live.push_back(option);
    }
  }
  return client::OptionsText(live);
}

// How many rows to show, and of which.
struct Listing {
  uint64_t rows = 0;
  bool distinct = false;
};

// Rows are printed as they come and the call is ended early once there are enough, so the first
// rows of a huge space come at once.
Result<void> PrintVariants(const Global& global, client::Client& client,
                           const client::ProgramSpace& space, const std::string& where,
                           const client::OptionList& declared, const Listing& listing) {
  if (listing.rows == 0) {
    return {};
  }
  std::set<std::string> seen;
  uint64_t looked_at = 0;
  uint64_t shown = 0;
  const auto take = [&](std::span<const client::VariantRow> rows) {
    for (const client::VariantRow& row : rows) {
      // Folding needs a text for each variant that was looked at, so their number is bounded.
      const bool fresh = !listing.distinct || seen.insert(ResultOf(row, declared)).second;
      if (fresh && shown < listing.rows) {
        PrintRow(global, row);
        ++shown;
      }
    }
    looked_at += rows.size();
    return shown < listing.rows && looked_at < kMostLookedAt ? client::Client::More::kWanted
                                                             : client::Client::More::kEnough;
  };
  const auto size = static_cast<uint32_t>(
      listing.distinct ? kRowsPerPage : std::min<uint64_t>(listing.rows, kRowsPerPage));
  KILN_TRY_VOID(client.EachPageOfVariants(space, where, size, take));
  // The list is not complete, and that must not look as if there were no more.
  if (shown < listing.rows && looked_at >= kMostLookedAt) {
    Print(stderr, "kiln: looked at {} variants; --where narrows them\n", looked_at);
  }
  return {};
}

// Nothing is compiled. The daemon reads the declarations and evaluates expressions; this side
// merges them with the manifest and prints.
Result<int> Show(const Global& global, const OptionsArguments& arguments) {
  KILN_TRY(const project::Manifest manifest, LoadManifest(global));
  KILN_TRY(const project::ManifestProgram* program, ProgramNamed(manifest, arguments.program));
  KILN_TRY(const LoadedProgram loaded, LoadProgram(manifest, *program));
  KILN_TRY(const client::DaemonConnection connected, ConnectTo(global));
  KILN_TRY(const client::OptionList declared, Declared(*connected.client, loaded.program));
  // Wrong sources declare nothing that could be counted; a wrong expression of the manifest is
  // found below, by the daemon that evaluates it.
  if (ShowDiagnostics(global, declared.diagnostics, client::TextsOf(loaded.program),
                      loaded.program.name) != 0) {
    return int{kWrongSource};
  }
  KILN_TRY(const client::ProgramSpace space, SpaceOf(loaded, declared));
  KILN_TRY(const client::VariantCount count,
           connected.client->CountVariants(space, arguments.where));
  const SpaceMistakes mistakes(manifest, arguments.where);
  if (ShowDiagnostics(global, mistakes.InFiles(count.diagnostics),
                      mistakes.SourcesWith(loaded.program.sources), loaded.program.name) != 0) {
    return int{kUsage};
  }
  ShowUnreadAxes(global, manifest, std::span(&space, 1), *connected.client);
  const std::vector<Line> lines = LinesOf(declared, space, count);
  if (global.json) {
    for (const Line& line : lines) {
      PrintLine(OptionItem(line));
    }
    PrintLine({{"v", 1},
               {"type", "count"},
               {"program", arguments.program},
               {"variants", count.variants},
               {"results_upper", count.results_upper},
               {"exact", count.exact},
               {"cached", count.cached}});
  } else {
    PrintTable(lines, arguments.values);
    PrintCount(space, lines, count);
  }
  if (arguments.list > 0 || arguments.distinct) {
    const uint64_t rows = arguments.list > 0 ? static_cast<uint64_t>(arguments.list) : kListed;
    KILN_TRY_VOID(PrintVariants(global, *connected.client, space, arguments.where, declared,
                                {.rows = rows, .distinct = arguments.distinct}));
  }
  return int{kSuccess};
}

int RunOptions(const Global& global, const OptionsArguments& arguments) {
  return RunTimed(global, "options", [&] { return Show(global, arguments); });
}

}  // namespace

void AddOptions(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<OptionsArguments>();
  CLI::App* verb =
      AddVerb(app, line,
              {"options", "The option space of a program, with counts",
               "  kiln options rock/forward\n"
               "  kiln options rock/forward --where 'fog && light_count == 4u' --list 20"},
              [&line, arguments] { return RunOptions(line.global, *arguments); });
  verb->add_option("program", arguments->program, "A program of the manifest")->required();
  verb->add_option("--where", arguments->where, "Only variants where this expression is true")
      ->check(SaysSomething);
  verb->add_flag("--values", arguments->values, "One line for each value of an axis");
  verb->add_option("--list", arguments->list, "Show so many variants")
      ->expected(0, 1)
      ->default_str("20")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  verb->add_flag("--distinct", arguments->distinct,
                 "Show one variant for each result, with as many as --list says");
}

}  // namespace kiln::cli
