// SPDX-License-Identifier: MIT
// An independent check of byte layouts: glslang compiles random blocks under std140, std430 and
// scalar; the offsets and strides it decorates must be ours. KILN_LAYOUT_BLOCKS sets how many
// blocks (default 300).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/base/bytes.h"
#include "compiler/layout/ir_types.h"
#include "tests/layout/random_blocks.h"

namespace kiln::layout {
namespace {

constexpr uint32_t kBlocksPerShader = 100;

// Types and layout decorations of a module, by result id.
class DecoratedModule {
 public:
  explicit DecoratedModule(const std::vector<uint32_t>& words) {
    for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
      Read(words[at] & 0xffffu, &words[at]);
    }
  }
  uint32_t StructNamed(const std::string& name) const {
    const auto found = ids_.find(name);
    return found == ids_.end() ? 0 : found->second;
  }
  // Compares what decorates `id` with our layout of `type`, and what it contains.
  void Compare(uint32_t id, const ir::Pool& pool, TypeLayouts& types, ir::TypeId type, Rules rules,
               const std::string& path) {
    const TypeLayout& ours = types.Of(type, rules);
    const ir::Type& t = pool[type];
    if (t.kind == ir::TypeKind::kArray) {
      EXPECT_EQ(array_strides_[id], ours.stride) << path;
      Compare(elements_[id], pool, types, ir::TypeId{t.element}, rules, path + "[0]");
    } else if (t.kind == ir::TypeKind::kStruct) {
      const auto members = pool.Members(type);
      ASSERT_EQ(members_[id].size(), members.size()) << path;
      for (uint32_t i = 0; i < members.size(); ++i) {
        const std::string member = path + "." + std::string(pool.Text(members[i].name));
        EXPECT_EQ(offsets_.at({id, i}), ours.offsets[i]) << member;
        EXPECT_EQ(matrix_strides_[std::pair(id, i)], types.Of(members[i].type, rules).matrix_stride)
            << member;
        Compare(members_[id][i], pool, types, members[i].type, rules, member);
        ++compared_;
      }
    }
  }
  int compared() const { return compared_; }

 private:
  void Read(uint32_t opcode, const uint32_t* words) {
    constexpr uint32_t kName = 5, kTypeArray = 28, kTypeStruct = 30, kDecorate = 71,
                       kMemberDecorate = 72, kArrayStride = 6, kMatrixStride = 7, kOffset = 35;
    const uint32_t count = words[0] >> 16;
    if (opcode == kName) {
      ids_.emplace(reinterpret_cast<const char*>(words + 2), words[1]);
    } else if (opcode == kTypeArray) {
      elements_[words[1]] = words[2];
    } else if (opcode == kTypeStruct) {
      members_[words[1]].assign(words + 2, words + count);
    } else if (opcode == kDecorate && words[2] == kArrayStride) {
      array_strides_[words[1]] = words[3];
    } else if (opcode == kMemberDecorate && words[3] == kOffset) {
      offsets_[{words[1], words[2]}] = words[4];
    } else if (opcode == kMemberDecorate && words[3] == kMatrixStride) {
      matrix_strides_[{words[1], words[2]}] = words[4];
    }
  }

  using Member = std::pair<uint32_t, uint32_t>;
  std::map<std::string, uint32_t> ids_;
  std::map<uint32_t, uint32_t> elements_;
  std::map<uint32_t, std::vector<uint32_t>> members_;
  std::map<uint32_t, uint32_t> array_strides_;
  std::map<Member, uint32_t> offsets_;
  std::map<Member, uint32_t> matrix_strides_;
  int compared_ = 0;
};

std::vector<uint32_t> CompileGlsl(const std::string& text) {
  const std::string base = testing::TempDir() + "layout_glslang_" + std::to_string(getpid());
  std::ofstream(base + ".comp") << text;
  const std::string command = fmt::format(
      "glslangValidator -V --amb --target-env vulkan1.2 -o {0}.spv {0}.comp > {0}.log 2>&1", base);
  if (std::system(command.c_str()) != 0) {
    std::ifstream log(base + ".log");
    ADD_FAILURE() << std::string(std::istreambuf_iterator<char>(log), {});
    return {};
  }
  std::ifstream file(base + ".spv", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  for (const char* suffix : {".comp", ".spv", ".log"}) {
    std::filesystem::remove(base + suffix);
  }
  return words;
}

uint32_t BlockCount() {
  const char* text = std::getenv("KILN_LAYOUT_BLOCKS");
  return text == nullptr ? 300 : static_cast<uint32_t>(std::strtoul(text, nullptr, 10));
}

struct RuleSpelling {
  Rules rules;
  const char* qualifiers;
};
constexpr RuleSpelling kSpellings[] = {{Rules::kStd140, "layout(std140) uniform"},
                                       {Rules::kStd430, "layout(std430) buffer"},
                                       {Rules::kScalar, "layout(scalar) buffer"}};

// Compares `count` blocks of one seed under all three rule sets; returns the number of members.
int CompareBlocks(uint32_t seed, uint32_t count) {
  ir::Pool pool;
  RandomBlocks random(pool, seed);
  GlslText glsl(pool);
  std::vector<ir::TypeId> blocks;
  for (uint32_t i = 0; i < count; ++i) {
    blocks.push_back(random.Block(i));
    for (const RuleSpelling& spelling : kSpellings) {
      glsl.Block(blocks.back(), spelling.qualifiers,
                 fmt::format("b{}_{}", i, TraitsOf(spelling.rules).name));
    }
  }
  const std::vector<uint32_t> words =
      CompileGlsl("#version 460\n#extension GL_EXT_scalar_block_layout : require\n" + glsl.text() +
                  "void main() {}\n");
  if (words.empty()) {
    return 0;
  }
  DecoratedModule module(words);
  TypeLayouts types(pool);
  for (uint32_t i = 0; i < count; ++i) {
    for (const RuleSpelling& spelling : kSpellings) {
      const std::string name = fmt::format("b{}_{}", i, TraitsOf(spelling.rules).name);
      const uint32_t id = module.StructNamed(name);
      EXPECT_NE(id, 0u) << name;
      if (id != 0) {
        module.Compare(id, pool, types, blocks[i], spelling.rules,
                       fmt::format("seed {} {}", seed, name));
      }
    }
  }
  return module.compared();
}

TEST(LayoutOracle, RandomBlocks_AreDecoratedAsByGlslang) {
  int compared = 0;
  for (uint32_t done = 0, seed = 1; done < BlockCount(); ++seed) {
    const uint32_t count = std::min(kBlocksPerShader, BlockCount() - done);
    compared += CompareBlocks(seed, count);
    done += count;
  }
  EXPECT_GE(compared, static_cast<int>(BlockCount()) * 3 * 2);
}

}  // namespace
}  // namespace kiln::layout
