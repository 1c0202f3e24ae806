// SPDX-License-Identifier: MIT
// `kiln inspect` (spec/cli 6.7): shows one thing, or the difference of two, as text. What a thing
// is and how it is looked up is in inspect_views; this file prints and compares.
#include "client/cli/variant/inspect.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "client/cli/variant/inspect_views.h"
#include "client/cli/variant/line_diff.h"
#include "client/cli/variant/view_pairs.h"

namespace kiln::cli {
namespace {

struct InspectArguments {
  VariantArguments variant;               // `what` may be one key, file, or entry of a pack too
  std::vector<std::string> views;         // none: those that fit
  std::string diff;                       // something else to look at; empty: nothing
  std::vector<std::string> diff_options;  // NAME=VALUE of it; none: those of the first
};

using Json = nlohmann::ordered_json;

// A single view is printed bare, so that it can be piped into another tool. Several have a title
// each.
void PrintViews(const Global& global, const std::vector<RenderedView>& shown) {
  for (const RenderedView& part : shown) {
    if (global.json) {
      Json item{{"v", 1}, {"type", "view"}, {"view", part.view}, {"text", part.text}};
      if (!part.json.empty()) {
        // The daemon's JSON is taken over as an object. If it is none, the member is null, and the
        // text is there all the same.
        item["data"] = Json::parse(part.json, nullptr, /*allow_exceptions=*/false);
      }
      PrintLine(item);
    } else if (shown.size() > 1) {
      Print("== {}\n{}\n", part.view, Lines{part.text});
    } else {
      Print("{}", Lines{part.text});
    }
  }
}

// Equal views are told as well: "equal" is the answer that a person hopes for.
void PrintDifference(const Global& global, const std::string& view, const LineDiff& diff) {
  if (global.json) {
    const Json object{{"v", 1},
                      {"type", "difference"},
                      {"view", view},
                      {"equal", diff.equal()},
                      {"added", diff.added},
                      {"removed", diff.removed},
                      {"text", diff.text}};
    PrintLine(object);
  } else if (diff.equal()) {
    Print("== {}: equal\n", view);
  } else {
    Print("== {}: -{} +{}\n{}", view, diff.removed, diff.added, Lines{diff.text});
  }
}

// Artifacts by number, views by name.
uint64_t PrintDifferences(const Global& global, const InspectResult& first,
                          const InspectResult& second) {
  uint64_t differing = 0;
  // Targets come in the order of the program on both sides, so artifacts go together by number.
  const size_t both = std::min(first.artifacts.size(), second.artifacts.size());
  for (size_t i = 0; i < both; ++i) {
    for (const ViewPair& pair : PairsOf(first.artifacts[i], second.artifacts[i])) {
      const LineDiff diff = DiffLines(pair.first, pair.second);
      differing += diff.equal() ? 0 : 1;
      PrintDifference(global, pair.view, diff);
    }
  }
  const size_t alone = std::max(first.artifacts.size(), second.artifacts.size()) - both;
  if (alone != 0 && !global.json) {
    Print("{} artifacts have no counterpart\n", alone);
  }
  return differing + alone;
}

// The second thing takes over everything that was said about the first, such as target and
// manifest, but for what it is and, if given, its options. So the two differ only in what a person
// wants to compare.
int RunInspect(const Global& global, const InspectArguments& arguments) {
  return RunTimed(global, "inspect", [&]() -> Result<int> {
    KILN_TRY(const InspectResult first, InspectWhat(global, arguments.variant, arguments.views));
    if (arguments.diff.empty()) {
      for (const std::vector<RenderedView>& shown : first.artifacts) {
        PrintViews(global, shown);
      }
      return first.exit;
    }
    VariantArguments other = arguments.variant;
    other.what = {arguments.diff};
    if (!arguments.diff_options.empty()) {
      other.options = arguments.diff_options;
    } else if (other.what == arguments.variant.what) {
      // Without options of its own the second one would be the first.
      return Error{.code = ErrorCode::kInvalidArgument,
                   .context = fmt::format("'{0}' is compared with itself; give the other one its "
                                          "options: --diff {0} --diff-option NAME=VALUE",
                                          arguments.diff),
                   .reason = "USAGE"};
    }
    KILN_TRY(const InspectResult second, InspectWhat(global, other, arguments.views));
    const uint64_t differing = PrintDifferences(global, first, second);
    if (!global.json && !global.quiet) {
      Print("{}\n", differing == 0 ? "no difference" : fmt::format("{} differ", differing));
    }
    // A difference is no failure (spec/cli 6.7). The code is one only if a side could not be shown.
    return std::max(first.exit, second.exit);
  });
}

}  // namespace

void AddInspect(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<InspectArguments>();
  CLI::App* inspect =
      AddVerb(app, line,
              {"inspect", "Show a variant, a result by its signature, or a file, as text",
               "  kiln inspect rock/forward -o fog --view disasm\n"
               "  kiln inspect 0aef25953033a1b2c3d4e5f60718293a --view stats,glsl\n"
               "  kiln inspect out/rock.meta --view layout\n"
               "  kiln inspect demo.kpack:rock/forward --diff rock/forward --view disasm"},
              [&line, arguments] { return RunInspect(line.global, *arguments); });
  AddVariant(*inspect, arguments->variant);
  inspect->get_option("what")->required();
  inspect->get_option("what")->description(
      "A program of the manifest, sources, a signature or digest, a file, FILE.kpack:PROGRAM");
  inspect->add_option("--view", arguments->views, "Default: stats, meta, options")
      ->delimiter(',')
      ->check(CLI::IsMember(
          {"stats", "meta", "options", "layout", "disasm", "ir", "wgsl", "msl", "glsl", "hlsl"}));
  inspect->add_option("--diff", arguments->diff, "Compare with this, view by view");
  inspect
      ->add_option("--diff-option", arguments->diff_options,
                   "NAME=VALUE for what --diff names; none: as -o says; repeatable")
      ->take_all();
}

}  // namespace kiln::cli
