// SPDX-License-Identifier: MIT
// The client in C as it is shipped, over the libkiln that is shipped, beside a real kilnd: a start
// without a pack, and pipelines that follow a save on lavapipe.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>
#include <kiln/client.h>

#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
// Behind everything else: it makes macros of the functions.
#include <kiln/client_checked_calls.h>

namespace kiln::c::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kShader[] = R"(rpl 2;
constant f2[3] corners = f2[3] { f2 {0.0, 0.8}, f2 {0.8, -0.8}, f2 {-0.8, -0.8} };
setting depth_test = false;
instance tint: enum "orange" "blue";
color_output_container target { f4 color; };
void place (void) { vertex_stage_output_position (f4 {corners[vertex_stage_vertex_index ()], 0.0, 1.0}); }
void shade (void)
{
    conditional (tint == "orange") { target.color = f4 {1.0, 0.5, 0.0, 1.0}; }
    conditional (tint == "blue") { target.color = f4 {0.0, 0.5, 1.0, 1.0}; }
}
)";
constexpr char kManifest[] = R"([project]
manifest = 1
name = "live"
[target.vk]
form = "spirv"
version = "1.3"
env = "vulkan1.1"
[defaults]
pipeline = "graphics_classic"
targets = ["vk"]
[[program]]
name = "triangle"
sources = ["triangle.rpl"]
entry_points = { vertex = "place", fragment = "shade" }
axes = { tint = "*" }
)";

std::string Text(kiln_text text) { return std::string(text.data, text.data + text.size); }

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A daemon of its own, a project on disk and a source in memory.
class WithDaemon : public ::testing::Test {
 protected:
  WithDaemon() {
    const auto build = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
    ::setenv("PATH", (build.string() + ":" + std::getenv("PATH")).c_str(), 1);
    ::setenv("KILN_CACHE_DIR", (folder.path() / "cache").c_str(), 1);
    address = "unix:" + (folder.path() / "run/kilnd.sock").string();
    fs::create_directory(folder.path() / "game");
    Write(Shader(), kShader);
    Write(Manifest(), kManifest);
    kiln_context_info context_info;
    KILN_INIT(context_info);
    context_info.header_version = KILN_HEADER_VERSION;
    EXPECT_EQ(kiln_context_create(&context_info, &context, nullptr), KILN_OK);
    EXPECT_EQ(kiln_source_in_memory(context, &source, nullptr), KILN_OK);
  }
  ~WithDaemon() override {
    kiln_client_variants_destroy(variants);
    kiln_client_project_destroy(project);
    kiln_client_destroy(client);
    kiln_source_destroy(source);
    kiln_context_destroy(context);
    (void)std::system(("kiln --daemon " + address + " stop >/dev/null 2>&1").c_str());
  }

  fs::path Shader() const { return folder.path() / "game/triangle.rpl"; }
  fs::path Manifest() const { return folder.path() / "game/kiln.toml"; }
  kiln_client_info Info() const {
    kiln_client_info info;
    KILN_INIT(info);
    info.header_version = KILN_HEADER_VERSION;
    info.address = kiln_text_of(address.c_str());
    info.autostart = 1;
    return info;
  }
  // Keeps why a call failed.
  kiln_result Said(kiln_result result, kiln_error*& error) {
    why = Text(kiln_error_reason(error)) + ": " + Text(kiln_error_message(error));
    kiln_error_destroy(error);
    error = nullptr;
    return result;
  }
  void Connect() {
    const kiln_client_info info = Info();
    kiln_error* error = nullptr;
    ASSERT_EQ(Said(kiln_client_connect(&info, &client, &error), error), KILN_OK) << why;
  }
  void OpenProject() {
    Connect();
    const std::string manifest = Manifest().string();
    kiln_error* error = nullptr;
    ASSERT_EQ(
        Said(kiln_client_project_open(client, kiln_text_of(manifest.c_str()), &project, &error),
             error),
        KILN_OK)
        << why;
    ASSERT_EQ(kiln_client_variants_create(project, &variants, nullptr), KILN_OK);
  }
  kiln_result Add(const char* tint, uint32_t* index, const char* program = "triangle") {
    const kiln_option option = {KILN_OPTION_ENUM, kiln_text_of("tint"), kiln_text_of(tint), 0, 0};
    kiln_variant variant;
    KILN_INIT(variant);
    variant.program = kiln_text_of(program);
    variant.options = &option;
    variant.option_count = 1;
    kiln_error* error = nullptr;
    return Said(kiln_client_variants_add(variants, &variant, index, &error), error);
  }
  kiln_result Fetch(kiln_client_progress_function progress = nullptr, void* user = nullptr) {
    kiln_client_fetch_info info;
    KILN_INIT(info);
    info.progress = progress;
    info.progress_user = user;
    KILN_INIT(report);
    kiln_error* error = nullptr;
    return Said(kiln_client_variants_fetch(variants, &info, source, &report, &error), error);
  }
  bool Has(const char* program, const char* tint) {
    const kiln_option option = {KILN_OPTION_ENUM, kiln_text_of("tint"), kiln_text_of(tint), 0, 0};
    kiln_variant variant;
    KILN_INIT(variant);
    variant.program = kiln_text_of(program);
    variant.options = &option;
    variant.option_count = 1;
    kiln_pipeline_desc* desc = nullptr;
    const bool found =
        kiln_pipeline_desc_create(source, &variant, nullptr, &desc, nullptr) == KILN_OK;
    kiln_pipeline_desc_destroy(desc);
    return found;
  }

  TestDirectory folder;
  std::string address, why;
  kiln_context* context = nullptr;
  kiln_source* source = nullptr;
  kiln_client* client = nullptr;
  kiln_client_project* project = nullptr;
  kiln_client_variants* variants = nullptr;
  kiln_client_fetch_report report{};
};

TEST_F(WithDaemon, NobodyThere_IsSaid) {
  kiln_client_info info = Info();
  info.autostart = 0;
  kiln_error* error = nullptr;
  EXPECT_EQ(Said(kiln_client_connect(&info, &client, &error), error), KILN_UNAVAILABLE) << why;
  info.header_version = KILN_HEADER_VERSION + 1'000;
  EXPECT_EQ(Said(kiln_client_connect(&info, &client, &error), error), KILN_FAILED_PRECONDITION);
  EXPECT_EQ(why.substr(0, 8), "VERSION:") << why;
}

TEST_F(WithDaemon, Manifest_IsFetchedWithProgress) {
  OpenProject();
  EXPECT_FALSE(Text(kiln_client_daemon_version(client)).empty());
  uint32_t index = 9;
  ASSERT_EQ(Add("orange", &index), KILN_OK) << why;
  EXPECT_EQ(index, 0u);
  ASSERT_EQ(Add("blue", &index), KILN_OK) << why;
  EXPECT_EQ(index, 1u);
  uint64_t arrived = 0;
  const auto progress = [](void* user, uint64_t now, uint64_t, uint64_t) -> uint32_t {
    *static_cast<uint64_t*>(user) = now;
    return 1;
  };
  ASSERT_EQ(Fetch(progress, &arrived), KILN_OK) << why;
  EXPECT_EQ(arrived, 2u);
  EXPECT_EQ(report.artifacts, 2u);
  EXPECT_GE(report.contents, 4u) << "one vertex stage, two fragment stages, metadata";
  EXPECT_TRUE(Has("triangle", "orange"));
  EXPECT_TRUE(Has("triangle", "blue"));
}

TEST_F(WithDaemon, CallbackThatHasEnough_CancelsTheFetch) {
  OpenProject();
  uint32_t index = 0;
  ASSERT_EQ(Add("orange", &index), KILN_OK) << why;
  const auto enough = [](void*, uint64_t, uint64_t, uint64_t) -> uint32_t { return 0; };
  EXPECT_EQ(Fetch(enough), KILN_CANCELLED);
}

TEST_F(WithDaemon, WhatIsNotThereOrWrong_IsSaid) {
  Connect();
  kiln_error* error = nullptr;
  EXPECT_EQ(
      Said(kiln_client_project_open(client, kiln_text_of("/nowhere/kiln.toml"), &project, &error),
           error),
      KILN_NOT_FOUND);
  EXPECT_NE(why.find("/nowhere/kiln.toml"), std::string::npos) << why;
  OpenProject();
  uint32_t index = 0;
  EXPECT_EQ(Add("orange", &index, "rock"), KILN_NOT_FOUND);
  EXPECT_NE(why.find("rock"), std::string::npos) << why;
  Write(Shader(), std::string(kShader) + "golbal");
  EXPECT_EQ(Add("orange", &index), KILN_INVALID_ARGUMENT);
  EXPECT_NE(why.find("SOURCES: "), std::string::npos) << why;
  EXPECT_NE(why.find("triangle.rpl:12:"), std::string::npos) << why;
  // A project of files takes no other programs.
  kiln_client_program program;
  KILN_INIT(program);
  EXPECT_EQ(kiln_client_project_add(project, &program, nullptr), KILN_FAILED_PRECONDITION);
}

TEST_F(WithDaemon, TextsOfTheCaller_AreCompiled) {
  Connect();
  EXPECT_EQ(kiln_client_project_create(client, kiln_text{}, &project, nullptr),
            KILN_INVALID_ARGUMENT);
  ASSERT_EQ(kiln_client_project_create(client, kiln_text_of("editor"), &project, nullptr), KILN_OK);
  const kiln_client_source text = {kiln_text_of("own.rpl"), kiln_text_of(kShader)};
  const kiln_client_entry entries[] = {{KILN_STAGE_VERTEX, kiln_text_of("place")},
                                       {KILN_STAGE_FRAGMENT, kiln_text_of("shade")}};
  kiln_client_program program;
  KILN_INIT(program);
  program.name = kiln_text_of("own");
  program.sources = &text;
  program.source_count = 1;
  program.entries = entries;
  program.entry_count = 2;
  kiln_error* error = nullptr;
  ASSERT_EQ(Said(kiln_client_project_add(project, &program, &error), error), KILN_OK) << why;
  EXPECT_EQ(kiln_client_project_add(project, &program, nullptr), KILN_ALREADY_EXISTS);
  ASSERT_EQ(kiln_client_variants_create(project, &variants, nullptr), KILN_OK);
  uint32_t index = 0;
  ASSERT_EQ(Add("blue", &index, "own"), KILN_OK) << why;
  ASSERT_EQ(Fetch(), KILN_OK) << why;
  EXPECT_TRUE(Has("own", "blue"));
  // Without files there is nothing to watch.
  kiln_client_watch_info info;
  KILN_INIT(info);
  info.source = source;
  kiln_client_watch* watch = nullptr;
  EXPECT_EQ(kiln_client_watch_start(variants, &info, &watch, nullptr), KILN_FAILED_PRECONDITION);
}

// News of a watch, by kind.
class News {
 public:
  static void Take(void* user, kiln_client_news_kind kind, kiln_text program, kiln_text text) {
    News& news = *static_cast<News*>(user);
    const std::scoped_lock lock(news.mutex_);
    news.kinds_.insert(kind);
    news.last_ += Text(program) + ": " + Text(text) + "\n";
  }
  bool Heard(kiln_client_news_kind kind) {
    const std::scoped_lock lock(mutex_);
    return kinds_.contains(kind);
  }
  std::string said() {
    const std::scoped_lock lock(mutex_);
    return last_;
  }

 private:
  std::mutex mutex_;
  std::set<kiln_client_news_kind> kinds_;
  std::string last_;
};

// A device, pipelines and the pipeline of one variant.
class Watching : public WithDaemon {
 protected:
  ~Watching() override {
    kiln_pipelines_destroy(pipelines);
    kiln_device_destroy(device);
  }

  void Prepare() {
    OpenProject();
    uint32_t index = 0;
    ASSERT_EQ(Add("orange", &index), KILN_OK) << why;
    ASSERT_EQ(Fetch(), KILN_OK) << why;
    kiln_device_info device_info;
    KILN_INIT(device_info);
    ASSERT_EQ(kiln_device_open(context, &device_info, &device, nullptr), KILN_OK);
    kiln_pipelines_info info;
    KILN_INIT(info);
    info.threads = 1;
    ASSERT_EQ(kiln_pipelines_create(device, &info, &pipelines, nullptr), KILN_OK);
    kiln_load_report loaded;
    KILN_INIT(loaded);
    ASSERT_EQ(kiln_pipelines_load(pipelines, source, &loaded, nullptr), KILN_OK);
    const kiln_option option = {KILN_OPTION_ENUM, kiln_text_of("tint"), kiln_text_of("orange"), 0,
                                0};
    kiln_variant variant;
    KILN_INIT(variant);
    variant.program = kiln_text_of("triangle");
    variant.options = &option;
    variant.option_count = 1;
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    kiln_pass_signature signature;
    KILN_INIT(signature);
    signature.color = &format;
    signature.color_count = 1;
    ASSERT_EQ(kiln_pipelines_find(pipelines, &variant, &signature, &id, nullptr), KILN_OK);
    kiln_warm_ticket ticket;
    ASSERT_EQ(kiln_pipelines_warm(pipelines, &id, 1, KILN_LANE_SOON, &ticket, nullptr), KILN_OK);
    kiln_warm_progress progress;
    KILN_INIT(progress);
    ASSERT_EQ(kiln_pipelines_wait(pipelines, ticket, 60'000'000'000, &progress, nullptr), KILN_OK);
  }
  kiln_client_watch_info WatchInfo() {
    kiln_client_watch_info info;
    KILN_INIT(info);
    info.source = source;
    info.pipelines = pipelines;
    info.ids = &id;
    info.id_count = 1;
    info.news = News::Take;
    info.news_user = &news;
    return info;
  }
  // Frames pass; how many pipelines were swapped at the end of one.
  uint64_t Replaced() {
    EXPECT_EQ(kiln_pipelines_end_frame(pipelines, ++frame, nullptr), KILN_OK);
    kiln_pipeline_stats stats;
    KILN_INIT(stats);
    EXPECT_EQ(kiln_pipelines_get_stats(pipelines, &stats, nullptr), KILN_OK);
    return stats.replaced;
  }

  kiln_device* device = nullptr;
  kiln_pipelines* pipelines = nullptr;
  kiln_pipeline_id id{};
  News news;
  uint64_t frame = 0;
};

TEST_F(Watching, Save_ReplacesThePipelineAtTheEndOfAFrame) {
  Prepare();
  const kiln_client_watch_info info = WatchInfo();
  kiln_client_watch* watch = nullptr;
  kiln_error* error = nullptr;
  ASSERT_EQ(Said(kiln_client_watch_start(variants, &info, &watch, &error), error), KILN_OK) << why;
  // What the engine has is not given to it again.
  ASSERT_TRUE(WaitUntil([&] { return news.Heard(KILN_CLIENT_NEWS_SETTLED); })) << news.said();
  EXPECT_FALSE(news.Heard(KILN_CLIENT_NEWS_REPLACED)) << news.said();
  EXPECT_EQ(Replaced(), 0u);

  std::string text = kShader;
  text.replace(text.find("1.0, 0.5"), 8, "0.0, 1.0");
  Write(Shader(), text);
  ASSERT_TRUE(WaitUntil([&] { return Replaced() == 1; })) << news.said();
  EXPECT_TRUE(news.Heard(KILN_CLIENT_NEWS_REPLACED)) << news.said();

  Write(Shader(), text + "golbal");
  ASSERT_TRUE(WaitUntil([&] { return news.Heard(KILN_CLIENT_NEWS_MISTAKES); })) << news.said();
  EXPECT_NE(news.said().find("triangle.rpl:12:"), std::string::npos) << news.said();
  EXPECT_EQ(kiln_pipelines_check(pipelines, id, nullptr), KILN_OK) << "the last good one stays";
  Write(Shader(), text);
  ASSERT_TRUE(WaitUntil([&] { return news.Heard(KILN_CLIENT_NEWS_RIGHT); })) << news.said();
  kiln_client_watch_destroy(watch);
}

TEST_F(Watching, IdsThatDoNotFit_AreRefused) {
  Prepare();
  kiln_client_watch_info info = WatchInfo();
  const kiln_pipeline_id ids[] = {id, id};
  info.ids = ids;
  info.id_count = 2;
  kiln_client_watch* watch = nullptr;
  EXPECT_EQ(kiln_client_watch_start(variants, &info, &watch, nullptr), KILN_INVALID_ARGUMENT);
  info = WatchInfo();
  info.pipelines = nullptr;
  EXPECT_EQ(kiln_client_watch_start(variants, &info, &watch, nullptr), KILN_INVALID_ARGUMENT);
  info = WatchInfo();
  info.source = nullptr;
  EXPECT_EQ(kiln_client_watch_start(variants, &info, &watch, nullptr), KILN_INVALID_ARGUMENT);
}

const ::testing::Environment* const kCoverage =
    ::testing::AddGlobalTestEnvironment(new Coverage(kFunctions));

}  // namespace
}  // namespace kiln::c::testing
