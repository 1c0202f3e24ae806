// SPDX-License-Identifier: MIT
// What is wrong with a compile-time expression where it is used. Values are computed without
// messages, because only the user of an expression knows where it stands; a bad one is then walked
// through once more, with the spans of its nodes at hand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/resolve/values/value_evaluator.h"

namespace kiln::resolve {

// Where a compile-time expression stands, for RPL3001 and RPL3002 (spec/rpl 8.4).
struct Position {
  bool global_only = false;
  std::string_view what = {};  // "the array size of field"
  std::string_view name = {};  // "lights"
};

// The run of spans that begins at `first`.
SpanRun RunOf(const Program& program, const Location& first);

// A condition that is no flag (RPL3018).
Diagnostic NoCondition(const Location& where, ir::ValueKind kind);

// Adds what is wrong with an expression, and warnings about a good one; cheap if there is nothing.
// `run` is the first of its spans in pre-order (cexpr.h); nothing is added for names of failed
// constants.
void ReportFailure(ValueEvaluator& values, ir::CexprId cexpr, Location run,
                   std::vector<Diagnostic>& diagnostics);
// The same for a condition, which must also be a flag.
void ReportCondition(ValueEvaluator& values, ir::CexprId condition, Location run,
                     std::vector<Diagnostic>& diagnostics);
// Instance options in a position that takes none (RPL3001, RPL3002).
void ReportInstance(ValueEvaluator& values, ir::CexprId cexpr, Location run,
                    const Position& position, std::vector<Diagnostic>& diagnostics);

// Asks, and reports everything about it: value and position.
Value CheckExpression(ValueEvaluator& values, ir::CexprId cexpr, Location run,
                      const Position& position, std::vector<Diagnostic>& diagnostics);
// The same for a condition; nothing if it failed.
std::optional<bool> CheckCondition(ValueEvaluator& values, ir::CexprId condition, Location run,
                                   const Position& position, std::vector<Diagnostic>& diagnostics);

}  // namespace kiln::resolve
