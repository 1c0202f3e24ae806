// run: stage=check
// means: What the author promised with const_assert does not hold.
// fix: Mend the constants, or the assert.
const kTile = 12;
const_assert kTile % 8 == 0;
