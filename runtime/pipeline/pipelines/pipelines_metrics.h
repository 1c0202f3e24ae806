// SPDX-License-Identifier: MIT
// Pipelines: what they tell others: the list of what was drawn with, figures for Prometheus.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/pipeline/pipelines/pipelines_state.h"

namespace kiln::runtime {

std::string WriteWarmList(const PipelinesState& state);
std::string PrintMetrics(PipelinesState& state, const PipelineStats& stats,
                         std::span<const PipelineTimes> all_times,
                         const std::vector<Hitch>& hitches);

}  // namespace kiln::runtime
