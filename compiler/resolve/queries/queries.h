// SPDX-License-Identifier: MIT
// Queries as data: what a unit asked while it was specialised, in order, and how that reads. A
// trace holds each query once; what an answer itself had to ask is not in it. See
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

enum class VariantQueryKind : uint8_t {
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
  kEntry,
  kVersion,
};

struct VariantQuery {
  VariantQueryKind kind = VariantQueryKind::kValue;
  uint32_t a = 0;
  uint32_t b = 0;
  friend bool operator==(const VariantQuery&, const VariantQuery&) = default;
};

// Equal answers are equal words, within the life of one pool and one Units.
struct QueryResult {
  uint64_t first = 0;
  uint64_t second = 0;
  friend bool operator==(const QueryResult&, const QueryResult&) = default;
};

struct QueryRecord {
  VariantQuery query;
  QueryResult answer;
  bool fixed = false;  // the same answer in every variant
};
class QueryTrace {
 public:
  // Keeps the first of equal queries.
  void Add(const VariantQuery& query, const QueryResult& answer, bool fixed);
  std::span<const QueryRecord> asked() const { return asked_; }

 private:
  std::vector<QueryRecord> asked_;
  InternIndex index_;
};

// One line per query: "fog && lights > 4u = true", "function tone = tone", "stage = fragment".
std::string QueryTraceText(const QueryTrace& trace, const Program& program, const ir::Pool& pool);

// "(lights + 1u) > 4u": an expression as RPL writes it, with brackets where operators nest.
std::string ExpressionText(const Program& program, ir::CexprId cexpr);

}  // namespace kiln::resolve
