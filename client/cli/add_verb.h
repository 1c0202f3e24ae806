// SPDX-License-Identifier: MIT
// How a verb is declared: name, one line, examples, and what runs when it was asked for. Help, man
// pages and completion come from it. See spec/cli 10
//
// A verb is a pair of files: its .cc has its flags, what it does, and the function that declares
// it, which the header names. Flags are filled by the parser, whose actions own them.
#pragma once

#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "client/cli/command_line.h"

namespace kiln::cli {

struct VerbText {
  const char* name;
  const char* what;      // one line
  const char* examples;  // at least two, a line each
};

inline CLI::App* AddVerb(CLI::App& app, CommandLine& line, const VerbText& text, Action action) {
  CLI::App* verb = app.add_subcommand(text.name, text.what);
  verb->fallthrough();
  verb->footer(text.examples);
  verb->callback([&line, action = std::move(action)] { line.chosen = action; });
  return verb;
}

// A verb that has verbs of its own, of which one is to be named.
inline CLI::App* AddGroup(CLI::App& app, const char* name, const char* what) {
  CLI::App* group = app.add_subcommand(name, what);
  group->fallthrough()->require_subcommand(1);
  return group;
}

// For flags whose empty value would be taken for none: what a script has lost is not everything.
inline std::string SaysSomething(const std::string& expression) {
  return expression.find_first_not_of(" \t\r\n") == std::string::npos
             ? "the expression is empty; without the flag there is no condition"
             : std::string();
}

}  // namespace kiln::cli
