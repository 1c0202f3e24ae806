// SPDX-License-Identifier: MIT
// A cache seen by its operator and by other daemons: spec/daemon 4.5, 4.6, spec/cache 9.
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>

#include <sqlite3.h>
#include <zstd.h>

#include "cache/record.h"
#include "server/test_server.h"
#include "tests/integration/cache_upkeep.h"

namespace kiln::server {
namespace {

TEST_F(ServerCache, Stats_CountRowsHitsAndCauses) {
  Start();
  Compile(Durable(GoodSource()));
  Compile(Durable(GoodSource()));
  const v1::CacheStats stats = Stats();
  EXPECT_EQ(LevelOf(stats, "signature").records(), 1u);
  EXPECT_GT(LevelOf(stats, "content").bytes(), 0u);
  EXPECT_EQ(stats.signatures(), 1u);
  EXPECT_EQ(stats.path(), folder.path() + "/cache/cache.db");
  EXPECT_FALSE(stats.read_only());
  EXPECT_GT(stats.memory_bytes(), 0u);
  ASSERT_EQ(stats.misses_size(), 1);
  EXPECT_EQ(stats.misses(0).cause(), "first_seen");
  EXPECT_GT(stats.cpu_kept_us(), 0u);
  EXPECT_EQ(stats.corrupt(), 0u);
}

TEST_F(ServerCache, StatsWithoutDatabase_TellWhatMemoryHas) {
  std::ofstream(folder.path() + "/cache") << "a file";
  Start();
  Compile(RequestOf(GoodSource()));
  const v1::CacheStats stats = Stats();
  EXPECT_EQ(stats.path(), "");
  EXPECT_GT(stats.memory_bytes(), 0u);
  for (const Followed& refused : {Verify(), Repair(), Gc({})}) {
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  }
}

TEST_F(ServerCache, GcOfEverything_IsFollowedByAMissThatSaysSo) {
  Start();
  const v1::Outcome before = Compile(Durable(GoodSource()));
  v1::GcCacheRequest request;
  request.set_to_bytes(1);
  EXPECT_EQ(Gc(request).done.records(), 0u);
  daemon.reset();  // which remembers what was used
  Age();
  Start();
  request.set_dry_run(true);
  const Followed dry = Gc(request);
  ASSERT_TRUE(dry.ended) << dry.status.error_message();
  EXPECT_GE(dry.done.records(), 1u);
  EXPECT_EQ(LevelOf(Stats(), "signature").records(), 1u);
  request.set_dry_run(false);
  const Followed done = Gc(request);
  EXPECT_TRUE(done.status.ok());
  EXPECT_GE(done.done.records(), 1u);
  EXPECT_EQ(LevelOf(Stats(), "signature").records(), 0u);
  ASSERT_FALSE(done.progress.empty());
  EXPECT_EQ(done.progress.back().stage(), "gc");
  EXPECT_EQ(done.progress.back().bytes_done(), done.done.bytes());
  EXPECT_EQ(done.progress.back().bytes_total(), done.done.used_before() - request.to_bytes());
  const v1::Outcome after = Compile(Durable(GoodSource()));
  EXPECT_EQ(after.artifacts(0).origin(), v1::Artifact::COMPILED);
  EXPECT_EQ(after.artifacts(0).data(), before.artifacts(0).data());
  v1::ExplainRequest why;
  why.set_seq(after.explain_seq());
  grpc::ClientContext context;
  v1::ExplainReply reply;
  ASSERT_TRUE(compile->Explain(&context, why, &reply).ok());
  EXPECT_EQ(reply.records(0).cause(), "evicted");
  EXPECT_NE(reply.records(0).detail().find("to make room"), std::string::npos);
}

TEST_F(ServerCache, GcOfWhatIsAskedAllTheTime_IsFollowedByAMiss) {
  Start();
  const v1::Outcome before = Compile(Durable(GoodSource()));
  const v1::CompileRequest request = RequestOf(GoodSource(), false);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Compile(request).artifacts(0).origin(), v1::Artifact::MEMORY);
  }
  Age();
  v1::GcCacheRequest everything;
  everything.set_to_bytes(1);
  EXPECT_GE(Gc(everything).done.records(), 1u);
  const v1::Outcome after = Compile(RequestOf(GoodSource()));
  EXPECT_EQ(after.artifacts(0).origin(), v1::Artifact::COMPILED);
  EXPECT_EQ(after.artifacts(0).data(), before.artifacts(0).data());
  EXPECT_EQ(Compile(request).artifacts(0).data(), before.artifacts(0).data());
}

TEST_F(ServerCache, GcOfFailures_LetsThemBeTriedAgain) {
  Start();
  EXPECT_EQ(Compile(RequestOf(WrongSource())).kind(), v1::Outcome::SOURCE_ERROR);
  Compile(Durable(GoodSource()));
  v1::GcCacheRequest request;
  request.set_failed(true);
  const Followed done = Gc(request);
  EXPECT_EQ(done.done.records(), 1u);
  EXPECT_EQ(LevelOf(Stats(), "signature").records(), 1u);
  grpc::ClientContext context;
  v1::ClearNegativeReply cleared;
  ASSERT_TRUE(admin->ClearNegative(&context, {}, &cleared).ok());
  EXPECT_EQ(cleared.removed(), 0u);
}

TEST_F(ServerCache, VerifyAndRepair_WorkWhileTheDaemonServes) {
  Start();
  const v1::Outcome before = Compile(Durable(GoodSource()));
  const Followed sound = Verify();
  EXPECT_TRUE(sound.ended);
  EXPECT_EQ(sound.done.damaged(), 0u);
  EXPECT_GE(sound.done.records(), 1u);
  ASSERT_FALSE(sound.progress.empty());
  EXPECT_GT(sound.progress.back().bytes_done(), 0u);
  EXPECT_EQ(sound.progress.back().bytes_done(), sound.done.bytes());
  EXPECT_EQ(sound.progress.back().bytes_total(), sound.done.bytes());
  Sql("UPDATE entry SET sum=zeroblob(16) WHERE level=3");
  const Followed damaged = Verify();
  EXPECT_TRUE(damaged.status.ok());
  EXPECT_EQ(damaged.done.damaged(), damaged.findings.size());
  ASSERT_GE(damaged.findings.size(), 1u);
  EXPECT_EQ(damaged.findings[0].substr(0, 17), "record signature/");
  const Followed repaired = Repair();
  EXPECT_TRUE(repaired.status.ok());
  EXPECT_GE(repaired.done.dropped(), 1u);
  EXPECT_EQ(repaired.done.left(), 0u);
  EXPECT_EQ(repaired.done.recompiled(), 1u) << "its source is here";
  EXPECT_EQ(LevelOf(Stats(), "signature").records(), 1u);
  EXPECT_EQ(Verify().done.damaged(), 0u);
  const v1::Outcome after = Compile(Durable(GoodSource()));
  EXPECT_EQ(after.artifacts(0).data(), before.artifacts(0).data());
}

TEST_F(ServerCache, Verify_RefusesWhatIsNoPercentage) {
  Start();
  v1::VerifyCacheRequest request;
  request.set_sample_percent(101);
  grpc::ClientContext context;
  EXPECT_EQ(Follow(admin->VerifyCache(&context, request)).status.error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(ServerCache, Pins_KeepResultsAndTheirNames) {
  Start();
  const v1::Outcome outcome = Compile(Durable(GoodSource()));
  const auto pin = [&](const std::string& name, const std::string& signature, grpc::StatusCode code,
                       const char* reason) {
    v1::PinRequest request;
    request.set_name(name);
    request.set_signature(signature);
    request.set_note("shipped");
    grpc::ClientContext context;
    v1::PinInfo info;
    EXPECT_EQ(admin->Pin(&context, request, &info).error_code(), code) << name;
    EXPECT_EQ(DetailOf(context).reason(), reason) << name;
    return info;
  };
  using C = grpc::StatusCode;
  const std::string signature = outcome.artifacts(0).signature();
  const v1::PinInfo info = pin("release", signature, C::OK, "");
  EXPECT_EQ(info.records(), 1u);
  EXPECT_GT(info.bytes(), 0u);
  pin("release", signature, C::OK, "");  // the same again
  pin("none", std::string(16, 'x'), C::NOT_FOUND, "UNKNOWN_RESULT");
  pin("", signature, C::INVALID_ARGUMENT, "MALFORMED_REQUEST");
  pin("short", "x", C::INVALID_ARGUMENT, "MALFORMED_REQUEST");
  v1::CompileRequest other = Durable(GoodSource());
  v1::OptionValue& cheap = *other.mutable_variant()->add_options();
  cheap.set_name("cheap");
  cheap.set_flag(true);
  pin("release", Compile(other).artifacts(0).signature(), C::ALREADY_EXISTS, "PIN_TAKEN");

  Age();
  v1::GcCacheRequest everything;
  everything.set_to_bytes(1);
  everything.set_dry_run(true);
  EXPECT_EQ(Gc(everything).done.kept(), 1u);
  everything.set_dry_run(false);
  EXPECT_GE(Gc(everything).done.records(), 1u);
  EXPECT_EQ(LevelOf(Stats(), "signature").records(), 1u);

  grpc::ClientContext list_context;
  v1::ListPinsReply pins;
  ASSERT_TRUE(admin->ListPins(&list_context, {}, &pins).ok());
  ASSERT_EQ(pins.pins_size(), 1);
  EXPECT_EQ(pins.pins(0).name(), "release");
  EXPECT_EQ(pins.pins(0).note(), "shipped");
  for (const auto& [code, reason] :
       {std::pair(C::OK, ""), std::pair(C::NOT_FOUND, "UNKNOWN_PIN")}) {
    v1::UnpinRequest request;
    request.set_name("release");
    grpc::ClientContext context;
    v1::UnpinReply reply;
    EXPECT_EQ(admin->Unpin(&context, request, &reply).error_code(), code);
    EXPECT_EQ(DetailOf(context).reason(), reason);
  }
}

// Who names results wants all of them: what is not there is not left out, and a list has a bound.
TEST_F(ServerCache, PinOfAList_HoldsAllOfItOrNothing) {
  Start();
  const std::string known = Compile(Durable(GoodSource())).artifacts(0).signature();
  struct Row {
    size_t known, unknown;
    grpc::StatusCode code;
    const char* reason;
  };
  for (const Row& row :
       {Row{1, 0, grpc::StatusCode::OK, ""}, Row{10'000, 0, grpc::StatusCode::OK, ""},
        Row{10'001, 0, grpc::StatusCode::RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED"},
        Row{1, 1, grpc::StatusCode::NOT_FOUND, "UNKNOWN_RESULT"},
        Row{0, 9'000, grpc::StatusCode::NOT_FOUND, "UNKNOWN_RESULT"}}) {
    v1::PinRequest request;
    request.set_name("list");
    for (size_t i = 0; i < row.known; ++i) {
      request.add_signatures(known);
    }
    for (size_t i = 0; i < row.unknown; ++i) {
      request.add_signatures(Id(HashBytes(AsBytes(std::to_string(i)))));
    }
    grpc::ClientContext context;
    v1::PinInfo info;
    EXPECT_EQ(admin->Pin(&context, request, &info).error_code(), row.code) << row.known;
    EXPECT_EQ(DetailOf(context).reason(), row.reason);
  }
}

TEST_F(ServerCache, PinOfABatch_HoldsAllItsResultsAndListsArePaged) {
  Start();
  const std::string id = Build(GoodSource());
  for (const char* name : {"a", "b", "c"}) {
    v1::PinRequest request;
    request.set_name(name);
    request.set_batch_id(id);
    grpc::ClientContext context;
    v1::PinInfo info;
    ASSERT_TRUE(admin->Pin(&context, request, &info).ok());
    EXPECT_GT(info.records(), 1u);
  }
  v1::StartBatchRequest again = BatchOf(GoodSource());
  again.set_pin("d");
  std::map<int, int> seen;
  Watch(StartBatch(again).batch_id(), seen);
  std::string names;
  v1::ListPinsRequest request;
  request.set_page_size(2);
  do {
    grpc::ClientContext context;
    v1::ListPinsReply reply;
    ASSERT_TRUE(admin->ListPins(&context, request, &reply).ok());
    for (const v1::PinInfo& pin : reply.pins()) {
      names += pin.name();
    }
    names += ' ';
    request.set_page_token(reply.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(names, "ab cd ");
  request.set_page_token("quarantine:1");
  grpc::ClientContext context;
  v1::ListPinsReply reply;
  EXPECT_EQ(admin->ListPins(&context, request, &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailOf(context).reason(), "BAD_PAGE_TOKEN");
}

TEST_F(ServerCache, KeysAndMasksAreGone_ResultIsFoundByItsSignature) {
  Start();
  const v1::Outcome before = Compile(Durable(GoodSource()));
  Stop();
  Sql("DELETE FROM alias; DELETE FROM entry WHERE level=2");
  Start();
  const v1::Outcome after = Compile(Durable(GoodSource()));
  EXPECT_EQ(after.artifacts(0).origin(), v1::Artifact::SHARED);
  EXPECT_EQ(after.artifacts(0).signature(), before.artifacts(0).signature());
  EXPECT_EQ(after.artifacts(0).data(), before.artifacts(0).data());
}

// Reads a Fetch to its end.
struct Fetched {
  grpc::Status status;
  std::vector<v1::Outcome> outcomes;
  std::set<std::string> blobs;
};

TEST_F(ServerCache, FetchOfAPin_GivesItsResultsAndContent) {
  Start();
  const std::string id = Build(GoodSource());
  v1::PinRequest pin;
  pin.set_name("release");
  pin.set_batch_id(id);
  grpc::ClientContext pin_context;
  v1::PinInfo info;
  ASSERT_TRUE(admin->Pin(&pin_context, pin, &info).ok());
  const auto fetch = [&](const v1::FetchRequest& request) {
    grpc::ClientContext context;
    Fetched fetched;
    const auto reader = compile->Fetch(&context, request);
    v1::FetchReply reply;
    while (reader->Read(&reply)) {
      if (reply.has_outcome()) {
        fetched.outcomes.push_back(reply.outcome());
      } else if (reply.has_blob()) {
        fetched.blobs.insert(reply.blob().digest().id());
      }
    }
    fetched.status = reader->Finish();
    return fetched;
  };
  v1::FetchRequest of_batch;
  of_batch.set_batch_id(id);
  const Fetched batch_results = fetch(of_batch);
  v1::FetchRequest of_pin;
  of_pin.set_pin("release");
  const Fetched pinned = fetch(of_pin);
  ASSERT_TRUE(pinned.status.ok()) << pinned.status.error_message();
  EXPECT_EQ(pinned.outcomes.size(), info.records());
  EXPECT_EQ(pinned.outcomes.size(), batch_results.outcomes.size());
  EXPECT_EQ(pinned.blobs, batch_results.blobs);
  of_pin.set_pin("none");
  EXPECT_EQ(fetch(of_pin).status.error_code(), grpc::StatusCode::NOT_FOUND);

  // What is lost behind a batch is made again from its sources (spec/cache 8.5).
  daemon.reset();
  Start();
  const std::string again = Build(GoodSource());
  Sql("DELETE FROM alias; DELETE FROM ref; DELETE FROM entry WHERE level=3; DELETE FROM blob"
      " WHERE rid IN (SELECT rid FROM blob ORDER BY rid DESC LIMIT 1)");
  grpc::ClientContext gc_context;
  v1::ClearNegativeReply cleared;  // and this process forgets what it had in memory
  ASSERT_TRUE(admin->ClearNegative(&gc_context, {}, &cleared).ok());
  of_batch.set_batch_id(again);
  const Fetched mended = fetch(of_batch);
  ASSERT_TRUE(mended.status.ok()) << mended.status.error_message();
  EXPECT_EQ(mended.blobs, batch_results.blobs);
}

TEST_F(ServerCache, Quarantine_ListsWhatWasSetAside) {
  Start();
  Compile(Durable(GoodSource()));
  Sql("INSERT INTO quarantine (at_s, what, id, reason, bytes) VALUES"
      " (5, 'blob', zeroblob(16), 'first', x''), (6, 'record', zeroblob(16), 'second', x'')");
  v1::ListQuarantineRequest request;
  request.set_page_size(1);
  std::string reasons;
  do {
    grpc::ClientContext context;
    v1::ListQuarantineReply reply;
    ASSERT_TRUE(admin->ListQuarantine(&context, request, &reply).ok());
    for (const v1::ListQuarantineReply::Item& item : reply.items()) {
      reasons += item.reason() + " ";
    }
    request.set_page_token(reply.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(reasons, "second first ");
}

v1::Digest DigestMessage(std::string_view text) {
  const Digest digest = DigestOf(text);
  v1::Digest message;
  message.set_id(Id(digest.id));
  message.set_size(digest.size);
  return message;
}

TEST_F(ServerCache, Blobs_ComeBackAsTheyWentInAndWrongOnesAreRejected) {
  Start();
  const std::string large(3'000'000, 'l');
  std::string packed(ZSTD_compressBound(large.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), large.data(), large.size(), 3));
  const std::string noise = WrongSource();
  std::string small(ZSTD_compressBound(noise.size()), '\0');
  small.resize(ZSTD_compress(small.data(), small.size(), noise.data(), noise.size(), 3));
  grpc::ClientContext context;
  v1::PutBlobsReply put;
  const auto writer = cache->PutBlobs(&context, &put);
  const auto send = [&](const v1::Digest& digest, const std::string& bytes, v1::Codec codec) {
    size_t offset = 0;
    do {
      v1::PutBlobsRequest chunk;
      *chunk.mutable_digest() = digest;
      chunk.set_offset(offset);
      chunk.set_codec(codec);
      chunk.set_data(bytes.substr(offset, 1'000'000));
      offset += chunk.data().size();
      chunk.set_last(offset == bytes.size());
      EXPECT_TRUE(writer->Write(chunk));
    } while (offset < bytes.size());
  };
  send(DigestMessage(GoodSource()), GoodSource(), v1::CODEC_NONE);
  send(DigestMessage("other"), "bytes", v1::CODEC_NONE);
  send(DigestMessage(noise), small, v1::CODEC_ZSTD);
  send(DigestMessage(large), packed, v1::CODEC_ZSTD);  // 3 MB out of a few hundred bytes
  send(DigestMessage("x"), "not zstd", v1::CODEC_ZSTD);
  v1::Digest huge = DigestMessage("huge");
  huge.set_size(uint64_t{1} << 40);
  send(huge, "huge", v1::CODEC_NONE);
  send(DigestMessage(""), "", v1::CODEC_NONE);
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(put.stored(), 3u);
  std::vector<std::string> reasons;
  for (const v1::PutBlobsReply::Rejected& rejected : put.rejected()) {
    reasons.push_back(rejected.reason());
  }
  EXPECT_EQ(reasons,
            (std::vector<std::string>{"DIGEST_MISMATCH", "RATIO", "DIGEST_MISMATCH", "TOO_LARGE"}));

  v1::FindMissingRequest ask;
  *ask.add_digests() = DigestMessage("other");
  *ask.add_digests() = DigestMessage(GoodSource());
  grpc::ClientContext ask_context;
  v1::FindMissingReply missing;
  ASSERT_TRUE(cache->FindMissing(&ask_context, ask, &missing).ok());
  ASSERT_EQ(missing.missing_size(), 1);
  EXPECT_EQ(missing.missing(0).id(), DigestMessage("other").id());

  v1::GetBlobsRequest get;
  get.add_accept_codecs(v1::CODEC_ZSTD);
  *get.add_digests() = DigestMessage(GoodSource());
  *get.add_digests() = DigestMessage("other");
  *get.add_digests() = DigestMessage("");
  grpc::ClientContext get_context;
  const auto reader = cache->GetBlobs(&get_context, get);
  v1::GetBlobsReply reply;
  std::string got;
  int answers = 0;
  while (reader->Read(&reply)) {
    ++answers;
    if (reply.digest().id() == DigestMessage(GoodSource()).id()) {
      EXPECT_EQ(reply.codec(), v1::CODEC_ZSTD);
      got.resize(GoodSource().size());
      EXPECT_EQ(ZSTD_decompress(got.data(), got.size(), reply.data().data(), reply.data().size()),
                got.size());
    } else {
      EXPECT_EQ(reply.status(),
                reply.digest().size() == 0 ? v1::GetBlobsReply::OK : v1::GetBlobsReply::NOT_FOUND);
    }
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(answers, 3);
  EXPECT_EQ(got, GoodSource());
}

TEST_F(ServerCache, TooManyDigests_AreRefusedWithTheLimit) {
  Start();
  v1::FindMissingRequest ask;
  for (int i = 0; i < 10'001; ++i) {
    *ask.add_digests() = DigestMessage("d");
  }
  grpc::ClientContext context;
  v1::FindMissingReply missing;
  EXPECT_EQ(cache->FindMissing(&context, ask, &missing).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailOf(context).reason(), "LIMIT_EXCEEDED");
  EXPECT_EQ(DetailOf(context).max(), 10'000u);
  ask.mutable_digests()->RemoveLast();
  grpc::ClientContext at_limit;
  EXPECT_TRUE(cache->FindMissing(&at_limit, ask, &missing).ok());
}

TEST_F(ServerCache, Rows_MoveToAnotherDaemonWithTheirContent) {
  Start();
  const v1::Outcome outcome = Compile(Durable(GoodSource()));
  v1::GetRowsRequest get;
  v1::CacheRow& wanted = *get.add_items();
  wanted.set_level(v1::CacheRow::SIGNATURE);
  wanted.set_key(outcome.artifacts(0).signature());
  v1::CacheRow& absent = *get.add_items();
  absent.set_level(v1::CacheRow::MODULE);
  absent.set_key(std::string(16, 'm'));
  grpc::ClientContext get_context;
  v1::GetRowsReply rows;
  ASSERT_TRUE(cache->GetRows(&get_context, get, &rows).ok());
  ASSERT_EQ(rows.items_size(), 1);
  EXPECT_EQ(rows.items(0).refs_size(), 3);  // two stages and metadata

  Stop();
  std::filesystem::remove_all(folder.path() + "/cache");
  Start();
  const auto put = [&](const v1::CacheRow& row) {
    v1::PutRowsRequest request;
    *request.add_items() = row;
    grpc::ClientContext context;
    v1::PutRowsReply reply;
    EXPECT_TRUE(cache->PutRows(&context, request, &reply).ok());
    return reply;
  };
  const v1::PutRowsReply refused = put(rows.items(0));
  ASSERT_EQ(refused.refused_size(), 1);
  EXPECT_EQ(refused.refused(0).reason(), "REFS_MISSING");
  Compile(Durable(GoodSource()));  // brings the content
  EXPECT_EQ(put(rows.items(0)).stored(), 1u);
  EXPECT_EQ(put(rows.items(0)).present(), 1u);
  v1::CacheRow broken = rows.items(0);
  broken.set_value("no record");
  EXPECT_EQ(put(broken).refused(0).reason(), "MALFORMED");
  v1::CacheRow alias;
  alias.set_level(v1::CacheRow::LIVE);
  alias.set_key(std::string(16, 'a'));
  alias.set_value(outcome.artifacts(0).signature());
  EXPECT_EQ(put(alias).present(), 0u);
  EXPECT_EQ(put(alias).stored(), 1u);
  alias.set_value(std::string(16, 's'));
  EXPECT_EQ(put(alias).refused_size(), 1);

  // Another result of the same key: the first one stays, and the daemon says so (spec/cache 4.5).
  const std::string value = rows.items(0).value();
  cache::Record other = *cache::DecodeRecord(AsBytes(value));
  other.live_options = {"zzz"};
  const kiln::Bytes encoded = cache::EncodeRecord(other);
  v1::CacheRow conflicting = rows.items(0);
  conflicting.set_value(std::string(AsText(encoded)));
  EXPECT_EQ(put(conflicting).refused(0).reason(), "CONFLICT");
  grpc::ClientContext status_context;
  v1::ServerStatus status;
  ASSERT_TRUE(admin->GetStatus(&status_context, {}, &status).ok());
  ASSERT_EQ(status.reasons_size(), 1);
  EXPECT_EQ(status.reasons(0).substr(0, 14), "nondeterminism");
}

TEST_F(ServerCache, WrongRows_AreToldApart) {
  Start();
  struct Row {
    const char* what;
    std::function<void(v1::GetRowsRequest&)> fill;
  };
  for (const Row& row : {
           Row{"level",
               [](v1::GetRowsRequest& r) { r.add_items()->set_key(std::string(16, 'k')); }},
           Row{"key",
               [](v1::GetRowsRequest& r) {
                 r.add_items()->set_level(v1::CacheRow::MASK);
                 r.mutable_items(0)->set_key("k");
               }},
           Row{"space", [](v1::GetRowsRequest& r) { r.set_space("elsewhere"); }},
       }) {
    v1::GetRowsRequest request;
    row.fill(request);
    grpc::ClientContext context;
    v1::GetRowsReply reply;
    EXPECT_EQ(cache->GetRows(&context, request, &reply).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT)
        << row.what;
  }
}

}  // namespace
}  // namespace kiln::server
