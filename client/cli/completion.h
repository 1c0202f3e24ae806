// SPDX-License-Identifier: MIT
// Completion in shells: the words typed so far -> what the last one may become. Knows verbs and
// flags from the table that parses them, programs and options from the manifest; asks no daemon.
// See spec/cli 10.3
#pragma once

#include <span>
#include <string>
#include <vector>

#include "client/cli/global.h"

namespace CLI {  // NOLINT(readability-identifier-naming): as its library names it
class App;
}

namespace kiln::cli {

// A script for bash, zsh or fish that asks `kiln complete`; empty for another shell.
std::string CompletionScript(const std::string& shell);

// `words` without the program; the last one, which may be empty, is being typed. Sorted. Words that
// name files are left to the shell.
std::vector<std::string> Candidates(const CLI::App& app, const Global& global,
                                    std::span<const std::string> words);

}  // namespace kiln::cli
