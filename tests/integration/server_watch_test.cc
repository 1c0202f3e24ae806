// SPDX-License-Identifier: MIT
// What edits lead to: events, artifacts, diagnostics, in order. See spec/daemon 8
#include <functional>
#include <string>
#include <vector>

#include "server/test_watch.h"

namespace kiln::server {
namespace {

TEST_F(Watch, FirstOpen_OpenedChangedArtifactsSettled) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  const std::vector<v1::WatchEvent> events = client->UntilSettled();
  ASSERT_GE(events.size(), 4u);
  EXPECT_EQ(events[0].seq(), 1u);
  ASSERT_TRUE(events[0].has_opened());
  EXPECT_NE(events[0].opened().epoch(), 0u);
  EXPECT_EQ(events[0].opened().programs(0), "mist");
  EXPECT_TRUE(events[0].opened().source_present());
  EXPECT_FALSE(events[0].opened().resumed());
  ASSERT_TRUE(events[1].has_changed());
  EXPECT_EQ(events[1].changed().paths(0), "mist.rpl");
  EXPECT_EQ(events[1].changed().programs(0), "mist");
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 2u);
  const v1::WatchEvent::NewArtifact& artifact = events[2].artifact();
  EXPECT_EQ(artifact.artifact().code_size(), 2);
  EXPECT_FALSE(artifact.artifact().data().empty());
  EXPECT_FALSE(artifact.artifact().metadata_data().empty());
  EXPECT_EQ(events.back().settled().compiled(), 2u);
  EXPECT_EQ(events.back().settled().failed(), 0u);
}

TEST_F(Watch, EditOfABody_IsACodeSwapAndGivesTheBytesOfCompile) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  client->Push(kOther);
  const std::vector<v1::WatchEvent> events = client->UntilSettled();
  const v1::WatchEvent* const event = First(events, v1::WatchEvent::kArtifact);
  ASSERT_NE(event, nullptr);
  EXPECT_TRUE(event->artifact().change().code());
  EXPECT_FALSE(event->artifact().change().settings());
  EXPECT_FALSE(event->artifact().change().layout());
  EXPECT_EQ(event->artifact().generation(), 2u);
  v1::CompileRequest direct = RequestOf(kOther);
  *direct.mutable_variant()->mutable_options() = event->artifact().options();
  EXPECT_EQ(event->artifact().artifact().data(), Compile(direct).artifacts(0).data());
}

TEST_F(Watch, NewParameter_ChangesTheLayout) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  client->Push("set_material uniform_buffer tint { f4 shade; };\n" +
               SourceOf("color * tint.shade"));
  const std::vector<v1::WatchEvent> events = client->UntilSettled();
  const v1::WatchEvent* const event = First(events, v1::WatchEvent::kArtifact);
  ASSERT_NE(event, nullptr) << events.back().ShortDebugString();
  EXPECT_TRUE(event->artifact().change().layout());
  EXPECT_TRUE(event->artifact().change().code());
}

TEST_F(Watch, CutOffs_SayWhyNothingCame) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  struct Row {
    const char* what;
    std::string text;
    v1::WatchEvent::Unchanged::Reason reason;
  };
  for (const Row& row :
       {Row{"a comment", "// mist\n" + kGood, v1::WatchEvent::Unchanged::IR_IDENTICAL},
        Row{"a function that nobody calls", SourceOf("color", "f4 {0.25}"),
            v1::WatchEvent::Unchanged::NOT_REACHABLE}}) {
    client->Push(row.text);
    const std::vector<v1::WatchEvent> events = client->UntilSettled();
    EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 0u) << row.what;
    const v1::WatchEvent* const unchanged = First(events, v1::WatchEvent::kUnchanged);
    ASSERT_NE(unchanged, nullptr) << row.what;
    EXPECT_EQ(unchanged->unchanged().reason(), row.reason) << row.what;
  }
}

TEST_F(Watch, BrokenSource_DiagnosticsAndTheLastGoodArtifactStays) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  client->Push(kBroken);
  std::vector<v1::WatchEvent> events = client->UntilSettled();
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 0u);
  const v1::WatchEvent* const said = First(events, v1::WatchEvent::kDiagnostics);
  ASSERT_NE(said, nullptr);
  ASSERT_GT(said->diagnostics().errors_size(), 0);
  EXPECT_FALSE(said->diagnostics().cleared());
  EXPECT_EQ(said->diagnostics().errors(0).primary().path(), "mist.rpl");
  EXPECT_GT(events.back().settled().failed(), 0u);
  {
    // who comes now gets the artifact and what is wrong
    const auto late = Connect(OpenSubscriber("engine"));
    const std::vector<v1::WatchEvent> state = late->UntilSettled();
    EXPECT_EQ(Count(state, v1::WatchEvent::kArtifact), 2u);
    EXPECT_EQ(Count(state, v1::WatchEvent::kDiagnostics), 1u);
    EXPECT_TRUE(state[0].opened().source_present());
  }
  client->Push(kGood);
  events = client->UntilSettled();
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 0u);
  const v1::WatchEvent* const cleared = First(events, v1::WatchEvent::kDiagnostics);
  ASSERT_NE(cleared, nullptr);
  EXPECT_TRUE(cleared->diagnostics().cleared());
  ASSERT_NE(First(events, v1::WatchEvent::kUnchanged), nullptr);
  EXPECT_EQ(First(events, v1::WatchEvent::kUnchanged)->unchanged().reason(),
            v1::WatchEvent::Unchanged::IR_IDENTICAL);
}

TEST_F(Watch, BrokenAtTheFirstOpen_TheLastGoodArtifactsComeFromTheCache) {
  Start();
  std::map<std::string, std::string> good;  // by options
  const auto artifacts_in = [](const std::vector<v1::WatchEvent>& events) {
    std::map<std::string, std::string> found;
    for (const v1::WatchEvent& event : events) {
      if (event.has_artifact()) {
        const v1::WatchEvent::NewArtifact& artifact = event.artifact();
        EXPECT_EQ(artifact.options_size(), 1);
        found[artifact.options(0).ShortDebugString()] = artifact.artifact().data();
      }
    }
    return found;
  };
  {
    const auto client = Connect(OpenBoth(kGood));
    good = artifacts_in(client->UntilSettled());
    ASSERT_EQ(good.size(), 2u);
    client->Push(kOther);
    for (const auto& [options, data] : artifacts_in(client->UntilSettled())) {
      good[options] = data;
    }
  }
  for (const char* what : {"another run", "another project"}) {
    Stop();
    Start();
    Open open = OpenBoth(kBroken);
    const bool other = std::string(what) == "another project";
    open.set_project(other ? "elsewhere" : "test");
    const auto client = Connect(open);
    const std::vector<v1::WatchEvent> events = client->UntilSettled();
    EXPECT_EQ(artifacts_in(events), other ? decltype(good)() : good) << what;
    const v1::WatchEvent* const said = First(events, v1::WatchEvent::kDiagnostics);
    ASSERT_NE(said, nullptr) << what;
    EXPECT_GT(said->diagnostics().errors_size(), 0) << what;
    EXPECT_GT(events.back().settled().failed(), 0u) << what;
  }
}

TEST_F(Watch, SourceThatDoesNotParseAtTheFirstOpen_HasItsLastGoodArtifactsToo) {
  Start();
  { Connect(OpenBoth(kGood))->UntilSettled(); }
  Stop();
  Start();
  const auto client = Connect(OpenBoth("void ( {"));
  std::vector<v1::WatchEvent> events = client->UntilSettled();
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 2u);
  EXPECT_EQ(Count(events, v1::WatchEvent::kDiagnostics), 1u);
  client->Push(kGood);
  events = client->UntilSettled();
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 0u) << "it is what the client has";
  EXPECT_EQ(Count(events, v1::WatchEvent::kUnchanged), 1u);
}

TEST_F(Watch, BurstOfPushes_EndsWithTheNewestAndGenerationsOnlyAscend) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  std::string last;
  for (int i = 1; i <= 50; ++i) {
    last = SourceOf("color * 0." + std::to_string(100 + i));
    client->Push(last);
  }
  uint64_t generation = 0;
  std::map<std::string, std::string> data;  // by options
  for (;;) {
    const std::optional<v1::WatchEvent> event = client->Next();
    ASSERT_TRUE(event.has_value());
    if (event->has_artifact()) {
      EXPECT_GE(event->artifact().generation(), generation);
      generation = event->artifact().generation();
      data[event->artifact().options(0).ShortDebugString()] = event->artifact().artifact().data();
    }
    if (event->has_settled() && event->settled().generation() == 51) {
      break;
    }
  }
  ASSERT_EQ(data.size(), 2u);
  for (const bool cheap : {false, true}) {
    v1::CompileRequest direct = RequestOf(last);
    v1::OptionValue& option = *direct.mutable_variant()->add_options();
    option.set_name("cheap");
    option.set_flag(cheap);
    EXPECT_EQ(data[option.ShortDebugString()], Compile(direct).artifacts(0).data()) << cheap;
  }
}

TEST_F(Watch, ManifestChange_AddsAndRemovesVariants) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  v1::WatchRequest request;
  v1::ProgramSpace& space = *request.mutable_push()->add_spaces();
  space = SpaceOf(kGood);
  v1::Axis& axis = *space.mutable_axes(0);
  axis.set_all(false);
  axis.add_values()->set_flag(true);
  *request.mutable_push()->add_spaces() = SpaceOf(kOther, "fog");
  client->stream->Write(request);
  const std::vector<v1::WatchEvent> events = client->UntilSettled();
  const v1::WatchEvent* const changed = First(events, v1::WatchEvent::kChanged);
  ASSERT_NE(changed, nullptr);
  EXPECT_EQ(changed->changed().programs_size(), 2);
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 2u);  // of fog
  const auto late = Connect(OpenSubscriber("late"));
  EXPECT_EQ(Count(late->UntilSettled(), v1::WatchEvent::kArtifact), 3u);
}

TEST_F(Watch, Subscription_IsFilteredByProgramAndInterestComesFirst) {
  Start();
  Open open = OpenBoth(kGood);
  *open.add_spaces() = SpaceOf(kOther, "fog/near");
  open.add_programs("fog/*");
  v1::Variant& interest = *open.add_variants_of_interest();
  interest.set_program_name("fog/near");
  v1::OptionValue& option = *interest.add_options();
  option.set_name("cheap");
  option.set_flag(true);
  const auto client = Connect(open);
  const std::vector<v1::WatchEvent> events = client->UntilSettled();
  std::vector<bool> cheap;
  for (const v1::WatchEvent& event : events) {
    if (event.has_artifact()) {
      EXPECT_EQ(event.artifact().program(), "fog/near");
      cheap.push_back(event.artifact().options(0).flag());
    }
  }
  EXPECT_EQ(cheap, (std::vector<bool>{true, false}));
}

TEST_F(Watch, InterestLater_BuildsAVariantOutsideOfTheSpace) {
  Start();
  Open open = OpenBoth(kGood);
  open.mutable_spaces(0)->clear_axes();
  const auto client = Connect(open);
  EXPECT_EQ(Count(client->UntilSettled(), v1::WatchEvent::kArtifact), 1u);
  v1::WatchRequest request;
  v1::Variant& interest = *request.mutable_interest()->add_variants();
  interest.set_program_name("mist");
  v1::OptionValue& option = *interest.add_options();
  option.set_name("cheap");
  option.set_flag(true);
  client->stream->Write(request);
  const std::vector<v1::WatchEvent> events = client->UntilSettled();
  ASSERT_EQ(Count(events, v1::WatchEvent::kArtifact), 1u);
  EXPECT_TRUE(First(events, v1::WatchEvent::kArtifact)->artifact().options(0).flag());
}

}  // namespace
}  // namespace kiln::server
