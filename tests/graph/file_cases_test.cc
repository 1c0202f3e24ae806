// SPDX-License-Identifier: MIT
// Frame descriptions by hand, and what must come of them: the order, the barrier commands and their
// bounds, bytes, or the name of the broken rule. Hostile files end in a name, too, and soon.
#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/base/test_cpu_time.h"
#include "runtime/graph/graph_file.h"
#include "runtime/graph/planner.h"
#include "runtime/graph/print_plan.h"
#include "tests/graph/frame_text.h"
#include "tests/support/hazard_oracle.h"

namespace kiln::graph {
namespace {

using Json = nlohmann::json;

// The plan of the last frame with all frames under "frames", or the errors, as `kiln graph` has it.
Json PlanOf(const std::string& text) {
  Result<FrameDescription> description = ParseFrame(text);
  if (!description.ok()) {
    return {{"error", description.error().reason}, {"message", description.error().context}};
  }
  FrameFile file(std::move(description).value());
  TexelModel model;
  Planner planner(model);
  Graph graph;
  Carried carried;
  std::vector<uint32_t> objects;
  std::vector<Json> frames;
  for (uint32_t frame = 0; frame < file.description().frames; ++frame) {
    file.Declare(graph);
    const auto plan = planner.Compile(graph, {.cull = file.description().lists_outputs}, carried);
    if (!plan.ok()) {
      return {{"error", plan.error().reason}, {"message", plan.error().context}};
    }
    frames.push_back(Json::parse(PrintPlanJson(**plan, graph)));
    BindObjects(**plan, carried, objects);
    Commit(**plan, graph.rows().frame, objects, carried);
  }
  for (const test::HazardMode mode : {test::HazardMode::kVulkan, test::HazardMode::kStrict}) {
    for (const std::string& hazard : test::FindHazards(frames, mode)) {
      ADD_FAILURE() << hazard << "\n" << text;
    }
  }
  return frames.back();
}

struct Case {
  const char* name;
  std::string frame;
  std::vector<std::string> order;
  std::vector<std::string> culled;
  int commands;  // barrier commands, which are as few as the order allows
  int chain;     // bound over all orders
  int batches;
  int peak;  // bytes
};

constexpr int kTexture = 64 * 64 * 4;
const std::string kCopy =
    R"("reads": [{"resource": "t", "stage": "COPY", "access": "TRANSFER_READ"}], "side_effect": true)";

const std::vector<Case> kCases = {
    {"a texture comes out of UNDEFINED",
     Frame(Texture("t"), Pass("a", Creates("t")), R"("t")"),
     {"a"},
     {},
     1,
     1,
     1,
     kTexture},
    {"a buffer does not",
     Frame(Buffer("b"), Pass("a", Creates("b")), R"("b")"),
     {"a"},
     {},
     0,
     0,
     1,
     1024},
    {"write, read: two commands",
     Frame(Texture("t"), Pass("a", Creates("t")) + "," + Pass("b", Reads("t") + "," + kKept)),
     {"a", "b"},
     {},
     2,
     2,
     1,
     kTexture},
    {"readers of one layout share a command",
     Frame(Texture("t"), Pass("a", Creates("t")) + "," + Pass("b", Reads("t") + "," + kKept) + "," +
                             Pass("c", Reads("t") + "," + kKept)),
     {"a", "b", "c"},
     {},
     2,
     2,
     1,
     kTexture},
    {"two layouts are two commands",
     Frame(Texture("t"), Pass("a", Creates("t")) + "," + Pass("b", Reads("t") + "," + kKept) + "," +
                             Pass("c", kCopy, "transfer")),
     {"a", "b", "c"},
     {},
     3,
     2,
     1,
     kTexture},
    {"readers before the overwriting pass",
     Frame(Texture("t"),
           Pass("a", Creates("t")) + "," + Pass("w", Writes("t", "t2")) + "," +
               Pass("r", Reads("t") + "," + kKept),
           R"("t2")"),
     {"a", "r", "w"},
     {},
     3,
     3,
     1,
     kTexture},
    {"buffer: write, read, write",
     Frame(Buffer("b"),
           Pass("a", Creates("b")) + "," + Pass("r", ReadsBuffer("b") + "," + kKept) + "," +
               Pass("w", Writes("b", "b2")),
           R"("b2")"),
     {"a", "r", "w"},
     {},
     2,
     2,
     1,
     1024},
    {"declared in any order",
     Frame(Texture("t"),
           Pass("c", Writes("t2", "t3")) + "," + Pass("b", Writes("t", "t2")) + "," +
               Pass("a", Creates("t")),
           R"("t3")"),
     {"a", "b", "c"},
     {},
     3,
     3,
     1,
     kTexture},
    {"what nothing needs is culled",
     Frame(Texture("t") + "," + Texture("u"),
           Pass("a", Creates("t")) + "," + Pass("b", Creates("u")), R"("t")"),
     {"a"},
     {"b"},
     1,
     1,
     1,
     kTexture},
    {"no list of outputs: nothing is culled",
     fmt::format(R"({{"resources": [{}], "passes": [{}]}})", Texture("t"), Pass("a", Creates("t"))),
     {"a"},
     {},
     1,
     1,
     1,
     kTexture},
    {"an import that is ready in its layout needs nothing",
     Frame(Texture("t", R"(, "imported": true, "initial_layout": "GENERAL")"),
           Pass("a", Writes("t", "t2"))),
     {"a"},
     {},
     0,
     0,
     1,
     0},
    {"an import in another layout",
     Frame(Texture("t", R"(, "imported": true, "initial_layout": "TRANSFER_SRC_OPTIMAL")"),
           Pass("a", Reads("t") + "," + kKept)),
     {"a"},
     {},
     1,
     1,
     1,
     0},
    {"an import whose write is pending",
     Frame(
         Texture(
             "t",
             R"(, "imported": true, "initial_layout": "GENERAL", "initial_stage": "COMPUTE_SHADER", "initial_access": "SHADER_STORAGE_WRITE")"),
         Pass("a", Writes("t", "t2"))),
     {"a"},
     {},
     1,
     1,
     1,
     0},
    {"an import without layout is discarded by its first write",
     Frame(Texture("t", R"(, "imported": true)"),
           Pass("a", Writes("t", "t2", R"(, "discard": true)"))),
     {"a"},
     {},
     1,
     1,
     1,
     0},
    {"an import of which no stage is stated changes its layout behind the wait before it",
     Frame(Texture("t", R"(, "imported": true)") + "," + Buffer("b"),
           Pass("soon", Creates("b")) + "," +
               Pass("a", Writes("t", "t2", R"(, "discard": true)") +
                             R"(, "waits": [{"semaphore": "s", "stage": "COMPUTE_SHADER"}])"),
           R"("b", "t2")"),
     {"soon", "a"},
     {},
     1,
     1,
     2,
     1024},
    {"a transition has its own layout",
     Frame(
         Texture("t"),
         Pass("a", Creates("t")) + "," +
             Pass(
                 "out",
                 R"("reads": [{"resource": "t", "layout": "PRESENT_SRC_KHR"}], "side_effect": true)",
                 "transition only")),
     {"a", "out"},
     {},
     2,
     2,
     1,
     kTexture},
    {"hosts go first and need no command",
     Frame(Buffer("b", R"(, "heap": "upload")") + "," + Buffer("o"),
           Pass("use", ReadsBuffer("b") + "," + Creates("o")) + "," +
               Pass("fill", R"("creates": [{"resource": "b", "access": "HOST_WRITE"}])", "host"),
           R"("o")"),
     {"fill", "use"},
     {},
     0,
     0,
     1,
     1024},
    {"an external wait comes late and begins a batch",
     Frame(Buffer("b") + "," + Buffer("c"),
           Pass("late",
                Creates("b") + R"(, "waits": [{"semaphore": "s", "stage": "COMPUTE_SHADER"}])") +
               "," + Pass("soon", Creates("c")),
           R"("b", "c")"),
     {"soon", "late"},
     {},
     0,
     0,
     2,
     2048},
    {"a signal and its wait order passes",
     Frame("", Pass("b", kKept + R"(, "waits": [{"semaphore": "s", "value": 1}])") + "," +
                   Pass("a", kKept + R"(, "signals": [{"semaphore": "s", "value": 2}])")),
     {"a", "b"},
     {},
     0,
     0,
     2,
     0},
    {"a pipeline holds two at a time",
     Frame(Buffer("a") + "," + Buffer("b") + "," + Buffer("c") + "," + Buffer("d"),
           Pass("p", Creates("a")) + "," + Pass("q", ReadsBuffer("a") + "," + Creates("b")) + "," +
               Pass("r", ReadsBuffer("b") + "," + Creates("c")) + "," +
               Pass("s", ReadsBuffer("c") + "," + Creates("d")),
           R"("d")"),
     {"p", "q", "r", "s"},
     {},
     3,
     3,
     1,
     2048},
    {"levels are apart",
     Frame(Texture("t", R"(, "mips": 2)"),
           Pass("a", Creates("t")) + "," +
               Pass("b", Reads("t", R"(, "mip": 0)") + "," + Writes("t", "t2", R"(, "mip": 1)")),
           R"("t2")"),
     {"a", "b"},
     {},
     2,
     2,
     1,
     20'480},
    {"members that nobody knows are ignored",
     R"({"version": 9, "resources": [{"name": "t", "format": "RGBA8", "width": 64, "height": 64,
            "color": "red", "heap": null}], "passes": [{"name": "a", "type": "compute", "cost": {"ms": 3},
            "creates": [{"resource": "t", "access": "SHADER_STORAGE_WRITE", "x": []}]}],
            "outputs": ["t"], "view": {}})",
     {"a"},
     {},
     1,
     1,
     1,
     kTexture},
    {"nothing at all", "{}", {}, {}, 0, 0, 0, 0},
};

TEST(GraphFile, FramesByHand_ComeOutAsExpected) {
  for (const Case& row : kCases) {
    SCOPED_TRACE(row.name);
    Json plan = PlanOf(row.frame);
    ASSERT_TRUE(plan["error"].is_null()) << plan["message"];
    EXPECT_EQ(plan["order"], Json(row.order));
    EXPECT_EQ(plan["culled"], Json(row.culled));
    const Json& metrics = plan["metrics"];
    EXPECT_EQ(metrics["barrier_commands"], row.commands);
    EXPECT_EQ(metrics["bound_for_order"], row.commands);
    EXPECT_EQ(metrics["bound_over_orders"], row.chain);
    EXPECT_EQ(metrics["alias_added"], 0);
    EXPECT_EQ(plan["barriers"].size(), static_cast<size_t>(row.commands));
    EXPECT_EQ(plan["batches"].size(), static_cast<size_t>(row.batches));
    EXPECT_EQ(plan["memory"]["peak_live_bytes"], row.peak);
  }
}

TEST(GraphFile, Bytes_FollowFromTheFormat) {
  struct Row {
    const char* format;
    const char* more;
    int bytes;  // of 16 × 16 texels, up to a multiple of 256
  };
  constexpr Row kRows[] = {
      {"R8", "", 256},
      {"RG8", "", 512},
      {"RGBA8", "", 1024},
      {"BGRA8", "", 1024},
      {"RGBA8_SRGB", "", 1024},
      {"RG16F", "", 1024},
      {"RGBA16F", "", 2048},
      {"RGB10A2", "", 1024},
      {"RG11B10F", "", 1024},
      {"R32F", "", 1024},
      {"RGBA32F", "", 4096},
      {"D16", "", 512},
      {"D32", "", 1024},
      {"D24S8", "", 1024},
      {"BC1", "", 256},
      {"BC7", "", 256},
      {"VK_FORMAT_R8G8B8A8_UNORM", "", 1024},
      {"VK_FORMAT_R16G16_SFLOAT", "", 1024},
      {"RGBA8", R"(, "mips": 5)", 1536},  // 1024 + 256 + 64 + 16 + 4
      {"RGBA8", R"(, "layers": 6)", 6144},
      {"RGBA8", R"(, "samples": 4)", 4096},
      {"RGBA8", R"(, "depth": 3)", 3072},
  };
  for (const Row& row : kRows) {
    Json plan = PlanOf(Frame(
        fmt::format(R"({{"name": "t", "format": "{}", "width": 16, "height": 16{}}})", row.format,
                    row.more),
        Pass("a", R"("creates": [{"resource": "t", "stage": "COPY", "access": "TRANSFER_WRITE"}])",
             "transfer"),
        R"("t")"));
    ASSERT_TRUE(plan["error"].is_null()) << plan["message"];
    EXPECT_EQ(plan["memory"]["allocated_bytes"], row.bytes) << row.format << row.more;
    EXPECT_EQ(plan["memory"]["placements"][0]["size"], row.bytes) << row.format << row.more;
  }
}

// Both frames hold one object each; from the third on nothing changes.
TEST(GraphFile, History_ReadsTheFrameBefore) {
  Json plan = PlanOf(fmt::format(
      R"({{"frames": 4, "resources": [{}, {{"name": "h", "kind": "texture", "from_previous_frame": "t"}}],
          "passes": [{}], "outputs": []}})",
      Texture("t"), Pass("a", Reads("h") + "," + Creates("t", R"(, "temporal": true)"))));
  ASSERT_TRUE(plan["error"].is_null()) << plan["message"];
  EXPECT_EQ(plan["memory"]["temporal_bytes"], 2 * 64 * 64 * 4);
  EXPECT_EQ(plan["metrics"]["barrier_commands"], 1);
  EXPECT_EQ(plan["barriers"][0]["barriers"].size(), 2U);
}

TEST(GraphFile, BarriersByName_SayFromWhatToWhat) {
  Json plan = PlanOf(
      Frame(Texture("t"), Pass("a", Creates("t")) + "," + Pass("b", Reads("t") + "," + kKept)));
  const Json& read = plan["barriers"][1];
  EXPECT_EQ(read["before"], "b");
  const Json& barrier = read["barriers"][0];
  EXPECT_EQ(barrier["resource"], "t");
  EXPECT_EQ(barrier["from_stages"], "COMPUTE_SHADER");
  EXPECT_EQ(barrier["from_accesses"], "SHADER_STORAGE_WRITE");
  EXPECT_EQ(barrier["from_layout"], "GENERAL");
  EXPECT_EQ(barrier["to_stages"], "COMPUTE_SHADER");
  EXPECT_EQ(barrier["to_accesses"], "SHADER_SAMPLED_READ");
  EXPECT_EQ(barrier["to_layout"], "SHADER_READ_ONLY_OPTIMAL");
}

struct Broken {
  const char* code;
  std::string frame;
};

std::string One(const std::string& resource, const std::string& pass) {
  return Frame(resource, pass, "");
}

const std::vector<Broken> kBrokenFrames = {
    {"UNKNOWN_HANDLE", One("", Pass("a", Creates("t")))},
    {"UNKNOWN_HANDLE", One("", Pass("a", Writes("t", "u")))},
    {"UNKNOWN_HANDLE", Frame("", "", R"("t")")},
    {"DOUBLE_WRITE", One(Texture("t"), Pass("a", Creates("t")) + "," + Pass("b", Writes("t", "u")) +
                                           "," + Pass("c", Writes("t", "v")))},
    {"READ_AND_WRITE", One(Texture("t"), Pass("a", Creates("t")) + "," +
                                             Pass("b", Reads("t") + "," + Writes("t", "u")))},
    {"WRITE_AFTER_TEMPORAL", One(Texture("t"), Pass("a", Creates("t", R"(, "temporal": true)")) +
                                                   "," + Pass("b", Writes("t", "u")))},
    {"STAGE_NOT_IN_PASS", One(Texture("t"), Pass("a", Creates("t"), "transfer"))},
    {"ACCESS_NOT_IN_STAGE",
     One(Texture("t"),
         Pass(
             "a",
             R"("creates": [{"resource": "t", "stage": "COMPUTE_SHADER", "access": "COLOR_ATTACHMENT_WRITE"}])"))},
    {"WRITE_BITS_IN_READ",
     One(Texture("t"),
         Pass("a", Creates("t")) + "," +
             Pass("b", R"("reads": [{"resource": "t", "access": "SHADER_STORAGE_WRITE"}])"))},
    {"NO_WRITE_BITS",
     One(Texture("t"),
         Pass("a", R"("creates": [{"resource": "t", "access": "SHADER_SAMPLED_READ"}])"))},
    {"LAYOUT_MISSING",
     One(Texture("t"), Pass("a", Creates("t")) + "," +
                           Pass("b", R"("reads": [{"resource": "t"}])", "transition only"))},
    {"LAYOUT_CONFLICT",
     One(Texture("t"),
         Pass("a", Creates("t")) + "," +
             Pass("b", R"("reads": [{"resource": "t", "access": "SHADER_SAMPLED_READ"},
                                  {"resource": "t", "access": "SHADER_STORAGE_READ"}])"))},
    {"RANGE_OUT_OF_BOUNDS", One(Texture("t"), Pass("a", Creates("t", R"(, "mip": 1)")))},
    {"RANGE_OUT_OF_BOUNDS",
     One(Texture("t"), Pass("a", Creates("t", R"(, "mip": 0, "mips": 65535)")))},
    {"ZERO_SIZE", One(Texture("t", R"(, "mips": 0)"), Pass("a", Creates("t")))},
    {"ZERO_SIZE", One(R"({"name": "t", "kind": "buffer"})", Pass("a", Creates("t")))},
    {"UNSUPPORTED_FORMAT", One(Texture("t", R"(, "mips": 8)"), Pass("a", Creates("t")))},
    {"UNSUPPORTED_FORMAT", One(Texture("t", R"(, "layers": 70000)"), Pass("a", Creates("t")))},
    {"RESOURCE_LIMIT", One(R"({"name": "t", "kind": "buffer", "bytes": 18446744073709551615})",
                           Pass("a", Creates("t")))},
    {"RESOURCE_LIMIT",
     One(R"({"name": "t", "format": "RGBA8", "width": 4000000000, "height": 4000000000})",
         Pass("a", Creates("t")))},
    {"CONTENTS_UNSTATED",
     One(Texture("t"), Pass("a", Creates("t", R"(, "contents": "undefined")")))},
    {"ATTACHMENT_MISMATCH",
     One(Texture("t") + R"(, {"name": "u", "format": "RGBA8", "width": 32, "height": 64})",
         Pass("a", R"("creates": [{"resource": "t", "access": "COLOR_ATTACHMENT_WRITE"},
                {"resource": "u", "access": "COLOR_ATTACHMENT_WRITE"}])",
              "graphics"))},
    {"IMPORTED_TWICE",
     One(Texture("t", R"(, "imported": true)") + "," + Texture("t", R"(, "imported": true)"), "")},
    {"IMPORT_UNDEFINED",
     One(Texture("t", R"(, "imported": true)"), Pass("a", Reads("t") + "," + kKept))},
    {"IMPORT_UNDEFINED", One(Texture("t", R"(, "imported": true)"), Pass("a", Writes("t", "t2")))},
    {"IMPORT_UNDEFINED", One(Texture("t", R"(, "imported": true, "initial_layout": "UNDEFINED")"),
                             Pass("a", Writes("t", "t2")))},
    {"EXPORT_NOT_LAST",
     Frame(Texture("t"), Pass("a", Creates("t")) + "," + Pass("b", Writes("t", "u")), R"("t")")},
    {"TEMPORAL_KIND",
     One(Buffer("b", R"(, "heap": "readback")"),
         Pass("a",
              R"("creates": [{"resource": "b", "access": "TRANSFER_WRITE", "temporal": true}])",
              "transfer"))},
    {"SEMAPHORE_TWICE", One("", Pass("a", kKept + R"(, "waits": [{"semaphore": "s"}])") + "," +
                                    Pass("b", kKept + R"(, "waits": [{"semaphore": "s"}])"))},
    {"SEMAPHORE_VALUE",
     One("", Pass("a", kKept + R"(, "signals": [{"semaphore": "s", "value": 3}])") + "," +
                 Pass("b", kKept + R"(, "signals": [{"semaphore": "s", "value": 3}])"))},
    {"CYCLE",
     One("",
         Pass(
             "a",
             kKept +
                 R"(, "waits": [{"semaphore": "s", "value": 1}], "signals": [{"semaphore": "r", "value": 1}])") +
             "," +
             Pass(
                 "b",
                 kKept +
                     R"(, "waits": [{"semaphore": "r", "value": 1}], "signals": [{"semaphore": "s", "value": 1}])"))},
    {"HOST_AFTER_DEVICE",
     One(Buffer("b"),
         Pass("a", Creates("b")) + "," +
             Pass("h",
                  R"("reads": [{"resource": "b", "access": "HOST_READ"}], "side_effect": true)",
                  "host"))},
    {"HOST_TEXTURE",
     One(Texture("t"),
         Pass("h", R"("creates": [{"resource": "t", "access": "HOST_WRITE"}])", "host"))},
    {"MEMORY_KIND", One(Buffer("b", R"(, "heap": "upload")"), Pass("a", Creates("b")))},
    {"MALFORMED_FILE", "{\"passes\": [{\"name\": \"a\""},
    {"MALFORMED_FILE", R"({"frames": 1000000000, "passes": []})"},
    {"MALFORMED_FILE", std::string(200'000, '[')},
    {"MALFORMED_FILE", One(Texture("t", R"(, "mips": "7")"), "")},
    {"MALFORMED_FILE", One(Texture("t", R"(, "mips": -1)"), "")},
    {"MALFORMED_FILE", One(Texture("t", R"(, "mips": 1.5)"), "")},
    {"MALFORMED_FILE", One(Texture("t", R"(, "mips": 1e300)"), "")},
    {"MALFORMED_FILE", One(Texture("t", R"(, "width": 4294967296)"), "")},
    {"MALFORMED_FILE", One(Texture("t", R"(, "samples": 3)"), "")},
    {"MALFORMED_FILE", One(Texture("t", R"(, "imported": "yes")"), "")},
    {"MALFORMED_FILE", One(Texture("t", R"(, "format": 37)"), "")},
    {"MALFORMED_FILE", One(Texture("t") + "," + Buffer("t"), "")},
    {"MALFORMED_FILE", One(Buffer("b", R"(, "heap": "cellar")"), "")},
    {"MALFORMED_FILE", One("", Pass("a", R"("reads": {})"))},
    {"MALFORMED_FILE", One("", Pass("a", R"("reads": [{"resource": 3}])"))},
    {"MALFORMED_FILE", One("", Pass("a", R"("waits": [{"semaphore": "s", "value": "1"}])"))},
    {"MALFORMED_FILE", One("", Pass("a", Creates("t", R"(, "contents": "some")")))},
    {"MALFORMED_FILE", One(Texture("t", R"(, "imported": true, "initial_access": "MAGIC")"), "")},
};

TEST(GraphFile, BrokenFrames_HaveTheNameOfTheirRule) {
  for (const Broken& row : kBrokenFrames) {
    Json plan = PlanOf(row.frame);
    EXPECT_EQ(plan["error"], row.code) << row.frame.substr(0, 400) << "\n" << plan["message"];
  }
}

TEST(GraphFile, UnknownFormats_AreToldWithTheClosestName) {
  struct Row {
    const char* format;
    const char* message;  // nullptr: it is known
  };
  for (const Row& row :
       {Row{"RGBA8", nullptr}, Row{"VK_FORMAT_R8G8B8A8_UNORM", nullptr}, Row{"37", nullptr},
        Row{"1000156000", nullptr}, Row{"UNDEFINED", nullptr}, Row{"", nullptr},
        Row{"RGB17", "'t' has format 'RGB17', which kiln does not know; did you mean 'RGB16'?"},
        Row{"rgba8", "did you mean 'RGBA8'?"}, Row{"D33", "did you mean 'D3"},
        Row{"R8G8B8A8_UNROM", "did you mean 'RGBA8'?"}, Row{"-1", "which kiln does not know"},
        Row{"a cloud of colours", "'a cloud of colours', which kiln does not know"}}) {
    const auto description = ParseFrame(
        One(fmt::format(R"({{"name": "t", "format": "{}", "width": 4, "height": 4}})", row.format),
            Pass("a", Creates("t"))));
    ASSERT_TRUE(description.ok()) << row.format;
    const std::vector<GraphError> errors = UnknownFormats(*description);
    ASSERT_EQ(errors.size(), row.message == nullptr ? 0U : 1U) << row.format;
    if (row.message != nullptr) {
      EXPECT_NE(errors[0].message.find(row.message), std::string::npos) << errors[0].message;
      EXPECT_EQ(errors[0].code, "UNSUPPORTED_FORMAT");
      EXPECT_EQ(errors[0].resources, std::vector<std::string>{"t"});
    }
  }
}

// Files in which every name depends on every other are not answered by trying all of them.
TEST(GraphFile, LargeFrames_AreAnsweredSoon) {
  constexpr int kPasses = 10'000;
  const auto number = [](const char* letter, int i) { return fmt::format("{}{}", letter, i); };
  std::string backwards = Pass("p0", Creates("v0"));
  std::string circle;
  std::string semaphores = Pass("p0", kKept + R"(, "signals": [{"semaphore": "s", "value": 1}])");
  for (int i = kPasses - 1; i > 0; --i) {
    backwards += "," + Pass(number("p", i), Writes(number("v", i - 1), number("v", i)));
  }
  for (int i = 0; i < kPasses; ++i) {
    circle += (i == 0 ? "" : ",") +
              Pass(number("p", i), Writes(number("v", i), number("v", (i + 1) % kPasses)));
  }
  for (int i = 1; i < kPasses / 5; ++i) {
    semaphores += "," + Pass(number("p", i),
                             kKept + fmt::format(R"(, "waits": [{{"semaphore": "s", "value": {}}}],
                                                         "signals": [{{"semaphore": "s", "value": {}}}])",
                                                 i, i + 1));
  }
  struct Row {
    std::string frame;
    Json error;
  };
  const Duration start = CpuOfThisThread();
  for (const Row& row :
       {Row{Frame(Texture("v0"), backwards, fmt::format(R"("v{}")", kPasses - 1)), nullptr},
        Row{Frame("", circle), "CYCLE"}, Row{Frame("", semaphores), nullptr}}) {
    Result<FrameDescription> description = ParseFrame(row.frame);
    ASSERT_TRUE(description.ok()) << description.error().context;
    FrameFile file(std::move(description).value());
    Graph graph;
    TexelModel model;
    Planner planner(model);
    file.Declare(graph);
    const auto plan = planner.Compile(graph, {}, Carried{});
    EXPECT_EQ(plan.ok() ? Json() : Json(plan.error().reason), row.error);
  }
  EXPECT_LT(CpuOfThisThread() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace kiln::graph
