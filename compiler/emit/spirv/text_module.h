// SPDX-License-Identifier: MIT
// For tests of this folder: a module from the text of a specialised variant, judged by the
// validator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/base/check.h"
#include "compiler/emit/spirv/assemble.h"
#include "compiler/emit/spirv/lower.h"
#include "compiler/emit/spirv/module_checks.h"
#include "compiler/ir/text/parse_specialised.h"

namespace kiln::spirv {

inline target::Target TargetOf(std::string_view environment) {
  return target::MakeTarget(target::ParseEnvironment(environment).value());
}

class TextModule {
 public:
  explicit TextModule(std::string_view text, const target::Target& target = TargetOf("vulkan1.1"))
      : parsed_(Parse(text)), target_(target), table_(*parsed_.pool, target) {
    Prepare(parsed_.variant, table_);
  }

  const ir::SpecialisedProgram& variant() const { return parsed_.variant; }
  CodeObjectTable& table() { return table_; }

  // The module of one entry point, or the combined one. Fails the test if it is not valid.
  std::vector<uint32_t> Words(EntryChoice choice = {}) {
    const layout::Layout layout = CountingLayout(parsed_.variant);
    std::vector<uint32_t> words = Assemble(parsed_.variant, choice, layout, table_);
    EXPECT_EQ(Validate(words, target_), "");
    return words;
  }
  std::string Text(EntryChoice choice = {}) { return Disassemble(Words(choice), target_); }

  // The part of Text from the first line that holds `begin` to the next that holds `end`.
  std::string Between(std::string_view begin, std::string_view end, EntryChoice choice = {}) {
    const std::string text = Text(choice);
    const size_t found = text.find(begin);
    if (found == std::string::npos) {
      return "no \"" + std::string(begin) + "\" in:\n" + text;
    }
    const size_t first = text.rfind('\n', found) + 1;
    const size_t last = text.find('\n', text.find(end, found));
    return text.substr(first, last - first + 1);
  }

 private:
  static ir::ParsedVariant Parse(std::string_view text) {
    Result<ir::ParsedVariant> parsed = ir::ParseVariant(text);
    KILN_CHECK(parsed.ok(), "{}\n{}", parsed.error().context, text);
    return std::move(*parsed);
  }

  ir::ParsedVariant parsed_;
  target::Target target_;
  CodeObjectTable table_;
};

// A fragment entry that does nothing, and a function beside it.
inline std::string FunctionText(std::string_view signature, std::string_view body) {
  return "variant graphics_classic\n"
         "entry fragment @main \"main\" {\n"
         "  function @main() -> void { region r0 { return _ } }\n"
         "  function @f" +
         std::string(signature) + " { region r0 {\n" + std::string(body) + "\n} }\n}\n";
}

}  // namespace kiln::spirv
