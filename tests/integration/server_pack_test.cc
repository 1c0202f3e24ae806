// SPDX-License-Identifier: MIT
// Packs built by a daemon: spec/daemon 4.4, spec/cache 10.
#include <filesystem>
#include <fstream>
#include <functional>

#include "cache/pack/chain.h"
#include "cache/pack/reader.h"
#include "server/test_server.h"

namespace kiln::server {
namespace {

class ServerPack : public ServerTest {
 protected:
  struct Built {
    grpc::Status status;
    std::string reason;
    v1::BuildPackReply::Done done;
    int progress = 0;
    v1::Progress last;
  };
  Built BuildPack(const v1::BuildPackRequest& request) {
    grpc::ClientContext context;
    const auto reader = pack->BuildPack(&context, request);
    Built built;
    v1::BuildPackReply reply;
    while (reader->Read(&reply)) {
      built.progress += reply.has_progress() ? 1 : 0;
      built.last = reply.has_progress() ? reply.progress() : built.last;
      built.done = reply.has_done() ? reply.done() : built.done;
    }
    built.status = reader->Finish();
    built.reason = DetailOf(context).reason();
    return built;
  }
  struct Bytes {
    grpc::Status status;
    std::string reason;
    std::string bytes;
  };
  Bytes Read(const std::string& id, uint64_t offset = 0, uint64_t length = 0) {
    v1::ReadPackRequest request;
    request.set_pack_id(id);
    request.set_offset(offset);
    request.set_length(length);
    grpc::ClientContext context;
    const auto reader = pack->ReadPack(&context, request);
    Bytes read;
    v1::ReadPackReply reply;
    while (reader->Read(&reply)) {
      EXPECT_EQ(reply.offset(), offset + read.bytes.size());
      read.bytes += reply.data();
    }
    read.status = reader->Finish();
    read.reason = DetailOf(context).reason();
    return read;
  }
  std::string Save(const std::string& name, const std::string& bytes) {
    std::string path = folder.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  v1::BuildPackRequest OfBatch(const std::string& text) {
    v1::BuildPackRequest request;
    request.set_batch_id(Build(text));
    return request;
  }
};

TEST_F(ServerPack, PackOfABatch_ResolvesEveryVariantToItsBytes) {
  Start();
  const Built built = BuildPack(OfBatch(GoodSource()));
  ASSERT_TRUE(built.status.ok()) << built.status.error_message();
  EXPECT_GE(built.progress, 1);
  EXPECT_EQ(built.done.counts().programs(), 1u);
  EXPECT_EQ(built.done.failed(), 0u);
  EXPECT_EQ(built.last.stage(), "pack");
  EXPECT_EQ(built.last.done(), built.done.counts().blobs());
  EXPECT_EQ(built.last.total(), built.done.counts().blobs());
  EXPECT_EQ(built.last.bytes_done(), built.last.bytes_total());
  const Bytes read = Read(built.done.pack_id());
  ASSERT_TRUE(read.status.ok());
  EXPECT_EQ(read.bytes.size(), built.done.size());
  const auto pack = pack::Pack::Open(Save("a.kpack", read.bytes), {});
  ASSERT_TRUE(pack.ok()) << pack.error().context;
  ASSERT_TRUE((*pack)->Verify().ok());
  uint64_t bytes = 0;
  for (const pack::BlobRow& blob : (*pack)->tables().blobs) {
    bytes += blob.raw_size;
  }
  EXPECT_EQ(built.last.bytes_total(), bytes);
  EXPECT_EQ(Id((*pack)->id()), built.done.pack_id());
  const auto program = (*pack)->FindProgram("mist");
  ASSERT_TRUE(program.has_value());
  const auto entry = (*pack)->FindEntry(*program, "vk");
  ASSERT_TRUE(entry.has_value());
  const pack::Tables& tables = (*pack)->tables();
  EXPECT_EQ(tables.String(tables.options[0].name), "cheap");
  for (const bool cheap : {false, true}) {
    for (const bool cut : {false, true}) {
      for (const std::string quality : {"low", "middle", "high"}) {
        const std::vector<cache::TypedValue> values{cache::TypedValue::Flag(cheap),
                                                    cache::TypedValue::Flag(cut),
                                                    cache::TypedValue::Text(quality)};
        const auto row = (*pack)->FindArtifact(*entry, values);
        ASSERT_TRUE(row.has_value()) << cheap << cut << quality;
        v1::CompileRequest request = RequestOf(GoodSource());
        const auto set = [&](const char* name, bool value) {
          v1::OptionValue& option = *request.mutable_variant()->add_options();
          option.set_name(name);
          option.set_flag(value);
        };
        set("cheap", cheap);
        set("cut", cut);
        v1::OptionValue& option = *request.mutable_variant()->add_options();
        option.set_name("quality");
        option.set_enum_(quality);
        const v1::Outcome outcome = Compile(request);
        std::string code;
        const pack::ArtifactRow& artifact = tables.artifacts[*row];
        for (uint32_t i = 0; i < artifact.code_count; ++i) {
          const auto blob = (*pack)->GetBlob(tables.code[artifact.first_code + i].blob);
          ASSERT_TRUE(blob.ok());
          code += AsText(blob->bytes);
        }
        EXPECT_EQ(code, outcome.artifacts(0).data());
        const auto metadata = (*pack)->GetBlob(artifact.metadata);
        ASSERT_TRUE(metadata.ok());
        EXPECT_EQ(AsText(metadata->bytes), outcome.artifacts(0).metadata_data());
        EXPECT_EQ(Id(tables.StateId(artifact)), outcome.artifacts(0).state_id());
      }
    }
  }
}

// Three builds, two numbers of threads, two directories: one file (spec/cache 12).
TEST_F(ServerPack, SameRequest_SameBytesForAnyThreadsDirectoryAndDaemon) {
  const TestFolder elsewhere;
  std::string first;
  for (int build = 0; build < 3; ++build) {
    for (const uint32_t workers : {1u, 4u}) {
      for (const std::string& in : {folder.path(), elsewhere.path() + "/deeper/below"}) {
        SCOPED_TRACE(in + ", " + std::to_string(workers) + " workers, build " +
                     std::to_string(build));
        std::filesystem::create_directories(in);
        std::filesystem::remove_all(in + "/cache");
        Daemon::Options options = OptionsIn(in);
        options.config.workers = workers;
        StartWith(options);
        const Built built = BuildPack(OfBatch(GoodSource()));
        ASSERT_TRUE(built.status.ok()) << built.status.error_message();
        const std::string bytes = Read(built.done.pack_id()).bytes;
        EXPECT_FALSE(bytes.empty());
        first = first.empty() ? bytes : first;
        EXPECT_TRUE(bytes == first);
        // Once more in the same daemon: from what it has by now.
        EXPECT_TRUE(Read(BuildPack(OfBatch(GoodSource())).done.pack_id()).bytes == first);
        Stop();
      }
    }
  }
}

TEST_F(ServerPack, PackOfVariants_BuildsWhatIsMissing) {
  Start();
  v1::BuildPackRequest request;
  request.set_project("demo");
  for (const bool cheap : {false, true}) {
    v1::Variant& variant = *request.add_variants();
    *variant.mutable_inline_program() = ProgramOf(GoodSource(), true);
    variant.set_warm(cheap);
    v1::OptionValue& option = *variant.add_options();
    option.set_name("cheap");
    option.set_flag(cheap);
  }
  request.set_pin("shipped");
  request.mutable_manifest()->set_id(std::string(16, 'm'));
  request.mutable_manifest()->set_size(77);
  const Built built = BuildPack(request);
  ASSERT_TRUE(built.status.ok()) << built.status.error_message();
  EXPECT_EQ(built.done.counts().artifacts(), 2u);
  v1::DescribePackRequest describe;
  describe.set_pack_id(built.done.pack_id());
  grpc::ClientContext context;
  v1::DescribePackReply described;
  ASSERT_TRUE(pack->DescribePack(&context, describe, &described).ok());
  EXPECT_EQ(described.info().project(), "demo");
  EXPECT_EQ(described.info().manifest().id(), std::string(16, 'm'));
  EXPECT_EQ(described.info().manifest().size(), 77u);
  ASSERT_EQ(described.info().targets_size(), 1);
  EXPECT_EQ(described.info().targets(0), "vk");
  EXPECT_EQ(described.info().counts().artifacts(), 2u);
  EXPECT_EQ(described.info().source_date(), 0u);
  ASSERT_EQ(described.programs_size(), 1);
  EXPECT_EQ(described.programs(0).name(), "mist");
  EXPECT_EQ(described.programs(0).artifacts(), 2u);
  EXPECT_EQ(described.sections(0).kind(), "INFO");
  const auto pack = pack::Pack::Open(Save("v.kpack", Read(built.done.pack_id()).bytes), {});
  ASSERT_TRUE(pack.ok());
  EXPECT_EQ((*pack)->tables().pipelines[0].warm_rank, 0u);
  ASSERT_EQ((*pack)->tables().warm.size(), 1u);
  EXPECT_EQ((*pack)->tables().warm[0].pipeline, 0u);
  grpc::ClientContext pins_context;
  v1::ListPinsReply pins;
  ASSERT_TRUE(admin->ListPins(&pins_context, {}, &pins).ok());
  ASSERT_EQ(pins.pins_size(), 1);
  EXPECT_EQ(pins.pins(0).records(), 2u);
}

TEST_F(ServerPack, ManifestThatIsNoDigest_IsRefused) {
  Start();
  v1::BuildPackRequest request;
  *request.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
  request.mutable_manifest()->set_id("short");
  const Built built = BuildPack(request);
  EXPECT_EQ(built.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(built.reason, "MALFORMED_REQUEST");
}

TEST_F(ServerPack, WrongVariants_AreCountedAndLeftOut) {
  Start();
  v1::BuildPackRequest request;
  *request.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
  v1::Program& wrong = *request.add_variants()->mutable_inline_program();
  wrong = ProgramOf(WrongSource(), true);
  wrong.set_name("wrong");
  const Built built = BuildPack(request);
  ASSERT_TRUE(built.status.ok()) << built.status.error_message();
  EXPECT_EQ(built.done.failed(), 1u);
  EXPECT_EQ(built.done.counts().programs(), 1u);
}

// Nothing is ever stored, and memory holds next to nothing: content is made again as it is read.
TEST_F(ServerPack, FullStoreAndNoMemory_GiveTheSamePackAndFetch) {
  Start();
  const std::string whole = Read(BuildPack(OfBatch(GoodSource())).done.pack_id()).bytes;
  ASSERT_FALSE(whole.empty());
  Stop();
  const TestFolder other;
  Daemon::Options options = OptionsIn(other.path());
  options.config.cache_max_bytes = 4096;  // less than an empty database has
  options.config.cache_memory_bytes = 1;
  StartWith(options);
  const v1::BuildPackRequest request = OfBatch(GoodSource());
  const Built built = BuildPack(request);
  ASSERT_TRUE(built.status.ok()) << built.status.error_message();
  EXPECT_EQ(Read(built.done.pack_id()).bytes, whole);
  v1::FetchRequest fetch;
  fetch.set_batch_id(request.batch_id());
  grpc::ClientContext context;
  const auto reader = compile->Fetch(&context, fetch);
  uint64_t outcomes = 0;
  uint64_t blobs = 0;
  for (v1::FetchReply reply; reader->Read(&reply);) {
    outcomes += reply.has_outcome() ? 1 : 0;
    blobs += reply.has_blob() ? 1 : 0;
  }
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_GT(outcomes, 1u);
  EXPECT_GT(blobs, outcomes);
}

TEST_F(ServerPack, Delta_HasOnlyWhatTheBaseLacks) {
  Start();
  const Built base = BuildPack(OfBatch(GoodSource()));
  v1::BuildPackRequest request =
      OfBatch(GoodSource() + "\nf1 more (in f1 x) { return x * 2.0; }\n");
  request.set_base_pack(base.done.pack_id());
  const Built delta = BuildPack(request);
  ASSERT_TRUE(delta.status.ok()) << delta.status.error_message();
  EXPECT_LT(delta.done.size(), base.done.size());
  const std::string base_file = Save("base.kpack", Read(base.done.pack_id()).bytes);
  const std::string delta_file = Save("delta.kpack", Read(delta.done.pack_id()).bytes);
  EXPECT_FALSE(pack::Pack::Open(delta_file, {}).ok());
  const auto chain = pack::OpenChain(delta_file, std::vector<std::string>{base_file}, {});
  ASSERT_TRUE(chain.ok()) << chain.error().context;
  EXPECT_TRUE((*chain)->Verify().ok());
}

TEST_F(ServerPack, ReadPack_ResumesWhereItStopped) {
  Start();
  const Built built = BuildPack(OfBatch(GoodSource()));
  const std::string id = built.done.pack_id();
  const std::string all = Read(id).bytes;
  EXPECT_EQ(Read(id, 100).bytes, all.substr(100));
  EXPECT_EQ(Read(id, 100, 50).bytes, all.substr(100, 50));
  EXPECT_EQ(Read(id, all.size()).bytes, "");
  const Bytes beyond = Read(id, all.size() + 1);
  EXPECT_EQ(beyond.status.error_code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(beyond.reason, "OFFSET_BEYOND_END");
  Stop();
  Start();  // packs are files: they are still there
  EXPECT_EQ(Read(id).bytes, all);
}

TEST_F(ServerPack, DamagedPack_IsDataLoss) {
  Start();
  const Built built = BuildPack(OfBatch(GoodSource()));
  for (const auto& file : std::filesystem::directory_iterator(folder.path() + "/cache/packs")) {
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-3, std::ios::end);
    bytes.put('\x55');
  }
  const Bytes read = Read(built.done.pack_id());
  EXPECT_EQ(read.status.error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(read.reason, "DAMAGED");
}

TEST_F(ServerPack, ShelfIsBounded_TheOneUsedLeastLatelyGoes) {
  Start();
  std::vector<std::string> ids;
  for (int i = 0; i < 11; ++i) {
    v1::BuildPackRequest request;
    *request.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
    request.set_project("project " + std::to_string(i));
    ids.push_back(BuildPack(request).done.pack_id());
    if (i > 0) {
      EXPECT_TRUE(Read(ids[0]).status.ok());  // used
    }
  }
  EXPECT_TRUE(Read(ids[0]).status.ok());
  EXPECT_EQ(Read(ids[1]).status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_TRUE(Read(ids[10]).status.ok());
}

TEST_F(ServerPack, WrongRequests_AreToldApart) {
  Start();
  struct Row {
    const char* what;
    std::function<void(v1::BuildPackRequest&)> change;
    grpc::StatusCode code;
    const char* reason;
  };
  using C = grpc::StatusCode;
  for (const Row& row : {
           Row{"nothing", [](v1::BuildPackRequest& r) { r.clear_variants(); }, C::INVALID_ARGUMENT,
               "MALFORMED_REQUEST"},
           Row{"batch",
               [](v1::BuildPackRequest& r) {
                 r.clear_variants();
                 r.set_batch_id(std::string(16, 'b'));
               },
               C::NOT_FOUND, "UNKNOWN_BATCH"},
           Row{"base", [](v1::BuildPackRequest& r) { r.set_base_pack(std::string(16, 'p')); },
               C::NOT_FOUND, "UNKNOWN_PACK"},
           Row{"sign", [](v1::BuildPackRequest& r) { r.set_sign(true); }, C::FAILED_PRECONDITION,
               "NO_SIGNING_KEY"},
           Row{"target", [](v1::BuildPackRequest& r) { r.add_targets("other"); },
               C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
           Row{"warm", [](v1::BuildPackRequest& r) { r.add_warm_list()->set_program("other"); },
               C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
           Row{"lane",
               [](v1::BuildPackRequest& r) {
                 r.add_warm_list()->set_program("mist");
                 r.mutable_warm_list(0)->set_lane(3);
               },
               C::INVALID_ARGUMENT, "MALFORMED_REQUEST"},
           Row{"pass",
               [](v1::BuildPackRequest& r) {
                 r.add_warm_list()->set_program("mist");
                 r.mutable_warm_list(0)->set_pass("shadow");
               },
               C::UNIMPLEMENTED, "NOT_BUILT_IN"},
           Row{"source",
               [](v1::BuildPackRequest& r) {
                 *r.mutable_variants(0)->mutable_inline_program() =
                     ProgramOf(GoodSource() + "\n// not uploaded\n", false);
               },
               C::FAILED_PRECONDITION, "SOURCES_MISSING"},
       }) {
    v1::BuildPackRequest request;
    *request.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
    row.change(request);
    const Built built = BuildPack(request);
    EXPECT_EQ(built.status.error_code(), row.code) << row.what;
    EXPECT_EQ(built.reason, row.reason) << row.what;
  }
  EXPECT_EQ(Read(std::string(16, 'p')).status.error_code(), C::NOT_FOUND);
  EXPECT_EQ(Read("p").status.error_code(), C::INVALID_ARGUMENT);
  v1::DescribePackRequest describe;
  describe.set_pack_id(std::string(16, 'p'));
  grpc::ClientContext context;
  v1::DescribePackReply described;
  EXPECT_EQ(pack->DescribePack(&context, describe, &described).error_code(), C::NOT_FOUND);
}

}  // namespace
}  // namespace kiln::server
