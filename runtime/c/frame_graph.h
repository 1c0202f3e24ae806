// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "runtime/c/device.h"
#include "runtime/graph/device_model.h"
#include "runtime/graph/execute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/planner.h"

// Frames of a device. Members that hold what they use stand in front of it.
struct kiln_graph : kiln::c::Object {
  kiln_graph(const kiln_device& of, kiln::graph::Executor made)
      : device(of.device), model(*device), planner(model), executor(std::move(made)) {
    context = of.context;
  }

  std::shared_ptr<kiln::runtime::Device> device;
  kiln::graph::Graph graph;
  kiln::graph::DeviceModel model;
  kiln::graph::Planner planner;
  kiln::graph::Executor executor;
  kiln::graph::FrameTicket last;            // 0: none yet
  const kiln::graph::Plan* plan = nullptr;  // of the last frame; null once another one is declared
  std::string plan_text;
};

// What a callback records into; lives during its call.
struct kiln_frame : kiln::c::Object {
  const kiln::graph::Resources* resources = nullptr;
  const kiln::graph::CommandBuffer* commands = nullptr;
};
