// SPDX-License-Identifier: MIT
// Compile-time expressions over the options of a program that come from outside of it: exclusions
// and requirements of manifests, filters of command lines. They are compiled as constants of one
// more module, so there is no second evaluator. See spec/daemon 6.3
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/driver/request.h"
#include "compiler/driver/residuals.h"
#include "compiler/ir/types.h"
#include "compiler/resolve/values/variant_evaluator.h"

namespace kiln::driver {

// Several expressions, linked to a program that must outlive them. One thread.
class Expressions {
 public:
  // One text per expression; each must be a single expression of at most 4 KiB.
  // Diagnostics name module = the number of the expression, with byte positions in its text: what
  // does not parse, names that nobody declares (RPL3003), texts that an option never is (RPL2006).
  static Diagnosed<std::unique_ptr<Expressions>> Compile(const LinkedProgram& program,
                                                         std::span<const std::string> texts);
  ~Expressions();

  uint32_t size() const;

  // Expression `i` as a condition over options: for counting. Nothing as of Residuals::Add.
  std::optional<Residuals::Number> Residual(uint32_t i, Residuals& residuals) const;

  // The values of all expressions for one assignment of the program's options. Diagnostics as of
  // Compile: an expression that fails, or is no boolean (RPL3018).
  Diagnosed<std::vector<bool>> Evaluate(const resolve::OptionValues& values);

  struct State;  // of this file's functions

 private:
  explicit Expressions(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kiln::driver
