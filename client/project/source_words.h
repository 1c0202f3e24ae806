// SPDX-License-Identifier: MIT
// An RPL source as far as `kiln init` looks: its global declarations, by name, and the words that
// its functions use. Never fails; what is no RPL has no declarations. Spec: rpl §2, §3
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::project {

struct FunctionWords {
  std::string name;
  bool plain = false;  // void, and takes nothing
  std::set<std::string> words;
};

struct OptionWords {
  std::string name;
  std::string type;  // flag, uint, sint, float, enum
  uint32_t enum_values = 0;
};

struct SourceWords {
  std::set<std::string> declared;
  std::set<std::string> vertex_only;    // attribute containers
  std::set<std::string> fragment_only;  // colour outputs
  std::vector<FunctionWords> functions;
  std::vector<OptionWords> options;
  std::set<std::string> needs;  // called, constructed or looked into, and declared nowhere in it
};

SourceWords ReadWords(std::string_view text);

}  // namespace kiln::project
