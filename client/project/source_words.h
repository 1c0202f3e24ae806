// SPDX-License-Identifier: MIT
// An RPL source as far as `kiln init` looks: its global declarations, by name, and the words that
// its functions use. Never fails; what is no RPL has no declarations. See spec/rpl 2, 3
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

// A field of a colour output.
struct OutputWords {
  std::string name;
  std::string type;  // f4, u1, s2
};

struct SettingWords {
  std::string name;
  std::string value;  // a string has its quotes; of an expression the first word
  bool conditional = false;
};

struct SourceWords {
  std::set<std::string> declared;
  std::set<std::string> vertex_only;    // attribute containers
  std::set<std::string> fragment_only;  // colour outputs
  std::vector<FunctionWords> functions;
  std::vector<OptionWords> options;
  std::vector<OutputWords> outputs;    // of all colour outputs, by location
  std::vector<SettingWords> settings;  // in the order of the source
  std::set<std::string> needs;  // called, constructed or looked into, and declared nowhere in it
};

SourceWords ReadWords(std::string_view text);

}  // namespace kiln::project
