// SPDX-License-Identifier: MIT
// Frames as JSON: the description that people, tests and `kiln graph` hand to the planner, and the
// same written from a live graph. The format is in docs/RENDER_GRAPH.md. Reading a file takes two
// steps, so that a description can be changed before it is declared:
//   KILN_TRY(FrameDescription description, ParseFrame(text));
//   FrameFile(std::move(description)).Declare(graph);
#pragma once

#include "runtime/graph/file/declare_file.h"
#include "runtime/graph/file/frame_description.h"
#include "runtime/graph/file/parse_file.h"
#include "runtime/graph/file/write_file.h"
