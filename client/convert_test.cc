// SPDX-License-Identifier: MIT
#include "client/convert.h"

#include <gtest/gtest.h>

namespace kiln::client {
namespace {

v1::Outcome Message(int kind, int origin, int stage) {
  v1::Outcome message;
  message.set_kind(static_cast<v1::Outcome::Kind>(kind));
  v1::Artifact& artifact = *message.add_artifacts();
  artifact.set_origin(static_cast<v1::Artifact::Origin>(origin));
  artifact.add_code()->set_stage(static_cast<v1::EntryPoint::Stage>(stage));
  return message;
}

TEST(FromProto, NumbersOfTheProtocol_AreThoseOfTheTypes) {
  const Outcome outcome =
      FromProto(Message(v1::Outcome::POISON, v1::Artifact::SHARED, v1::EntryPoint::COMPUTE));
  EXPECT_EQ(outcome.kind, OutcomeKind::kPoison);
  ASSERT_EQ(outcome.artifacts.size(), 1u);
  EXPECT_EQ(outcome.artifacts[0].origin, Origin::kShared);
  EXPECT_EQ(outcome.artifacts[0].code[0].stage, Stage::kCompute);
}

// Tables are indexed with them.
TEST(FromProto, NumbersNobodyKnows_AreUnknown) {
  for (const int number : {6, 77, 256 + 1, -1}) {
    const Outcome outcome = FromProto(Message(number, number, number));
    EXPECT_EQ(outcome.kind, OutcomeKind::kUnknown) << number;
    EXPECT_EQ(outcome.artifacts[0].origin, Origin::kUnknown) << number;
    EXPECT_EQ(outcome.artifacts[0].code[0].stage, Stage::kNone) << number;
  }
}

TEST(FromProto, SpanThatEndsBeforeItBegins_IsEmpty) {
  google::protobuf::RepeatedPtrField<v1::Diagnostic> messages;
  v1::Diagnostic::Label& label = *messages.Add()->mutable_primary();
  label.set_begin(9);
  label.set_end(2);
  label.set_column(3);
  const std::vector<PlacedDiagnostic> diagnostics = FromProto(messages);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].primary.bytes.begin, 9u);
  EXPECT_EQ(diagnostics[0].primary.bytes.end, 9u);
  EXPECT_EQ(diagnostics[0].primary.end_column, 3u);
}

}  // namespace
}  // namespace kiln::client
