// run: stage=check
// means: A register is one of b, t, s, u or c and a number, and may have a space.
// fix: Write it so.
Texture2D t : register (q0);
