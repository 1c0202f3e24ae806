// SPDX-License-Identifier: MIT
// The verbs of whoever runs the daemon: status, doctor, serve, start, stop, config, token.
// Spec: cli §6.11, §6.12
#pragma once

#include <string>
#include <vector>

#include "client/cli/add_verb.h"
#include "client/cli/verbs.h"

namespace kiln::cli {

struct OperatorArguments {
  StatusArguments status;
  DoctorArguments doctor;
  std::vector<std::string> serve;
  bool now = false;  // stop
  bool origin = false;
  std::string file;   // config check
  std::string scope;  // token create
  std::string expires, note, tenant;
  std::string id;  // token revoke
};

// All must outlive the app.
void AddOperator(CLI::App& app, const Global& global, OperatorArguments& arguments, Action& chosen);

}  // namespace kiln::cli
