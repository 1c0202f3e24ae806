// Edges smoothed by luma, with gathers.
// run: fragment=ps_main
cbuffer Fxaa : register(b0) {
    float2 RcpFrame;
    float Subpix;
    float EdgeThreshold;
    float EdgeThresholdMin;
};
Texture2D<float4> tex : register(t0);
SamplerState smp : register(s0);
float Luma(float4 c) { return c.g * (0.587 / 0.299) + c.r; }
float4 ps_main(float4 position : SV_Position, noperspective float2 pos : TEXCOORD0) : SV_Target {
    float4 rgbyM = tex.SampleLevel(smp, pos, 0);
    float4 a = tex.GatherGreen(smp, pos);
    float4 b = tex.GatherGreen(smp, pos, int2(-1, -1));
    float lumaM = rgbyM.g;
    float lumaE = a.z, lumaS = a.x, lumaSE = a.y, lumaNW = b.w, lumaN = b.z, lumaW = b.x;
    float maxSM = max(lumaS, lumaM), minSM = min(lumaS, lumaM);
    float rangeMax = max(max(max(lumaN, lumaW), max(lumaE, maxSM)), 0);
    float rangeMin = min(min(lumaN, lumaW), min(lumaE, minSM));
    float range = rangeMax - rangeMin;
    [flatten]
    if (range < max(EdgeThresholdMin, rangeMax * EdgeThreshold))
        return rgbyM;
    float lumaNE = tex.SampleLevel(smp, pos, 0, int2(1, -1)).g;
    float lumaSW = tex.SampleLevel(smp, pos, 0, int2(-1, 1)).g;
    float edgeHorz = abs(-2 * lumaW + lumaNW + lumaSW) + 2 * abs(-2 * lumaM + lumaN + lumaS) + abs(-2 * lumaE + lumaNE + lumaSE);
    float edgeVert = abs(-2 * lumaS + lumaSW + lumaSE) + 2 * abs(-2 * lumaM + lumaW + lumaE) + abs(-2 * lumaN + lumaNW + lumaNE);
    bool horzSpan = edgeHorz >= edgeVert;
    float lengthSign = horzSpan ? RcpFrame.y : RcpFrame.x;
    float luma1 = horzSpan ? lumaN : lumaW, luma2 = horzSpan ? lumaS : lumaE;
    float gradient1 = abs(luma1 - lumaM), gradient2 = abs(luma2 - lumaM);
    if (gradient1 >= gradient2)
        lengthSign = -lengthSign;
    float average = 0.5 * (lumaM + (gradient1 >= gradient2 ? luma1 : luma2));
    float2 step = horzSpan ? float2(RcpFrame.x, 0) : float2(0, RcpFrame.y);
    float2 p = pos + (horzSpan ? float2(0, lengthSign * 0.5) : float2(lengthSign * 0.5, 0));
    float2 left = p - step, right = p + step;
    float endL = 0, endR = 0;
    bool doneL = false, doneR = false;
    const float quality[6] = { 1.0, 1.5, 2.0, 2.0, 4.0, 8.0 };
    [loop]
    for (int i = 0; i < 6 && !(doneL && doneR); ++i) {
        if (!doneL) endL = tex.SampleLevel(smp, left, 0).g - average;
        if (!doneR) endR = tex.SampleLevel(smp, right, 0).g - average;
        doneL = doneL || abs(endL) >= max(gradient1, gradient2) * 0.25;
        doneR = doneR || abs(endR) >= max(gradient1, gradient2) * 0.25;
        if (!doneL) left -= step * quality[i];
        if (!doneR) right += step * quality[i];
    }
    float dl = horzSpan ? pos.x - left.x : pos.y - left.y;
    float dr = horzSpan ? right.x - pos.x : right.y - pos.y;
    float offset = 0.5 - min(dl, dr) / (dl + dr);
    float subpixel = saturate(abs((2 * (lumaN + lumaS + lumaW + lumaE) + lumaNW + lumaNE + lumaSW + lumaSE) / 12 - lumaM) / range);
    offset = max(offset, subpixel * subpixel * Subpix);
    return tex.SampleLevel(smp, pos + (horzSpan ? float2(0, offset * lengthSign) : float2(offset * lengthSign, 0)), 0);
}
