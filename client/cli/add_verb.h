// SPDX-License-Identifier: MIT
// How a verb is declared: name, one line, examples, and what runs when it was asked for. Help, man
// pages and completion come from it. Spec: cli §10
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace kiln::cli {

using Action = std::function<int()>;

inline CLI::App* AddVerb(CLI::App& app, const char* name, const char* what, const char* examples,
                         Action& chosen, Action action) {
  CLI::App* verb = app.add_subcommand(name, what);
  verb->fallthrough();
  verb->footer(examples);
  verb->callback([&chosen, action = std::move(action)] { chosen = action; });
  return verb;
}

}  // namespace kiln::cli
