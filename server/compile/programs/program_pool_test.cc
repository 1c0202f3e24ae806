// SPDX-License-Identifier: MIT
// Sources that include, through the pool: what is read, what is known, what is asked for.
#include "server/compile/programs/program_pool.h"

#include <map>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"

namespace kiln::compile {
namespace {

using Files = std::map<std::string, std::string>;

const std::string kRoot = "#include \"lib.h\"\nfloat4 ps_main() : SV_Target { return LIB; }\n";
const std::string kLib = "#define LIB float4(1, 0, 0, 1)\n";

class IncludingPool : public testing::Test {
 protected:
  // Puts texts into the store, as an upload does.
  void Upload(const Files& files) {
    std::vector<cache::Item> items;
    for (const auto& [path, text] : files) {
      items.push_back(cache::ContentItem(cache::CopiedBlob(AsBytes(text))));
    }
    ASSERT_TRUE(store_.Put(items, cache::Durability::kRelaxed, {}).ok());
  }
  static HlslInputs InputsOf(const Files& files) {
    std::vector<ListedFile> rows;
    for (const auto& [path, text] : files) {
      rows.push_back({.path = path, .digest = DigestOf(std::string_view(text))});
    }
    HlslInputs inputs;
    inputs.files = std::make_shared<const FileList>(*FileList::Of(std::move(rows)));
    inputs.list = inputs.files->digest();
    return inputs;
  }
  static Source SourceOf(const std::string& text, std::string path = "p.hlsl") {
    return {.path = std::move(path),
            .digest = DigestOf(std::string_view(text)),
            .text = std::make_shared<const std::string>(text)};
  }
  Result<std::shared_ptr<const ParsedSource>> Parse(const HlslInputs& inputs, bool* made = nullptr,
                                                    const std::string& root = kRoot) {
    return pool_.Parse(SourceOf(root), inputs, {}, made);
  }
  // "read", "known", or what is missing.
  std::string Told(const Files& files, const std::string& root = kRoot) {
    bool made = false;
    const auto parsed = Parse(InputsOf(files), &made, root);
    return !parsed.ok() ? parsed.error().reason : made ? "read" : "known";
  }

  cache::MemoryStore store_{nullptr, nullptr, {}};
  ProgramPool pool_{store_, uint64_t{64} << 20};
};

TEST_F(IncludingPool, SameFiles_AreReadOnce) {
  Upload({{"lib.h", kLib}});
  EXPECT_EQ(Told({{"lib.h", kLib}}), "read");
  EXPECT_EQ(Told({{"lib.h", kLib}}), "known");
  const auto parsed = Parse(InputsOf({{"lib.h", kLib}}));
  ASSERT_NE((*parsed)->module, nullptr);
  EXPECT_EQ((*parsed)->probes.size(), 1u);
}

TEST_F(IncludingPool, FileThatNobodyAskedFor_ChangesNothing) {
  Upload({{"lib.h", kLib}, {"other.h", "x"}});
  EXPECT_EQ(Told({{"lib.h", kLib}}), "read");
  EXPECT_EQ(Told({{"lib.h", kLib}, {"other.h", "x"}}), "known");
}

TEST_F(IncludingPool, EditOfAnInclude_IsReadAndBothStayKnown) {
  const std::string edited = "#define LIB float4(0, 1, 0, 1)\n";
  Upload({{"lib.h", kLib}, {"edited", edited}});
  EXPECT_EQ(Told({{"lib.h", kLib}}), "read");
  EXPECT_EQ(Told({{"lib.h", edited}}), "read");
  EXPECT_EQ(Told({{"lib.h", kLib}}), "known");
  EXPECT_EQ(Told({{"lib.h", edited}}), "known");
}

TEST_F(IncludingPool, NewFileThatShadows_IsRead) {
  HlslInputs inputs = InputsOf({{"lib/lib.h", kLib}});
  inputs.settings.include_roots = {"lib"};
  Upload({{"lib.h", kLib}, {"shadow", "#define LIB float4(0, 0, 1, 1)\n"}});
  bool made = false;
  ASSERT_TRUE(Parse(inputs, &made).ok());
  EXPECT_TRUE(made);
  HlslInputs shadowed =
      InputsOf({{"lib/lib.h", kLib}, {"lib.h", "#define LIB float4(0, 0, 1, 1)\n"}});
  shadowed.settings = inputs.settings;
  made = false;
  ASSERT_TRUE(Parse(shadowed, &made).ok());
  EXPECT_TRUE(made);
}

TEST_F(IncludingPool, WhatIsMissing_IsNamed) {
  const Files files{{"lib.h", "#include \"deep.h\"\n"}, {"deep.h", kLib}, {"never.h", "x"}};
  EXPECT_EQ(Told(files), "SOURCES_MISSING");
  const auto missing = [&] {
    std::string paths;
    const std::vector<Source> needs = *pool_.NeedsOf(SourceOf(kRoot), InputsOf(files), {});
    for (const Source& source : needs) {
      paths += (paths.empty() ? "" : " ") + source.path;
    }
    return paths;
  };
  EXPECT_EQ(missing(), "lib.h");
  Upload({{"lib.h", files.at("lib.h")}});
  EXPECT_EQ(missing(), "deep.h");
  Upload({{"deep.h", kLib}});
  EXPECT_EQ(Told(files), "read");
}

TEST_F(IncludingPool, FileThatOnlyAMacroNames_IsFound) {
  const std::string root =
      "#define NAME \"lib.h\"\n#include NAME\n"
      "float4 ps_main() : SV_Target { return LIB; }\n";
  Upload({{"lib.h", kLib}});
  EXPECT_EQ(Told({{"lib.h", kLib}}, root), "read");
  const auto parsed = Parse(InputsOf({{"lib.h", kLib}}), nullptr, root);
  EXPECT_NE((*parsed)->module, nullptr);
}

TEST_F(IncludingPool, ErrorsOfASourceThatIncludes_AreKept) {
  Upload({{"lib.h", "float float;\n"}});
  EXPECT_EQ(Told({{"lib.h", "float float;\n"}}), "read");
  EXPECT_EQ(Told({{"lib.h", "float float;\n"}}), "known");
  EXPECT_EQ(Told({}), "read") << "nothing is found, which is another error";
  const auto parsed = Parse(InputsOf({}));
  EXPECT_EQ((*parsed)->module, nullptr);
  ASSERT_EQ((*parsed)->probes.size(), 1u);
  EXPECT_FALSE((*parsed)->probes[0].present);
}

TEST_F(IncludingPool, AnotherProcess_FindsItInTheStore) {
  Upload({{"lib.h", kLib}});
  EXPECT_EQ(Told({{"lib.h", kLib}}), "read");
  ProgramPool next(store_, uint64_t{64} << 20);
  bool made = false;
  Source root = SourceOf(kRoot);
  root.text = nullptr;  // the store has it by now
  const auto parsed = next.Parse(root, InputsOf({{"lib.h", kLib}}), {}, &made);
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(made);
  EXPECT_TRUE((*parsed)->from_store);
  EXPECT_EQ((*parsed)->probes.size(), 1u);
  EXPECT_EQ((*parsed)->files->files.size(), 2u);
}

TEST_F(IncludingPool, ListByItsDigest_IsReadFromTheStore) {
  HlslInputs inputs = InputsOf({{"lib.h", kLib}});
  const std::string list = inputs.files->Text();
  inputs.files = nullptr;
  Upload({{"lib.h", kLib}});
  EXPECT_EQ(Parse(inputs).error().reason, "SOURCES_MISSING");
  Upload({{"list", list}});
  EXPECT_TRUE(Parse(inputs).ok());
  const std::string no_list = "no list";
  inputs.list = DigestOf(std::string_view(no_list));
  Upload({{"list", no_list}});
  EXPECT_EQ(Parse(inputs).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(IncludingPool, CallerWhoMayNotWrite_LeavesNothingBehind) {
  Upload({{"lib.h", kLib}});
  const HlslInputs inputs = InputsOf({{"lib.h", kLib}});
  bool made = false;
  ASSERT_TRUE(pool_.Parse(SourceOf(kRoot), inputs, {.may_write = false}, &made).ok());
  EXPECT_TRUE(made);
  EXPECT_EQ(Told({{"lib.h", kLib}}), "read");
}

TEST_F(IncludingPool, CallThatDoesNotWait_IsAnsweredFromMemory) {
  Upload({{"lib.h", kLib}});
  const HlslInputs inputs = InputsOf({{"lib.h", kLib}});
  const cache::Call at_once{.deadline = cache::kAtOnce};
  EXPECT_FALSE(pool_.Parse(SourceOf(kRoot), inputs, at_once).ok());
  ASSERT_TRUE(Parse(inputs).ok());
  EXPECT_TRUE(pool_.Parse(SourceOf(kRoot), inputs, at_once).ok());
}

TEST_F(IncludingPool, HostileIncludes_AreErrorsOfTheSource) {
  const std::string texts[] = {
      "#include \"../../etc/passwd\"\n",
      "#include \"/etc/passwd\"\n",
      std::string("#include \"a\0b\"\n", 15),
      "#include \"\\\\host\\share\"\n",
      "#include \"cycle.h\"\n",
  };
  Upload({{"cycle.h", "#include \"cycle.h\"\n"}});
  for (const std::string& text : texts) {
    const auto parsed = Parse(InputsOf({{"cycle.h", "#include \"cycle.h\"\n"}}), nullptr, text);
    ASSERT_TRUE(parsed.ok()) << text << parsed.error().context;
    EXPECT_EQ((*parsed)->module, nullptr) << text;
    EXPECT_FALSE((*parsed)->diagnostics.empty()) << text;
  }
}

// What the daemon keeps of a source, and of one that does not compile as well: bytes of the text, a
// multiple of them for what was made of it, and what every source may add.
TEST_F(IncludingPool, WhatIsKeptOfASource_IsBoundedByWhatWasSent) {
  constexpr uint64_t kOfEach = uint64_t{8} << 20;
  constexpr uint64_t kTimes = 16;
  const auto lines = [](size_t count, const std::string& before, const std::string& after) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      text += before + std::to_string(i) + after;
    }
    return text;
  };
  const std::string name(60, 'q'), number(300, '9');
  const std::pair<const char*, std::string> sources[] = {
      {"includes that are nowhere", lines(500, "#include \"" + name, "\"\n")},
      {"macros that name them", "#define N <" + name + ">\n" + lines(2000, "#include N //", "\n")},
      {"errors", lines(2000, "float f() { return " + name, "; }\n")},
      {"error directives", lines(2000, "#error " + number, "\n")},
      {"functions that are right", lines(2000, "float f", "(float a) { return a; }\n")},
  };
  for (const auto& [what, text] : sources) {
    HlslInputs inputs = InputsOf({{"lib.h", kLib}});
    for (int i = 0; i < 64; ++i) {
      inputs.settings.include_roots.push_back(std::string(900, 'r') + std::to_string(i));
    }
    const uint64_t sent = text.size() + 64 * uint64_t{902};
    cache::MemoryStore store(nullptr, nullptr, {});
    ProgramPool pool(store, uint64_t{64} << 20);
    ASSERT_TRUE(pool.Parse(SourceOf(text), inputs, {}, nullptr).ok()) << what;
    EXPECT_GT(store.bytes(), 0u) << what;
    EXPECT_LT(store.bytes(), kTimes * sent + kOfEach) << what;
    EXPECT_LT(pool.Usage().bytes, kTimes * sent + kOfEach) << what;
  }
}

TEST_F(IncludingPool, RowsThatLie_AreReadAnew) {
  Upload({{"lib.h", kLib}});
  // Somebody put a row under the first key that names the module of another source.
  const std::string other_root = "float4 ps_main() : SV_Target { return 1; }\n";
  ASSERT_TRUE(Parse(InputsOf({}), nullptr, other_root).ok());
  const HlslInputs inputs = InputsOf({{"lib.h", kLib}});
  const Source other = SourceOf(other_root);
  const Source root = SourceOf(kRoot);
  const ProbeTrail to_other(other, ir::Language::kHlsl, inputs.settings, *inputs.files,
                            pool_.limits_id());
  ProbeRow lie;
  lie.module = to_other.ModuleKeyOf({});
  const ProbeTrail trail(root, ir::Language::kHlsl, inputs.settings, *inputs.files,
                         pool_.limits_id());
  KeepProbeRow(store_, trail.NextKey(), lie, {});
  bool made = false;
  const auto parsed = Parse(inputs, &made);
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(made);
  EXPECT_EQ((*parsed)->probes.size(), 1u);
}

}  // namespace
}  // namespace kiln::compile
