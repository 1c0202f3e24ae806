// SPDX-License-Identifier: MIT
// Conditions over options with some options given: what is left of them. Equal leftovers have equal
// ids, so that whoever counts or searches meets each of them once. Values are those of
// resolve/evaluate; there is no second evaluator. See spec/daemon 6.4
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/ir/types.h"
#include "compiler/resolve/program.h"
#include "compiler/resolve/values/evaluate.h"

namespace kiln::driver {

class Residuals {
 public:
  using Number = uint32_t;
  static constexpr Number kFalse = 0;
  static constexpr Number kTrue = 1;

  Residuals();

  // A condition of a program. Nothing if it mentions anything but options and literals, or is no
  // flag, or fails whatever the options are. Conditions of programs that number their options alike
  // may be mixed. Depth of nesting is that of an expression of 4 KiB.
  std::optional<Number> Add(const resolve::Program& program, ir::CexprId root);
  Number Not(Number condition);

  // What is left of a condition if an option has a value, given as in resolve::OptionValues.
  // Nothing if it fails then.
  std::optional<Number> With(Number condition, const resolve::Program& program, ir::OptionId option,
                             uint32_t bits);

  // Roughly; grows with every condition that is new.
  uint64_t bytes_used() const { return bytes_; }

  // Options that decide the condition, ascending. Valid until the next call of another function.
  const std::vector<uint32_t>& OptionsOf(Number condition) const {
    return nodes_[condition].options;
  }

 private:
  static constexpr Number kNone = 0xffffffffu;
  // A literal (row.op is kLiteral), an option (kName), or an operator.
  struct Node {
    ir::Cexpr row;
    resolve::Value value;
    Number operands[3] = {kNone, kNone, kNone};
    std::vector<uint32_t> options;
    bool total = true;  // has a value whatever the options are
  };

  Number Literal(const resolve::Value& value);
  Number Intern(Node node);
  Number Operator(const ir::Cexpr& row, const Number (&operands)[3]);
  std::optional<Number> Simplified(const ir::Cexpr& row, const Number (&operands)[3]) const;
  Number AddNode(const resolve::Program& program, ir::CexprId id);
  Number Substitute(Number number, uint32_t place, const resolve::Value& value);
  resolve::Value ValueOf(const resolve::Program& program, ir::OptionId option, uint32_t bits);
  bool IsLiteral(Number number) const { return nodes_[number].row.op == ir::CexprOp::kLiteral; }

  std::unique_ptr<ir::Pool> pool_;  // of the texts of enum values
  std::vector<Node> nodes_;
  InternIndex index_;
  FlatMap<uint64_t, Number> substituted_;                   // node and place of the value -> node
  std::vector<std::pair<uint32_t, resolve::Value>> given_;  // option and value, by place
  FlatMap<uint64_t, uint32_t> given_places_;                // option << 32 | bits -> place
  uint64_t bytes_ = 0;
};

}  // namespace kiln::driver
