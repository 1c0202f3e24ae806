// SPDX-License-Identifier: MIT
// Names, strings, numbers and options of any length and number: what is said about them is bounded,
// in the answer and in the record that is kept.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cache/decorators/memory_store.h"
#include "compiler/diag/encode.h"
#include "server/compile/cached_build.h"

namespace kiln::compile {
namespace {

constexpr size_t kLong = 300'000;  // one is more than all that may be said

// The largest list of diagnostics that was put.
class DiagnosticsWatch final : public cache::BlobStore {
 public:
  Result<cache::Blob> Get(const cache::Key& key, const cache::Call& call) override {
    return below_.Get(key, call);
  }
  Result<cache::PutResult> Put(std::span<const cache::Item> items, cache::Durability durability,
                               const cache::Call& call) override {
    for (const cache::Item& item : items) {
      if (AsText(item.value.bytes).find("kiln.diagnostics") == 1) {
        largest = std::max(largest, item.value.bytes.size());
      }
    }
    return below_.Put(items, durability, call);
  }
  Result<std::vector<cache::Key>> FindMissing(std::span<const cache::Key> keys,
                                              const cache::Call& call) override {
    return below_.FindMissing(keys, call);
  }
  void Touch(std::span<const cache::Key> keys) override { below_.Touch(keys); }

  size_t largest = 0;

 private:
  cache::MemoryStore below_{nullptr, nullptr, {}};
};

size_t TextOf(const std::vector<PlacedDiagnostic>& diagnostics) {
  size_t bytes = 0;
  for (const PlacedDiagnostic& one : diagnostics) {
    bytes += one.message.size() + (one.fix.has_value() ? one.fix->replacement.size() : 0);
    for (const PlacedLabel& label : one.labels) {
      bytes += label.text.size();
    }
    for (const std::string& note : one.notes) {
      bytes += note.size();
    }
  }
  return bytes;
}

class HostileNames : public testing::Test {
 protected:
  HostileNames() {
    limits.identifier = limits.string = limits.source_bytes = 64u << 20;  // if somebody lifts them
  }

  // What a program of so many sources like this one has to say; `options` have values in the
  // request.
  std::vector<PlacedDiagnostic> Say(const std::vector<std::string>& texts, const std::string& entry,
                                    std::span<const resolve::OptionSetting> options) {
    ProgramPool pool(store, 1 << 20, limits);
    CachedBuild builder(store, pool, clock);
    ProgramRequest request;
    request.name = std::string(kLong, 'p');
    for (size_t i = 0; i < texts.size(); ++i) {
      request.sources.push_back({.path = std::to_string(i) + ".rpl",
                                 .digest = DigestOf(std::string_view(texts[i])),
                                 .text = std::make_shared<const std::string>(texts[i])});
    }
    request.entries.push_back({.stage = ir::Stage::kVertex, .function = entry});
    const NamedTarget target{.name = "vk",
                             .target = target::MakeTarget(target::Environment::kVulkan11)};
    const auto prepared = builder.Prepare(request, target, {});
    EXPECT_TRUE(prepared.ok());
    const Result<Outcome> outcome = builder.Build(**prepared, options, {}, {});
    EXPECT_TRUE(outcome.ok()) << outcome.error().context;
    return outcome.ok() ? outcome->diagnostics : std::vector<PlacedDiagnostic>();
  }

  void ExpectBounded(const char* what, const std::vector<PlacedDiagnostic>& diagnostics) {
    EXPECT_FALSE(diagnostics.empty()) << what;
    EXPECT_LE(TextOf(diagnostics), 2 * kMaxDiagnosticsBytes)
        << what;  // reading's and specialising's
    EXPECT_LE(store.largest, kMaxDiagnosticsBytes) << what;
  }

  SystemClock clock;
  DiagnosticsWatch store;
  LanguageLimits limits;
};

constexpr std::string_view kMain =
    "void v (void) { vertex_stage_output_position (f4 {0.0, 0.0, 0.0, 1.0}); }\n";

TEST_F(HostileNames, OfSources_AreSaidInBoundedTexts) {
  const std::string name(kLong, 'n'), digits(kLong, '9');
  struct Case {
    const char* what;
    std::string text;
  };
  const Case cases[] = {
      {"value", "void w (void) { f1 a = " + name + "; f1 b = " + name + "2; }\n"},
      {"type", "void w (void) { " + name + " a; }\n"},
      {"function", "void v (void) { " + name + " (1.0); }\n"},
      {"local that nobody reads", "void w (void) { f1 " + name + " = 1.0; }\n"},
      {"declared twice",
       "f1 " + name + " (void) { return 1.0; }\nf1 " + name + " (void) { return 2.0; }\n"},
      {"member", "void w (void) { f4 a = f4 {1.0, 1.0, 1.0, 1.0}; f1 b = a." + name + "; }\n"},
      {"option", "conditional (" + name + ") setting cull_mode = \"back\";\n"},
      {"setting", "setting " + name + " = \"back\";\n"},
      {"value of a setting", "setting cull_mode = \"" + name + "\";\n"},
      {"string without end", "setting cull_mode = \"" + name + "\n"},
      {"number",
       "void w (void) { f1 a = " + digits + "; f1 b = 1." + digits + "e" + digits + "; }\n"},
      {"values of an option",
       "global mode: enum \"" + name + "\" { \"" + name + "\", \"" + name + "\" };\n"},
      {"operator", "void w (void) { f1 a = 1.0 " + std::string(kLong, '@') + " 2.0; }\n"},
      {"constructor of others", "void w (void) { f4 a = vec4 (" + name + "); }\n"},
  };
  for (const Case& one : cases) {
    store.largest = 0;
    const bool enters = one.text.starts_with("void v ");
    const std::string main = (enters ? std::string() : std::string(kMain)) + one.text;
    ExpectBounded(one.what, Say({main}, "v", {}));
    std::vector<std::string> many(3, one.text);  // all of them have much to say
    many.push_back(main);
    ExpectBounded(one.what, Say(many, "v", {}));
  }
}

TEST_F(HostileNames, InANumberOfPlaces_AreSaidInBoundedTexts) {
  std::string chain = std::string(kMain);
  constexpr int kFunctions = 3000;
  for (int i = 0; i < kFunctions; ++i) {  // each calls the next, and the last the first
    chain += "void " + std::string(1000, 'f') + std::to_string(i) + " (void) { " +
             std::string(1000, 'f') + std::to_string((i + 1) % kFunctions) + " (); }\n";
  }
  limits.call_depth = 2 * kFunctions;
  ExpectBounded("calls in a circle", Say({chain}, std::string(1000, 'f') + "0", {}));
  std::string wrong = std::string(kMain) + "void w (void) {\n";
  for (int i = 0; i < 3000; ++i) {
    wrong += "f1 a" + std::to_string(i) + " = " + std::string(1000, 'u') + std::to_string(i) +
             " + f3 {1.0, 1.0, 1.0};\n";
  }
  ExpectBounded("errors", Say({wrong + "}\n"}, "v", {}));
}

TEST_F(HostileNames, OfRequests_AreSaidInBoundedTexts) {
  const std::string name(kLong, 'n');
  const std::string text = std::string(kMain) + "global mode: enum \"a\" { \"a\", \"b\" };\n";
  ExpectBounded("entry point", Say({text}, name, {}));
  std::vector<resolve::OptionSetting> options;
  for (int i = 0; i < 8; ++i) {
    options.push_back({.name = std::to_string(i) + name,
                       .scope = {},
                       .kind = ir::OptionKind::kFlag,
                       .bits = 1,
                       .text = {}});
  }
  options.push_back({.name = "mode", .scope = {}, .kind = ir::OptionKind::kEnum, .text = name});
  ExpectBounded("options", Say({text}, "v", options));
}

}  // namespace
}  // namespace kiln::compile
