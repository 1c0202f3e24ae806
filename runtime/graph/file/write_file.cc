// SPDX-License-Identifier: MIT
// Declarations of a live graph -> the file that ParseFrame reads.
#include "runtime/graph/file/write_file.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/graph/formats.h"
#include "runtime/graph/print/plan_text.h"

namespace kiln::graph {
namespace {

using Json = nlohmann::json;

// Linear searches in tables: files are written for a report, not in frames.
struct Writer {
  const Graph& graph;
  const Declarations& rows;
  std::vector<std::string> names = {};  // by version, each once

  void NameVersions();
  Json Resource(uint32_t index) const;
  Json AccessJson(uint32_t index) const;
  Json SemaphoreJson(const SemaphoreRow& use) const;
  Json Pass(uint32_t index) const;
};

// Versions may share a name in a graph and cannot in a file. The first one keeps it, and the others
// get their number.
void Writer::NameVersions() {
  std::set<std::string> taken;
  for (uint32_t i = 0; i < rows.versions.size(); ++i) {
    std::string name(rows.VersionName(i));
    if (name.empty() || !taken.insert(name).second) {
      // The number of a version is its own, so such a name is mostly free.
      name = fmt::format("{}#{}", rows.VersionName(i), i);
      taken.insert(name);
    }
    names.push_back(std::move(name));
  }
}

// Defaults are left out where most resources have them, so that the file stays readable.
Json Writer::Resource(uint32_t index) const {
  const ChainRow& chain = rows.chains[index];
  // A resource is called by its first version, as ParseFrame expects.
  Json out = {{"name", names[chain.first_version]}};
  if (chain.texture()) {
    out["kind"] = "texture";
    out["format"] = FormatText(chain.format);
    out["width"] = chain.extent.width;
    out["height"] = chain.extent.height;
    if (chain.extent.depth > 1) {
      out["depth"] = chain.extent.depth;
    }
    out["mips"] = chain.mips;
    if (chain.layers > 1) {
      out["layers"] = chain.layers;
    }
    if (chain.samples > 1) {
      out["samples"] = chain.samples;
    }
  } else {
    out["kind"] = "buffer";
    out["bytes"] = chain.size;
    if (chain.memory != MemoryKind::kDevice) {
      out["heap"] = chain.memory == MemoryKind::kUpload ? "upload" : "readback";
    }
  }
  if (chain.object == Object::kImported) {
    out["imported"] = true;
    out["initial_layout"] = LayoutName(chain.state_layout);
    out["initial_stage"] = StagesText(chain.state_stages);
    out["initial_access"] = AccessesText(chain.state_accesses);
  }
  if (chain.object == Object::kHistory && chain.previous != kNone) {
    // The version of this frame that will be kept under the same name.
    const std::string_view kept = graph.previous().VersionName(chain.previous);
    for (uint32_t i = 0; i < rows.versions.size(); ++i) {
      // Several versions may have the name; the last that is kept is the one which the next frame
      // sees.
      if (rows.versions[i].temporal != 0 && rows.VersionName(i) == kept) {
        out["from_previous_frame"] = names[i];
      }
    }
  }
  // A history without a past begins with its reset, so in the file it is an import that was just
  // cleared.
  if (chain.object == Object::kHistory && !out.contains("from_previous_frame")) {
    out["imported"] = true;
    out["initial_layout"] = "TRANSFER_DST_OPTIMAL";
    out["initial_stage"] = "CLEAR";
    out["initial_access"] = "TRANSFER_WRITE";
  }
  return out;
}

Json Writer::AccessJson(uint32_t index) const {
  const AccessRow& access = rows.accesses[index];
  Json out = {{"stage", StagesText(access.stages)}, {"access", AccessesText(access.accesses)}};
  if (rows.ChainOf(access).texture()) {
    out["layout"] = LayoutName(access.layout);
  }
  if (access.op == Op::kWrite) {
    // A write names two versions; reads and creates name one.
    out["old"] = names[access.version];
    out["new"] = names[access.result];
  } else {
    out["resource"] = names[access.version];
  }
  // What is kept belongs to the version that this access makes.
  if (access.result != kNone && rows.versions[access.result].temporal != 0) {
    out["temporal"] = true;
  }
  if (access.discard != 0) {
    out["discard"] = true;
  }
  if (access.op == Op::kCreate && access.contents == ContentKind::kClear) {
    out["contents"] = "clear";
  }
  // Ranges are written only where they are not the whole.
  if (access.whole == 0) {
    out["mip"] = access.mip;
    out["mips"] = access.mips;
    out["layer"] = access.layer;
    out["layers"] = access.layers;
    const bool depth = (access.aspects & VK_IMAGE_ASPECT_DEPTH_BIT) != 0;
    const bool stencil = (access.aspects & VK_IMAGE_ASPECT_STENCIL_BIT) != 0;
    if (depth || stencil) {
      out["aspect"] = depth && stencil ? "DEPTH|STENCIL" : depth ? "DEPTH" : "STENCIL";
    }
  }
  return out;
}

Json Writer::SemaphoreJson(const SemaphoreRow& use) const {
  const std::string_view name = rows.SemaphoreName(use.semaphore);
  Json out = {
      {"semaphore", name.empty() ? fmt::format("semaphore {}", use.semaphore) : std::string(name)},
      {"stage", StagesText(use.stages)}};
  if (use.value != 0) {
    out["value"] = use.value;
  }
  return out;
}

Json Writer::Pass(uint32_t index) const {
  const PassRow& pass = rows.passes[index];
  Json out = {{"name", rows.PassName(index)},
              {"type", pass.kind == PassKind::kTransition ? std::string_view("transition only")
                                                          : PassKindName(pass.kind)},
              {"reads", Json::array()},
              {"creates", Json::array()},
              {"writes", Json::array()}};
  // Accesses are stored in the order of declaration and not by pass.
  for (uint32_t i = 0; i < rows.accesses.size(); ++i) {
    if (rows.accesses[i].pass == index) {
      const Op op = rows.accesses[i].op;
      const char* list = op == Op::kRead ? "reads" : op == Op::kCreate ? "creates" : "writes";
      out[list].push_back(AccessJson(i));
    }
  }
  for (const SemaphoreRow& use : rows.semaphore_uses) {
    // Semaphores are stored in one list for the frame.
    if (use.pass == index) {
      out[use.wait ? "waits" : "signals"].push_back(SemaphoreJson(use));
    }
  }
  // An export is what somebody outside sees, and the file has no word for it but a side effect.
  if (pass.side_effect != 0 || pass.origin == Origin::kExport) {
    out["side_effect"] = true;
  }
  return out;
}

}  // namespace

// The file describes one frame without its history: what is carried over is written as imports or
// by name.
std::string WriteGraphFile(const Graph& graph) {
  Writer writer{.graph = graph, .rows = graph.rows()};
  writer.NameVersions();
  Json resources = Json::array();
  for (uint32_t i = 0; i < writer.rows.chains.size(); ++i) {
    resources.push_back(writer.Resource(i));
  }
  Json passes = Json::array();
  for (uint32_t i = 0; i < writer.rows.passes.size(); ++i) {
    passes.push_back(writer.Pass(i));
  }
  Json outputs = Json::array();
  for (uint32_t i = 0; i < writer.rows.versions.size(); ++i) {
    if (writer.rows.versions[i].output != 0) {
      outputs.push_back(writer.names[i]);
    }
  }
  const Json out = {{"frames", 1},
                    {"resources", std::move(resources)},
                    {"passes", std::move(passes)},
                    {"outputs", std::move(outputs)}};
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::graph
