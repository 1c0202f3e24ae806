// SPDX-License-Identifier: MIT
// What a member's name denotes in one variant: a field with its position among the live ones, or an
// alias and the path of field names that it stands for.
#pragma once

#include <span>
#include <vector>

#include "compiler/base/flat_map.h"
#include "compiler/resolve/names/name_resolution.h"
#include "compiler/resolve/queries/query_recorder.h"
#include "compiler/resolve/values/value_evaluator.h"

namespace kiln::resolve {

class VariantEvaluator;

class MemberResolver {
 public:
  // `evaluator` owns the other two; types of fields are asked of it.
  MemberResolver(VariantEvaluator& evaluator, ValueEvaluator& values, QueryRecorder& recorder);
  MemberResolver(const MemberResolver&) = delete;
  MemberResolver& operator=(const MemberResolver&) = delete;

  // --- queries
  MemberResolution Member(ir::DeclId owner, NameId name);
  // Names from the owner, expanded until the first is a field. Empty if it failed.
  std::span<const NameId> AliasPath(ir::MemberId alias);

 private:
  MemberResolution FindMember(ir::DeclId owner, NameId name, ir::MemberId first);
  void ExpandAlias(ir::MemberId first);
  void ReportAliasCycle(ir::MemberId alias);

  const Program& program_;
  VariantEvaluator& evaluator_;
  ValueEvaluator& values_;
  QueryRecorder& recorder_;
  ResultTable<MemberResolution> members_;     // by the MemberId of the first member of that name
  ResultTable<std::vector<NameId>> aliases_;  // empty: it failed
  std::vector<ir::MemberId> open_aliases_;
  FlatMap<ir::MemberId, bool> is_open_alias_;
};

}  // namespace kiln::resolve
