// SPDX-License-Identifier: MIT
#include "cache/explain/explain.h"

#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "cache/explain/explain_codec.h"

namespace kiln::cache {
namespace {

ExplainInputs Inputs() {
  return {.modules = {{"passes/forward.rpl", DigestOf("f"), DigestOf("image f").id},
                      {"materials/rock.rpl", DigestOf("r"), DigestOf("image r").id}},
          .dependencies = {{"common.h", DigestOf("c")}, {"local/common.h", std::nullopt}},
          .entry_points = {{"vertex", "main_vertex"}, {"fragment", "main_fragment"}},
          .pipeline = "graphics_classic",
          .target = {{"env", "vulkan1.1"}, {"form", "spirv"}},
          .options = {{"fog", "true"}, {"fog_mode", "linear"}, {"lights", "4"}},
          .fingerprints = {{"back.spirv", "00aa build 1"}, {"front.rpl", "11bb build 1"}},
          .limits = {{"spirv_words", "1000"}},
          .recipes = {"val;env=vulkan1.1"}};
}

ExplainRecord RecordOf(const ExplainInputs& inputs, int64_t at_ms = 1000) {
  return {.slot = {.project = "demo", .program = "rock/forward", .target = "vk"},
          .at_ms = at_ms,
          .lane = "interactive",
          .trace = "",
          .inputs = inputs,
          .result = ExplainResult::kMiss,
          .level = "",
          .mask = std::nullopt,
          .live_options = {"fog", "fog_mode"},
          .stage_us = {{"parse", 10}, {"emit", 20}},
          .bytes = 4120,
          .signature = DigestOf("s").id,
          .cause = Cause::kNone,
          .detail = "",
          .made_ms = 0};
}

TEST(Explain, Record_SurvivesEncoding) {
  ExplainRecord record = RecordOf(Inputs());
  EXPECT_EQ(DecodeExplain(EncodeExplain(record)).value(), record);
  record.mask = {"fog"};
  record.result = ExplainResult::kHitLocal;
  EXPECT_EQ(DecodeExplain(EncodeExplain(record)).value(), record);
  record.mask = std::vector<std::string>();  // an empty mask is not no mask
  EXPECT_EQ(DecodeExplain(EncodeExplain(record)).value(), record);
  EXPECT_EQ(DecodeExplain(EncodeExplain(ExplainRecord{})).value(), ExplainRecord{});
  ExplainInputs inputs = Inputs();
  inputs.language = {{"version", "2021"}, {"define FOG", "1"}};
  record = RecordOf(inputs);
  EXPECT_EQ(DecodeExplain(EncodeExplain(record)).value(), record);
}

TEST(Explain, DamagedBytes_AreCorruptOrAnotherRecord) {
  const Bytes sound = EncodeExplain(RecordOf(Inputs()));
  for (size_t size = 0; size < sound.size(); ++size) {
    EXPECT_FALSE(DecodeExplain(ByteView(sound).first(size)).ok()) << size;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    Bytes bytes = sound;
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    const Result<ExplainRecord> record = DecodeExplain(bytes);
    if (record.ok()) {  // what decodes is written the same way
      EXPECT_EQ(EncodeExplain(*record), bytes);
    }
  }
}

TEST(Explain, EveryDifference_IsNamed) {
  const std::string f = DigestOf("f").id.hex().substr(0, 8) + "…";
  const std::string r = DigestOf("r").id.hex().substr(0, 8) + "…";
  const std::string x = DigestOf("x").id.hex().substr(0, 8) + "…";
  const std::string c = DigestOf("c").id.hex().substr(0, 8) + "…";
  const std::string source = "source_changed   materials/rock.rpl " + r + " → " + x;
  const std::vector<std::pair<std::string, std::function<void(ExplainInputs&)>>> rows = {
      {"", [](ExplainInputs&) {}},
      {source + ", module re-parsed",
       [](ExplainInputs& i) {
         i.modules[1].source = DigestOf("x");
         i.modules[1].image = DigestOf("image x").id;
       }},
      {source + ", IR identical", [](ExplainInputs& i) { i.modules[1].source = DigestOf("x"); }},
      {"module_order   modules passes/forward.rpl materials/rock.rpl → materials/rock.rpl "
       "passes/forward.rpl",
       [](ExplainInputs& i) { std::swap(i.modules[0], i.modules[1]); }},
      {"modules   passes/forward.rpl " + f + ", removed",
       [](ExplainInputs& i) { i.modules.erase(i.modules.begin()); }},
      {"modules   extra.rpl " + x + ", added",
       [](ExplainInputs& i) {
         i.modules.push_back({"extra.rpl", DigestOf("x"), {}});
       }},
      {"dependency   common.h " + c + " → " + x + ", changed",
       [](ExplainInputs& i) { i.dependencies[0].digest = DigestOf("x"); }},
      {"dependency   local/common.h " + x + ", now shadowed by a new file",
       [](ExplainInputs& i) { i.dependencies[1].digest = DigestOf("x"); }},
      {"dependency   common.h " + c + ", lost",
       [](ExplainInputs& i) { i.dependencies.erase(i.dependencies.begin()); }},
      {"dependency   more.h " + x + ", gained",
       [](ExplainInputs& i) {
         i.dependencies.push_back({"more.h", DigestOf("x")});
       }},
      {"language   define FOG 1",
       [](ExplainInputs& i) {
         i.language.push_back({"define FOG", "1"});
       }},
      {"option   fog_mode linear → exp2, live",
       [](ExplainInputs& i) { i.options[1].value = "exp2"; }},
      {"option   lights 4 → 8, not live", [](ExplainInputs& i) { i.options[2].value = "8"; }},
      {"entry_points   fragment main_fragment → other",
       [](ExplainInputs& i) { i.entry_points[1].value = "other"; }},
      {"pipeline   pipeline graphics_classic → compute",
       [](ExplainInputs& i) { i.pipeline = "compute"; }},
      {"target   env vulkan1.1 → vulkan1.3",
       [](ExplainInputs& i) { i.target[0].value = "vulkan1.3"; }},
      {"recipe   recipes val;env=vulkan1.1 → val;env=vulkan1.1 opt;level=O",
       [](ExplainInputs& i) { i.recipes.emplace_back("opt;level=O"); }},
      {"limits   spirv_words 1000 → 2000", [](ExplainInputs& i) { i.limits[0].value = "2000"; }},
      {"fingerprint   front.rpl 11bb build 1 → 22cc build 2",
       [](ExplainInputs& i) { i.fingerprints[1].value = "22cc build 2"; }},
  };
  const std::vector<ExplainRecord> earlier = {RecordOf(Inputs())};
  for (const auto& [text, change] : rows) {
    ExplainInputs inputs = Inputs();
    change(inputs);
    const Explanation explanation = Explain(RecordOf(inputs, 2000), PointersTo(earlier));
    // Equal inputs and a miss all the same: the result was there and is gone.
    EXPECT_EQ(ExplanationText(explanation), "miss: " + (text.empty() ? "evicted" : text));
    EXPECT_EQ(explanation.changes.size(), text.empty() ? 0u : 1u) << text;
  }
}

TEST(Explain, SeveralDifferences_AreAllListed) {
  ExplainInputs inputs = Inputs();
  inputs.options[0].value = "false";
  inputs.options[1].value = "exp2";
  inputs.target[0].value = "vulkan1.3";
  const std::vector<ExplainRecord> earlier = {RecordOf(Inputs())};
  EXPECT_EQ(ExplanationText(Explain(RecordOf(inputs), PointersTo(earlier))),
            "miss: option   fog true → false, live\n"
            "      option   fog_mode linear → exp2, live\n"
            "      target   env vulkan1.1 → vulkan1.3");
}

TEST(Explain, FirstRequest_IsFirstSeen) {
  EXPECT_EQ(ExplanationText(Explain(RecordOf(Inputs()), {})),
            "miss: first_seen   no earlier request for this program and target");
}

TEST(Explain, RecordsOfTheSameRequest_CountForNothing) {
  ExplainRecord before = RecordOf(Inputs());
  before.trace = "t1";
  ExplainInputs inputs = Inputs();
  inputs.options[0].value = "false";
  ExplainRecord record = RecordOf(inputs);
  for (const auto& [trace, cause] :
       {std::pair("t1", Cause::kFirstSeen), std::pair("t2", Cause::kOption)}) {
    record.trace = trace;
    EXPECT_EQ(Explain(record, std::vector<const ExplainRecord*>{&before}).cause, cause) << trace;
  }
}

TEST(Explain, KnownCause_StaysBesideTheDifferences) {
  ExplainRecord record = RecordOf(Inputs());
  record.cause = Cause::kForced;
  record.detail = "--no-cache";
  EXPECT_EQ(ExplanationText(Explain(record, {})), "miss: forced   --no-cache");
}

TEST(Explain, ClosestRecord_AgreesInMostAndIsTheLatestOfEquals) {
  ExplainInputs far = Inputs();
  far.options[0].value = "false";
  far.options[1].value = "exp2";
  const ExplainInputs same = Inputs();
  const std::vector<ExplainRecord> earlier = {RecordOf(same, 1), RecordOf(far, 2),
                                              RecordOf(same, 3), RecordOf(far, 4)};
  EXPECT_EQ(ClosestTo(Inputs(), PointersTo(earlier))->at_ms, 3);
  EXPECT_EQ(ClosestTo(far, PointersTo(earlier))->at_ms, 4);
  EXPECT_EQ(ClosestTo(Inputs(), {}), nullptr);
}

TEST(Explain, Hits_SayTheirEqualityAgeAndWhatWasIgnored) {
  struct Row {
    ExplainResult result;
    std::string_view level;
    int64_t made_ms;
    std::string_view text;
  };
  for (const Row& row : {
           Row{ExplainResult::kHitMemory, "variant", 0,
               "hit (memory): same variant; not consulted here: lights"},
           Row{ExplainResult::kHitLocal, "live", 7'200'000,
               "hit (local, 2 h old): same live options fog fog_mode; not consulted here: lights"},
           Row{ExplainResult::kHitUpstream, "signature", 14'340'000,
               "hit (upstream, 60 s old): same answers of another variant; not consulted here: "
               "lights"},
           Row{ExplainResult::kHitLocal, "recipe", 14'100'000,
               "hit (local, 5 min old): same code from another program; not consulted here: "
               "lights"},
       }) {
    ExplainRecord record = RecordOf(Inputs(), 14'400'000);
    record.result = row.result;
    record.level = row.level;
    record.made_ms = row.made_ms;
    EXPECT_EQ(ExplanationText(Explain(record, {})), row.text);
  }
}

TEST(Explain, EditThatChangesNoIr_IsAHitThatSaysSo) {
  ExplainInputs inputs = Inputs();
  inputs.modules[1].source = DigestOf("x");
  ExplainRecord record = RecordOf(inputs);
  record.result = ExplainResult::kHitLocal;
  record.level = "variant";
  const std::vector<ExplainRecord> earlier = {RecordOf(Inputs())};
  EXPECT_EQ(ExplanationText(Explain(record, PointersTo(earlier))),
            "hit (local): same variant; not consulted here: lights\n"
            "source changed, IR identical: materials/rock.rpl");
}

TEST(Explain, EveryCause_HasAName) {
  for (uint32_t cause = 1; cause < kCauseCount; ++cause) {
    EXPECT_FALSE(CauseName(static_cast<Cause>(cause)).empty()) << cause;
  }
}

}  // namespace
}  // namespace kiln::cache
