// SPDX-License-Identifier: MIT
// A daemon whose store takes its time: what it answers before it serves. See spec/daemon 14.1
#include <future>
#include <string>
#include <thread>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>

#include "client/client.h"
#include "proto/kiln/v1/watch.grpc.pb.h"
#include "server/rpc/transport/method_table.h"
#include "server/test_server.h"
#include "tests/support/call_empty.h"

namespace kiln::server {
namespace {

// The status of grpc.health.v1, as its reply encodes it.
constexpr std::string_view kServing("\x08\x01", 2), kNotServing("\x08\x02", 2);

class ServerStart : public ServerTest {
 protected:
  ~ServerStart() override { GoOn(); }

  // A daemon that starts in a thread of its own and answers, but does not open its store.
  void BeginToStart(Daemon::Options options) {
    std::promise<void> at_the_store;
    options.opening = [this, &at_the_store] {
      at_the_store.set_value();
      go_on_.get_future().wait();
    };
    starting_ = std::thread([this, options] {
      auto started = Daemon::Start(options, clock, log, failure);
      daemon = started.ok() ? std::move(started).value() : nullptr;
    });
    at_the_store.get_future().wait();
    channel =
        grpc::CreateChannel("unix:" + options.config.socket, grpc::InsecureChannelCredentials());
    compile = v1::CompileService::NewStub(channel);
    batch = v1::BatchService::NewStub(channel);
    admin = v1::AdminService::NewStub(channel);
    pack = v1::PackService::NewStub(channel);
    cache = v1::CacheService::NewStub(channel);
  }

  // Lets the start come to its end.
  void GoOn() {
    if (starting_.joinable()) {
      go_on_.set_value();
      starting_.join();
    }
  }

  v1::ServerStatus Status() {
    grpc::ClientContext context;
    v1::ServerStatus status;
    EXPECT_TRUE(admin->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
    return status;
  }

  std::string Health() {
    grpc::ClientContext context;
    const grpc::Slice nothing;
    const grpc::ByteBuffer request(&nothing, 1);
    grpc::ByteBuffer reply;
    EXPECT_TRUE(grpc::internal::BlockingUnaryCall(
                    channel.get(),
                    grpc::internal::RpcMethod("/grpc.health.v1.Health/Check",
                                              grpc::internal::RpcMethod::NORMAL_RPC),
                    &context, request, &reply)
                    .ok());
    grpc::Slice slice;
    EXPECT_TRUE(reply.DumpToSingleSlice(&slice).ok());
    return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
  }

 private:
  std::promise<void> go_on_;
  std::thread starting_;
};

TEST_F(ServerStart, StoreTakesItsTime_TheDaemonSaysThatItStartsAndThenServes) {
  BeginToStart(OptionsIn(folder.path()));
  EXPECT_EQ(Health(), kNotServing);
  EXPECT_EQ(Status().health(), v1::ServerStatus::STARTING);
  grpc::ClientContext context;
  v1::ServerInfo info;
  EXPECT_TRUE(admin->GetServerInfo(&context, v1::GetServerInfoRequest(), &info).ok());
  EXPECT_EQ(info.pid(), static_cast<uint64_t>(getpid()));
  GoOn();
  ASSERT_NE(daemon, nullptr) << failure.what;
  EXPECT_EQ(Health(), kServing);
  EXPECT_EQ(Status().health(), v1::ServerStatus::SERVING);
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
}

TEST_F(ServerStart, EveryMethodBeforeTheStoreIsOpen_IsAsTheTableSays) {
  BeginToStart(OptionsIn(folder.path()));
  for (const rpc::MethodRow& row : rpc::kMethods) {
    const std::string path = "/kiln.v1." + std::string(row.service) + "/" + std::string(row.method);
    const grpc::Status status = CallEmpty(channel, path, "");
    EXPECT_EQ(status.error_code(), row.answers == rpc::Answers::kFromTheStart
                                       ? grpc::StatusCode::OK
                                       : grpc::StatusCode::UNAVAILABLE)
        << path << ": " << status.error_message();
  }
  grpc::ClientContext context;
  v1::CompileReply reply;
  EXPECT_EQ(compile->Compile(&context, RequestOf(GoodSource()), &reply).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailOf(context).reason(), "STARTING");
  EXPECT_GT(DetailOf(context).retry_after_ms(), 0u);
  EXPECT_EQ(context.GetServerTrailingMetadata().count("grpc-retry-pushback-ms"), 1u);
}

TEST_F(ServerStart, ClientAsksTooEarly_ItsLibraryComesAgain) {
  const Daemon::Options options = OptionsIn(folder.path());
  BeginToStart(options);
  const auto client = client::Client::Open("unix:" + options.config.socket);
  auto asked = std::async(std::launch::async, [&client] {
    const client::Source source{.path = "mist.rpl",
                                .digest = DigestOf(std::string_view(GoodSource())),
                                .text = GoodSource()};
    return client->PutSources(std::span(&source, 1));
  });
  EXPECT_EQ(asked.wait_for(std::chrono::milliseconds(60)), std::future_status::timeout);
  GoOn();
  ASSERT_NE(daemon, nullptr) << failure.what;
  const Result<void> put = asked.get();
  EXPECT_TRUE(put.ok()) << put.error().context;
}

TEST_F(ServerStart, SecondDaemonMeanwhile_IsToldThePid) {
  const Daemon::Options options = OptionsIn(folder.path());
  BeginToStart(options);
  StartFailure second;
  EXPECT_FALSE(Daemon::Start(options, clock, log, second).ok());
  EXPECT_EQ(second.component, "socket");
  EXPECT_NE(second.what.find("pid " + std::to_string(getpid())), std::string::npos) << second.what;
  GoOn();
  ASSERT_NE(daemon, nullptr) << failure.what;
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
}

TEST_F(ServerStart, StoreOfAnotherDaemon_TheStartFailsAndLeavesNothingBehind) {
  Start();
  const std::unique_ptr<Daemon> first = std::move(daemon);
  Daemon::Options options = OptionsIn(folder.path());
  options.config.socket = folder.path() + "/other/kilnd.sock";
  BeginToStart(options);
  EXPECT_EQ(Status().health(), v1::ServerStatus::STARTING);
  grpc::ClientContext waiting;  // a call that is open when the start fails
  const auto stream = v1::WatchService::NewStub(channel)->Watch(&waiting);
  GoOn();
  EXPECT_EQ(daemon, nullptr);
  EXPECT_EQ(failure.component, "store");
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_FALSE(std::filesystem::exists(options.config.socket));
  EXPECT_TRUE(std::filesystem::exists(first->socket()));
}

}  // namespace
}  // namespace kiln::server
