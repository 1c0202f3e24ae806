// run: stage=check
// means: The value of such a variable comes from outside, or it begins without one.
// fix: Remove the initialiser, or make the variable static.
float exposure = 1.0;
