// SPDX-License-Identifier: MIT
// Lines that begin with '#': which directive it is, and those that need no more than a few lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/front/hlsl/preprocess/conditionals.h"
#include "compiler/front/hlsl/preprocess/definitions.h"
#include "compiler/front/hlsl/preprocess/includes.h"
#include "compiler/front/hlsl/preprocess/pragmas.h"
#include "compiler/front/hlsl/settings.h"

namespace kiln::hlsl {

class Directives {
 public:
  // All outlive this.
  Directives(const Includes::Inputs& inputs, FileTable& table, FileStack& files,
             PreprocessState& state);

  Definitions& definitions() { return definitions_; }

  // Obeys the directive that the next token of the files begins, and leaves them where reading goes
  // on. An include among the arguments of a macro ends them, since a call is closed in its file.
  void Obey();
  // The innermost file ends.
  void EndFile();

 private:
  void Dispatch(uint32_t word, const DirectiveLine& line);
  void Line(const DirectiveLine& line);
  void Message(Code code, const DirectiveLine& line);
  void ReportLine(Code code, std::string_view text, const DirectiveLine& line);

  FileTable& table_;
  FileStack& files_;
  PreprocessState& state_;
  Definitions definitions_;
  Conditionals conditionals_;
  Includes includes_;
  Pragmas pragmas_;
  LineSource line_;
  Expander expander_;
};

}  // namespace kiln::hlsl
