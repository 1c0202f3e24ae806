// SPDX-License-Identifier: MIT
#include <string>

#include "cache/compression/codec.h"
#include "cache/explain/explain_codec.h"
#include "cache/record.h"
#include "tests/fuzz/seeds.h"

namespace kiln::fuzz {

// A row of each kind, an explain record, a stored blob behind its size.
std::vector<Bytes> Seeds() {
  const Digest digest = DigestOf(std::string_view("content"));
  cache::ExplainRecord explain{.slot = {.project = "demo", .program = "rock", .target = "vk"}};
  explain.inputs = cache::ExplainInputs{.modules = {{.path = "rock.rpl", .source = digest}},
                                        .pipeline = "graphics_classic",
                                        .options = {{.name = "fog", .value = "true"}}};
  Bytes blob;
  const cache::Blob stored = cache::Compress(cache::OwnedBlob(Bytes(5000)));
  AppendLittle<uint64_t>(blob, stored.raw_size);
  Append(blob, stored.bytes);
  return {cache::EncodeRecord({.products = {{"code.vertex", digest}, {"meta", digest}},
                               .live_options = {"fog", "quality"},
                               .cpu_us = 10,
                               .build_id = "b"}),
          cache::EncodeModuleRecord({.products = {{"image", digest}}, .semantic_id = digest.id}),
          cache::EncodeMask(std::vector<std::string>{"fog", "quality"}),
          cache::EncodeExplain(explain), blob};
}

}  // namespace kiln::fuzz
