// SPDX-License-Identifier: MIT
// For tests: contents of a pack from a seed, with everything that a pack can hold, and their blobs.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cache/key.h"
#include "cache/pack/contents.h"
#include "cache/pack/format.h"
#include "cache/test_contents.h"

namespace kiln::pack::testing {

// A variant that the contents answer: option values in the order of its program -> an artifact.
struct SampleVariant {
  uint32_t entry = 0;
  std::vector<cache::TypedValue> values;
  Hash128 live_key;
};

struct Sample {
  Contents contents;
  std::map<Hash128, Bytes> blobs;
  std::vector<SampleVariant> variants;

  BlobSource Source() const {
    return [this](const Digest& digest) -> Result<Bytes> { return blobs.at(digest.id); };
  }
  Digest Add(std::string_view text) {
    const ByteView bytes = AsBytes(text);
    const Digest digest = DigestOf(bytes);
    blobs.emplace(digest.id, Bytes(bytes.begin(), bytes.end()));
    return digest;
  }
};

// Draws contents from a seed, part by part.
class SampleMaker {
 public:
  explicit SampleMaker(uint32_t seed) : random_(seed) {
    const ByteView info = AsBytes("info");
    sample_.contents.info.assign(info.begin(), info.end());
    sample_.contents.build = HashBytes(AsBytes("build"));
  }

  void AddProgram(uint32_t options) {
    const auto index = static_cast<uint32_t>(sample_.contents.programs.size());
    Program program{
        .name = "program " + std::to_string(random_() % 1000) + " " + std::to_string(index),
        .pipeline = "graphics_classic",
        .options = {}};
    for (uint32_t o = 0; o < options; ++o) {
      program.options.push_back({.name = "option_" + std::to_string(100 + o),
                                 .type = 0,
                                 .default_bits = Pick(2),
                                 .values = {},
                                 .instance = Pick(2) == 0});
    }
    program.options.push_back(
        {.name = "z_kind", .type = 4, .default_bits = 1, .values = {"off", "on"}});
    sample_.contents.programs.push_back(program);
    for (const char* target : {"vk", "meta"}) {
      AddEntry(program, index, target);
    }
  }

  Sample Take() { return std::move(sample_); }

 private:
  uint32_t Pick(uint32_t end) { return static_cast<uint32_t>(random_() % std::max(end, 1U)); }

  // An entry with a mask of up to three flags and an artifact for each assignment of them.
  void AddEntry(const Program& program, uint32_t index, const char* target) {
    Entry entry{
        .id = HashBytes(AsBytes(program.name + target)), .program = index, .target = target};
    std::vector<uint32_t> mask;
    for (uint32_t o = 0; o + 1 < program.options.size(); ++o) {
      if (mask.size() < 3 && Pick(2) == 0) {
        mask.push_back(o);
      }
    }
    entry.masks = {mask};
    for (uint32_t bits = 0; bits < 1U << mask.size(); ++bits) {
      AddVariant(program, entry, mask, bits);
    }
    sample_.contents.entries.push_back(std::move(entry));
  }

  void AddVariant(const Program& program, const Entry& entry, const std::vector<uint32_t>& mask,
                  uint32_t bits) {
    const auto index = static_cast<uint32_t>(sample_.contents.entries.size());
    SampleVariant variant{.entry = index, .values = {}, .live_key = {}};
    for (uint32_t o = 0; o + 1 < program.options.size(); ++o) {
      variant.values.push_back(cache::TypedValue::Flag(Pick(2) == 0));
    }
    variant.values.push_back(cache::TypedValue::Text("on"));
    std::vector<cache::OptionSetting> live;
    for (uint32_t i = 0; i < mask.size(); ++i) {
      variant.values[mask[i]] = cache::TypedValue::Flag((bits >> i & 1) != 0);
      live.push_back({.name = program.options[mask[i]].name, .value = variant.values[mask[i]]});
    }
    variant.live_key = cache::LiveKey(entry.id, live);
    sample_.contents.artifacts.push_back(MakeArtifact(program, variant, bits));
    sample_.variants.push_back(std::move(variant));
  }

  Artifact MakeArtifact(const Program& program, const SampleVariant& variant, uint32_t bits) {
    Artifact artifact{.live_key = variant.live_key,
                      .layout_hash = HashBytes(AsBytes(program.name)),
                      .state_id = HashBytes(AsBytes(program.name + std::to_string(bits / 2))),
                      .entry = variant.entry,
                      .code = {},
                      .metadata = sample_.Add("metadata " + std::to_string(Pick(4)))};
    for (const uint32_t stage : {2U, 1U}) {
      const char letter = "abc"[Pick(3)];
      artifact.code.push_back(
          {.stage = stage, .digest = sample_.Add(std::string(1 + Pick(3000), letter))});
    }
    if (Pick(4) == 0) {
      artifact.warm_rank = Pick(10);
    }
    return artifact;
  }

  std::mt19937 random_;
  Sample sample_;
};

// Programs whose options are flags; masks are random sets of them; every assignment of the flags of
// a mask has an artifact. Texts repeat, so blobs are shared.
inline Sample MakeSample(uint32_t seed, uint32_t programs, uint32_t options) {
  SampleMaker maker(seed);
  for (uint32_t p = 0; p < programs; ++p) {
    maker.AddProgram(options);
  }
  return maker.Take();
}

// Programs of one target without options, each with blobs of its own that resemble each other, as
// modules of a compiler do. `edited`: how many programs have other blobs than with 0.
inline Sample MakeKinSample(uint32_t seed, uint32_t programs = 100, uint32_t edited = 0) {
  Sample sample;
  for (uint32_t p = 0; p < programs; ++p) {
    Program program{.name = "program " + std::to_string(1000 + p),
                    .pipeline = "graphics_classic",
                    .options = {}};
    Entry entry{
        .id = HashBytes(AsBytes(program.name)), .program = p, .target = "vk", .masks = {{}}};
    std::mt19937 random(seed * 1000 + p);
    std::string text;  // words of a small vocabulary
    for (uint32_t word = 0; word < 1200; ++word) {
      text += "word " + std::to_string(random() % 4096) + (p < edited && word == 7 ? "!" : " ");
    }
    Artifact artifact{.live_key = cache::LiveKey(entry.id, {}),
                      .layout_hash = HashBytes(AsBytes("layout")),
                      .state_id = HashBytes(AsBytes(text)),
                      .entry = p,
                      .code = {{.stage = 1, .digest = sample.Add(text)}},
                      .metadata = sample.Add("metadata of " + program.name)};
    sample.variants.push_back({.entry = p, .values = {}, .live_key = artifact.live_key});
    sample.contents.programs.push_back(std::move(program));
    sample.contents.entries.push_back(std::move(entry));
    sample.contents.artifacts.push_back(std::move(artifact));
  }
  return sample;
}

using cache::SampleModule;

// More artifacts of the first entry, each with a module of its own.
inline void AddModules(Sample& sample, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const Bytes module = SampleModule(i);
    const Hash128 key = HashBytes(AsBytes("module " + std::to_string(i)));
    sample.contents.artifacts.push_back(
        {.live_key = key,
         .layout_hash = HashBytes(AsBytes("layout")),
         .state_id = key,
         .entry = 0,
         .code = {{.stage = 3, .digest = sample.Add(AsText(module))}},
         .metadata = sample.Add("metadata of module " + std::to_string(i / 2)),
         .order = i});
  }
}

// Two passes and three warm pipelines, one without a pass.
inline void AddWarmPipelines(Contents& contents) {
  contents.passes = {{.name = "shadow", .depth_format = 126},
                     {.name = "forward",
                      .view_mask = 3,
                      .samples = 4,
                      .color_formats = {97, kSwapchainFormat},
                      .depth_format = 130}};
  contents.warm = {{.live_key = contents.artifacts[1].live_key, .priority = 1, .lane = 1},
                   {.live_key = contents.artifacts[2].live_key,
                    .pass = "shadow",
                    .priority = 7,
                    .creation_us = 900,
                    .first_use_us = 50,
                    .hints = {{.set = 1, .binding = 2, .sampler_class = 3, .format = 37},
                              {.set = 1, .binding = 4, .sampler_class = 0, .format = 9}}},
                   {.live_key = contents.artifacts[0].live_key, .pass = "forward"}};
}

}  // namespace kiln::pack::testing
