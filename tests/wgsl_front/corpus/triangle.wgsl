// A triangle whose corners come from a table.
// entries: vertex=vertex_main fragment=fragment_main
struct Varyings {
  @builtin(position) place : vec4f,
  @location(0) colour : vec3f,
}

const kCorners = array(vec2f(0.0, 0.6), vec2f(-0.6, -0.4), vec2f(0.6, -0.4));
const kColours = array<vec3f, 3>(vec3f(1, 0, 0), vec3f(0, 1, 0), vec3f(0, 0, 1));

@vertex
fn vertex_main(@builtin(vertex_index) index : u32) -> Varyings {
  var out : Varyings;
  out.place = vec4f(kCorners[index], 0.0, 1.0);
  out.colour = kColours[index];
  return out;
}

@fragment
fn fragment_main(in : Varyings) -> @location(0) vec4f {
  return vec4f(in.colour, 1.0);
}
