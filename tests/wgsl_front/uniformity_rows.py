# SPDX-License-Identifier: MIT
"""Programs with what is to be said of their uniformity: nothing, or a code and what control depends on. A code has
one severity, so what a filter makes a warning is WGSL8401.
Written from the language's text; validators_test holds them against Dawn."""

COMPUTE = """@group(0) @binding(0) var<storage, read_write> rw : array<u32>;
@group(0) @binding(1) var<storage, read> ro : array<u32>;
@group(0) @binding(2) var<uniform> u : vec4u;
@group(0) @binding(3) var t : texture_2d<f32>;
@group(0) @binding(4) var<storage, read_write> at : atomic<u32>;
var<private> p : u32;
var<workgroup> w : array<u32, 4>;
override o : u32 = 1;
{functions}
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i : u32, @builtin(workgroup_id) g : vec3u,
                                    @builtin(num_workgroups) n : vec3u) {{
  {body}
}}
"""
FRAGMENT = """@group(0) @binding(0) var t : texture_2d<f32>;
@group(0) @binding(1) var s : sampler;
@group(0) @binding(2) var<uniform> u : vec4f;
@group(0) @binding(3) var d : texture_depth_2d;
@group(0) @binding(4) var c : sampler_comparison;
{functions}
@fragment fn main(@builtin(position) f : vec4f, @location(0) x : vec2f) -> @location(0) vec4f {{
  {body}
}}
"""
BARRIER = "workgroupBarrier();"
SAMPLE = "textureSample(t, s, vec2f(0.5))"

# Body, then nothing or what control depends on; functions.
BARRIERS = [
    (BARRIER, None),
    ("if (i > 1u) { } " + BARRIER, None),
    ("if (i > 1u) { workgroupBarrier(); }", "i"),
    ("if (i > 1u) { return; } " + BARRIER, "i"),
    ("if (i > 1u) { rw[0] = 1u; } else { rw[1] = 1u; } " + BARRIER, None),
    ("if (g.x > 1u) { workgroupBarrier(); }", None),
    ("if (n.x > 1u) { return; } " + BARRIER, None),
    ("if (u.x > 1u) { workgroupBarrier(); }", None),
    ("if (ro[0] > 1u) { workgroupBarrier(); }", None),
    ("if (ro[i] > 1u) { workgroupBarrier(); }", "i"),
    ("if (rw[0] > 1u) { workgroupBarrier(); }", "rw[0]"),
    ("if (p > 1u) { workgroupBarrier(); }", "p"),
    ("if (w[0] > 1u) { workgroupBarrier(); }", "w[0]"),
    ("if (workgroupUniformLoad(&w[0]) > 1u) { workgroupBarrier(); }", None),
    ("_ = workgroupUniformLoad(&w[i]);", "i"),
    ("if (atomicLoad(&at) > 1u) { workgroupBarrier(); }", "atomicLoad(&at)"),
    ("if (o > 1u) { workgroupBarrier(); }", None),
    ("if (textureLoad(t, vec2u(0), 0).x > 1.0) { workgroupBarrier(); }", None),
    ("if (textureLoad(t, vec2u(i), 0).x > 1.0) { workgroupBarrier(); }", "i"),
    ("if (arrayLength(&rw) > 1u) { workgroupBarrier(); }", None),
    ("let a = i; if (a > 1u) { workgroupBarrier(); }", "i"),
    ("var a = i; a = 1u; if (a > 1u) { workgroupBarrier(); }", None),
    ("var a = 1u; if (i > 1u) { a = 2u; } if (a > 1u) { workgroupBarrier(); }", "i"),
    ("var a = i; if (u.x > 1u) { a = 2u; } else { a = 3u; } if (a > 1u) { workgroupBarrier(); }", None),
    ("var a = i; if (u.x > 1u) { a = 2u; } if (a > 1u) { workgroupBarrier(); }", "i"),
    ("var a = vec2u(1u); a.x = i; if (a.y > 1u) { workgroupBarrier(); }", "i"),
    ("var a = array<u32, 4>(); a[i] = 1u; if (a[0] > 1u) { workgroupBarrier(); }", "i"),
    ("for (var k = 0u; k < 4u; k++) { workgroupBarrier(); }", None),
    ("for (var k = 0u; k < i; k++) { workgroupBarrier(); }", "i"),
    ("for (var k = 0u; k < i; k++) { } " + BARRIER, None),
    ("for (var k = 0u; k < 4u; k++) { if (i > k) { break; } workgroupBarrier(); }", "i"),
    ("for (var k = 0u; k < 4u; k++) { workgroupBarrier(); if (i > k) { break; } }", "i"),
    ("for (var k = 0u; k < 4u; k++) { if (i > k) { break; } } " + BARRIER, None),
    ("for (var k = 0u; k < 4u; k++) { if (i > k) { continue; } rw[k] = 1u; } " + BARRIER, None),
    ("for (var k = 0u; k < 4u; k++) { if (i > k) { return; } } " + BARRIER, "i"),
    ("var k = 0u; loop { if (k > 3u) { break; } continuing { workgroupBarrier(); k += 1u; } }", None),
    ("var k = 0u; loop { if (k > i) { break; } continuing { k += 1u; workgroupBarrier(); } }", "i"),
    ("var k = 0u; loop { workgroupBarrier(); continuing { k += 1u; break if k > u.x; } }", None),
    ("var k = 0u; loop { workgroupBarrier(); continuing { k += 1u; break if k > i; } }", "i"),
    ("var a = 0u; for (var k = 0u; k < 4u; k++) { a += i; } if (a > 1u) { workgroupBarrier(); }", "i"),
    ("var a = 0u; for (var k = 0u; k < 4u; k++) { a += k; } if (a > 1u) { workgroupBarrier(); }", None),
    ("var a = 0u; for (var k = 0u; k < i; k++) { a += 1u; } if (a > 1u) { workgroupBarrier(); }", "i"),
    ("while (u.x > 1u) { workgroupBarrier(); }", None),
    ("switch (u.x) { case 1u: { workgroupBarrier(); } default: { } }", None),
    ("switch (i) { case 1u: { workgroupBarrier(); } default: { } }", "i"),
    ("switch (i) { case 1u: { rw[0] = 1u; } default: { } } " + BARRIER, None),
    ("switch (i) { case 1u: { return; } default: { } } " + BARRIER, "i"),
    ("switch (i) { case 1u: { break; } default: { } } " + BARRIER, None),
    ("var a = 0u; switch (u.x) { case 1u: { a = i; } default: { a = 2u; } } if (a > 1u) { workgroupBarrier(); }", "i"),
    ("if (u.x > 1u && i > 1u) { workgroupBarrier(); }", "i"),
    ("if (u.x > 1u || u.y > 1u) { workgroupBarrier(); }", None),
    ("let q = &w[0]; if (*q > 1u) { workgroupBarrier(); }", "*q"),
    ("var a = 1u; let q = &a; *q = i; if (a > 1u) { workgroupBarrier(); }", "i"),
    ("var a = i; let q = &a; *q = 2u; if (a > 1u) { workgroupBarrier(); }", None),
    ("storageBarrier();", None),
    ("if (i > 1u) { storageBarrier(); }", "i"),
    ("if (i > 1u) { textureBarrier(); }", "i"),
]
CALLS = [
    ("wait();", None, "fn wait() { workgroupBarrier(); }"),
    ("if (i > 1u) { wait(); }", "i", "fn wait() { workgroupBarrier(); }"),
    ("deep(); if (i > 1u) { deep(); }", "i", "fn wait() { workgroupBarrier(); } fn deep() { wait(); }"),
    ("wait(i);", "i", "fn wait(a : u32) { if (a > 1u) { workgroupBarrier(); } }"),
    ("wait(u.x);", None, "fn wait(a : u32) { if (a > 1u) { workgroupBarrier(); } }"),
    ("wait(i, u.x);", None, "fn wait(a : u32, b : u32) { rw[a] = 1u; if (b > 1u) { workgroupBarrier(); } }"),
    ("if (one(i) > 1u) { workgroupBarrier(); }", "i", "fn one(a : u32) -> u32 { return a; }"),
    ("if (one(u.x) > 1u) { workgroupBarrier(); }", None, "fn one(a : u32) -> u32 { return a; }"),
    ("if (one(i) > 1u) { workgroupBarrier(); }", None, "fn one(a : u32) -> u32 { return 2u; }"),
    ("if (one(i) > 1u) { workgroupBarrier(); }", "i",
     "fn one(a : u32) -> u32 { if (a > 1u) { return 1u; } return 2u; }"),
    ("if (one() > 1u) { workgroupBarrier(); }", "one()", "fn one() -> u32 { return rw[0]; }"),
    ("early(i); workgroupBarrier();", None, "fn early(a : u32) { if (a > 1u) { return; } rw[0] = 1u; }"),
]
DERIVATIVES = [
    ("return " + SAMPLE + ";", None, ""),
    ("if (x.x > 0.5) { return " + SAMPLE + "; } return u;", "x", ""),
    ("if (u.x > 0.5) { return " + SAMPLE + "; } return u;", None, ""),
    ("if (f.x > 0.5) { return vec4f(dpdx(x), 0.0, 0.0); } return u;", "f", ""),
    ("if (x.x > 0.5) { discard; } return " + SAMPLE + ";", None, ""),
    ("if (x.x > 0.5) { return u; } return " + SAMPLE + ";", "x", ""),
    ("if (x.x > 0.5) { return textureSampleLevel(t, s, x, 0.0); } return u;", None, ""),
    ("if (x.x > 0.5) { return textureSampleGrad(t, s, x, x, x); } return u;", None, ""),
    ("if (x.x > 0.5) { return textureSampleBias(t, s, x, 1.0); } return u;", "x", ""),
    ("if (x.x > 0.5) { return vec4f(textureSampleCompare(d, c, x, 0.5)); } return u;", "x", ""),
    ("if (x.x > 0.5) { return vec4f(textureSampleCompareLevel(d, c, x, 0.5)); } return u;", None, ""),
    ("if (x.x > 0.5) { return vec4f(fwidth(x), 0.0, 0.0); } return u;", "x", ""),
    ("if (" + SAMPLE + ".x > 0.5) { return " + SAMPLE + "; } return u;", SAMPLE, ""),
    ("if (shade(x.x) > 0.5) { return u; } return u + 1.0;", "x",
     "fn shade(a : f32) -> f32 { if (a > 0.5) { return textureSample(t, s, vec2f(a)).x; } return 0.0; }"),
    ("for (var k = 0; k < 4; k++) { if (x.x > f32(k)) { break; } _ = textureSample(t, s, x); } return u;", "x", ""),
]
# Of one body that is not uniform: directives and attributes, and the severity that is left.
WRONG = "if (x.x > 0.5) {{ {inner} }} return u;"
FILTERS = [
    ("", "", "", "error"),
    ("diagnostic(off, derivative_uniformity);", "", "", None),
    ("diagnostic(warning, derivative_uniformity);", "", "", "warning"),
    ("diagnostic(off, other_rule);", "", "", "error"),
    ("diagnostic(off, derivative_uniformity);", "@diagnostic(error, derivative_uniformity)", "", "error"),
    ("", "@diagnostic(off, derivative_uniformity)", "", None),
    ("", "", "@diagnostic(off, derivative_uniformity)", None),
    ("", "@diagnostic(off, derivative_uniformity)", "@diagnostic(warning, derivative_uniformity)", "warning"),
]


def programs():
    """Name, source, code or None, what control depends on, severity."""
    for number, (body, text) in enumerate(BARRIERS):
        yield (f"barrier/{number}", COMPUTE.format(functions="", body=body), text and "WGSL4001", text, "error")
    for number, (body, text, functions) in enumerate(CALLS):
        yield (f"call/{number}", COMPUTE.format(functions=functions, body=body), text and "WGSL4001", text, "error")
    for number, (body, text, functions) in enumerate(DERIVATIVES):
        yield (f"derivative/{number}", FRAGMENT.format(functions=functions, body=body), text and "WGSL4002", text,
               "error")
    for number, (directive, function, block, severity) in enumerate(FILTERS):
        body = f"if (x.x > 0.5) {block} {{ return {SAMPLE}; }} return u;"
        source = FRAGMENT.format(functions="", body=body).replace("@fragment fn main", f"{function} @fragment fn main")
        code = {None: None, "error": "WGSL4002", "warning": "WGSL8401"}[severity]
        yield (f"filter/{number}", f"{directive}\n{source}", code, "x", severity or "error")


def information():
    """Not uniform, and only an information: kiln says nothing."""
    return "diagnostic(info, derivative_uniformity);\n" + FRAGMENT.format(
        functions="", body=f"if (x.x > 0.5) {{ return {SAMPLE}; }} return u;")
