// Objects against planes; draws of those that are seen.
// entries: compute=cull_main
struct Bounds { centre : vec3f, radius : f32, }
struct Draw { vertices : u32, instances : u32, first_vertex : u32, first_instance : u32, }
struct Planes { values : array<vec4f, 6>, count : u32, }
@group(0) @binding(0) var<uniform> planes : Planes;
@group(0) @binding(1) var<storage> bounds : array<Bounds>;
@group(0) @binding(2) var<storage, read_write> draws : array<Draw>;
@group(0) @binding(3) var<storage, read_write> drawn : atomic<u32>;
fn is_seen(one : Bounds) -> bool {
  for (var i = 0; i < 6; i++) {
    let plane = planes.values[i];
    if dot(plane.xyz, one.centre) + plane.w < -one.radius { return false; }
  }
  return true;
}
@compute @workgroup_size(64) fn cull_main(@builtin(global_invocation_id) id : vec3u) {
  let i = id.x;
  if i < planes.count && is_seen(bounds[i]) {
    let slot = atomicAdd(&drawn, 1);
    draws[slot] = Draw(36, 1, 0, i);
  }
}
