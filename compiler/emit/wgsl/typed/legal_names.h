// SPDX-License-Identifier: MIT
// Names of modules that are made of typed ones. A source name that WGSL takes stays as it is,
// whatever it looks like, so that text which is read back and written again keeps its names; any
// other becomes one that stays. What kiln adds takes the first number that is free behind its name.
// See spec/wgsl 3.3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace kiln::wgsl {

// Of a declaration, function, struct or local. Idempotent.
std::string LegalName(std::string_view source);
// Of a member of a struct, behind '.': predeclared words are free there.
std::string LegalMember(std::string_view source);

// Names of one scope, each once. Looked up, never listed.
class NameSet {
 public:
  bool Has(std::string_view name) const;
  void Add(std::string_view name);
  // `name`, or the first of name_1, name_2, … that is free; taken from now on.
  std::string Take(std::string_view name);

 private:
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, uint32_t> numbers_;  // the last one tried behind a name
};

}  // namespace kiln::wgsl
