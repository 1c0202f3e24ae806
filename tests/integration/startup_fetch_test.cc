// SPDX-License-Identifier: MIT
// An engine's start from a daemon that is a process of its own: what it needs arrives, once, also
// if the daemon is killed meanwhile. See spec/pso 9.6
#include "client/startup_fetch.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/autostart.h"
#include "compiler/artifact/metadata.h"
#include "compiler/base/files/file.h"
#include "compiler/base/test_directory.h"
#include "compiler/base/test_wait.h"
#include "runtime/pipeline/memory_source.h"
#include "tests/support/faulty_relay.h"

namespace kiln::client {
namespace {

// Variants with other code each: more than kPassed bytes.
constexpr uint32_t kMany = 3000;
// What a relay passes on before a daemon is killed: several messages, so that some results have
// come and others cannot have, however fast the daemon is and however slow its reader.
constexpr size_t kPassed = 3 << 20;

std::string SourceText() {
  return R"(
global kind: enum "plain" "cut";
instance steps: uint 0;
vertex_attribute_container mesh { f3 position; };
color_output_container target { f4 color; };
set_pass uniform_buffer air { f4 color; };
void vertex_main (void) { vertex_stage_output_position (f4 {mesh.position, 1.0}); }
void fragment_main (void)
{
    f4 sum = air.color;
    conditional (kind == "cut") { sum = sum * 0.5; }
    target.color = sum * f1 {steps + 1u};
}
)";
}

Program ProgramOf(const std::string& text) {
  return {.name = "mist",
          .sources = {{.path = "mist.rpl", .digest = DigestOf(text), .text = text}},
          .pipeline = "graphics_classic",
          .entries = {{.stage = Stage::kVertex, .function = "vertex_main"},
                      {.stage = Stage::kFragment, .function = "fragment_main"}},
          .options = {},
          .targets = {{}}};
}

// What an engine does with a fetch, and what it counts.
class Engine {
 public:
  StartupHandlers Handlers() {
    return {.on_blob = [this](const FetchedBlob& blob) -> Result<void> {
              EXPECT_FALSE(source.Has(blob.digest)) << "fetched again";
              return source.AddBytes(blob.digest, blob.bytes);
            },
            .on_artifact = [this](const StartupArtifact& artifact) { return Take(artifact); },
            .on_progress =
                [this](const StartupProgress& progress) {
                  EXPECT_GE(progress.artifacts, last.artifacts);
                  EXPECT_GE(progress.bytes, last.bytes);
                  last = progress;
                  return after_progress ? after_progress(progress) : Next::kGoOn;
                }};
  }

  // Everything that the artifact names is there already.
  Result<void> Take(const StartupArtifact& fetched) {
    runtime::SourceArtifact artifact{
        .program = fetched.program, .metadata = fetched.artifact.metadata, .code = {}};
    for (const StageCode& code : fetched.artifact.code) {
      artifact.code.push_back(
          {code.stage == Stage::kVertex ? artifact::Stage::kVertex : artifact::Stage::kFragment,
           code.digest});
      EXPECT_TRUE(source.Has(code.digest));
    }
    EXPECT_TRUE(source.Has(fetched.artifact.metadata));
    std::vector<runtime::OptionSetting> options;
    for (const Option& option : fetched.options) {
      options.push_back({option.name, option.value});
    }
    source.AddArtifact(artifact, options);
    names.push_back(OptionsText(fetched.options));
    return {};
  }

  runtime::MemorySource source;
  std::vector<std::string> names;  // in order of arrival
  StartupProgress last;
  std::function<Next(const StartupProgress&)> after_progress;
};

class StartupFetchTest : public testing::Test {
 protected:
  StartupFetchTest() {
    ::setenv("KILN_CACHE_DIR", (folder.path() / "cache").c_str(), 1);
    const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
    ::setenv("PATH", fmt::format("{}:{}", build.string(), std::getenv("PATH")).c_str(), 1);
    socket = (folder.path() / "run" / "kilnd.sock").string();
    Start();
    client = Client::Open("unix:" + socket);
  }
  ~StartupFetchTest() override { Kill(SIGTERM); }

  void Start() {
    const Result<void> started = StartDaemon(socket);
    EXPECT_TRUE(started.ok()) << ErrorText(started.error());
    const auto info = Client::Open("unix:" + socket)->Ping(kTestPatience);
    daemon = info.ok() ? static_cast<pid_t>(info->pid) : 0;
  }

  void Kill(int signal) {
    if (daemon > 0) {
      ::kill(daemon, signal);
      EXPECT_TRUE(
          WaitUntil([&] { return !std::filesystem::exists(fmt::format("/proc/{}/exe", daemon)); }));
      daemon = 0;
    }
  }

  StartupVariants Variants(uint32_t count) const {
    StartupVariants wanted{
        .project = "game", .programs = {ProgramOf(SourceText())}, .variants = {}};
    for (uint32_t i = 0; i < count; ++i) {
      wanted.variants.push_back({.program = 0, .options = {{.name = "steps", .value = i}}});
    }
    return wanted;
  }

  StartupBatch Batch(uint32_t steps) const {
    ProgramSpace space{.program = ProgramOf(SourceText())};
    space.axes.push_back({.name = "kind", .all = true, .values = {}});
    Axis axis{.name = "steps"};
    for (uint32_t i = 0; i < steps; ++i) {
      axis.values.push_back({.name = "steps", .value = i});
    }
    space.axes.push_back(axis);
    return {.id = {}, .project = "game", .spaces = {space}, .how = {}};
  }

  StartupOptions Restarting() {
    return {.have = {}, .before_attempt = [this] { Start(); }};
  }

  // Lets through kPassed bytes of the first connection and all of later ones.
  std::unique_ptr<tests::FaultyRelay> Relay() const {
    return std::make_unique<tests::FaultyRelay>(
        (folder.path() / "relay.sock").string(), socket,
        tests::RelayFaults{.silent_after = kPassed, .connections = 1});
  }

  // Kills the daemon once the first results have come.
  void KillInTheMiddle() {
    engine.after_progress = [this](const StartupProgress& progress) {
      if (progress.artifacts == 3) {
        EXPECT_LT(progress.bytes, kPassed);
        Kill(SIGKILL);
      }
      return Next::kGoOn;
    };
  }

  TestDirectory folder;
  std::string socket;
  pid_t daemon = 0;
  std::unique_ptr<Client> client;
  Engine engine;
};

TEST_F(StartupFetchTest, Variants_ArriveWithAllThatTheyName) {
  StartupFetch fetch(*client, Variants(20), {});
  const auto report = fetch.Run(engine.Handlers());
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.artifacts, 20U);
  EXPECT_EQ(report->progress.total, 20U);
  EXPECT_EQ(report->progress.reconnects, 0U);
  EXPECT_EQ(engine.last.bytes, report->progress.bytes);
  EXPECT_TRUE(report->failures.empty());
  // One vertex module, 20 fragment modules, and metadata of each.
  EXPECT_EQ(report->blobs, 41U);
  EXPECT_EQ(engine.source.Have().size(), 41U);
  const std::vector<runtime::OptionSetting> seven = {{"steps", 7U}};
  const auto found = engine.source.Find("mist", seven);
  ASSERT_TRUE(found.ok());
  const auto metadata = engine.source.Read(found->metadata);
  ASSERT_TRUE(metadata.ok());
  EXPECT_TRUE(artifact::DecodeMetadata(metadata->bytes).ok());
}

TEST_F(StartupFetchTest, DaemonKilledInTheMiddle_NothingIsFetchedTwice) {
  const std::unique_ptr<tests::FaultyRelay> relay = Relay();
  client = Client::Open("unix:" + relay->path());
  KillInTheMiddle();
  StartupFetch fetch(*client, Variants(kMany), Restarting());
  const auto report = fetch.Run(engine.Handlers());
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_GE(report->progress.reconnects, 1U);
  EXPECT_EQ(report->progress.artifacts, kMany);
  EXPECT_EQ(engine.names.size(), kMany);
  EXPECT_EQ(std::set<std::string>(engine.names.begin(), engine.names.end()).size(), kMany);
  EXPECT_EQ(report->blobs, 2 * kMany + 1);  // and on_blob has seen each once
}

TEST_F(StartupFetchTest, BatchThatTheDaemonHasForgotten_IsStartedAgain) {
  const std::unique_ptr<tests::FaultyRelay> relay = Relay();
  client = Client::Open("unix:" + relay->path());
  KillInTheMiddle();
  StartupFetch fetch(*client, Batch(kMany / 2), Restarting());
  const auto report = fetch.Run(engine.Handlers());
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_GE(report->progress.reconnects, 1U);
  EXPECT_EQ(report->progress.artifacts, kMany);
  EXPECT_EQ(std::set<std::string>(engine.names.begin(), engine.names.end()).size(), kMany);
  const std::vector<runtime::OptionSetting> cut = {{"kind", std::string("cut")}, {"steps", 7U}};
  EXPECT_TRUE(engine.source.Find("mist", cut).ok());
}

TEST_F(StartupFetchTest, SecondStart_FetchesNoContent) {
  ASSERT_TRUE(StartupFetch(*client, Batch(10), {}).Run(engine.Handlers()).ok());
  StartupFetch again(*client, Batch(10), {.have = engine.source.Have()});
  const auto report = again.Run({});
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.artifacts, 20U);
  EXPECT_EQ(report->blobs, 0U);
}

TEST_F(StartupFetchTest, Pin_HasResultsWithoutNames) {
  StartupBatch batch = Batch(3);
  batch.how.pin = "release";
  ASSERT_TRUE(StartupFetch(*client, batch, {}).Run({}).ok());
  const auto report = StartupFetch(*client, StartupPin{"release"}, {}).Run(engine.Handlers());
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.artifacts, 6U);
  EXPECT_EQ(std::set<std::string>(engine.names.begin(), engine.names.end()),
            std::set<std::string>{""});
  const auto unknown = StartupFetch(*client, StartupPin{"none"}, {}).Run({});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
}

TEST_F(StartupFetchTest, WarmVariants_ComeFirstOrAlone) {
  StartupVariants wanted = Variants(6);
  wanted.variants[4].warm = wanted.variants[2].warm = true;
  ASSERT_TRUE(StartupFetch(*client, wanted, {}).Run(engine.Handlers()).ok());
  EXPECT_EQ(engine.names, (std::vector<std::string>{"steps=2u", "steps=4u", "steps=0u", "steps=1u",
                                                    "steps=3u", "steps=5u"}));
  wanted.warm_only = true;
  Engine other;
  ASSERT_TRUE(StartupFetch(*client, wanted, {}).Run(other.Handlers()).ok());
  EXPECT_EQ(other.names, (std::vector<std::string>{"steps=2u", "steps=4u"}));
}

TEST_F(StartupFetchTest, WrongSource_IsAFailureOfItsVariantsOnly) {
  StartupVariants wanted = Variants(2);
  wanted.programs.push_back(ProgramOf(SourceText() + "f1 half (in f1 x) { return x }"));
  wanted.programs[1].name = "wrong";
  wanted.variants.push_back({.program = 1, .options = {}});
  const auto report = StartupFetch(*client, wanted, {}).Run(engine.Handlers());
  ASSERT_TRUE(report.ok()) << ErrorText(report.error());
  EXPECT_EQ(report->progress.artifacts, 3U);
  ASSERT_EQ(report->failures.size(), 1U);
  EXPECT_EQ(report->failures[0].program, "wrong");
  EXPECT_FALSE(report->failures[0].outcome.diagnostics.empty());
  EXPECT_EQ(engine.names.size(), 2U);
}

TEST_F(StartupFetchTest, CallbackThatStops_EndsIt) {
  engine.after_progress = [](const StartupProgress& progress) {
    return progress.artifacts == 5 ? Next::kStop : Next::kGoOn;
  };
  const auto report = StartupFetch(*client, Variants(kMany), {}).Run(engine.Handlers());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(engine.names.size(), 5U);
}

TEST_F(StartupFetchTest, CancelWhileItWaitsForADaemon_EndsAtOnce) {
  Kill(SIGKILL);
  std::atomic<int> attempts = 0;
  StartupFetch fetch(*client, Variants(1), {.have = {}, .before_attempt = [&] { ++attempts; }});
  std::thread other([&] {
    EXPECT_TRUE(WaitUntil([&] { return attempts >= 2; }));
    fetch.Cancel();
  });
  const auto report = fetch.Run({});
  other.join();
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kCancelled);
}

TEST_F(StartupFetchTest, NoDaemon_IsUnavailableOncePatienceIsOver) {
  Kill(SIGKILL);
  StartupFetch fetch(*client, Variants(1),
                     {.have = {}, .patience = std::chrono::milliseconds(400)});
  const auto report = fetch.Run({});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
}

TEST_F(StartupFetchTest, HandlerThatRefuses_EndsItWithItsError) {
  StartupHandlers handlers = engine.Handlers();
  handlers.on_blob = [](const FetchedBlob&) -> Result<void> {
    return Error{ErrorCode::kResourceExhausted, "no room", ""};
  };
  const auto report = StartupFetch(*client, Variants(4), {}).Run(handlers);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().context, "no room");
}

}  // namespace
}  // namespace kiln::client
