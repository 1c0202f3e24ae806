// SPDX-License-Identifier: MIT
// The verbs of kiln: arguments as parsed -> exit code. One .cc file per verb. See spec/cli 6
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/variant.h"

namespace kiln::cli {

struct CompileArguments {
  VariantArguments variant;
  std::string out;             // folder, file, or "-"
  std::string meta;            // file for metadata as JSON
  std::string deps;            // dependency file
  std::string depfile_target;  // what it is about
  bool no_cache = false;       // neither read nor write
};
int RunCompile(const Global& global, const CompileArguments& arguments);

struct BuildArguments {
  std::vector<std::string> programs;  // names or globs; none = all
  std::vector<std::string> targets;   // names; none = all
  std::string where;                  // expression; builds only variants where it is true
  bool dry_run = false;               // counts, compiles nothing
  bool retry_failed = false;
  std::string out;                   // folder for results
  std::string pack;                  // file
  std::vector<std::string> reports;  // FORMAT:FILE
  std::string on_error = "continue";
  bool fail_fast = false;
  bool detach = false;
  std::optional<std::string> resume;  // id, or how it begins; empty: the latest of the project
  uint64_t explore = 0;
  uint32_t priority = 0;
  std::string pin;  // name
  std::string durability = "local";
  std::string deps;            // dependency file
  std::string depfile_target;  // what it is about
};
int RunBuild(const Global& global, const BuildArguments& arguments);

struct BatchArguments {
  std::string what;  // list, show, attach, items, pause, resume, cancel
  std::string id;    // or how it begins
  std::vector<std::string> kinds;
};
int RunBatchVerb(const Global& global, const BatchArguments& arguments);
// Resumes and follows; no prefix: the latest batch of the project.
int RunBatchResume(const Global& global, const std::string& prefix);

struct WatchArguments {
  std::vector<std::string> programs;  // names or globs; none = all
  std::vector<std::string> options;   // NAME=VALUE: the variant of interest
  std::string out;                    // folder for the current artifacts
  std::string exec;                   // command after each generation without errors
  bool no_source = false;             // subscribe only
  std::string workspace;              // who meets in one session; empty: this folder
};
int RunWatch(const Global& global, const WatchArguments& arguments);

struct FetchArguments {
  std::vector<std::string> programs;
  bool all = false;
  bool warm = false;                // only variants that the manifest marks
  std::string have;                 // file with the root of the last fetch; rewritten
  std::string on_miss = "compile";  // or skip, or fail
  std::string out;                  // folder, or *.kpack
  // For a build whose caller may only read: why a miss cannot be compiled. `out` may be empty then.
  std::optional<Error> may_not_compile = {};
};
int RunFetch(const Global& global, const FetchArguments& arguments);

struct InspectArguments {
  VariantArguments variant;               // `what` may be one key, file, or entry of a pack too
  std::vector<std::string> views;         // none: those that fit
  std::string diff;                       // something else to look at; empty: nothing
  std::vector<std::string> diff_options;  // NAME=VALUE of it; none: those of the first
};
int RunInspect(const Global& global, const InspectArguments& arguments);

struct InitArguments {
  std::vector<std::string> from;  // sources; none: all below the folder
  bool force = false;             // replace a manifest
};
int RunInit(const Global& global, const InitArguments& arguments);

struct OptionsArguments {
  std::string program;
  std::string where;      // expression; counts only variants where it is true
  bool values = false;    // one line for each value of an axis
  int64_t list = -1;      // rows of variants to show; below 0: none
  bool distinct = false;  // of these: one of those that have one result
};
int RunOptions(const Global& global, const OptionsArguments& arguments);

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
int RunGraph(const Global& global, const GraphArguments& arguments);

struct PreviewArguments {
  VariantArguments variant;
  std::string mesh = "sphere";
  std::string size = "512x512";
  std::vector<std::string> set;     // NAME=VALUE[,VALUE…]
  std::vector<std::string> images;  // NAME=FILE
  uint32_t frames = 1;              // the last one is the picture
  std::string device;               // part of a name, or software
  std::string grid;                 // AXIS[,AXIS]
  std::string out;                  // PNG
};
int RunPreview(const Global& global, const PreviewArguments& arguments);

struct ExplainArguments {
  VariantArguments variant;  // `what` may be one key too
  std::string batch;         // id, or how it begins
  bool misses = false;       // of the batch; there is nothing else to tell
  uint32_t last = 0;         // so many of the latest requests
  std::string code;          // of a diagnostic
  std::string option;        // of the program
};
int RunExplain(const Global& global, const ExplainArguments& arguments);

struct StatusArguments {
  bool watch = false;  // again every second until interrupted
  bool jobs = false;   // and what is queued or runs
  std::string trace;   // spans of this id instead
};
int RunStatus(const Global& global, const StatusArguments& arguments);

struct DoctorArguments {
  std::string bundle;  // file to write a report to
};
int RunDoctor(const Global& global, const DoctorArguments& arguments);

int RunServe(const Global& global,
             const std::vector<std::string>& arguments);  // does not return on success
// Becomes kilnd with these words, such as {"config", "show"}. Does not return on success.
int RunKilnd(const Global& global, std::vector<std::string> words);
// A token verb of kilnd for the daemon with this configuration (empty: the default one). kilnd is
// told what the daemon that runs reads, if one of this user does, and says if that differs.
int RunTokenVerb(const Global& global, const std::string& config, std::vector<std::string> words);
int RunStart(const Global& global);
int RunStop(const Global& global, bool now);

}  // namespace kiln::cli
