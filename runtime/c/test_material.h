// SPDX-License-Identifier: MIT
// test_material.rpl as kilnc made it, as a pack and as contents in memory; a context whose
// allocator and log count; and short ways to say things in C.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>
#include <kiln/kiln.h>

#include "cache/pack/signing/signing_key.h"
#include "cache/pack/write/writer.h"
#include "compiler/artifact/metadata_json.h"

namespace kiln::c::testing {

inline std::string Text(kiln_text text) { return std::string(text.data, text.data + text.size); }

inline Bytes ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const ByteView view = AsBytes(text);
  return Bytes(view.begin(), view.end());
}

struct Compiled {
  Bytes vertex, fragment, metadata;
};

// Of one value of its option.
inline Compiled CompiledMaterial(const std::string& tint) {
  const std::string folder = std::string(KILN_C_MATERIAL) + "/" + tint;
  const Bytes json = ReadAll(folder + "/meta.json");
  return {ReadAll(folder + "/vertex.spv"), ReadAll(folder + "/fragment.spv"),
          artifact::MetadataFromJson(AsText(json)).value()};
}

// A pack with both variants of the program 'material', and a pass.
inline void WriteMaterialPack(const std::string& path, const pack::SigningKey* key = nullptr) {
  std::map<kiln::Digest, Bytes> blobs;
  const auto keep = [&](const Bytes& bytes) {
    const kiln::Digest digest = DigestOf(ByteView(bytes));
    blobs.emplace(digest, bytes);
    return digest;
  };
  pack::Contents contents;
  contents.programs = {
      {.name = "material",
       .pipeline = "graphics_classic",
       .options = {{.name = "tint", .type = 4, .values = {"plain", "swapped", "tail"}}}}};
  contents.entries = {{.id = HashBytes(AsBytes("entry")), .target = "vk", .masks = {{0}}}};
  contents.passes = {{.name = "main", .color_formats = {VK_FORMAT_R8G8B8A8_UNORM}}};
  for (const std::string tint : {"plain", "tail"}) {
    const Compiled compiled = CompiledMaterial(tint);
    const cache::OptionSetting live[] = {{"tint", cache::TypedValue::Text(tint)}};
    contents.artifacts.push_back(
        {.live_key = cache::LiveKey(contents.entries[0].id, live),
         .state_id = HashBytes(AsBytes(tint)),
         .code = {{1, keep(compiled.vertex)}, {2, keep(compiled.fragment)}},
         .metadata = keep(compiled.metadata)});
  }
  const auto written = pack::WritePack(
      contents, [&](const kiln::Digest& digest) -> Result<Bytes> { return blobs.at(digest); },
      {.key = key}, path);
  ASSERT_TRUE(written.ok()) << ErrorText(written.error());
}

// Counts what the library holds; from `fail_at` on nothing is given.
struct CountedMemory {
  std::atomic<uint64_t> given{0};
  std::atomic<int64_t> held{0};
  std::atomic<uint64_t> fail_at{~uint64_t{0}};

  static void* Allocate(void* user, size_t size, size_t alignment) {
    auto& self = *static_cast<CountedMemory*>(user);
    if (self.given.fetch_add(1) >= self.fail_at) {
      return nullptr;
    }
    self.held += static_cast<int64_t>(size);
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  }
  static void Release(void* user, void* memory, size_t size, size_t) {
    static_cast<CountedMemory*>(user)->held -= static_cast<int64_t>(size);
    std::free(memory);
  }
};

struct KeptLog {
  std::mutex mutex;
  std::vector<std::string> lines;

  static void Take(void* user, kiln_log_level, kiln_text line) {
    auto& self = *static_cast<KeptLog*>(user);
    const std::lock_guard lock(self.mutex);
    self.lines.push_back(Text(line));
  }
};

}  // namespace kiln::c::testing
