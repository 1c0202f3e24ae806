// SPDX-License-Identifier: MIT
// The keys under which failures of some programs may be remembered, for `kiln cache gc --failed`
// and edits that should be tried anew. It reads all explain records, which takes a while for a
// large store.
#include "server/compile/failure_keys.h"

#include <algorithm>
#include <utility>

#include "cache/key.h"
#include "cache/record.h"
#include "compiler/driver/frontends.h"
#include "compiler/recipe/recipe.h"
#include "server/compile/programs/language_rows.h"
#include "server/compile/programs/probe_trail.h"
#include "server/compile/programs/program_pool.h"

namespace kiln::compile {
namespace {

constexpr uint32_t kSpace = 0;

// No sources in the filter means all of them.
bool HasOneOf(const cache::ExplainInputs& inputs, const std::set<Digest>& sources) {
  return sources.empty() ||
         std::ranges::any_of(inputs.modules, [&](const cache::ExplainModule& module) {
           return sources.contains(module.source);
         });
}

// Under which a module of a request is kept; nothing if the record does not say what it was read
// with.
std::optional<Hash128> KeyOfModule(const cache::ExplainInputs& inputs,
                                   const cache::ExplainModule& module, const Hash128& limits) {
  const std::optional<ir::Language> language = driver::LanguageOf(module.path);
  if (!language.has_value() || *language != ir::Language::kHlsl) {
    return language.has_value() ? std::optional(ModuleKeyOf(module.source, *language, limits))
                                : std::nullopt;
  }
  const std::optional<HlslInputs> hlsl = HlslInputsOf(inputs);
  if (!hlsl.has_value()) {
    return std::nullopt;
  }
  std::vector<Probe> probes;
  for (const cache::ExplainDependency& row : inputs.dependencies) {
    probes.push_back({.path = row.path,
                      .present = row.digest.has_value(),
                      .digest = row.digest.value_or(Digest{})});
  }
  const Source source{.path = module.path, .digest = module.source, .text = nullptr};
  return ProbeTrail(source, *language, hlsl->settings, *hlsl->files, limits).ModuleKeyOf(probes);
}

// A row that does not decode counts as unknown.
std::optional<cache::Record> RecordAt(cache::BlobStore& store, const cache::Key& key,
                                      const cache::Call& call) {
  const Result<cache::Blob> row = store.Get(key, call);
  Result<cache::Record> record =
      row.ok() ? cache::DecodeRecord(row->bytes) : Result<cache::Record>(row.error());
  return record.ok() ? std::optional(std::move(record).value()) : std::nullopt;
}

// What the recipes made of a module: each works on the output of the one before it.
void AddRecipes(cache::BlobStore& store, Digest input, std::span<const std::string> recipes,
                const cache::Call& call, std::set<cache::Key>& keys) {
  for (const std::string& recipe : recipes) {
    const cache::Key key{.level = cache::Level::kRecipe,
                         .space = kSpace,
                         .id = cache::RecipeKey(input, recipe, recipe::ToolFingerprint())};
    keys.insert(key);
    const std::optional<cache::Record> made = RecordAt(store, key, call);
    // A chain ends where a step is not known: what comes behind it would have another input, and
    // therefore another key.
    const Digest* output = made.has_value() ? made->Find("code") : nullptr;
    if (output == nullptr) {
      return;
    }
    input = *output;
  }
}

// A request as its keys see it: its signature and its recipes.
using Asked = std::pair<Hash128, std::vector<std::string>>;

}  // namespace

Result<std::shared_ptr<const std::set<cache::Key>>> FailureKeys(cache::ExplainRing& explains,
                                                                cache::BlobStore& store,
                                                                const FailureFilter& filter,
                                                                const Hash128& limits,
                                                                const cache::Call& call) {
  // Keys of successes are among them. Whoever uses the set removes only what is a failure.
  auto keys = std::make_shared<std::set<cache::Key>>();
  // Collected first: many records name the same result, and each is read from the store once.
  std::set<Asked> requests;
  // The records of explanations are the only place that leads from a program to its keys: a key
  // itself is a hash. A failure that is too old to be explained is not found; it expires by itself.
  KILN_TRY_VOID(explains.Each(call.stop, [&](const cache::ExplainRecord& record) {
    if (!filter.program(record.slot.program) || !HasOneOf(*record.inputs, filter.sources)) {
      return;
    }
    for (const cache::ExplainModule& module : record.inputs->modules) {
      if (const std::optional<Hash128> key = KeyOfModule(*record.inputs, module, limits)) {
        keys->insert({.level = cache::Level::kModule, .space = kSpace, .id = *key});
      }
    }
    if (!record.signature.zero()) {
      requests.emplace(record.signature, record.inputs->recipes);
    }
  }));
  for (const auto& [signature, recipes] : requests) {
    const cache::Key key{.level = cache::Level::kSignature, .space = kSpace, .id = signature};
    keys->insert(key);
    const std::optional<cache::Record> record = RecordAt(store, key, call);
    if (!record.has_value() || recipes.empty()) {
      continue;
    }
    for (const cache::Product& product : record->products) {
      if (product.name.starts_with("code")) {
        AddRecipes(store, product.digest, recipes, call, *keys);
      }
    }
  }
  return std::shared_ptr<const std::set<cache::Key>>(std::move(keys));
}

}  // namespace kiln::compile
