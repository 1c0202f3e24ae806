// SPDX-License-Identifier: MIT
// A daemon in this process and a client of its socket: how it starts, says who it is, and ends.
#include <filesystem>
#include <fstream>
#include <string>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <gtest/gtest.h>

#include "compiler/base/test_wait.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

class Server : public ServerTest {};

TEST_F(Server, Drain_RefusesNewWorkAndSaysSo) {
  Start();
  {
    grpc::ClientContext context;
    v1::DrainReply reply;
    ASSERT_TRUE(admin->Drain(&context, {}, &reply).ok());
  }
  EXPECT_EQ(daemon->Wait(std::chrono::seconds(1)), Daemon::Ask::kDrain);
  grpc::ClientContext context;
  v1::CompileReply reply;
  EXPECT_EQ(compile->Compile(&context, RequestOf(GoodSource()), &reply).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailOf(context).reason(), "DRAINING");
  EXPECT_GT(DetailOf(context).retry_after_ms(), 0u);
  grpc::ClientContext status_context;
  v1::ServerStatus status;
  ASSERT_TRUE(admin->GetStatus(&status_context, {}, &status).ok());
  EXPECT_EQ(status.health(), v1::ServerStatus::DRAINING);
}

TEST_F(Server, SecondDaemon_IsRefusedWithThePidOfTheFirst) {
  Start();
  const std::string pid = "pid " + std::to_string(getpid());
  StartFailure failure;
  EXPECT_FALSE(Daemon::Start(OptionsIn(folder.path()), clock, log, failure).ok());
  EXPECT_EQ(failure.component, "socket");
  EXPECT_NE(failure.what.find(pid), std::string::npos) << failure.what;
  Daemon::Options other = OptionsIn(folder.path());
  other.config.socket = folder.path() + "/other/kilnd.sock";
  EXPECT_FALSE(Daemon::Start(other, clock, log, failure).ok());
  EXPECT_EQ(failure.component, "store");
  EXPECT_NE(failure.what.find(pid), std::string::npos) << failure.what;
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);  // the first lives on
}

TEST_F(Server, SocketPathTooLong_IsRefusedClearly) {
  Daemon::Options options = OptionsIn(folder.path());
  options.config.socket = folder.path() + "/" + std::string(120, 's');
  StartFailure failure;
  EXPECT_FALSE(Daemon::Start(options, clock, log, failure).ok());
  EXPECT_EQ(failure.component, "socket");
  EXPECT_NE(failure.what.find("allows 107"), std::string::npos) << failure.what;
}

TEST_F(Server, CacheDirectoryThatCannotBe_CostsPersistenceOnly) {
  std::ofstream(folder.path() + "/cache") << "a file";
  Start();
  EXPECT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);
  grpc::ClientContext context;
  v1::ServerStatus status;
  ASSERT_TRUE(admin->GetStatus(&context, {}, &status).ok());
  EXPECT_EQ(status.health(), v1::ServerStatus::DEGRADED);
  EXPECT_EQ(status.reasons_size(), 1);
}

TEST_F(Server, Restart_FindsWhatWasKept) {
  Start();
  v1::CompileRequest request = RequestOf(GoodSource());
  request.set_durability(v1::DURABILITY_LOCAL);
  const v1::Outcome before = Compile(request);
  daemon.reset();
  Start();
  const v1::Outcome after = Compile(request);
  ASSERT_EQ(after.artifacts_size(), 1);
  EXPECT_EQ(after.artifacts(0).origin(), v1::Artifact::LOCAL);
  EXPECT_EQ(after.artifacts(0).data(), before.artifacts(0).data());
}

TEST_F(Server, Info_NamesVersionsAndTransport) {
  Start();
  grpc::ClientContext context;
  v1::ServerInfo info;
  ASSERT_TRUE(admin->GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.api_max(), 1u);
  EXPECT_EQ(info.pid(), static_cast<uint64_t>(getpid()));
  ASSERT_EQ(info.transports_size(), 1);
  EXPECT_EQ(info.transports(0), "unix:" + daemon->socket());
}

grpc::ByteBuffer BufferOf(std::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return {&slice, 1};
}

std::string TextOf(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

// Messages by hand: their .proto files are not a dependency of kiln.
TEST_F(Server, HealthAndReflection_Answer) {
  Start();
  grpc::ClientContext context;
  grpc::ByteBuffer health;
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      channel.get(),
      grpc::internal::RpcMethod("/grpc.health.v1.Health/Check",
                                grpc::internal::RpcMethod::NORMAL_RPC, channel),
      &context, BufferOf(""), &health);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(TextOf(health), std::string_view("\x08\x01", 2));  // status: SERVING
  grpc::ClientContext reflection;
  using Factory = grpc::internal::ClientReaderWriterFactory<grpc::ByteBuffer, grpc::ByteBuffer>;
  const std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream(
      Factory::Create(channel.get(),
                      grpc::internal::RpcMethod(
                          "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                          grpc::internal::RpcMethod::BIDI_STREAMING, channel),
                      &reflection));
  EXPECT_TRUE(stream->Write(BufferOf("\x3a\x01*")));  // list_services: "*"
  grpc::ByteBuffer services;
  ASSERT_TRUE(stream->Read(&services));
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_NE(TextOf(services).find("kiln.v1.CompileService"), std::string::npos);
}

}  // namespace
}  // namespace kiln::server
