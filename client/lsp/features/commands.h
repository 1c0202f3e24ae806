// SPDX-License-Identifier: MIT
// Commands, and the lists that a client without a user interface of its own chooses from.
//
// `kiln.chooseVariant` takes one object:
//
//   {"uri": …}                               asks what to choose
//   {"uri": …, "option": "wet"}              asks for a value
//   {"uri": …, "option": "wet", "value": "true"}
//   {"uri": …, "program": "pbr/viewer"}      the program that the file is looked at through
//   {"uri": …, "reset": true}                every option as the manifest has it
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/lsp/features/session.h"

namespace kiln::lsp {

Json CommandNames();

Outcome CodeLenses(Session& session, const Json& params);
Outcome ExecuteCommand(Session& session, const Json& params);

// Whether the arguments leave open what is chosen.
bool NeedsChoice(const Json& arguments);

struct ChoiceList {
  std::string question;
  std::vector<std::string> titles;
};
// What there is to choose from; nothing if the arguments lead nowhere.
std::optional<ChoiceList> ChoicesOf(Session& session, const Json& arguments);

// Adds what a title of that list stands for.
void AddChoice(Session& session, const std::string& title, Json& arguments);

}  // namespace kiln::lsp
