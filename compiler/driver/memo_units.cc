// SPDX-License-Identifier: MIT
#include "compiler/driver/memo_units.h"

#include <utility>

#include "compiler/resolve/close_decl.h"
#include "compiler/resolve/close_segment.h"

namespace kiln::driver {
namespace {

// A message may show values that no answer tells apart, so what has messages is remembered by the
// values of all options that were read.
template <class T, class Close>
const Diagnosed<T>& Learn(resolve::AnswerTree<Diagnosed<T>>& tree, resolve::Answers& answers,
                          Close close) {
  resolve::Trail trail;
  answers.BeginReads();
  answers.BeginTrail(&trail);
  Diagnosed<T> closed = close();
  answers.EndTrail();
  const Bitset reads = answers.EndReads();
  if (!closed.diagnostics.empty()) {
    answers.BeginTrail(&trail);
    reads.ForEach(
        [&](size_t option) { answers.Option(ir::OptionId{static_cast<uint32_t>(option)}); });
    answers.EndTrail();
  }
  return tree.Learn(trail, std::move(closed));
}

size_t SegmentCount(const resolve::Program& program) {
  size_t count = 0;
  for (const ir::ModuleView& module : program.modules()) {
    count += module.segments.size();
  }
  return count;
}

}  // namespace

MemoUnits::MemoUnits(const resolve::Program& program)
    : program_(program), decls_(program.decl_count()), segments_(SegmentCount(program)) {}

const Diagnosed<ir::ClosedDecl>& MemoUnits::Decl(ir::DeclId decl, resolve::Answers& answers) {
  resolve::AnswerTree<Diagnosed<ir::ClosedDecl>>& tree = decls_[decl.value];
  if (const Diagnosed<ir::ClosedDecl>* known = tree.Find(answers)) {
    return *known;
  }
  ++decl_versions_;
  return Learn(tree, answers, [&] { return resolve::CloseDecl(program_, decl, answers); });
}

const Diagnosed<ir::ClosedSegment>& MemoUnits::Segment(ir::SegmentId segment,
                                                       resolve::Answers& answers) {
  resolve::AnswerTree<Diagnosed<ir::ClosedSegment>>& tree = segments_[segment.value];
  if (const Diagnosed<ir::ClosedSegment>* known = tree.Find(answers)) {
    return *known;
  }
  ++segment_versions_;
  return Learn(tree, answers, [&] { return resolve::CloseSegment(program_, segment, answers); });
}

}  // namespace kiln::driver
