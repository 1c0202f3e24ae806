// SPDX-License-Identifier: MIT
// RPL source, option values and entry points in; what resolve says about that variant out, as text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/module.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/specialise/specialise_program.h"
#include "compiler/resolve/values/options.h"

namespace kiln::resolve {

class TestUnits;

// One variant of one or more sources, specialised. Everything it owns lives as long as it does.
class VariantOf {
 public:
  // Entries are "vertex:main"; option assignments are "name=value", typed by the declaration.
  explicit VariantOf(std::vector<std::string> sources, std::string_view entries = "",
                     std::string_view options = "");
  ~VariantOf();

  // One line per diagnostic: "RPL4021 'uv' is declared twice in 'leaf'". Lints only if asked.
  std::string Messages() const;
  std::string MessagesAndLints() const;
  // The first diagnostic of that code with its labels and notes, one per line, and what each label
  // points at.
  std::string Details(Code code) const;

  const ir::SpecialisedProgram& specialised() const { return *specialised_.value; }
  bool ok() const { return specialised_.ok(); }
  const Program& program() const { return *program_; }
  VariantEvaluator& answers() { return *answers_; }
  ir::Pool& pool() { return pool_; }
  // What each unit asked: "== fragment_main" and its trace.
  std::string Queries() const;

 private:
  std::string Text(bool lints) const;

  std::vector<std::string> sources_;
  std::vector<Diagnosed<ir::Module>> modules_;
  std::optional<Program> program_;
  OptionValues values_;
  ir::Pool pool_;
  std::unique_ptr<TestUnits> units_;
  std::unique_ptr<VariantEvaluator> answers_;
  Diagnosed<ir::SpecialisedProgram> specialised_;
  std::vector<Diagnostic> parse_diagnostics_;
};

}  // namespace kiln::resolve
