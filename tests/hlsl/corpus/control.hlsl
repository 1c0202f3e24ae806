// Every statement, in the style with braces on lines of their own.
struct Result
{
    int steps;
    float value;
};

Result search(float wanted, int limit)
{
    Result r = { 0, 0 };
    float low = 0, high = 1;
    while (r.steps < limit)
    {
        float middle = (low + high) * 0.5;
        if (middle * middle < wanted)
        {
            low = middle;
        }
        else if (middle * middle > wanted)
        {
            high = middle;
        }
        else
        {
            break;
        }
        r.steps++;
    }
    r.value = low;
    return r;
}

int classify(int x)
{
    int kind = 0;
    switch (x & 7)
    {
    case 0:
    case 1:
        kind = 1;
        break;
    case 2:
    {
        kind = 2;
        break;
    }
    case 3 + 1:
        return 3;
    default:
        kind = -1;
        break;
    }
    return kind;
}

float accumulate(float start)
{
    float total = start;
    int i = 0;
    do
    {
        total += i;
        i += 2;
        if (i == 6)
        {
            continue;
        }
        total *= 0.5;
    } while (i < 16);

    [loop]
    for (int a = 0, b = 10; a < b; a++, b--)
    {
        [unroll(2)]
        for (int c = 0; c < 2; c++)
        {
            total += a * b + c;
        }
    }

    for (;;)
    {
        if (total > 100)
        {
            break;
        }
        total += 10;
    }
    return total;
}

float nothing(float x)
{
    ;
    {
        float x = 1;
        {
            float y = x;
            x = y + 1;
        }
    }
    return x;
}

float4 control_pixel(float4 at : SV_Position) : SV_Target
{
    Result r = search(at.x, 16);
    [branch]
    if (classify(r.steps) < 0)
    {
        discard;
    }
    [flatten]
    if (at.y > 0)
        return float4(r.value, accumulate(at.y), 0, 1);
    else
        return float4(nothing(at.x), 0, 0, 1);
}
