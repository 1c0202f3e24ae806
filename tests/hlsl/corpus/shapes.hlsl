// Nested records, enums, aliases, initialiser lists, parameters of every direction.
enum Side : int { left = -1, middle, right };
enum class Fill { solid, lines = 4, points };

struct Shape {
    struct Edge {
        float2 from;
        float2 to;
    };
    typedef Edge Border[4];
    enum Kind { box, disc };

    Kind kind;
    Border border;
    float2 centre;

    void move(float2 by) {
        centre += by;
        for (int i = 0; i < 4; ++i) {
            border[i].from += by;
            border[i].to += by;
        }
    }

    static Shape make_box(float2 low, float2 high) {
        Shape s;
        s.kind = box;
        s.centre = (low + high) / 2;
        Edge e = { low, high };
        s.border[0] = e;
        s.border[1].from = low;
        s.border[1].to = float2(high.x, low.y);
        s.border[2].from = high;
        s.border[2].to = high;
        s.border[3] = (Edge)0;
        return s;
    }
};

float area(Shape s);

void split(in Shape s, out Shape a, inout float2 rest, const float at = 0.5) {
    a = s;
    rest = lerp(rest, s.centre, at);
    a.move(-rest);
}

float area(Shape s) {
    float2 size = s.border[0].to - s.border[0].from;
    return s.kind == Shape::box ? size.x * size.y : 3.14159 * dot(size, size) / 4;
}

struct { float weight; int side; } weights[2] = { { 0.25, Side::left }, { 0.75, right } };

class Painter {
    float4 colour;
    Fill fill;
    float4 paint(float amount) {
        if (fill == Fill::solid) { return colour * amount; }
        return fill == Fill::lines ? colour : float4(amount.xxx, 1);
    }
};

[[vk::push_constant]] struct Push { Painter painter; uint2 size; } push;
[[vk::constant_id(3)]] const float kScale = 1.0;

float4 shapes_pixel(float4 at : SV_Position, linear sample float2 uv : TEXCOORD) : SV_Target {
    Shape s = Shape::make_box(at.xy, at.xy + 1);
    Shape half_of_it;
    float2 rest = uv;
    split(s, half_of_it, rest);
    float total = 0;
    for (uint i = 0; i < 2; i++)
        total += weights[i].weight * area(half_of_it) * kScale;
    Painter painter = push.painter;
    return painter.paint(total) + rest.xyxy;
}
