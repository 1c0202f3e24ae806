// SPDX-License-Identifier: MIT
// One object of each component, so that all of them are linked.
#include <cstdio>

#include "cache/pack/reader.h"
#include "client/client.h"
#include "compiler/embed/compile.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/graph.h"
#include "runtime/pipeline/pipelines.h"

int main() {
  kiln::graph::Graph graph;
  graph.BeginFrame();
  const auto pack = kiln::pack::Pack::Open("not.there", {});
  const auto compiled = kiln::embed::Compile({.sources = {{"a.rpl", "rpl 2;\n"}}});
  const auto client = kiln::client::Client::Open("unix:/not/there");
  std::printf("%s\n",
              pack.ok() ? "a pack that is not there" : kiln::ErrorText(pack.error()).c_str());
  return pack.ok() || !compiled.ok() || client == nullptr ? 1 : 0;
}
