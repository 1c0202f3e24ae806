// SPDX-License-Identifier: MIT
// A daemon in this process and stubs for its socket, for tests that see it from outside.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "compiler/base/digest.h"
#include "compiler/base/test_directory.h"
#include "proto/kiln/v1/admin.grpc.pb.h"
#include "proto/kiln/v1/batch.grpc.pb.h"
#include "proto/kiln/v1/cache.grpc.pb.h"
#include "proto/kiln/v1/compile.grpc.pb.h"
#include "proto/kiln/v1/pack.grpc.pb.h"
#include "server/daemon.h"

namespace kiln::server {
// Parses and compiles: mist_vertex, mist_fragment; options cheap, cut, quality.
const std::string& GoodSource();

// Does not parse: a semicolon is missing.
inline std::string WrongSource() { return GoodSource() + "\nf1 half (in f1 x) { return x }\n"; }

inline std::string Id(const Hash128& hash) { return {hash.bytes.begin(), hash.bytes.end()}; }

class TestFolder {
 public:
  const std::string& path() const { return path_; }

 private:
  TestDirectory directory_;
  std::string path_ = directory_.path();
};

inline v1::Program ProgramOf(const std::string& text, bool inline_text) {
  v1::Program program;
  program.set_name("mist");
  program.set_pipeline("graphics_classic");
  v1::SourceRef& source = *program.add_sources();
  source.set_path("mist.rpl");
  const Digest digest = DigestOf(std::string_view(text));
  source.mutable_digest()->set_id(Id(digest.id));
  source.mutable_digest()->set_size(digest.size);
  if (inline_text) {
    source.set_inline_(text);
  }
  v1::EntryPoint& vertex = *program.add_entry_points();
  vertex.set_stage(v1::EntryPoint::VERTEX);
  vertex.set_function("mist_vertex");
  v1::EntryPoint& fragment = *program.add_entry_points();
  fragment.set_stage(v1::EntryPoint::FRAGMENT);
  fragment.set_function("mist_fragment");
  v1::Target& target = *program.add_targets();
  target.set_name("vk");
  target.set_form(v1::Target::SPIRV);
  target.set_env("vulkan1.1");
  target.set_debug(v1::Target::NAMES);
  return program;
}

inline v1::CompileRequest RequestOf(const std::string& text, bool inline_text = true) {
  v1::CompileRequest request;
  *request.mutable_variant()->mutable_inline_program() = ProgramOf(text, inline_text);
  request.set_inline_data(true);
  return request;
}

// Twelve variants: two flags and an enumeration of three.
inline v1::StartBatchRequest BatchOf(const std::string& text) {
  v1::StartBatchRequest request;
  request.set_project("test");
  v1::ProgramSpace& space = *request.add_spaces();
  *space.mutable_program() = ProgramOf(text, true);
  for (const char* name : {"cheap", "cut", "quality"}) {
    v1::Axis& axis = *space.add_axes();
    axis.set_name(name);
    axis.set_all(true);
  }
  return request;
}

inline v1::ErrorDetail DetailOf(const grpc::ClientContext& context) {
  v1::ErrorDetail detail;
  const auto& trailing = context.GetServerTrailingMetadata();
  if (const auto found = trailing.find("kiln-error-bin"); found != trailing.end()) {
    detail.ParseFromArray(found->second.data(), static_cast<int>(found->second.length()));
  }
  return detail;
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() : log(std::tmpfile(), ops::LogFormat::kText, LogLevel::kInfo, clock) {}

  Daemon::Options OptionsIn(const std::string& folder) {
    Daemon::Options options;
    options.config.socket = folder + "/run/kilnd.sock";
    options.config.cache_dir = folder + "/cache";
    options.config.cache_min_free_bytes = 0;
    options.config.workers = 2;
    // Tests are in a folder below the programs; one of their own would run its tests again.
    options.config.worker_program =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "kilnd")
            .string();
    return options;
  }

  // A file of the test's folder that only its user may read; the path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::string path = folder.path() + "/" + name;
    std::ofstream(path) << text;
    std::filesystem::permissions(path, std::filesystem::perms(0600));
    return path;
  }

  void Start() { StartWith(OptionsIn(folder.path())); }

  void StartWith(const Daemon::Options& options) { StartWith(options, clock); }

  // `of_daemon` outlives the daemon.
  void StartWith(const Daemon::Options& options, Clock& of_daemon) {
    auto started = Daemon::Start(options, of_daemon, log, failure);
    ASSERT_TRUE(started.ok()) << failure.component << ": " << failure.what;
    daemon = std::move(started).value();
    channel = grpc::CreateChannel("unix:" + daemon->socket(), grpc::InsecureChannelCredentials());
    compile = v1::CompileService::NewStub(channel);
    batch = v1::BatchService::NewStub(channel);
    admin = v1::AdminService::NewStub(channel);
    pack = v1::PackService::NewStub(channel);
    cache = v1::CacheService::NewStub(channel);
  }

  void Stop() { daemon.reset(); }

  v1::Outcome Compile(const v1::CompileRequest& request) {
    grpc::ClientContext context;
    v1::CompileReply reply;
    const grpc::Status status = compile->Compile(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(context.GetServerInitialMetadata().count("kiln-trace"), 1u);
    return reply.outcome();
  }

  // The last event; counts the others by kind.
  v1::BatchEvent Watch(const std::string& id, std::map<int, int>& seen) {
    grpc::ClientContext context;
    v1::WatchBatchRequest request;
    request.set_batch_id(id);
    auto stream = batch->WatchBatch(&context, request);
    v1::BatchEvent event, last;
    uint64_t seq = 0;
    while (stream->Read(&event)) {
      EXPECT_GT(event.seq(), seq);
      seq = event.seq();
      ++seen[event.event_case()];
      last = event;
    }
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return last;
  }

  v1::StartBatchReply StartBatch(const v1::StartBatchRequest& request) {
    grpc::ClientContext context;
    v1::StartBatchReply reply;
    const grpc::Status status = batch->StartBatch(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }

  // Builds all of BatchOf; its id.
  std::string Build(const std::string& text) {
    std::map<int, int> seen;
    std::string id = StartBatch(BatchOf(text)).batch_id();
    Watch(id, seen);
    return id;
  }

  TestFolder folder;
  SystemClock clock;
  ops::LineLog log;
  StartFailure failure;
  std::unique_ptr<Daemon> daemon;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::CompileService::Stub> compile;
  std::unique_ptr<v1::BatchService::Stub> batch;
  std::unique_ptr<v1::AdminService::Stub> admin;
  std::unique_ptr<v1::PackService::Stub> pack;
  std::unique_ptr<v1::CacheService::Stub> cache;
};

}  // namespace kiln::server
