// SPDX-License-Identifier: MIT
// Who watches: reconnects, sources that come and go, bad messages, limits, readers that do not
// read. See spec/daemon 8, 9.6
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/test_wait.h"
#include "server/test_watch.h"

namespace kiln::server {
namespace {

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

// The session outlives its clients by a minute; its work does not, and goes on when one is back.
TEST_F(Watch, EverybodyLeaves_WorkRestsUntilSomebodyIsBack) {
  Start();
  constexpr int kFlags = 16;  // 65,536 variants: far more work than the test waits for
  std::string text(kVertex);
  std::string body;
  Open open = OpenBoth({});
  v1::ProgramSpace& space = *open.mutable_spaces(0);
  space.clear_axes();
  for (int i = 0; i < kFlags; ++i) {
    const std::string name = "f" + std::to_string(i);
    text += "global " + name + ": flag false;\n";
    body += "conditional (" + name + ") { color = color * " + std::to_string(i) + ".5; }\n";
    v1::Axis& axis = *space.add_axes();
    axis.set_name(name);
    axis.set_all(true);
  }
  text += "void mist_fragment (void) { f4 color = f4 {1.0};\n" + body + "target.color = color; }\n";
  *space.mutable_program() = ProgramOf(text, true);
  const auto operating = v1::AdminService::NewStub(OwnConnection());
  const auto works = [&] {
    grpc::ClientContext context;
    v1::ListJobsReply jobs;
    EXPECT_TRUE(operating->ListJobs(&context, v1::ListJobsRequest(), &jobs).ok());
    return !jobs.jobs().empty();
  };
  uint64_t artifacts = 0;
  for (int round = 0; round < 2; ++round) {
    auto client = Connect(open);
    const std::vector<v1::WatchEvent> events = client->Until(v1::WatchEvent::kArtifact);
    EXPECT_TRUE(WaitUntil(works)) << "there is more to do";
    EXPECT_EQ(Count(events, v1::WatchEvent::kSettled), 0u);
    artifacts += Count(events, v1::WatchEvent::kArtifact);
    client.reset();
    EXPECT_TRUE(WaitUntil([&] { return !works(); })) << round;
  }
  EXPECT_EQ(artifacts, 2u);
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
           {"control characters in the workspace", [](Open& o) { o.set_workspace("a\nb"); },
            C::INVALID_ARGUMENT},
           {"a long workspace", [](Open& o) { o.set_workspace(std::string(1025, 'w')); },
            C::INVALID_ARGUMENT},
           {"more patterns than a subscription has",
            [](Open& o) {
              for (int i = 0; i < 65; ++i) {
                o.add_programs("mist*");
              }
            },
            C::RESOURCE_EXHAUSTED},
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

TEST_F(Watch, AsMuchAsThereMayBe_IsTaken) {
  Start();
  Open open = OpenBoth(kGood);
  open.set_workspace(std::string(1024, 'w'));
  for (int i = 0; i < 64; ++i) {
    open.add_programs("mist*");
  }
  for (int i = 0; i < 1000; ++i) {
    open.add_programs("name" + std::to_string(i));
  }
  EXPECT_EQ(Count(Connect(open)->UntilSettled(), v1::WatchEvent::kArtifact), 2u);
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
