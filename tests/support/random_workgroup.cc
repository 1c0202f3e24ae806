// SPDX-License-Identifier: MIT
#include "tests/support/random_workgroup.h"

#include <bit>
#include <random>
#include <vector>

#include <fmt/format.h>

namespace kiln::oracle {
namespace {

constexpr uint32_t kGroups = 3;

class WorkgroupWriter {
 public:
  explicit WorkgroupWriter(uint32_t seed) : random_(seed), count_(1U << (2 + seed % 4)) {}

  RandomWorkgroup Write();

 private:
  uint32_t Below(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  std::string Slot();
  std::string Read();
  std::string Value(uint32_t depth);
  std::string Condition();
  std::string Uniform();
  std::string Phase(uint32_t depth);
  std::string Writes();
  std::string Barrier() {
    return Below(3) == 0 ? "storage_barrier ();\nworkgroup_barrier ();\n"
                         : "workgroup_barrier ();\n";
  }

  std::mt19937 random_;
  uint32_t count_;  // invocations of a workgroup
  uint32_t turns_ = 0;
};

// A slot that no other invocation has: a permutation of the workgroup.
std::string WorkgroupWriter::Slot() {
  return fmt::format("((me * {}u + {}u) % {}u)", 2 * Below(8) + 1, Below(16), count_);
}

// Anything that nobody writes before the next barrier.
std::string WorkgroupWriter::Read() {
  const std::string any = fmt::format("(me * {}u + {}u) % {}u", Below(5), Below(40), count_);
  switch (Below(5)) {
    case 0:
      return fmt::format("tile_a[{}]", any);
    case 1:
      return fmt::format("tile_a[tile_a[{}] % {}u]", any, count_);
    case 2:
      return fmt::format("source.words[group * {}u + {}]", count_, any);
    case 3:
      return fmt::format("pairs[{}].both.{}", any, "xy"[Below(2)]);
    default:
      return "own";
  }
}

std::string WorkgroupWriter::Value(uint32_t depth) {
  if (depth == 0) {
    return Below(3) == 0 ? fmt::format("{}u", Below(100)) : Read();
  }
  constexpr std::string_view kOps[] = {"+", "-", "*", "^", "&", "|"};
  if (Below(4) == 0) {
    return fmt::format("({} ? {} : {})", Condition(), Value(depth - 1), Value(depth - 1));
  }
  return fmt::format("({} {} {})", Value(depth - 1), kOps[Below(6)], Value(depth - 1));
}

std::string WorkgroupWriter::Condition() {
  constexpr std::string_view kOps[] = {"<", ">", "==", "!="};
  return fmt::format("{} % 8u {} {}u", Below(2) == 0 ? "me" : Read(), kOps[Below(4)], Below(8));
}

// The same for the whole workgroup.
std::string WorkgroupWriter::Uniform() {
  return Below(2) == 0 ? fmt::format("group % 2u == {}u", Below(2))
                       : fmt::format("tile_a[{}] % 2u == {}u", Below(count_), Below(2));
}

// Reads are of `tile_a` and `pairs`, writes to `tile_b` and the own variable, so none of a phase
// sees another's.
std::string WorkgroupWriter::Writes() {
  std::string text;
  for (uint32_t i = 1 + Below(3); i > 0; --i) {
    switch (Below(5)) {
      case 0:
        text += fmt::format("own = {};\n", Value(2));
        break;
      case 1:
        text += fmt::format("if ({}) {{ own += {}; }}\n", Condition(), Value(1));
        break;
      case 2:
        text += fmt::format("atomic_add (total, {});\n", Value(1));
        break;
      case 3:
        text += fmt::format("atomic_xor (sink.all[{}u], {});\n", Below(4), Value(1));
        break;
      default:
        text += fmt::format("own ^= {};\n", Read());
    }
  }
  const std::string slot = Slot();
  text += fmt::format("tile_b[{}] = {};\n", slot, Value(2));
  text += Barrier();
  text += "tile_a[me] = tile_b[me];\n";
  if (Below(2) == 0) {
    text += fmt::format("pairs[me].both.{} = own;\n", "xy"[Below(2)]);
  }
  return text + Barrier();
}

std::string WorkgroupWriter::Phase(uint32_t depth) {
  if (depth == 0 || Below(3) == 0) {
    return Writes();
  }
  if (Below(2) == 0) {
    const std::string yes = Phase(depth - 1);
    return fmt::format("b1 known{0} = {1};\nworkgroup_barrier ();\nif (known{0})\n{{\n{2}}}\n",
                       turns_++, Uniform(), yes);
  }
  const uint32_t turn = turns_++;
  return fmt::format("for (u1 turn{0} = 0u; turn{0} < {1}u; turn{0} += 1u)\n{{\n{2}}}\n", turn,
                     1 + Below(3), Phase(depth - 1));
}

RandomWorkgroup WorkgroupWriter::Write() {
  std::string body;
  for (uint32_t i = 0; i < 3; ++i) {
    body += Phase(2);
  }
  RandomWorkgroup program;
  program.source = fmt::format(
      "rpl 2;\nsetting workgroup_size_x = {0}u;\n"
      "struct pair_t {{ f1 unused; u2 both; }};\n"
      "workgroup u1[{0}] tile_a;\nworkgroup u1[{0}] tile_b;\nworkgroup pair_t[{0}] pairs;\n"
      "workgroup u1 total;\n"
      "set_pass read_only_storage_buffer source {{ u1... words; }};\n"
      "set_pass read_write_storage_buffer sink {{ u1[4] all; u4... rows; }};\n"
      "void main (void)\n{{\n"
      "u1 me = compute_stage_local_index ();\nu1 group = compute_stage_workgroup_id ().x;\n"
      "u1 own = source.words[compute_stage_global_id ().x];\n"
      "tile_a[me] = own;\ntile_b[me] = me;\npairs[me].both = u2 {{ me, own }};\n"
      "if (me == 0u) {{ total = 0u; }}\nworkgroup_barrier ();\n"
      "{1}"
      "sink.rows[group * {0}u + me] = u4 {{ own, tile_a[me], pairs[me].both.x, total }};\n}}\n",
      count_, body);
  program.run.groups = {kGroups, 1, 1};
  std::vector<std::byte>& words = program.run.memory.buffers["source"];
  for (uint32_t i = 0; i < kGroups * count_; ++i) {
    const auto raw = std::bit_cast<std::array<std::byte, 4>>(
        static_cast<uint32_t>(random_() % 2 == 0 ? random_() % 50 : random_()));
    words.insert(words.end(), raw.begin(), raw.end());
  }
  program.run.memory.buffers["sink"].resize(16 + size_t{16} * kGroups * count_);
  return program;
}

}  // namespace

RandomWorkgroup MakeRandomWorkgroup(uint32_t seed) { return WorkgroupWriter(seed).Write(); }

}  // namespace kiln::oracle
