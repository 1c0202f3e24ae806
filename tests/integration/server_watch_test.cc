// SPDX-License-Identifier: MIT
// Hot reload seen from outside: a daemon in this process, clients of its socket. Spec: daemon §8
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

using Open = v1::WatchRequest::Open;

constexpr std::string_view kVertex = R"(
color_output_container target { f4 color; };
void mist_vertex (void) { vertex_stage_output_position (f4 {0.0}); }
)";

// `body` is what the fragment stage does; `cheap` is an option of it.
std::string SourceOf(const std::string& body, const std::string& unused = "f4 {0.5}") {
  return "instance cheap: flag false;\n" + std::string(kVertex) + "f4 unused (void) { return " +
         unused + "; }\n" + "void mist_fragment (void)\n{\n    f4 color = f4 {1.0};\n" +
         "    conditional (cheap) { color = f4 {0.0}; }\n    target.color = " + body + ";\n}\n";
}
const std::string kGood = SourceOf("color");
const std::string kOther = SourceOf("color * 0.5");
const std::string kBroken = SourceOf("color * 1u");

void SetSource(v1::SourceRef& ref, const std::string& text) {
  const Digest digest = DigestOf(std::string_view(text));
  ref.set_path("mist.rpl");
  ref.mutable_digest()->set_id(Id(digest.id));
  ref.mutable_digest()->set_size(digest.size);
  ref.set_inline_(text);
}

class Watch : public ServerTest {
 protected:
  // One connection, read event by event.
  class Client {
   public:
    Client(const std::shared_ptr<grpc::Channel>& channel, const Open& open)
        : stub(v1::WatchService::NewStub(channel)) {
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(100));
      stream = stub->Watch(&context);
      v1::WatchRequest request;
      *request.mutable_open() = open;
      stream->Write(request);
    }
    ~Client() { context.TryCancel(); }

    void Push(const std::string& text) {
      v1::WatchRequest request;
      SetSource(*request.mutable_push()->add_changed(), text);
      stream->Write(request);
    }

    // Nothing: the stream has ended.
    std::optional<v1::WatchEvent> Next() {
      v1::WatchEvent event;
      if (!stream->Read(&event)) {
        return std::nullopt;
      }
      EXPECT_TRUE(last_seq == 0 || event.conflated() || event.seq() == last_seq + 1 ||
                  (event.has_opened() && event.opened().resumed()))
          << last_seq << " then " << event.ShortDebugString();
      last_seq = event.seq();
      return event;
    }

    // Up to and including the first event of this kind.
    std::vector<v1::WatchEvent> Until(v1::WatchEvent::EventCase kind) {
      std::vector<v1::WatchEvent> events;
      while (std::optional<v1::WatchEvent> event = Next()) {
        events.push_back(*std::move(event));
        if (events.back().event_case() == kind) {
          return events;
        }
      }
      ADD_FAILURE() << "the stream ended: " << stream->Finish().error_message();
      return events;
    }
    std::vector<v1::WatchEvent> UntilSettled() { return Until(v1::WatchEvent::kSettled); }

    grpc::ClientContext context;
    std::unique_ptr<v1::WatchService::Stub> stub;
    std::unique_ptr<grpc::ClientReaderWriter<v1::WatchRequest, v1::WatchEvent>> stream;
    uint64_t last_seq = 0;
  };

  static v1::ProgramSpace SpaceOf(const std::string& text, const std::string& name = "mist") {
    v1::ProgramSpace space;
    *space.mutable_program() = ProgramOf(text, true);
    space.mutable_program()->set_name(name);
    v1::Axis& axis = *space.add_axes();
    axis.set_name("cheap");
    axis.set_all(true);
    return space;
  }

  static Open OpenBoth(const std::string& text, const std::string& session = "artist") {
    Open open;
    open.set_project("test");
    open.set_session_id(session);
    open.set_role(Open::BOTH);
    open.set_inline_data(true);
    *open.add_spaces() = SpaceOf(text);
    return open;
  }
  static Open OpenSubscriber(const std::string& session) {
    Open open;
    open.set_project("test");
    open.set_session_id(session);
    open.set_role(Open::SUBSCRIBER);
    return open;
  }

  std::unique_ptr<Client> Connect(const Open& open) {
    return std::make_unique<Client>(channel, open);
  }

  // One connection has 100 streams at most. `window`: bytes that it takes in before they are read,
  // which else grow to megabytes.
  std::shared_ptr<grpc::Channel> OwnConnection(int window = 0) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (window != 0) {
      arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
      arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, window);
    }
    return grpc::CreateCustomChannel("unix:" + daemon->socket(), grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  grpc::Status StatusOf(const Open& open) {
    Client client(channel, open);
    while (client.Next().has_value()) {
    }
    return client.stream->Finish();
  }
};

size_t Count(const std::vector<v1::WatchEvent>& events, v1::WatchEvent::EventCase kind) {
  return static_cast<size_t>(std::ranges::count(events, kind, &v1::WatchEvent::event_case));
}

const v1::WatchEvent* First(const std::vector<v1::WatchEvent>& events,
                            v1::WatchEvent::EventCase kind) {
  const auto found = std::ranges::find(events, kind, &v1::WatchEvent::event_case);
  return found == events.end() ? nullptr : &*found;
}

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

TEST_F(Watch, Reconnect_ReplaysWhatWasMissed) {
  Start();
  Open reader = OpenSubscriber("engine");
  const auto source = Connect(OpenBoth(kGood));
  source->UntilSettled();
  uint64_t epoch = 0, seq = 0;
  {
    const auto client = Connect(reader);
    epoch = client->UntilSettled()[0].opened().epoch();
    seq = client->last_seq;
  }
  source->Push(kOther);
  source->UntilSettled();
  reader.mutable_resume()->set_epoch(epoch);
  reader.mutable_resume()->set_seq(seq);
  const auto again = Connect(reader);
  const std::vector<v1::WatchEvent> events = again->UntilSettled();
  ASSERT_TRUE(events[0].has_opened());
  EXPECT_TRUE(events[0].opened().resumed());
  EXPECT_EQ(events[1].seq(), seq + 1);
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 2u);
  EXPECT_EQ(Count(events, v1::WatchEvent::kSnapshot), 0u);
}

TEST_F(Watch, ReconnectToAnotherRun_GetsASnapshot) {
  Start();
  uint64_t epoch = 0;
  {
    const auto client = Connect(OpenBoth(kGood));
    epoch = client->UntilSettled()[0].opened().epoch();
  }
  Stop();
  Start();
  const auto source = Connect(OpenBoth(kGood));
  source->UntilSettled();
  Open reader = OpenSubscriber("engine");
  reader.mutable_resume()->set_epoch(epoch);
  reader.mutable_resume()->set_seq(7);
  const auto client = Connect(reader);
  const std::vector<v1::WatchEvent> events = client->UntilSettled();
  EXPECT_FALSE(events[0].opened().resumed());
  EXPECT_NE(events[0].opened().epoch(), epoch);
  ASSERT_GE(events.size(), 4u);
  EXPECT_TRUE(events[1].has_snapshot());
  EXPECT_TRUE(events[1].snapshot().begin());
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 2u);
  EXPECT_TRUE(events[4].has_snapshot());
  EXPECT_FALSE(events[4].snapshot().begin());
}

TEST_F(Watch, SecondOpenOfASession_FencesTheFirst) {
  Start();
  const auto first = Connect(OpenBoth(kGood));
  first->UntilSettled();
  const auto second = Connect(OpenBoth(kGood));
  second->UntilSettled();
  while (first->Next().has_value()) {
  }
  EXPECT_EQ(first->stream->Finish().error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(DetailOf(first->context).reason(), "FENCED");
}

TEST_F(Watch, SourceLeaves_SubscribersAreTold) {
  Start();
  auto source = Connect(OpenBoth(kGood));
  source->UntilSettled();
  const auto reader = Connect(OpenSubscriber("engine"));
  reader->UntilSettled();
  source.reset();
  const std::vector<v1::WatchEvent> events = reader->Until(v1::WatchEvent::kProblem);
  EXPECT_EQ(events.back().problem().code(), "NO_SOURCE_CLIENT");
}

TEST_F(Watch, SubscriberBeforeTheSource_IsToldAndThenServed) {
  Start();
  const auto reader = Connect(OpenSubscriber("engine"));
  const std::vector<v1::WatchEvent> first = reader->Until(v1::WatchEvent::kProblem);
  EXPECT_FALSE(first[0].opened().source_present());
  const auto source = Connect(OpenBoth(kGood));
  EXPECT_EQ(Count(reader->UntilSettled(), v1::WatchEvent::kArtifact), 2u);
}

TEST_F(Watch, RemovedSource_IsAProblemAndComesBack) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  v1::WatchRequest request;
  request.mutable_push()->add_removed("mist.rpl");
  client->stream->Write(request);
  std::vector<v1::WatchEvent> events = client->UntilSettled();
  ASSERT_NE(First(events, v1::WatchEvent::kProblem), nullptr);
  EXPECT_EQ(First(events, v1::WatchEvent::kProblem)->problem().code(), "SOURCE_MISSING");
  client->Push(kOther);
  events = client->UntilSettled();
  EXPECT_EQ(Count(events, v1::WatchEvent::kArtifact), 2u);
}

TEST_F(Watch, SourceClientThatSaysNoMore_GetsItsResultsAndOk) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->Push(kOther);
  client->stream->WritesDone();
  size_t artifacts = 0;
  while (const std::optional<v1::WatchEvent> event = client->Next()) {
    artifacts += event->has_artifact() ? 1 : 0;
  }
  const grpc::Status status = client->stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_GE(artifacts, 2u);
}

TEST_F(Watch, Drain_TellsAndEnds) {
  Start();
  const auto client = Connect(OpenBoth(kGood));
  client->UntilSettled();
  daemon->Drain();
  const std::vector<v1::WatchEvent> events = client->Until(v1::WatchEvent::kProblem);
  EXPECT_EQ(events.back().problem().code(), "DRAINING");
  EXPECT_FALSE(client->Next().has_value());
  EXPECT_EQ(client->stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailOf(client->context).reason(), "DRAINING");
}

TEST_F(Watch, BadMessages_HaveTheirStatus) {
  Start();
  struct Row {
    const char* what;
    std::function<void(Open&)> change;
    grpc::StatusCode code;
  };
  using C = grpc::StatusCode;
  for (const Row& row : std::vector<Row>{
           {"no project", [](Open& o) { o.clear_project(); }, C::INVALID_ARGUMENT},
           {"no role", [](Open& o) { o.clear_role(); }, C::INVALID_ARGUMENT},
           {"a source without spaces", [](Open& o) { o.clear_spaces(); }, C::INVALID_ARGUMENT},
           {"a subscriber with spaces", [](Open& o) { o.set_role(Open::SUBSCRIBER); },
            C::INVALID_ARGUMENT},
           {"control characters", [](Open& o) { o.set_session_id("\n1"); }, C::INVALID_ARGUMENT},
           {"two programs of one name", [](Open& o) { *o.add_spaces() = o.spaces(0); },
            C::INVALID_ARGUMENT},
           {"interest without a program", [](Open& o) { o.add_variants_of_interest(); },
            C::INVALID_ARGUMENT},
           {"a path upwards",
            [](Open& o) {
              o.mutable_spaces(0)->mutable_program()->mutable_sources(0)->set_path("../x.rpl");
            },
            C::INVALID_ARGUMENT},
           {"sources that are nowhere",
            [](Open& o) {
              o.mutable_spaces(0)->mutable_program()->mutable_sources(0)->clear_inline_();
            },
            C::FAILED_PRECONDITION}}) {
    Open open = OpenBoth(SourceOf("color * 0.75"));
    row.change(open);
    EXPECT_EQ(StatusOf(open).error_code(), row.code) << row.what;
  }
}

TEST_F(Watch, FirstMessageThatIsNotOpen_IsRefused) {
  Start();
  grpc::ClientContext context;
  const auto stub = v1::WatchService::NewStub(channel);
  const auto stream = stub->Watch(&context);
  v1::WatchRequest request;
  request.mutable_ack()->set_seq(1);
  stream->Write(request);
  v1::WatchEvent event;
  EXPECT_FALSE(stream->Read(&event));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Watch, SubscribersAndSessions_AreLimited) {
  Start();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(Connect(OpenSubscriber("engine" + std::to_string(i))));
    ASSERT_TRUE(clients.back()->Next().has_value()) << i;
  }
  EXPECT_EQ(StatusOf(OpenSubscriber("one more")).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  clients.pop_back();
  for (int i = 0; i < 63; ++i) {
    Open open = OpenSubscriber("engine");
    open.set_project("project" + std::to_string(i));
    clients.push_back(std::make_unique<Client>(OwnConnection(), open));
    ASSERT_TRUE(clients.back()->Next().has_value()) << i;
  }
  Open open = OpenSubscriber("engine");
  open.set_project("one more");
  Client last(OwnConnection(), open);
  while (last.Next().has_value()) {
  }
  EXPECT_EQ(last.stream->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(Watch, ReaderThatDoesNotRead_GetsTheNewestStateAndHarmsNobody) {
  Start();
  const auto source = Connect(OpenBoth(kGood));
  source->UntilSettled();
  Open slow_open = OpenSubscriber("slow");
  slow_open.set_inline_data(true);
  const auto slow = std::make_unique<Client>(OwnConnection(/*window=*/1 << 16), slow_open);
  ASSERT_TRUE(slow->Next().has_value());
  std::string last;
  for (int i = 1; i <= 1500; ++i) {
    // alternating, so that every push has something to tell
    last = SourceOf("color * 0." + std::to_string(i % 2 + 1));
    source->Push(last);
    source->UntilSettled();
  }
  uint64_t generation = 0;
  std::string data;
  bool conflated = false;
  while (generation != 1501) {
    const std::optional<v1::WatchEvent> event = slow->Next();
    ASSERT_TRUE(event.has_value());
    conflated |= event->conflated();
    if (event->has_settled()) {
      generation = event->settled().generation();
    } else if (event->has_artifact() && !event->artifact().options(0).flag()) {
      data = event->artifact().artifact().data();
    }
  }
  EXPECT_TRUE(conflated);
  v1::CompileRequest direct = RequestOf(last);
  EXPECT_EQ(data, Compile(direct).artifacts(0).data());
}

}  // namespace
}  // namespace kiln::server
