// SPDX-License-Identifier: MIT
// The grammar of the headers package against what was written: every word that the grammar calls an
// id is an own id or an import, every other word is not. So no operand can be forgotten when bases
// are added.
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spirv/unified1/spirv.hpp11>

#include "compiler/emit/spirv/text_module.h"

namespace kiln::spirv {
namespace {

constexpr const char* kGrammarPath = "/usr/include/spirv/unified1/spirv.core.grammar.json";

using nlohmann::json;

class Grammar {
 public:
  Grammar() : root_(json::parse(std::ifstream(kGrammarPath))) {
    for (const json& inst : root_["instructions"]) {
      insts_[inst["opcode"].get<uint32_t>()] = &inst;
    }
    for (const json& kind : root_["operand_kinds"]) {
      kinds_[kind["kind"].get<std::string>()] = &kind;
    }
  }

  std::string NameOf(uint32_t opcode) const {
    return (*insts_.at(opcode))["opname"].get<std::string>();
  }

  // Positions of ids in one instruction.
  std::set<uint32_t> IdsOf(std::span<const uint32_t> words) const {
    std::set<uint32_t> ids;
    uint32_t at = 1;
    const json& inst = *insts_.at(words[0] & 0xffffu);
    for (const json& operand : inst.value("operands", json::array())) {
      const std::string quantifier = operand.value("quantifier", "");
      const std::string kind = operand["kind"];
      if (quantifier.empty()) {
        Take(kind, words, at, ids);
      } else {
        while (at < words.size()) {
          Take(kind, words, at, ids);
          if (quantifier == "?") {
            break;
          }
        }
      }
    }
    EXPECT_EQ(at, words.size()) << inst["opname"] << " has another length";
    return ids;
  }

 private:
  void Take(const std::string& kind, std::span<const uint32_t> words, uint32_t& at,
            std::set<uint32_t>& ids) const {
    if (kind == "LiteralString") {
      while (words[at++] >> 24 != 0) {
      }
      return;
    }
    const json& facts = *kinds_.at(kind);
    const std::string category = facts["category"];
    if (category == "Id") {
      ids.insert(at++);
    } else if (category == "Literal") {
      ++at;
    } else if (category == "Composite") {
      for (const json& base : facts["bases"]) {
        Take(base, words, at, ids);
      }
    } else {
      TakeEnum(facts, words, at, ids);
    }
  }

  void TakeEnum(const json& facts, std::span<const uint32_t> words, uint32_t& at,
                std::set<uint32_t>& ids) const {
    const uint32_t value = words[at++];
    const bool bits = facts["category"] == "BitEnum";
    for (const json& enumerant : facts["enumerants"]) {
      const json& raw = enumerant["value"];
      const uint32_t number =
          raw.is_string() ? std::stoul(raw.get<std::string>(), nullptr, 16) : raw.get<uint32_t>();
      const bool applies = bits ? number != 0 && (value & number) != 0 : value == number;
      if (!applies) {
        continue;
      }
      for (const json& parameter : enumerant.value("parameters", json::array())) {
        Take(parameter["kind"], words, at, ids);
      }
      if (!bits) {
        return;  // aliases of one number have equal parameters
      }
    }
  }

  json root_;
  std::map<uint32_t, const json*> insts_;
  std::map<std::string, const json*> kinds_;
};

constexpr std::string_view kCorpus = R"(variant graphics_classic
struct light_t {
  position : f4
  items : f1[2]
}
container state @state {
  uv : f2
  layer : u1
}
container color_output @target {
  color : f4
}
buffer uniform pass @frame {
  matrix : f4x4
  light : light_t
}
buffer read_only_storage shared @tail {
  items : f4...
}
push_constant @push {
  tint : f4
}
sampler pass @linear
image read_only pass @layers : image_color_2d[4]
image read_only pass @shadow : image_depth_2d_array
entry fragment @main "main" {
  function @main() -> void {
    region r0 {
      var $light : light_t
      exit $exit
      %1 = const u1 1
      %2 = global none @frame : frame
      %3 = access %2 [%1] : light_t
      %4 = load %3 : light_t
      %5 = local $light : light_t
      store %5, %4
      %6 = global in @state.layer : u1
      %7 = load %6 : u1
      %8 = global none @layers : image_color_2d[4]
      %9 = access non_uniform %8 [%7] : image_color_2d
      %10 = global none @linear : sampler
      %11 = global in @state.uv : f2
      %12 = load %11 : f2
      %13 = const f1 0.5
      %14 = call @look [%10, %9, %12] : f4
      %15 = global none @shadow : image_depth_2d_array
      %16 = convert %7 : f1
      %17 = construct [%12, %16] : f3
      %18 = builtin sample_dref [%10, %15, %17, %13] : f1
      %19 = builtin sample_dref_lod [%10, %15, %17, %13, %13] : f1
      %20 = global none @tail : tail
      %21 = const u1 0
      %22 = access %20 [%21, %7] : f4
      %23 = load %22 : f4
      %24 = binary mul %23, %18 : f4
      %25 = swizzle %24, xyz : f3
      %26 = builtin normalize [%25] : f3
      %27 = builtin dot [%26, %25] : f1
      %28 = construct [%26, %27] : f4
      %29 = binary less %27, %19 : bool
      %30 = logical and %29 : bool {
        %31 = unary not %29 : bool
        yield %31
      }
      loop $exit {
        yield %30
      } {
        if %29 {
          break $exit
        } {
          discard
        }
      } {
      }
      %32 = select %30 [%14, %28] : f4
      %33 = global out @target.color : f4
      store %33, %32
      insertion_point r1
      return _
    }
    region r1 {
      %1 = local $light : light_t
      %2 = load %1 : light_t
      %3 = extract %2, 0 : f4
      %4 = unary negate %3 : f4
      %5 = stage frag_depth : f1
      %6 = extract %4, 1 : f1
      store %5, %6
    }
  }
  function @look(in $s : sampler, in $i : image_color_2d, in $uv : f2) -> f4 in fragment {
    region r0 {
      param in $s : sampler
      param in $i : image_color_2d
      param in $uv : f2
      %1 = local $s : sampler
      %2 = local $i : image_color_2d
      %3 = param $uv : f2
      %4 = builtin sample [%1, %2, %3] : f4
      return %4
    }
  }
}
)";

void Check(const Grammar& grammar, const CodeObjectStore& store, const Section& section) {
  const std::span<const uint32_t> words = store.WordsOf(section);
  std::set<uint32_t> expected;
  for (uint32_t at = 0; at < words.size(); at += words[at] >> 16) {
    for (const uint32_t id : grammar.IdsOf(words.subspan(at, words[at] >> 16))) {
      expected.insert(at + id);
    }
  }
  std::set<uint32_t> found;
  for (uint32_t i = 0; i < words.size(); ++i) {
    if (store.IsOwn(section, i)) {
      found.insert(i);
    }
  }
  for (const SymbolRelocation& import : store.ImportsOf(section)) {
    EXPECT_TRUE(found.insert(import.position).second) << "two things at one position";
  }
  EXPECT_EQ(found, expected);
}

TEST(Grammar, EveryIdOfEveryCodeObject_IsOwnOrImported) {
  const Grammar grammar;
  for (const char* environment : {"vulkan1.1", "vulkan1.3"}) {
    TextModule module(kCorpus, TargetOf(environment));
    module.Words();
    const CodeObjectStore& store = module.table().store();
    for (uint32_t i = 0; i < store.object_count(); ++i) {
      const CodeObject& object = store[CodeObjectId{i}];
      for (const Section& section : object.parts) {
        Check(grammar, store, section);
      }
      for (const Conditional& conditional : store.Conditionals(object)) {
        Check(grammar, store, conditional.words);
      }
    }
  }
}

TEST(Grammar, ListedOps_HaveTheirNames) {
  const Grammar grammar;
  const std::pair<spv::Op, const char*> ops[] = {
#define KILN_OP(name) {spv::Op::Op##name, "Op" #name},
#include "compiler/emit/spirv/ops.def"
  };
  uint32_t last = 0;
  for (const auto& [op, name] : ops) {
    const auto opcode = static_cast<uint32_t>(op);
    EXPECT_EQ(grammar.NameOf(opcode), name);
    EXPECT_LT(last, opcode) << "in order, each once";
    last = opcode;
  }
}

}  // namespace
}  // namespace kiln::spirv
