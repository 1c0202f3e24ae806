// SPDX-License-Identifier: MIT
// The steps of planning one frame, in their order. Each step is a function of its own (the headers
// below) that says in its signature what it reads and writes; its memory is kept from frame to
// frame.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/base/bytes.h"
#include "runtime/graph/memory/epochs.h"
#include "runtime/graph/memory/ledger.h"
#include "runtime/graph/memory/place.h"
#include "runtime/graph/memory_model.h"
#include "runtime/graph/plan/accesses.h"
#include "runtime/graph/plan/barriers.h"
#include "runtime/graph/plan/batches.h"
#include "runtime/graph/plan/chain_uses.h"
#include "runtime/graph/plan/cull.h"
#include "runtime/graph/plan/edges.h"
#include "runtime/graph/plan/schedule.h"
#include "runtime/graph/plan/semaphores.h"
#include "runtime/graph/plan/validate.h"

namespace kiln::graph {

struct PlannerTimes;

struct PlanInputs {
  const Declarations& rows;
  const SemaphoreLinks& semaphores;
  const PlanOptions& options;
  const Carried& carried;
  bool follows;  // what is carried was left by the frame before
  MemoryModel& model;
};

// Results and scratch of the steps, kept for their memory and for the placements that are known.
struct PlanMemory {
  AccessFacts facts;
  ValidateScratch validate;
  KeepReasons reasons;
  EdgeGraph edges;
  ScheduleScratch schedule;
  ChainUses uses;
  std::vector<PackItem> packed;
  std::vector<ExternalWait> waits;
  std::vector<int32_t> max_lo;  // of Dependencies, as the next two
  std::vector<uint32_t> entry_begin;
  std::vector<CellState> finals;
  std::vector<uint8_t> chosen;  // by position: a barrier point
  Epochs epochs;
  PlaceMemory place;
  std::vector<PackedClass> tops;
  LedgerScratch ledger;
  EmitScratch emit;
  Bytes digest_bytes;
};

// Writes all of the plan but its options and its structure; adds to the times of the steps. False:
// the frame breaks a rule; the errors say which.
bool MakePlan(const PlanInputs& in, PlanMemory& memory, PlannerTimes& times, Plan& plan,
              std::vector<GraphError>& errors);

}  // namespace kiln::graph
