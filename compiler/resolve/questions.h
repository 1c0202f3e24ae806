// SPDX-License-Identifier: MIT
// Questions as data: what a unit asked while it was closed, in order, and how that reads. A trail
// holds each question once; what an answer itself had to ask is not in it. See
// spec/architecture 10.2.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/ir/types.h"
#include "compiler/resolve/program.h"

namespace kiln::resolve {

enum class QuestionKind : uint8_t {
  kValue,     // a = CexprId
  kFunction,  // a = NameId, and so on
  kStruct,
  kGlobal,
  kOption,     // a = OptionId
  kConstant,   // a = DeclId
  kMember,     // a = DeclId of the owner, b = NameId
  kAliasPath,  // a = MemberId
  kDecl,       // a = DeclId
  kStage,
};

struct Question {
  QuestionKind kind = QuestionKind::kValue;
  uint32_t a = 0;
  uint32_t b = 0;
  friend bool operator==(const Question&, const Question&) = default;
};

// Equal answers are equal words, within the life of one pool and one Units.
struct Answer {
  uint64_t first = 0;
  uint64_t second = 0;
  friend bool operator==(const Answer&, const Answer&) = default;
};

struct Asked {
  Question question;
  Answer answer;
  bool fixed = false;  // the same answer in every variant
};
class Trail {
 public:
  // Keeps the first of equal questions.
  void Add(const Question& question, const Answer& answer, bool fixed);
  std::span<const Asked> asked() const { return asked_; }

 private:
  std::vector<Asked> asked_;
  InternIndex index_;
};

// One line per question: "fog && lights > 4u = true", "function tone = tone", "stage = fragment".
std::string TrailText(const Trail& trail, const Program& program, const ir::Pool& pool);

// "(lights + 1u) > 4u": an expression as RPL writes it, with brackets where operators nest.
std::string ExpressionText(const Program& program, ir::CexprId cexpr);

}  // namespace kiln::resolve
