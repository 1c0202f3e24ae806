// SPDX-License-Identifier: MIT
// Upkeep that needs to know what records were made from: failures of some programs are forgotten,
// what damage cost is made again. See spec/daemon 4.6, spec/cache 4.3, 9
#include <map>

#include "tests/integration/cache_upkeep.h"

namespace kiln::server {
namespace {

// Wrong in the variants that have `cut`.
std::string WrongWithCut() {
  std::string text = GoodSource();
  const std::string_view where = "conditional (cut) {";
  text.insert(text.find(where) + where.size(), " f3 wrong = f3 {1.0} + f4 {1.0};");
  return text;
}

// Programs of other names and sources; the last fails in one of its variants only.
TEST_F(ServerCache, ClearNegative_TakesAPatternOfProgramsAndSources) {
  Start();
  const auto fails = [&](const std::string& name, const std::string& text) {
    v1::CompileRequest request = RequestOf(text);
    request.mutable_variant()->mutable_inline_program()->set_name(name);
    EXPECT_EQ(Compile(request).kind(), v1::Outcome::SOURCE_ERROR);
  };
  const std::string other = WrongSource() + "f1 third (in f1 x) { return x; }\n";
  fails("a/one", WrongSource());
  fails("b/two", other);
  v1::CompileRequest closing = RequestOf(WrongWithCut());
  v1::OptionValue& cut = *closing.mutable_variant()->add_options();
  cut.set_name("cut");
  cut.set_flag(true);
  EXPECT_EQ(Compile(closing).kind(), v1::Outcome::SOURCE_ERROR);
  const auto clear = [&](const std::string& program, const std::string& source) {
    v1::ClearNegativeRequest request;
    request.set_program(program);
    if (!source.empty()) {
      const Digest digest = DigestOf(std::string_view(source));
      request.add_sources()->set_id(Id(digest.id));
      request.mutable_sources(0)->set_size(digest.size);
    }
    grpc::ClientContext context;
    v1::ClearNegativeReply cleared;
    const grpc::Status status = admin->ClearNegative(&context, request, &cleared);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return cleared.removed();
  };
  EXPECT_EQ(clear("none/*", ""), 0u);
  EXPECT_EQ(clear("", GoodSource()), 0u);
  EXPECT_EQ(clear("b/*", WrongSource()), 0u) << "the source is of a program of another name";
  EXPECT_EQ(clear("a/?ne", WrongSource()), 1u);
  EXPECT_EQ(clear("", other), 1u);
  EXPECT_EQ(clear("mist", ""), 1u);
  EXPECT_EQ(clear("", ""), 0u);
}

// What a batch could not build is found by what each failure leaves behind.
TEST_F(ServerCache, ClearNegative_FindsFailuresOfABatch) {
  Start();
  std::map<int, int> seen;
  const v1::BatchEvent last = Watch(StartBatch(BatchOf(WrongWithCut())).batch_id(), seen);
  ASSERT_GT(last.final().counts().failed(), 0u);
  const uint64_t failures = LevelOf(Stats(), "signature").source_errors();
  ASSERT_GT(failures, 0u);
  Age();  // the batch holds what it used for ten minutes more (spec/cache 8.4)
  v1::ClearNegativeRequest clear;
  clear.set_program("mist");
  grpc::ClientContext context;
  v1::ClearNegativeReply cleared;
  ASSERT_TRUE(admin->ClearNegative(&context, clear, &cleared).ok());
  EXPECT_EQ(cleared.removed(), failures);
}

// Content is lost with every record that names it; those whose sources are here come back.
TEST_F(ServerCache, RepairOfContent_MakesWhatNamedItAgain) {
  Start();
  std::map<int, int> seen;
  Watch(StartBatch(BatchOf(GoodSource())).batch_id(), seen);
  for (const bool cut : {false, true}) {  // a batch leaves but some explain records
    v1::CompileRequest request = Durable(GoodSource());
    v1::OptionValue& value = *request.mutable_variant()->add_options();
    value.set_name("cut");
    value.set_flag(cut);
    Compile(request);
  }
  const uint64_t before = LevelOf(Stats(), "signature").records();
  Sql("UPDATE blob SET data=zeroblob(length(data)) WHERE rid IN (SELECT r.rid FROM ref AS r"
      " JOIN entry AS e USING (eid) WHERE e.level=3)");
  Sql("UPDATE block SET data=zeroblob(length(data))");
  const Followed repaired = Repair();
  EXPECT_TRUE(repaired.status.ok()) << repaired.status.error_message();
  EXPECT_EQ(repaired.done.left(), 0u);
  EXPECT_EQ(repaired.done.refetched(), 0u);
  EXPECT_GE(repaired.done.recompiled(), 2u);
  EXPECT_LE(repaired.done.recompiled(), before);
  EXPECT_EQ(LevelOf(Stats(), "signature").records(), repaired.done.recompiled());
  EXPECT_EQ(Verify().done.damaged(), 0u);
}

}  // namespace
}  // namespace kiln::server
