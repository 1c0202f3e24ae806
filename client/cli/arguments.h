// SPDX-License-Identifier: MIT
// What the command line says, verb by verb: filled by the flags of *_app.cc, read by the verbs.
#pragma once

#include <string>
#include <vector>

#include "client/cli/global.h"
#include "client/cli/store_arguments.h"
#include "client/cli/verbs.h"

namespace kiln::cli {

// Of status, doctor, serve, stop, config and token.
struct OperatorArguments {
  StatusArguments status;
  DoctorArguments doctor;
  std::vector<std::string> serve;
  bool now = false;  // stop
  bool origin = false;
  std::string file;   // config check
  std::string scope;  // token create
  std::string expires, note, tenant;
  std::string id;      // token revoke
  std::string config;  // token: of the daemon
};

struct Arguments {
  Global global;
  CompileArguments compile;
  BuildArguments build;
  BatchArguments batch;
  FetchArguments fetch;
  WatchArguments watch;
  InspectArguments inspect;
  InitArguments init;
  OptionsArguments options;
  ExplainArguments explain;
  GraphArguments graph;
  PreviewArguments preview;
  OperatorArguments operating;
  CacheArguments cache;
  PackArguments pack;
  std::string shell;               // of the completion script
  std::string manual;              // folder for manual pages
  std::vector<std::string> words;  // to complete
};

}  // namespace kiln::cli
