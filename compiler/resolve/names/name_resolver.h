// SPDX-License-Identifier: MIT
// Which declaration a name denotes in one variant: the one whose conditional holds. Two that are
// live together are a conflict; that is said by whoever asks for a function, and here for a struct.
#pragma once

#include <cstdint>
#include <span>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/names/name_resolution.h"
#include "compiler/resolve/queries/query_recorder.h"
#include "compiler/resolve/values/value_evaluator.h"

namespace kiln::resolve {

class NameResolver {
 public:
  NameResolver(ValueEvaluator& values, QueryRecorder& recorder);
  NameResolver(const NameResolver&) = delete;
  NameResolver& operator=(const NameResolver&) = delete;

  // --- queries
  NameResolution Function(NameId name);
  NameResolution Struct(NameId name);  // never kConflict, which is a failure
  NameResolution Global(NameId name);  // option, constant, container, buffer, sampler, image, …

  // Where the first two functions of a name are that are live together, as labels.
  void LabelFunctions(NameId name, Diagnostic& found);

 private:
  struct Live {
    NameResolution answer;
    ir::DeclId second;  // of a conflict
  };
  enum class Conditions : uint8_t { kAsked, kReported };
  Live FindLive(std::span<const ir::DeclId> candidates, Conditions conditions);

  const Program& program_;
  ValueEvaluator& values_;
  QueryRecorder& recorder_;
  ResultTable<NameResolution> functions_, structs_, globals_;  // by NameId
};

}  // namespace kiln::resolve
