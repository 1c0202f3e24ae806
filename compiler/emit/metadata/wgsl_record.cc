// SPDX-License-Identifier: MIT
#include "compiler/emit/metadata/wgsl_record.h"

#include <utility>

#include "compiler/emit/metadata/fields.h"
#include "compiler/emit/metadata/wire.h"
#include "compiler/ir/enum_names.h"

namespace kiln::metadata {

// The result is carried as bytes within the metadata, whose writer knows nothing of WGSL.
Bytes EncodeWgsl(const WgslRecord& record) {
  WireWriter out;
  for (const WgslRecord::Entry& entry : record.entries) {
    out.Message(kWgslEntryPoints, [&] {
      out.Text(kEntryPointStage, ir::NameOf(entry.stage));
      out.Text(kEntryPointName, entry.name);
    });
  }
  for (const WgslRecord::Name& name : record.names) {
    out.Message(kWgslNames, [&] {
      out.Text(kWgslNameName, name.name);
      out.Text(kWgslNameSource, name.source);
    });
  }
  for (const WgslRecord::Binding& binding : record.bindings) {
    out.Message(kWgslBindings, [&] {
      out.Text(kWgslBindingSource, binding.source);
      out.Number(kWgslBindingElement, binding.element);
      out.Number(kWgslBindingGroup, binding.group);
      out.Number(kWgslBindingBinding, binding.binding);
      out.Text(kWgslBindingKind, binding.kind);
      out.Text(kWgslBindingType, binding.type);
    });
  }
  for (const std::string_view feature : record.features) {
    out.TextItem(kWgslFeatures, feature);
  }
  out.Flag(kWgslDerivativeUniformityOff, record.derivative_uniformity_off);
  return std::move(out).bytes();
}

}  // namespace kiln::metadata
