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

// Programs whose options are flags; masks are random sets of them; every assignment of the flags of
// a mask has an artifact. Texts repeat, so blobs are shared.
inline Sample MakeSample(uint32_t seed, uint32_t programs, uint32_t options) {
  std::mt19937 random(seed);
  const auto pick = [&](uint32_t end) {
    return static_cast<uint32_t>(random() % std::max(end, 1U));
  };
  Sample sample;
  const ByteView info = AsBytes("info");
  sample.contents.info.assign(info.begin(), info.end());
  sample.contents.build = HashBytes(AsBytes("build"));
  for (uint32_t p = 0; p < programs; ++p) {
    Program program{.name = "program " + std::to_string(random() % 1000) + " " + std::to_string(p),
                    .pipeline = "graphics_classic",
                    .options = {}};
    for (uint32_t o = 0; o < options; ++o) {
      program.options.push_back({.name = "option_" + std::to_string(100 + o),
                                 .type = 0,
                                 .default_bits = pick(2),
                                 .values = {},
                                 .instance = pick(2) == 0});
    }
    program.options.push_back(
        {.name = "z_kind", .type = 4, .default_bits = 1, .values = {"off", "on"}});
    sample.contents.programs.push_back(program);
    for (const char* target : {"vk", "meta"}) {
      Entry entry{.id = HashBytes(AsBytes(program.name + target)), .program = p, .target = target};
      std::vector<uint32_t> mask;
      for (uint32_t o = 0; o < options; ++o) {
        if (mask.size() < 3 && pick(2) == 0) {
          mask.push_back(o);
        }
      }
      entry.masks = {mask};
      const auto index = static_cast<uint32_t>(sample.contents.entries.size());
      for (uint32_t bits = 0; bits < 1U << mask.size(); ++bits) {
        std::vector<cache::OptionSetting> live;
        SampleVariant variant{.entry = index, .values = {}, .live_key = {}};
        for (uint32_t o = 0; o < options; ++o) {
          variant.values.push_back(cache::TypedValue::Flag(pick(2) == 0));
        }
        variant.values.push_back(cache::TypedValue::Text("on"));
        for (uint32_t i = 0; i < mask.size(); ++i) {
          variant.values[mask[i]] = cache::TypedValue::Flag((bits >> i & 1) != 0);
          live.push_back({.name = program.options[mask[i]].name, .value = variant.values[mask[i]]});
        }
        variant.live_key = cache::LiveKey(entry.id, live);
        Artifact artifact{.live_key = variant.live_key,
                          .layout_hash = HashBytes(AsBytes(program.name)),
                          .state_id = HashBytes(AsBytes(program.name + std::to_string(bits / 2))),
                          .entry = index,
                          .code = {},
                          .metadata = sample.Add("metadata " + std::to_string(pick(4)))};
        for (const uint32_t stage : {2U, 1U}) {
          artifact.code.push_back({.stage = stage,
                                   .digest = sample.Add(std::string(
                                       1 + pick(3000), 'a' + static_cast<char>(pick(3))))});
        }
        if (pick(4) == 0) {
          artifact.warm_rank = pick(10);
        }
        sample.contents.artifacts.push_back(std::move(artifact));
        sample.variants.push_back(std::move(variant));
      }
      sample.contents.entries.push_back(std::move(entry));
    }
  }
  return sample;
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

}  // namespace kiln::pack::testing
