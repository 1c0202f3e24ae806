// SPDX-License-Identifier: MIT
// A first manifest for sources that nobody has described yet. Words are all that is looked at
// (source_words.h): which functions nobody calls, which words tell their stage, which source
// declares what another one needs. So it works for sources that do not compile, and proposes; the
// author decides.
#include "client/project/scaffold.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "client/project/scaffold_passes.h"
#include "client/project/source_words.h"

namespace kiln::project {
namespace {

constexpr uint64_t kMostVariants = 256;  // of a program; more axes are written as comments
constexpr std::array<std::string_view, 3> kStages{"vertex", "fragment", "compute"};

struct Entry {
  std::string function;
  size_t stage = 0;  // in kStages
};

struct ProgramPlan {
  std::string name;
  std::vector<size_t> sources;  // link order
  std::vector<Entry> entries;
};

// Words of all sources, and who declares and calls what. Cost: linear in the sources, but for the
// search of stages, which looks at all of them for each word of a function.
class Planner {
 public:
  explicit Planner(std::span<const SourceText> sources) : sources_(sources) {
    for (const SourceText& source : sources) {
      read_.push_back(ReadWords(source.text));
    }
    for (size_t i = 0; i < read_.size(); ++i) {
      for (const std::string& name : read_[i].declared) {
        owners_[name].push_back(i);
      }
      for (const FunctionWords& function : read_[i].functions) {
        called_.insert(function.words.begin(), function.words.end());
      }
    }
  }

  std::vector<ProgramPlan> Plan() {
    std::vector<ProgramPlan> plans;
    for (size_t source = 0; source < read_.size(); ++source) {
      AddPrograms(source, plans);
    }
    return plans;
  }

  const std::vector<SourceWords>& read() const { return read_; }

 private:
  // Which stage a function can only be for; nothing if no word tells. The surest sign first:
  // builtins of a stage, then containers that only one stage may use, then the name.
  std::optional<size_t> StageOf(const FunctionWords& function) const {
    for (const std::string& word : function.words) {
      for (size_t stage = 0; stage < kStages.size(); ++stage) {
        if (word.starts_with(std::string(kStages[stage]) + "_stage_")) {
          return stage;
        }
      }
      for (const SourceWords& source : read_) {
        if (source.vertex_only.contains(word)) {
          return 0;
        }
        if (source.fragment_only.contains(word)) {
          return 1;
        }
      }
    }
    for (size_t stage = 0; stage < kStages.size(); ++stage) {
      if (function.name.find(kStages[stage]) != std::string::npos) {
        return stage;
      }
    }
    return std::nullopt;
  }

  // Functions without arguments that nobody calls, by stage.
  std::array<std::vector<Entry>, 3> EntriesOf(size_t source) const {
    std::array<std::vector<Entry>, 3> entries;
    for (const FunctionWords& function : read_[source].functions) {
      const std::optional<size_t> stage = StageOf(function);
      if (function.plain && stage.has_value() && !called_.contains(function.name)) {
        entries[*stage].push_back({.function = function.name, .stage = *stage});
      }
    }
    return entries;
  }

  // The source behind all that it needs: files that alone declare such a word. Breadth first, so
  // that what is needed by many comes first in the reversed list; circles end because a source is
  // added once. A word that several sources declare tells nothing.
  std::vector<size_t> LinkOrder(size_t source) const {
    std::vector<size_t> order{source};
    for (size_t next = 0; next < order.size(); ++next) {
      const SourceWords& words = read_[order[next]];
      for (const std::string& word : words.needs) {
        const auto owner = owners_.find(word);
        if (owner == owners_.end() || owner->second.size() != 1 || words.declared.contains(word)) {
          continue;
        }
        if (std::ranges::find(order, owner->second[0]) == order.end()) {
          order.push_back(owner->second[0]);
        }
      }
    }
    std::ranges::reverse(order);
    return order;
  }

  // A compute function is a program by itself; a vertex function is one with each of its fragment
  // functions, or alone.
  void AddPrograms(size_t source, std::vector<ProgramPlan>& plans) {
    const auto entries = EntriesOf(source);
    const std::vector<size_t> order = LinkOrder(source);
    std::vector<std::vector<Entry>> sets;
    for (const Entry& compute : entries[2]) {
      sets.push_back({compute});
    }
    for (const Entry& vertex : entries[0]) {
      const std::vector<const Entry*> partners = PartnersOf(vertex, entries[0], entries[1]);
      for (const Entry* fragment : partners) {
        sets.push_back({vertex, *fragment});
      }
      if (partners.empty()) {
        sets.push_back({vertex});
      }
    }
    for (std::vector<Entry>& set : sets) {
      std::string name = std::filesystem::path(sources_[source].path).stem().string();
      if (sets.size() > 1) {
        name += "/" + set.back().function;
      }
      while (std::ranges::any_of(plans, [&](const ProgramPlan& p) { return p.name == name; })) {
        name += "_2";
      }
      plans.push_back({.name = name, .sources = order, .entries = std::move(set)});
    }
  }

  static size_t CommonPrefix(std::string_view a, std::string_view b) {
    return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  }

  // The fragment entries whose names are closer to this vertex entry than to any other. By the
  // longest common beginning of the names: `rock_vertex` goes with `rock_fragment`. Ties go to the
  // first.
  static std::vector<const Entry*> PartnersOf(const Entry& vertex,
                                              const std::vector<Entry>& vertices,
                                              const std::vector<Entry>& fragments) {
    std::vector<const Entry*> partners;
    for (const Entry& fragment : fragments) {
      const Entry& closest = *std::ranges::max_element(vertices, {}, [&](const Entry& other) {
        return CommonPrefix(other.function, fragment.function);
      });
      if (closest.function == vertex.function) {
        partners.push_back(&fragment);
      }
    }
    return partners;
  }

  const std::span<const SourceText> sources_;
  std::vector<SourceWords> read_;
  std::map<std::string, std::vector<size_t>> owners_;
  std::set<std::string> called_;
};

// One axis for each flag and enum, while there are few variants. Products grow fast, so axes beyond
// the bound are written as comments that an author may take in. Numbers have no list of values that
// could be guessed.
std::string AxesOf(const ProgramPlan& plan, const std::vector<SourceWords>& read) {
  std::string text;
  uint64_t variants = 1;
  for (const size_t source : plan.sources) {
    for (const OptionWords& option : read[source].options) {
      const uint64_t values = option.type == "flag" ? 2 : option.enum_values;
      const bool listed = option.type == "flag" || option.type == "enum";
      const bool fits = listed && values > 0 && variants * values <= kMostVariants;
      variants *= fits ? values : 1;
      text += listed ? fmt::format("{}{} = \"*\"\n", fits ? "" : "# ", option.name)
                     : fmt::format("# {} = [1, 2]   # a list of values makes it an axis\n",
                                   option.name);
    }
  }
  return text.empty() ? text
                      : "[program.axes]   # every value of each: their product is built\n" + text;
}

bool HasStage(const ProgramPlan& plan, std::string_view stage) {
  return std::ranges::any_of(plan.entries,
                             [&](const Entry& entry) { return kStages[entry.stage] == stage; });
}

// The pass of each program, by its name; empty for those without. Programs without a fragment stage
// write depth alone.
std::vector<std::string> PassesOf(const std::vector<ProgramPlan>& plans, ScaffoldPasses& passes) {
  std::vector<std::string> names;
  for (const ProgramPlan& plan : plans) {
    using Stages = ScaffoldPasses::Stages;
    names.push_back(HasStage(plan, "compute")
                        ? std::string()
                        : passes.Add(plan.sources, HasStage(plan, "fragment")
                                                       ? Stages::kVertexAndFragment
                                                       : Stages::kVertex));
  }
  return names;
}

// Values stand between quotes as they are. Names are words of sources; of paths it is expected that
// they have no quotes in them.
std::string ProgramText(const ProgramPlan& plan, const std::string& pass,
                        std::span<const SourceText> sources, const std::vector<SourceWords>& read) {
  std::vector<std::string> paths;
  for (const size_t source : plan.sources) {
    paths.push_back(fmt::format("\"{}\"", sources[source].path));
  }
  std::vector<std::string> entries;
  for (const Entry& entry : plan.entries) {
    entries.push_back(fmt::format("{} = \"{}\"", kStages[entry.stage], entry.function));
  }
  return fmt::format(
      "[[program]]\nname = \"{}\"\nsources = [{}]   # in link order\nentry_points = {{ {} "
      "}}\n{}{}{}\n",
      plan.name, fmt::join(paths, ", "), fmt::join(entries, ", "),
      plan.entries[0].stage == 2 ? "pipeline = \"compute\"\n" : "",
      pass.empty() ? "" : fmt::format("pass = \"{}\"\n", pass), AxesOf(plan, read));
}

}  // namespace

// Deterministic: sources come in the order of their paths, and programs in that of the sources.
Scaffold MakeScaffold(const std::string& project, std::span<const SourceText> sources) {
  Planner planner(sources);
  const std::vector<ProgramPlan> plans = planner.Plan();
  Scaffold scaffold;
  scaffold.manifest = fmt::format(
      "# What kiln builds here. `kiln options PROGRAM` shows a program's option space, `kiln "
      "build`\n"
      "# makes every variant of it.\n\n[project]\nmanifest = 1\nname = \"{}\"\n\n"
      "[defaults]\ntargets = [\"vk\"]\n\n[target.vk]\nform = \"spirv\"\nenv = \"vulkan1.1\"\n\n",
      project);
  ScaffoldPasses passes(sources, planner.read());
  const std::vector<std::string> names = PassesOf(plans, passes);
  scaffold.manifest += passes.Toml();
  for (size_t i = 0; i < plans.size(); ++i) {
    scaffold.manifest += ProgramText(plans[i], names[i], sources, planner.read());
  }
  if (plans.empty()) {
    scaffold.manifest +=
        "# No function looks like an entry point: void, without arguments, called by nobody.\n"
        "# [[program]]\n# name = \"rock\"\n# sources = [\"rock.rpl\"]\n"
        "# entry_points = { vertex = \"rock_vertex\", fragment = \"rock_fragment\" }\n";
  }
  std::set<size_t> used;
  for (const ProgramPlan& plan : plans) {
    used.insert(plan.sources.begin(), plan.sources.end());
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!used.contains(i)) {
      scaffold.unused.push_back(sources[i].path);
    }
  }
  if (!plans.empty() && !scaffold.unused.empty()) {
    scaffold.manifest += fmt::format(
        "# In no program, because nothing that only they declare is used: {}.\n"
        "# Files that every material is linked with are passes: [[pass]] with its sources and\n"
        "# [[material]] with its own make a program of each pair (kiln.toml(5)).\n",
        fmt::join(scaffold.unused, ", "));
  }
  scaffold.first = plans.empty() ? "" : plans[0].name;
  scaffold.programs = plans.size();
  scaffold.passes = passes.size();
  for (const SourceWords& source : planner.read()) {
    scaffold.options += source.options.size();
  }
  return scaffold;
}

}  // namespace kiln::project
