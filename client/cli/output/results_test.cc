// SPDX-License-Identifier: MIT
#include "client/cli/output/results.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "client/cli/failure.h"
#include "client/cli/global.h"

namespace kiln::cli {
namespace {

// Whatever a daemon says, a command that has nothing to show ends with an error that is told.
TEST(OutcomeExit, EveryKind_IsWellWithAnArtifactOnlyAndNeverSilent) {
  using client::OutcomeKind;
  const struct {
    OutcomeKind kind;
    size_t artifacts, errors;
    int exit;
    const char* said;
  } table[] = {
      {OutcomeKind::kOk, 1, 0, kSuccess, ""},
      {OutcomeKind::kOk, 1, 1, kWrongSource, ""},
      {OutcomeKind::kOk, 0, 0, kPartial, "'ok'"},
      {OutcomeKind::kUnknown, 1, 0, kPartial, "'unknown'"},
      {OutcomeKind::kUnknown, 0, 0, kPartial, "'unknown'"},
      {OutcomeKind::kSourceError, 0, 2, kWrongSource, ""},
      {OutcomeKind::kSourceError, 0, 0, kWrongSource, "'source_error'"},
      {OutcomeKind::kLimit, 0, 0, kWrongSource, "'limit'"},
      {OutcomeKind::kPoison, 0, 0, kWrongSource, "'poison'"},
  };
  for (const auto& row : table) {
    client::Outcome outcome;
    outcome.kind = row.kind;
    outcome.artifacts.resize(row.artifacts);
    testing::internal::CaptureStderr();
    EXPECT_EQ(OutcomeExit(Global(), "rock", outcome, row.errors), row.exit) << row.said;
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.empty(), std::string_view(row.said).empty()) << said;
    EXPECT_NE(said.find(row.said), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace kiln::cli
