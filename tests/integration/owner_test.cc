// SPDX-License-Identifier: MIT
// What has a name belongs to whoever made it: two tenants of scope write, the owner and an admin,
// over real TLS. See spec/daemon 11.4
#include <cstring>
#include <random>

#include "server/compile/pack/pack_shelf.h"
#include "tests/integration/security_case.h"

namespace kiln::server {
namespace {

using Code = grpc::StatusCode;

class Owners : public SecurityCase {
 protected:
  Owners() {
    studio_ = TokenOf(21, "studio");
    other_ = TokenOf(22, "other");
  }

  std::string TokenOf(uint8_t seed, const std::string& tenant) {
    std::string text = NewToken(seed, Scope::kWrite, 0);
    rows.back().tenant = tenant;
    EXPECT_TRUE(ops::WriteTokens(folder.path() + "/tokens.toml", rows).ok());
    return text;
  }

  void Open() { OpenWith(TcpOptions()); }
  void OpenWith(const Daemon::Options& options) {
    ASSERT_NO_FATAL_FAILURE(StartWith(options));
    const auto tcp = Tcp();
    tcp_batch_ = v1::BatchService::NewStub(tcp);
    tcp_admin_ = v1::AdminService::NewStub(tcp);
    tcp_pack_ = v1::PackService::NewStub(tcp);
    tcp_compile_ = v1::CompileService::NewStub(tcp);
  }

  // One call with a token. What it is refused with is left in `said_` and `detail_`.
  template <class Stub, class Request, class Reply>
  Code As(const std::string& token, Stub& stub,
          grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
          const Request& request, Reply& reply) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    const grpc::Status status = (stub.*method)(&context, request, &reply);
    said_ = status.error_message();
    detail_ = DetailOf(context);
    return status.error_code();
  }
  Code Pin(const std::string& token, const std::string& name, const std::string& note = {}) {
    v1::PinRequest request;
    request.set_name(name);
    request.set_batch_id(built_);
    request.set_note(note);
    v1::PinInfo reply;
    return As(token, *tcp_admin_, &v1::AdminService::Stub::Pin, request, reply);
  }
  Code Unpin(const std::string& token, const std::string& name) {
    v1::UnpinRequest request;
    request.set_name(name);
    v1::UnpinReply reply;
    return As(token, *tcp_admin_, &v1::AdminService::Stub::Unpin, request, reply);
  }
  Code Start(const std::string& token, const v1::StartBatchRequest& request) {
    v1::StartBatchReply reply;
    const Code code = As(token, *tcp_batch_, &v1::BatchService::Stub::StartBatch, request, reply);
    built_ = reply.batch_id().empty() ? built_ : reply.batch_id();
    return code;
  }
  Code BuildPack(const std::string& token, const std::string& pin,
                 const std::string& manifest = "test") {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::BuildPackRequest request;
    request.set_batch_id(built_);
    request.set_pin(pin);
    const Digest digest = DigestOf(manifest);  // packs of two manifests are two
    request.mutable_manifest()->set_id(Id(digest.id));
    request.mutable_manifest()->set_size(digest.size);
    const auto stream = tcp_pack_->BuildPack(&context, request);
    v1::BuildPackReply reply;
    while (stream->Read(&reply)) {
      packed_ = reply.done().pack_id();
    }
    const grpc::Status status = stream->Finish();
    said_ = status.error_message();
    detail_ = DetailOf(context);
    return status.error_code();
  }
  Code Cancel(const std::string& token) {
    v1::CancelBatchRequest request;
    request.set_batch_id(built_);
    v1::Batch reply;
    return As(token, *tcp_batch_, &v1::BatchService::Stub::CancelBatch, request, reply);
  }
  Code Pause(const std::string& token) {
    v1::PauseBatchRequest request;
    request.set_batch_id(built_);
    v1::Batch reply;
    return As(token, *tcp_batch_, &v1::BatchService::Stub::PauseBatch, request, reply);
  }
  Code Resume(const std::string& token) {
    v1::ResumeBatchRequest request;
    request.set_batch_id(built_);
    v1::Batch reply;
    return As(token, *tcp_batch_, &v1::BatchService::Stub::ResumeBatch, request, reply);
  }
  // One source, in chunks that a message takes. No token: the owner.
  Code PutSource(const std::string& token, const std::string& text) {
    constexpr size_t kChunk = size_t{512} << 10;
    grpc::ClientContext context;
    if (!token.empty()) {
      context.AddMetadata("authorization", "Bearer " + token);
    }
    v1::PutSourcesReply reply;
    const auto stream = (token.empty() ? compile : tcp_compile_)->PutSources(&context, &reply);
    v1::PutSourcesRequest message;
    const Digest digest = DigestOf(text);
    message.mutable_digest()->set_id(Id(digest.id));
    message.mutable_digest()->set_size(digest.size);
    for (size_t at = 0; at < text.size(); at += kChunk) {
      message.set_data(text.substr(at, kChunk));
      message.set_last(at + kChunk >= text.size());
      if (!stream->Write(message)) {
        break;
      }
    }
    stream->WritesDone();
    const grpc::Status status = stream->Finish();
    said_ = status.error_message();
    detail_ = DetailOf(context);
    return status.error_code();
  }
  Code Describe(const std::string& pack_id) {
    v1::DescribePackRequest request;
    request.set_pack_id(pack_id);
    v1::DescribePackReply reply;
    return As(studio_, *tcp_pack_, &v1::PackService::Stub::DescribePack, request, reply);
  }
  void ExpectRefused(Code code, const std::string& owner) {
    EXPECT_EQ(code, Code::PERMISSION_DENIED) << said_;
    EXPECT_EQ(detail_.reason(), "NOT_YOURS");
    EXPECT_NE(said_.find(owner), std::string::npos) << said_;
    EXPECT_NE(detail_.help().find("another name"), std::string::npos) << detail_.help();
  }

  std::string studio_, other_;  // tokens of scope write
  std::string built_, packed_;  // ids of the latest batch and pack
  std::string said_;
  v1::ErrorDetail detail_;
  std::unique_ptr<v1::BatchService::Stub> tcp_batch_;
  std::unique_ptr<v1::AdminService::Stub> tcp_admin_;
  std::unique_ptr<v1::PackService::Stub> tcp_pack_;
  std::unique_ptr<v1::CompileService::Stub> tcp_compile_;
};

TEST_F(Owners, PinOfAnother_IsNeitherRemovedNorReplacedNorAddedTo) {
  ASSERT_NO_FATAL_FAILURE(Open());
  built_ = Build(GoodSource());
  ASSERT_EQ(Pin(studio_, "release"), Code::OK) << said_;
  for (int life = 0; life < 2; ++life) {  // the second daemon has it from its file
    ExpectRefused(Unpin(other_, "release"), "tenant:studio");
    ExpectRefused(Pin(other_, "release"), "tenant:studio");
    ExpectRefused(BuildPack(other_, "release"), "tenant:studio");
    v1::StartBatchRequest start = BatchOf(GoodSource());
    start.set_pin("release");
    ExpectRefused(Start(other_, start), "tenant:studio");
    v1::ListPinsReply pins;
    grpc::ClientContext context;
    ASSERT_TRUE(admin->ListPins(&context, v1::ListPinsRequest(), &pins).ok());
    ASSERT_EQ(pins.pins_size(), 1);
    EXPECT_EQ(pins.pins(0).owner(), "tenant:studio");
    if (life == 0) {
      Stop();
      ASSERT_NO_FATAL_FAILURE(Open());
      built_ = Build(GoodSource());
    }
  }
  EXPECT_EQ(Pin(studio_, "release"), Code::OK) << said_;  // the same again, by whoever made it
  EXPECT_EQ(BuildPack(studio_, "release"), Code::OK) << said_;
  EXPECT_EQ(Unpin(studio_, "release"), Code::OK) << said_;
  EXPECT_EQ(Pin(other_, "release"), Code::OK) << said_;  // the name is free
  EXPECT_EQ(Pin(tokens[2], "release"), Code::OK) << said_;
  ExpectRefused(Unpin(studio_, "release"), "tenant:other");  // an admin who adds takes nothing over
  EXPECT_EQ(Unpin(tokens[2], "release"), Code::OK) << said_;
}

TEST_F(Owners, PinOfTheDaemonsOwner_IsHis) {
  ASSERT_NO_FATAL_FAILURE(Open());
  built_ = Build(GoodSource());
  v1::PinRequest request;
  request.set_name("mine");
  request.set_batch_id(built_);
  v1::PinInfo info;
  grpc::ClientContext pin_context;
  ASSERT_TRUE(admin->Pin(&pin_context, request, &info).ok());
  EXPECT_EQ(info.owner(), "owner");
  ExpectRefused(Unpin(other_, "mine"), "belongs to owner");
  ASSERT_EQ(Pin(other_, "theirs"), Code::OK) << said_;
  v1::UnpinRequest unpin;
  unpin.set_name("theirs");
  v1::UnpinReply reply;
  grpc::ClientContext unpin_context;
  EXPECT_TRUE(admin->Unpin(&unpin_context, unpin, &reply).ok());
}

TEST_F(Owners, NoteOfAPin_IsShortAndPrintable) {
  ASSERT_NO_FATAL_FAILURE(Open());
  built_ = Build(GoodSource());
  EXPECT_EQ(Pin(studio_, "a", std::string(1024, 'n')), Code::OK) << said_;
  for (const std::string& note : {std::string(1025, 'n'), std::string("two\nlines")}) {
    EXPECT_EQ(Pin(studio_, "b", note), Code::INVALID_ARGUMENT);
    EXPECT_EQ(detail_.field(), "note");
  }
}

TEST_F(Owners, BatchOfAnother_IsNeitherPausedNorCancelled) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_EQ(Start(studio_, BatchOf(GoodSource())), Code::OK) << said_;
  for (int life = 0; life < 2; ++life) {
    ExpectRefused(Pause(other_), "tenant:studio");
    ExpectRefused(Resume(other_), "tenant:studio");
    ExpectRefused(Cancel(other_), "tenant:studio");
    if (life == 0) {
      std::map<int, int> seen;
      (void)Watch(built_, seen);
      Stop();
      ASSERT_NO_FATAL_FAILURE(Open());
    }
  }
  for (const std::string& token : {studio_, tokens[2]}) {
    EXPECT_EQ(Pause(token), Code::OK) << said_;
    EXPECT_EQ(Resume(token), Code::OK) << said_;
    EXPECT_EQ(Cancel(token), Code::OK) << said_;
  }
  v1::CancelBatchRequest request;
  request.set_batch_id(built_);
  v1::Batch reply;
  grpc::ClientContext context;
  EXPECT_TRUE(batch->CancelBatch(&context, request, &reply).ok());  // the owner of the daemon
}

TEST_F(Owners, PacksOfOne_DropNoneOfOthers) {
  ASSERT_NO_FATAL_FAILURE(Open());
  built_ = Build(GoodSource());
  ASSERT_EQ(BuildPack(studio_, {}), Code::OK) << said_;
  const std::string kept = packed_;
  std::string first;
  for (size_t i = 0; i <= compile::PackShelf::kMaxPacks; ++i) {
    ASSERT_EQ(BuildPack(other_, {}, std::to_string(i)), Code::OK) << said_;
    first = first.empty() ? packed_ : first;
  }
  EXPECT_EQ(Describe(kept), Code::OK) << said_;
  EXPECT_EQ(Describe(packed_), Code::OK) << said_;
  EXPECT_EQ(Describe(first), Code::NOT_FOUND) << "the eleventh took its place";
}

// What one sends and has not finished leaves room for others, for the owner above all.
TEST_F(Owners, UploadsOfOne_HoldHalfOfTheRoom) {
  Daemon::Options options = TcpOptions();
  options.config.receiving_bytes = uint64_t{8} << 20;  // of which uploads have half
  ASSERT_NO_FATAL_FAILURE(OpenWith(options));
  const std::string text = "// " + std::string(size_t{3} << 20, 'c') + "\n";
  EXPECT_EQ(PutSource(studio_, text), Code::RESOURCE_EXHAUSTED);
  EXPECT_EQ(detail_.reason(), "BUFFERS_FULL");
  EXPECT_EQ(PutSource(studio_, text.substr(0, size_t{1} << 20)), Code::OK) << said_;
  EXPECT_EQ(PutSource({}, text), Code::OK) << said_;
}

// One who uploads what nobody names, and asks for it all the time so that it stays, has his share
// of the cache and of memory. Beyond it he is refused, and what others send and build is kept.
TEST_F(Owners, UploadsOfOne_LeaveTheCacheToOthers) {
  Daemon::Options options = TcpOptions();
  options.config.cache_max_bytes = uint64_t{16} << 20;
  ASSERT_NO_FATAL_FAILURE(OpenWith(options));
  const std::string victim = GoodSource() + "\n// of another\n";
  ASSERT_EQ(PutSource(other_, victim), Code::OK) << said_;
  std::mt19937_64 noise(1);
  const auto tcp_cache = v1::CacheService::NewStub(Tcp());
  v1::FindMissingRequest mine;
  Code code = Code::OK;
  for (int i = 0; i < 60 && code == Code::OK; ++i) {
    std::string text(size_t{2} << 20, '\0');
    for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
      const uint64_t word = noise();
      std::memcpy(text.data() + at, &word, sizeof(word));
    }
    code = PutSource(studio_, text);
    if (code == Code::OK) {
      const Digest digest = DigestOf(text);
      v1::Digest& known = *mine.add_digests();
      known.set_id(Id(digest.id));
      known.set_size(digest.size);
      v1::FindMissingReply missing;
      ASSERT_EQ(As(studio_, *tcp_cache, &v1::CacheService::Stub::FindMissing, mine, missing),
                Code::OK);
      ASSERT_EQ(missing.missing_size(), 0) << "what was acknowledged is there";
    }
  }
  EXPECT_EQ(code, Code::RESOURCE_EXHAUSTED);
  EXPECT_EQ(detail_.reason(), "CACHE_FULL") << said_;
  EXPECT_GE(mine.digests_size(), 16);  // half of the memory for uploads
  v1::CompileRequest request = RequestOf(victim, false);
  request.set_durability(v1::DURABILITY_LOCAL);
  v1::CompileReply reply;
  ASSERT_EQ(As(other_, *tcp_compile_, &v1::CompileService::Stub::Compile, request, reply), Code::OK)
      << said_;
  EXPECT_TRUE(reply.outcome().artifacts(0).stored());
  v1::ServerStatus status;
  grpc::ClientContext context;
  ASSERT_TRUE(admin->GetStatus(&context, v1::GetStatusRequest(), &status).ok());
  EXPECT_EQ(status.health(), v1::ServerStatus::SERVING) << status.DebugString();
}

}  // namespace
}  // namespace kiln::server
