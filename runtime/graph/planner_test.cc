// SPDX-License-Identifier: MIT
// Plans of small frames as text: order, barriers, memory, reuse from frame to frame.
#include "runtime/graph/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/graph/graph_file.h"
#include "runtime/graph/print_plan.h"

namespace kiln::graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Plans the file frame after frame.
class Session {
 public:
  explicit Session(const char* json) : file_(std::move(ParseFrame(json)).value()) {}

  const Plan& Next(const PlanOptions& options = {}) {
    file_.Declare(graph_);
    auto plan = planner_.Compile(graph_, options, carried_);
    EXPECT_TRUE(plan.ok()) << plan.error().context;
    BindObjects(**plan, carried_, objects_);
    Commit(**plan, graph_.rows().frame, objects_, carried_);
    return **plan;
  }
  std::vector<std::string> Order(const Plan& plan) const {
    std::vector<std::string> out;
    for (const PlanPass& pass : plan.order) {
      out.emplace_back(graph_.rows().PassName(pass.pass));
    }
    return out;
  }
  std::string Text(const Plan& plan) const { return PrintPlan(plan, graph_); }
  const PlannerStats& stats() const { return planner_.stats(); }
  Planner& planner() { return planner_; }
  const Graph& graph() const { return graph_; }

 private:
  FrameFile file_;
  Graph graph_;
  TexelModel model_;
  Planner planner_{model_};
  Carried carried_;
  std::vector<uint32_t> objects_;
};

constexpr const char* kReaders = R"({"resources": [
  {"name": "image", "format": "RGBA8", "width": 64, "height": 64}],
 "passes": [
  {"name": "make", "type": "compute", "creates": [{"resource": "image", "access": "SHADER_STORAGE_WRITE"}]},
  {"name": "a", "type": "compute", "side_effect": true, "reads": [{"resource": "image", "access": "SHADER_SAMPLED_READ"}]},
  {"name": "b", "type": "graphics", "side_effect": true, "reads": [{"resource": "image", "stage": "FRAGMENT_SHADER", "access": "SHADER_SAMPLED_READ"}]},
  {"name": "again", "type": "transfer", "writes": [{"old": "image", "new": "image2", "stage": "COPY", "access": "TRANSFER_WRITE"}]}],
 "outputs": ["image2"]})";

TEST(Barriers, ReadersOfOneLayout_ShareOneAndAreAllWaitedFor) {
  Session session(kReaders);
  const Plan& plan = session.Next();
  ASSERT_EQ(plan.points.size(), 3U);
  const std::string text = session.Text(plan);
  EXPECT_THAT(text, HasSubstr("COMPUTE_SHADER / SHADER_STORAGE_WRITE -> FRAGMENT_SHADER|"
                              "COMPUTE_SHADER / SHADER_SAMPLED_READ"));
  EXPECT_THAT(text, HasSubstr("war         image                FRAGMENT_SHADER|COMPUTE_SHADER / "
                              "NONE -> COPY / TRANSFER_WRITE"));
  EXPECT_EQ(plan.metrics.commands, plan.metrics.needed);
  EXPECT_EQ(plan.metrics.merged_reads, 1U);
}

TEST(Scheduling, PassWithTheOldestInputs_GoesNext) {
  Session session(
      R"({"resources": [{"name": "x", "kind": "buffer", "bytes": 16}, {"name": "y", "kind": "buffer", "bytes": 16}],
   "passes": [
    {"name": "x", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]},
    {"name": "y", "type": "compute", "creates": [{"resource": "y", "access": "SHADER_STORAGE_WRITE"}]},
    {"name": "use y", "type": "compute", "side_effect": true, "reads": [{"resource": "y", "access": "SHADER_STORAGE_READ"}]},
    {"name": "use x", "type": "compute", "side_effect": true, "reads": [{"resource": "x", "access": "SHADER_STORAGE_READ"}]}],
   "outputs": []})");
  EXPECT_THAT(session.Order(session.Next()), ::testing::ElementsAre("x", "y", "use x", "use y"));
  EXPECT_THAT(session.Order(session.Next({.order = Order::kDeclared})),
              ::testing::ElementsAre("x", "y", "use y", "use x"));
}

TEST(Scheduling, ExternalWait_ComesLateAndStartsABatch) {
  Session session(R"({"resources": [{"name": "x", "kind": "buffer", "bytes": 16}], "passes": [
    {"name": "wait", "type": "compute", "side_effect": true, "waits": [{"semaphore": "outside"}]},
    {"name": "x", "type": "compute", "side_effect": true, "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]},
    {"name": "tell", "type": "compute", "reads": [{"resource": "x", "access": "SHADER_STORAGE_READ"}], "signals": [{"semaphore": "done", "value": 4}]}],
   "outputs": []})");
  const Plan& plan = session.Next();
  EXPECT_THAT(session.Order(plan), ::testing::ElementsAre("x", "tell", "wait"));
  EXPECT_EQ(plan.batches.size(), 2U);
  EXPECT_THAT(session.Text(plan), HasSubstr("batch 0, signals done = 4"));
  EXPECT_THAT(session.Text(plan), HasSubstr("batch 1, waits for outside"));
}

TEST(Culling, PassesThatNothingNeeds_VanishUnlessItIsOff) {
  constexpr const char* kJson =
      R"({"resources": [{"name": "x", "kind": "buffer", "bytes": 16}], "passes": [
    {"name": "idle", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE"}]}], "outputs": []})";
  EXPECT_EQ(Session(kJson).Next().order.size(), 0U);
  EXPECT_EQ(Session(kJson).Next({.cull = false}).order.size(), 1U);
}

// An own pass fills what the declared one then overwrites.
TEST(Poison, CreatesThatDoNotClear_AreFilledFirst) {
  Graph graph;
  graph.SetPoison(true);
  graph.BeginFrame();
  const PassId pass = graph.CreatePass({.name = "make", .kind = PassKind::kCompute});
  graph.SetCallback(pass, [](runtime::Device&, const Resources&, CommandBuffer&) {});
  const BufferId made =
      graph.CreateBuffer(pass, {.name = "bytes",
                                .desc = {.size = 64},
                                .access = {.accesses = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT},
                                .contents = {.kind = ContentKind::kAllWritten},
                                .keep = {}});
  graph.MarkOutput(made);
  TexelModel model;
  Planner planner(model);
  const auto plan = planner.Compile(graph, {}, Carried{});
  ASSERT_TRUE(plan.ok()) << plan.error().context;
  ASSERT_EQ((*plan)->order.size(), 2U);
  EXPECT_EQ(graph.rows().PassName((*plan)->PassAt(0)), "poison bytes");
  EXPECT_EQ(graph.rows().PassName((*plan)->PassAt(1)), "make");
}

TEST(Layouts, UnifiedReads_ShareOneLayout) {
  constexpr const char* kJson =
      R"({"resources": [{"name": "d", "format": "D32", "width": 8, "height": 8}], "passes": [
    {"name": "make", "type": "graphics", "creates": [{"resource": "d", "access": "DEPTH_STENCIL_ATTACHMENT_WRITE"}]},
    {"name": "a", "type": "compute", "side_effect": true, "reads": [{"resource": "d", "access": "SHADER_SAMPLED_READ"}]},
    {"name": "b", "type": "compute", "side_effect": true, "reads": [{"resource": "d", "access": "SHADER_STORAGE_READ"}]}], "outputs": []})";
  EXPECT_EQ(Session(kJson).Next().metrics.commands, 3U);
  Session unified(kJson);
  const Plan& plan = unified.Next({.unify_reads = true});
  EXPECT_EQ(plan.metrics.commands, 2U);
  EXPECT_THAT(unified.Text(plan), HasSubstr("-> GENERAL"));
}

TEST(Ranges, MipChain_ReadsOneLevelAndWritesTheNext) {
  Session session(
      R"({"resources": [{"name": "x", "format": "RGBA8", "width": 64, "height": 64, "mips": 3}], "passes": [
    {"name": "top", "type": "compute", "creates": [{"resource": "x", "access": "SHADER_STORAGE_WRITE", "mip": 0}]},
    {"name": "one", "type": "compute", "reads": [{"resource": "x", "access": "SHADER_SAMPLED_READ", "mip": 0}],
     "writes": [{"old": "x", "new": "x1", "access": "SHADER_STORAGE_WRITE", "mip": 1, "discard": true}]},
    {"name": "two", "type": "compute", "reads": [{"resource": "x1", "access": "SHADER_SAMPLED_READ", "mip": 1}],
     "writes": [{"old": "x1", "new": "x2", "access": "SHADER_STORAGE_WRITE", "mip": 2, "discard": true}]}],
   "outputs": ["x2"]})");
  const Plan& plan = session.Next();
  EXPECT_EQ(plan.metrics.commands, 3U);
  EXPECT_EQ(plan.chains[0].cells, 3U);
}

constexpr const char* kLoop = R"({"resources": [
  {"name": "last", "format": "RGBA8", "width": 64, "height": 64, "from_previous_frame": "now"},
  {"name": "now", "format": "RGBA8", "width": 64, "height": 64},
  {"name": "temp", "format": "RGBA8", "width": 64, "height": 64}],
 "passes": [
  {"name": "temp", "type": "compute", "creates": [{"resource": "temp", "access": "SHADER_STORAGE_WRITE"}]},
  {"name": "blend", "type": "compute", "reads": [{"resource": "temp", "access": "SHADER_SAMPLED_READ"}, {"resource": "last", "access": "SHADER_SAMPLED_READ"}],
   "creates": [{"resource": "now", "access": "SHADER_STORAGE_WRITE", "temporal": true}]}],
 "outputs": []})";

TEST(History, FirstFrame_IsResetAndTwoObjectsAlternate) {
  Session session(kLoop);
  EXPECT_THAT(session.Text(session.Next()), HasSubstr("history, reset"));
  for (int frame = 0; frame < 12; ++frame) {
    const Plan& plan = session.Next();
    EXPECT_THAT(session.Text(plan), Not(HasSubstr("reset")));
    EXPECT_EQ(plan.next.slots.size(), 2U) << frame;
  }
}

TEST(PlanCache, SteadyFrames_AreRemembered) {
  Session session(kLoop);
  Hash128 structure;
  for (int frame = 1; frame <= 40; ++frame) {
    const Plan& plan = session.Next();
    if (frame > 2) {
      EXPECT_EQ(plan.structure, structure) << "frame " << frame;
    }
    structure = plan.structure;
  }
  EXPECT_EQ(session.stats().hits, 38U);  // from the third frame of unchanged structure on
  session.Next({.alias = false});
  EXPECT_EQ(session.stats().misses, 3U);
}

TEST(PlanCache, MissWithEqualSizesAndEpochs_ReusesThePlacement) {
  Session session(kReaders);
  session.Next();
  const Plan first = session.Next();  // its blocks are there
  EXPECT_EQ(session.stats().placement_hits, 0U);
  const Plan& second = session.Next({.barriers = BarrierPlaces::kAtUse});
  EXPECT_EQ(session.stats().placement_hits, 1U);
  EXPECT_STREQ(session.stats().difference, "options");
  ASSERT_EQ(first.chains.size(), second.chains.size());
  for (size_t chain = 0; chain < first.chains.size(); ++chain) {
    EXPECT_EQ(first.chains[chain].address, second.chains[chain].address);
  }
  EXPECT_EQ(first.metrics.packer, second.metrics.packer);
  session.Next({.effort = Effort::kFast});
  EXPECT_EQ(session.stats().placement_hits, 1U) << "another effort finds a placement of its own";
}

TEST(PlanCache, Misses_NameTheFirstArrayThatDiffers) {
  Session session(kReaders);
  session.Next();
  EXPECT_STREQ(session.stats().difference, "") << "nothing was planned before";
  session.Next();
  EXPECT_STREQ(session.stats().difference, "options") << "it follows a frame that was carried over";
}

TEST(Metrics, EveryBuild_IsALineWithItsCosts) {
  Session session(kReaders);
  std::vector<std::string> lines;
  static uint64_t allocations = 0;
  session.planner().SetDebug(
      {.log = [](std::string_view line,
                 void* user) { static_cast<std::vector<std::string>*>(user)->emplace_back(line); },
       .user = &lines,
       .allocations = [] { return allocations += 3; }});
  session.Next();
  while (!session.stats().hit) {
    session.Next();
  }
  ASSERT_GE(lines.size(), 3U);
  EXPECT_THAT(lines.front(), HasSubstr("graph f=1 passes=4(-0) plan=miss barriers=3 needed=3"));
  EXPECT_THAT(lines.back(), HasSubstr("plan=hit"));
  EXPECT_THAT(lines.back(), HasSubstr(" ns/pass="));
  EXPECT_TRUE(lines.back().ends_with(" alloc=3")) << lines.back();
  const PlannerTimes& times = session.planner().times();
  EXPECT_EQ(times.plan.Summarize().frames, lines.size());
  EXPECT_EQ(times.declare.Summarize().frames, lines.size());
  EXPECT_EQ(times.order.Summarize().frames, session.stats().misses);
  EXPECT_GT(times.plan.last(), 0);
}

TEST(TimeSeries, Summary_IsOfTheLastThousandFrames) {
  TimeSeries series;
  EXPECT_EQ(series.Summarize().frames, 0U);
  for (int i = 0; i < 500; ++i) {
    series.Add(1e6);  // forgotten
  }
  for (int i = 1; i <= 1000; ++i) {
    series.Add(i);
  }
  const TimeSummary summary = series.Summarize();
  EXPECT_EQ(summary.frames, 1000U);
  EXPECT_DOUBLE_EQ(summary.mean, 500.5);
  EXPECT_DOUBLE_EQ(summary.p50, 500);
  EXPECT_DOUBLE_EQ(summary.p99, 990);
  EXPECT_DOUBLE_EQ(summary.worst, 1000);
  EXPECT_DOUBLE_EQ(series.last(), 1000);
}

TEST(Files, LiveGraph_WritesAFileWithTheSamePlan) {
  Session session(kReaders);
  const Plan& plan = session.Next();
  const std::string text = WriteGraphFile(session.graph());
  Session again(text.c_str());
  EXPECT_EQ(again.Text(again.Next()), session.Text(plan));
}

// What a pass makes and leaves undefined must be written before it is read, in the file as well.
TEST(Files, ContentsOfACreate_AreKept) {
  for (const std::string contents : {"written", "clear", "undefined"}) {
    const std::string file =
        R"({"resources": [{"name": "x", "format": "RGBA8", "width": 64, "height": 64}], "passes": [
        {"name": "make", "type": "graphics", "creates": [{"resource": "x", "stage":
         "COLOR_ATTACHMENT_OUTPUT", "access": "COLOR_ATTACHMENT_WRITE", "contents": ")" +
        contents + R"("}]}], "outputs": ["x"]})";
    Session session(file.c_str());
    session.Next();
    const std::string text = WriteGraphFile(session.graph());
    EXPECT_EQ(text.find("\"contents\": \"" + contents + "\"") != std::string::npos,
              contents != "written")
        << text;
  }
}

TEST(Pictures, EveryPrinter_ShowsEveryPass) {
  Session session(kReaders);
  const Plan& plan = session.Next();
  for (const std::string& text :
       {PrintPlanJson(plan, session.graph()), PrintPlanDot(plan, session.graph()),
        PrintPlanSvg(plan, session.graph()), PrintPlanTimeline(plan, session.graph())}) {
    for (const char* pass : {"make", "again"}) {
      EXPECT_THAT(text, HasSubstr(pass));
    }
  }
  EXPECT_THAT(PrintMetricsLine(plan, session.graph()),
              HasSubstr("passes=4(-0) barriers=3 needed=3 chain=3 alias=+0"));
}

// A file with it is looked at in a terminal, too.
TEST(Pictures, ControlsOfNames_AreSpelledOut) {
  std::string frame = kReaders;
  frame.replace(frame.find("\"make\""), 6, R"("a\u001b[2J\u202e\"b")");
  Session session(frame.c_str());
  const Plan& plan = session.Next();
  EXPECT_EQ(PrintPlanDot(plan, session.graph()).find_first_of("\x1b\xe2"), std::string::npos);
  EXPECT_THAT(PrintPlanDot(plan, session.graph()), HasSubstr("a\\\\x1b[2J"));
}

}  // namespace
}  // namespace kiln::graph
