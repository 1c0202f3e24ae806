// SPDX-License-Identifier: MIT
// How a verb is declared: name, one line, examples, and what runs when it was asked for. Help, man
// pages and completion come from it. See spec/cli 10
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

// For flags whose empty value would be taken for none: what a script has lost is not everything.
inline std::string SaysSomething(const std::string& expression) {
  return expression.find_first_not_of(" \t\r\n") == std::string::npos
             ? "the expression is empty; without the flag there is no condition"
             : std::string();
}

}  // namespace kiln::cli
