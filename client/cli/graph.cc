// SPDX-License-Identifier: MIT
// `kiln graph`: plans a frame that a file describes, without a GPU, and draws the plan
// (docs/RENDER_GRAPH.md). It runs the same planner as an engine, so what it prints is what an
// engine would get.
#include "client/cli/graph.h"

#include <cstdio>

#include <fmt/format.h>

#include "client/cli/add_verb.h"
#include "client/cli/failure.h"
#include "client/cli/output/json_line.h"
#include "client/cli/output/print.h"
#include "compiler/base/files/file.h"
#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"

namespace kiln::cli {
namespace {

struct GraphArguments {
  std::string file;
  std::string svg;  // files to write; "-" is stdout
  std::string dot;
  std::string json;
  std::string order = "priority";
  std::string effort = "normal";
  uint64_t seed = 0;  // of order random
  std::optional<double> alias_commands;
  bool no_cull = false;
  bool no_alias = false;
  bool unify_reads = false;
};

// To a file, or to stdout for "-". An empty path means that this form was not asked for.
Result<void> WriteText(const std::string& path, const std::string& text) {
  if (path.empty()) {
    return {};
  }
  if (path == "-") {
    Print("{}", Lines{text});
    return {};
  }
  return WriteFile(path, AsBytes(text));
}

// An unknown word cannot reach this place: the parser has checked it against the same lists. The
// last case of each choice is the default.
graph::PlanOptions OptionsOf(const GraphArguments& arguments, const graph::FrameFile& file) {
  graph::PlanOptions options;
  options.order = arguments.order == "declared" ? graph::Order::kDeclared
                  : arguments.order == "levels" ? graph::Order::kLevels
                  : arguments.order == "random" ? graph::Order::kRandom
                                                : graph::Order::kPriority;
  options.seed = arguments.seed;
  options.effort = arguments.effort == "fast"     ? graph::Effort::kFast
                   : arguments.effort == "search" ? graph::Effort::kSearch
                                                  : graph::Effort::kNormal;
  // A file that does not say what its outputs are would lose all of its passes.
  options.cull = !arguments.no_cull && file.description().lists_outputs;
  options.alias = !arguments.no_alias;
  options.alias_commands = arguments.alias_commands.value_or(options.alias_commands);
  options.unify_reads = arguments.unify_reads;
  return options;
}

// Prints the broken rules and returns the exit code.
int FailGraph(const Global& global, const GraphArguments& arguments,
              std::span<const graph::GraphError> errors) {
  // Errors are written in all the forms that were asked for, so that a tool that reads the JSON
  // file finds them there.
  const std::vector<graph::GraphError> all(errors.begin(), errors.end());
  const std::string json = graph::PrintErrorsJson(all);
  if (const Result<void> written = WriteText(arguments.json, json); !written.ok()) {
    return Fail(global, written.error());
  }
  if (global.json && arguments.json != "-") {
    PrintLine({{"v", 1},
               {"type", "graph"},
               {"plan", nlohmann::ordered_json::parse(json, nullptr, false)}});
  }
  for (const graph::GraphError& error : all) {
    if (!global.json) {
      Print(stderr, "error: {}\n", Message{error.message});
    }
  }
  return kWrongSource;
}

struct Outputs {
  std::string text;
  std::string svg;
  std::string dot;
  std::string json;
};

// Files are written one after the other, and a failure leaves those before it. They are independent
// of each other.
Result<void> WriteOutputs(const Global& global, const GraphArguments& arguments,
                          const Outputs& outputs) {
  KILN_TRY_VOID(WriteText(arguments.svg, outputs.svg));
  KILN_TRY_VOID(WriteText(arguments.dot, outputs.dot));
  KILN_TRY_VOID(WriteText(arguments.json, outputs.json));
  // stdout has one document; text is left out if one of the files is stdout.
  const bool taken = arguments.svg == "-" || arguments.dot == "-" || arguments.json == "-";
  if (!taken && !global.quiet) {
    if (global.json) {
      PrintLine({{"v", 1},
                 {"type", "graph"},
                 {"plan", nlohmann::ordered_json::parse(outputs.json, nullptr, false)}});
    } else {
      Print("{}", Lines{outputs.text});
    }
  }
  return {};
}

// Errors of the frame end with the code of wrong sources (spec/cli 4), errors of files with their
// own.
int RunGraph(const Global& global, const GraphArguments& arguments) {
  const Result<std::string> text = ReadFile(arguments.file);
  if (!text.ok()) {
    return Fail(global, text.error());
  }
  Result<graph::FrameDescription> description = graph::ParseFrame(*text);
  if (!description.ok()) {
    const Error& error = description.error();
    graph::GraphError malformed;
    // A file that cannot be read as JSON is reported like a broken rule, so there is one form of
    // errors for whoever reads them.
    malformed.code = error.reason;
    malformed.message = fmt::format("{}: {}", error.reason, error.context);
    return FailGraph(global, arguments, std::span(&malformed, 1));
  }
  if (const std::vector<graph::GraphError> unknown = graph::UnknownFormats(*description);
      !unknown.empty()) {
    return FailGraph(global, arguments, unknown);
  }
  graph::FrameFile file(std::move(description).value());
  const graph::PlanOptions options = OptionsOf(arguments, file);
  graph::TexelModel model;
  graph::Planner planner(model);
  graph::Graph graph;
  graph::Carried carried;
  std::vector<uint32_t> objects;
  std::vector<std::string> frames;
  Outputs outputs;
  // Several frames are planned one after the other with the carried state in between, since
  // barriers at the begin of a frame depend on what the one before left.
  for (uint32_t frame = 0; frame < file.description().frames; ++frame) {
    file.Declare(graph);
    const Result<const graph::Plan*> plan = planner.Compile(graph, options, carried);
    if (!plan.ok()) {
      return FailGraph(global, arguments, planner.errors());
    }
    // The number of frames is the file's choice, and each may be large as JSON. Only the last ones
    // are printed; the planner still sees all of them.
    constexpr uint32_t kMaxPrinted = 64;
    if (frame + kMaxPrinted >= file.description().frames) {
      frames.push_back(graph::PrintPlanJson(**plan, graph));
    }
    if (frame + 1 == file.description().frames) {
      outputs.text = graph::PrintPlan(**plan, graph);
      outputs.svg = graph::PrintPlanSvg(**plan, graph);
      outputs.dot = graph::PrintPlanDot(**plan, graph);
    }
    // There is no GPU: objects are bound by number, which is all that the carried state of the next
    // frame needs.
    graph::BindObjects(**plan, carried, objects);
    graph::Commit(**plan, graph.rows().frame, objects, carried);
  }
  outputs.json = graph::PrintFramesJson(frames);
  if (const Result<void> written = WriteOutputs(global, arguments, outputs); !written.ok()) {
    return Fail(global, written.error());
  }
  return kSuccess;
}

}  // namespace

void AddGraph(CLI::App& app, CommandLine& line) {
  const auto arguments = std::make_shared<GraphArguments>();
  CLI::App* verb = AddVerb(app, line,
                           {"graph", "Plan a frame and draw the plan",
                            "  kiln graph frame.json\n  kiln graph frame.json --svg frame.svg"},
                           [&line, arguments] { return RunGraph(line.global, *arguments); });
  verb->add_option("file", arguments->file, "Frame description (docs/RENDER_GRAPH.md)")->required();
  verb->add_option("--svg", arguments->svg, "File for the picture");
  verb->add_option("--dot", arguments->dot, "File for Graphviz");
  verb->add_option("--json", arguments->json, "File for the plan as JSON; - is stdout");
  verb->add_option("--order", arguments->order, "priority, declared, levels or random")
      ->check(CLI::IsMember({"priority", "declared", "levels", "random"}));
  verb->add_option("--seed", arguments->seed, "Of the random order")->check(CLI::NonNegativeNumber);
  verb->add_option("--effort", arguments->effort, "Packing: fast, normal or search")
      ->check(CLI::IsMember({"fast", "normal", "search"}));
  verb->add_flag("--no-cull", arguments->no_cull, "Keep passes that nothing needs");
  verb->add_option("--alias-commands", arguments->alias_commands,
                   "Barrier commands that aliasing may add, for each that is needed (default 0.2)")
      ->check(CLI::Range(0.0, 10.0));
  verb->add_flag("--no-alias", arguments->no_alias, "Bytes of its own for every resource");
  verb->add_flag("--unify-reads", arguments->unify_reads,
                 "One layout for all readers of a version");
}

}  // namespace kiln::cli
