// SPDX-License-Identifier: MIT
// Who may not write changes nothing, and still gets what is there: with a read token over real TLS,
// every method of scope read. And what two different sources have in common. See spec/daemon 11.4,
// spec/cache 2.1
#include "tests/integration/read_scope_case.h"

namespace kiln::server {
namespace {

std::string CodeOf(const v1::Outcome& outcome) {
  return outcome.artifacts_size() == 0 ? "" : outcome.artifacts(0).data();
}

TEST_F(ReadScope, WhatAReaderBrings_IsServedToNobody) {
  const CollidingTexts texts = CollidingPrograms();
  ASSERT_EQ(Checksum(AsBytes(texts.first)), Checksum(AsBytes(texts.second)));
  EXPECT_NE(DigestOf(texts.first), DigestOf(texts.second));
  ASSERT_NO_FATAL_FAILURE(StartTcp(folder.path() + "/undisturbed"));
  const std::string expected = CodeOf(Compile(RequestOf(texts.first)));
  ASSERT_FALSE(expected.empty());
  EXPECT_NE(CodeOf(Compile(RequestOf(texts.second))), expected);
  Stop();
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::ListOptionsReply options;
  ASSERT_TRUE(ListOptions(texts.second, options).ok());
  EXPECT_EQ(options.options_size(), 3);
  EXPECT_EQ(CodeOf(Compile(RequestOf(texts.first))), expected);
  v1::FindMissingRequest ask;
  const Digest brought = DigestOf(texts.second);
  ask.add_digests()->set_id(Id(brought.id));
  ask.mutable_digests(0)->set_size(brought.size);
  v1::FindMissingReply missing;
  grpc::ClientContext context;
  ASSERT_TRUE(cache->FindMissing(&context, ask, &missing).ok());
  EXPECT_EQ(missing.missing_size(), 1);
}

TEST_F(ReadScope, EveryMethodOfScopeRead_LeavesTheStoreAsItWas) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  ASSERT_NO_FATAL_FAILURE(BuildLongAgo());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  Stop();  // what a daemon does by itself when it starts and ends is no reader's doing
  const std::string before = DumpOf(CacheDir());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  AddCompileCalls();
  AddBatchCalls();
  AddPackCalls();
  AddCacheCalls();
  AddAdminCalls();
  for (const rpc::MethodRow& row : rpc::kMethods) {
    if (row.scope != ops::Scope::kRead) {
      EXPECT_FALSE(calls_.contains(row.method)) << row.method;
      continue;
    }
    ASSERT_TRUE(calls_.contains(row.method)) << row.method << " may be called to read: add it here";
    for (int twice = 0; twice < 2; ++twice) {  // what the first call learned must not be there
      const grpc::Status status = calls_.at(row.method)();
      EXPECT_TRUE(status.ok()) << row.method << ": " << status.error_message();
    }
  }
  Stop();
  EXPECT_EQ(DumpOf(CacheDir()), before);
}

// A batch whose client went away before the daemon was started again.
TEST_F(ReadScope, BatchThatWaitsForItsClient_IsNotWokenByAReader) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  const std::string id = Build(GoodSource());
  Stop();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((CacheDir() + "/cache.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "UPDATE batch SET state=0", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  Stop();
  const std::string before = DumpOf(CacheDir());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::WatchBatchRequest watch;
  watch.set_batch_id(id);
  v1::BatchEvent event;
  {
    Reading reading(token_);
    const auto stream = read_batch->WatchBatch(&reading.context, watch);
    ASSERT_TRUE(stream->Read(&event));
    EXPECT_NE(event.message().find("scope write"), std::string::npos) << event.DebugString();
    ASSERT_TRUE(stream->Read(&event));
    EXPECT_TRUE(event.has_progress()) << event.DebugString();
    reading.context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), Code::CANCELLED);
  }
  v1::StartBatchReply start;
  EXPECT_EQ(Call(*read_batch, &v1::BatchService::Stub::StartBatch, BatchOf(GoodSource()), start)
                .error_code(),
            Code::PERMISSION_DENIED);
  EXPECT_EQ(detail_.reason(), "SCOPE");
  v1::GetBatchRequest get;
  get.set_batch_id(id);
  v1::Batch found;
  ASSERT_TRUE(Call(*read_batch, &v1::BatchService::Stub::GetBatch, get, found).ok());
  EXPECT_EQ(found.state(), v1::Batch::QUEUED);
  Stop();
  EXPECT_EQ(DumpOf(CacheDir()), before);
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  grpc::ClientContext context;  // of the owner, for whom it goes on
  const auto stream = batch->WatchBatch(&context, watch);
  while (stream->Read(&event)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(event.final().state(), v1::Batch::DONE);
}

// The control for the one before the last: for whoever may write the same calls leave traces.
TEST_F(ReadScope, TheSameByTheOwner_IsSeenInTheStore) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  Stop();
  const std::string before = DumpOf(CacheDir());
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::ListOptionsRequest request;
  *request.mutable_program() = ProgramOf(Fresh("options"), true);
  v1::ListOptionsReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(compile->ListOptions(&context, request, &reply).ok());
  Stop();
  EXPECT_NE(DumpOf(CacheDir()), before);
}

TEST_F(ReadScope, Misses_SayWhatToDo) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::CompileReply reply;
  const grpc::Status status = Compile(RequestOf(GoodSource()), reply);
  EXPECT_EQ(status.error_code(), Code::PERMISSION_DENIED);
  for (const std::string& part :
       {std::string("'mist'"), std::string("compiled and stored"),
        "Compile needs scope write; token " + token_id_ + " has scope read"}) {
    EXPECT_NE(status.error_message().find(part), std::string::npos) << status.error_message();
  }
  EXPECT_EQ(detail_.reason(), "SCOPE");
  EXPECT_EQ(detail_.field(), "write");
  EXPECT_NE(detail_.help().find("ask for a token"), std::string::npos) << detail_.help();
  EXPECT_NE(detail_.help().find("let a build that has it run first"), std::string::npos);
  v1::FetchRequest fetch;
  *fetch.add_variants()->mutable_inline_program() = ProgramOf(GoodSource(), true);
  fetch.set_on_miss(v1::FetchRequest::COMPILE);
  v1::FetchReply page;
  EXPECT_EQ(Stream(*read_compile, &v1::CompileService::Stub::Fetch, fetch, page).error_code(),
            Code::PERMISSION_DENIED);
  EXPECT_EQ(detail_.reason(), "SCOPE");
  ASSERT_EQ(Compile(RequestOf(GoodSource())).kind(), v1::Outcome::OK);  // the owner
  EXPECT_TRUE(Compile(RequestOf(GoodSource()), reply).ok());
  EXPECT_EQ(CodeOf(reply.outcome()).substr(0, 4), "\x03\x02\x23\x07");
  EXPECT_EQ(reply.outcome().explain_seq(), 0u);
  EXPECT_TRUE(Stream(*read_compile, &v1::CompileService::Stub::Fetch, fetch, page).ok());
  EXPECT_EQ(page.done().counts().outcomes(), 1u);
  EXPECT_EQ(page.done().counts().skipped(), 0u);
}

// What others build is there for a reader as long as the daemon knows it.
TEST_F(ReadScope, BatchOfOthers_IsAttachedToAndFetched) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  const std::string batch_id = Build(GoodSource());
  v1::StartBatchReply started;
  ASSERT_TRUE(
      Call(*read_batch, &v1::BatchService::Stub::StartBatch, BatchOf(GoodSource()), started).ok());
  EXPECT_EQ(started.batch_id(), batch_id);
  EXPECT_TRUE(started.attached());
  v1::FetchRequest fetch;
  fetch.set_batch_id(batch_id);
  v1::FetchReply page;
  EXPECT_TRUE(Stream(*read_compile, &v1::CompileService::Stub::Fetch, fetch, page).ok());
  EXPECT_EQ(page.done().counts().outcomes(), started.counts().results_done());
  EXPECT_GT(page.done().counts().bytes_sent(), 0u);
  v1::ListBatchItemsRequest list;
  list.set_batch_id(batch_id);
  v1::ListBatchItemsReply items;
  EXPECT_TRUE(Call(*read_batch, &v1::BatchService::Stub::ListBatchItems, list, items).ok());
}

// Id and size always travel together: what has another size is not there.
TEST_F(ReadScope, AnotherSize_IsAnotherContent) {
  ASSERT_NO_FATAL_FAILURE(StartTcp(CacheDir()));
  v1::CompileRequest durable = RequestOf(GoodSource());  // its source is stored before the rest
  durable.set_durability(v1::DURABILITY_LOCAL);
  ASSERT_EQ(Compile(durable).kind(), v1::Outcome::OK);
  const Digest known = DigestOf(GoodSource());
  struct Row {
    uint64_t size;
    bool there;
  };
  for (const Row& row : {Row{known.size, true}, Row{known.size + 1, false}, Row{0, false}}) {
    v1::Digest digest;
    digest.set_id(Id(known.id));
    digest.set_size(row.size);
    v1::FindMissingRequest ask;
    *ask.add_digests() = digest;
    v1::FindMissingReply missing;
    grpc::ClientContext ask_context;
    ASSERT_TRUE(cache->FindMissing(&ask_context, ask, &missing).ok());
    EXPECT_EQ(missing.missing_size(), row.there ? 0 : 1) << row.size;
    v1::GetBlobsRequest get;
    *get.add_digests() = digest;
    grpc::ClientContext get_context;
    const auto blobs = cache->GetBlobs(&get_context, get);
    v1::GetBlobsReply blob;
    ASSERT_TRUE(blobs->Read(&blob));
    EXPECT_EQ(blob.status() == v1::GetBlobsReply::OK, row.there) << row.size;
    v1::GetBlobsReply rest;
    while (blobs->Read(&rest)) {
    }
    EXPECT_TRUE(blobs->Finish().ok());
    v1::CompileRequest request = RequestOf(GoodSource(), false);
    *request.mutable_variant()->mutable_inline_program()->mutable_sources(0)->mutable_digest() =
        digest;
    grpc::ClientContext compile_context;
    v1::CompileReply reply;
    const grpc::Status status = compile->Compile(&compile_context, request, &reply);
    EXPECT_EQ(status.ok(), row.there) << row.size;
    EXPECT_EQ(DetailOf(compile_context).reason(), row.there ? "" : "SOURCES_MISSING") << row.size;
  }
}

}  // namespace
}  // namespace kiln::server
