// SPDX-License-Identifier: MIT
#include "server/compile/programs/probe_trail.h"

#include <functional>
#include <random>
#include <stop_token>

#include <gtest/gtest.h>

#include "compiler/base/threads/stop.h"
#include "compiler/source/probe_list.h"
#include "compiler/source/probed_bytes.h"

namespace kiln::compile {
namespace {

FileList ListOf(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<ListedFile> rows;
  for (const auto& [path, text] : files) {
    rows.push_back({.path = path, .digest = DigestOf(std::string_view(text))});
  }
  return *FileList::Of(std::move(rows));
}

// A trail from a root with settings, through a set of files.
struct TrailInputs {
  Source root{.path = "a/p.hlsl", .digest = DigestOf(std::string_view("root")), .text = nullptr};
  hlsl::Settings settings;
  FileList files;
  Hash128 limits;

  ProbeTrail Begin() const {
    return ProbeTrail(root, ir::Language::kHlsl, settings, files, limits);
  }
};

TEST(ProbeRow, ThatWasWritten_IsRead) {
  ProbeRow more;
  more.paths = {"b.h", "a.h", std::string("\0\n", 2)};
  ProbeRow end;
  end.module = HashBytes(AsBytes(std::string_view("module")));
  for (const ProbeRow& row : {more, end}) {
    const Bytes bytes = EncodeProbeRow(row);
    const Result<ProbeRow> read = DecodeProbeRow(bytes);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, row);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeProbeRow(ByteView(bytes).first(size)).ok()) << size;
    }
  }
}

TEST(ProbeRow, WithAPathTwice_IsRefused) {
  ProbeRow row;
  row.paths = {"a.h", "a.h"};
  EXPECT_FALSE(DecodeProbeRow(EncodeProbeRow(row)).ok());
}

// What a module asks for is bounded, so what is longer was not written by kiln.
TEST(ProbeRow, WithMorePathsThanAModuleHas_IsRefused) {
  const auto with = [](size_t bytes) {
    ProbeRow row;
    row.paths = {"a.h", std::string(bytes - 3, 'b')};
    return DecodeProbeRow(EncodeProbeRow(row)).ok();
  };
  EXPECT_TRUE(with(kMostProbedBytes));
  EXPECT_FALSE(with(kMostProbedBytes + 1));
}

// Each loop over paths, whose number the sender chooses, ends with the call; what it keeps counts.
TEST(ProbeTrail, EveryStep_IsStopped) {
  TrailInputs inputs;
  inputs.files = ListOf({{"x.h", "one"}});
  const std::vector<Probe> probes =
      AnswersOf(std::vector<std::string>{"x.h", "y.h"}, {.files = inputs.files});
  ProbeTrail trail = inputs.Begin();
  const ProbeRow row = trail.RowTo(probes);
  const Bytes bytes = EncodeProbeRow(row), list = EncodeProbes(probes);
  const struct {
    const char* name;
    std::function<void()> run;
    bool keeps;
  } steps[] = {
      {"AnswersOf", [&] { (void)AnswersOf(row.paths, {.files = inputs.files}); }, true},
      {"HoldsIn", [&] { (void)HoldsIn({.files = inputs.files}, probes); }, false},
      {"DependenciesOf", [&] { (void)DependenciesOf(probes); }, true},
      {"EncodeProbeRow", [&] { (void)EncodeProbeRow(row); }, false},
      {"DecodeProbeRow", [&] { (void)DecodeProbeRow(bytes); }, false},
      {"EncodeProbes", [&] { (void)EncodeProbes(probes); }, false},
      {"DecodeProbes", [&] { (void)DecodeProbes(list); }, false},
      {"RowTo", [&] { (void)inputs.Begin().RowTo(probes); }, true},
      {"ModuleKeyOf", [&] { (void)inputs.Begin().ModuleKeyOf(probes); }, true},
      {"Follow", [&] { (void)inputs.Begin().Follow(row); }, true},
  };
  SystemClock clock;
  for (const auto& step : steps) {
    {
      std::stop_source stop;
      stop.request_stop();
      const StopScope scope({.stop = stop.get_token()}, clock);
      EXPECT_THROW(step.run(), Stopped) << step.name;
    }
    const StopScope scope({.bytes = 8}, clock);
    if (step.keeps) {
      EXPECT_THROW(step.run(), Stopped) << step.name;
    } else {
      EXPECT_NO_THROW(step.run()) << step.name;
    }
  }
}

TEST(ProbeRow, OtherBytes_AreRefusedOrTheSameAgain) {
  ProbeRow row;
  row.paths = {"a.h", "lib/a.h"};
  const Bytes good = EncodeProbeRow(row);
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes = good;
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1u << random() % 8);
    if (const Result<ProbeRow> read = DecodeProbeRow(bytes); read.ok()) {
      EXPECT_EQ(EncodeProbeRow(*read), bytes);
    }
  }
}

TEST(ProbeTrail, KeyOfAModule_CoversEverythingThatWasRead) {
  TrailInputs base;
  base.files = ListOf({{"a/x.h", "one"}, {"unused.h", "one"}});
  const std::vector<std::string> asked{"a/x.h", "lib/x.h"};
  const auto key = [&](const TrailInputs& inputs) {
    return inputs.Begin().ModuleKeyOf(AnswersOf(asked, {.files = inputs.files}));
  };
  const auto changed = [&](auto change) {
    TrailInputs inputs;
    inputs.files = ListOf({{"a/x.h", "one"}, {"unused.h", "one"}});
    change(inputs);
    return key(inputs) != key(base);
  };
  EXPECT_FALSE(changed([](TrailInputs&) {}));
  EXPECT_FALSE(changed([](TrailInputs& inputs) {  // nobody asked for that one
    inputs.files = ListOf({{"a/x.h", "one"}, {"unused.h", "two"}});
  }));
  EXPECT_TRUE(changed([](TrailInputs& inputs) { inputs.files = ListOf({{"a/x.h", "two"}}); }));
  EXPECT_TRUE(changed([](TrailInputs& inputs) { inputs.files = FileList(); }));
  EXPECT_TRUE(changed([](TrailInputs& inputs) {  // a new file that would shadow another
    inputs.files = ListOf({{"a/x.h", "one"}, {"lib/x.h", ""}});
  }));
  EXPECT_TRUE(changed([](TrailInputs& inputs) { inputs.root.path = "b/p.hlsl"; }));
  EXPECT_TRUE(changed(
      [](TrailInputs& inputs) { inputs.root.digest = DigestOf(std::string_view("other")); }));
  EXPECT_TRUE(changed([](TrailInputs& inputs) { inputs.settings.version = hlsl::Version::k2018; }));
  EXPECT_TRUE(changed([](TrailInputs& inputs) {
    inputs.settings.defines.push_back({.name = "FOG", .value = "1"});
  }));
  EXPECT_TRUE(changed([](TrailInputs& inputs) { inputs.settings.include_roots = {"lib"}; }));
  EXPECT_TRUE(changed(
      [](TrailInputs& inputs) { inputs.limits = HashBytes(AsBytes(std::string_view("other"))); }));
}

TEST(ProbeTrail, RowsLeadToAModule_AndOnWhereAnswersDiffer) {
  TrailInputs inputs;
  inputs.files = ListOf({{"x.h", "one"}});
  const std::vector<Probe> probes =
      AnswersOf(std::vector<std::string>{"x.h", "y.h"}, {.files = inputs.files});

  ProbeTrail trail = inputs.Begin();
  const Hash128 first = trail.NextKey();
  const ProbeRow more = trail.RowTo(probes);
  EXPECT_EQ(more.paths, (std::vector<std::string>{"x.h", "y.h"}));
  ASSERT_TRUE(trail.Follow(more));
  EXPECT_NE(trail.NextKey(), first);
  const ProbeRow end = trail.RowTo(probes);
  ASSERT_TRUE(end.is_end());
  EXPECT_EQ(end.module, trail.ModuleKeyOf(probes));
  EXPECT_TRUE(trail.LeadsTo(end.module, probes));

  // The same root with another file comes by the same first row and then goes elsewhere.
  TrailInputs other = inputs;
  other.files = ListOf({{"x.h", "two"}});
  ProbeTrail elsewhere = other.Begin();
  EXPECT_EQ(elsewhere.NextKey(), first);
  ASSERT_TRUE(elsewhere.Follow(more));
  EXPECT_NE(elsewhere.NextKey(), trail.NextKey());
  EXPECT_FALSE(elsewhere.LeadsTo(end.module, probes)) << "what a row says is compared";
}

TEST(ProbeTrail, CirclesAndLongWays_End) {
  TrailInputs inputs;
  ProbeRow row;
  row.paths = {"a.h"};
  ProbeTrail circle = inputs.Begin();
  EXPECT_TRUE(circle.Follow(row));
  EXPECT_FALSE(circle.Follow(row));
  ProbeTrail trail = inputs.Begin();
  for (size_t i = 0; i < ProbeTrail::kMostRows; ++i) {
    row.paths = {std::to_string(i)};
    EXPECT_TRUE(trail.Follow(row));
  }
  row.paths = {"one more"};
  EXPECT_FALSE(trail.Follow(row));
}

}  // namespace
}  // namespace kiln::compile
