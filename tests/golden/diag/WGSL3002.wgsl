// run: stage=check
// means: A number that is known does not fit in the type that it has to be of.
// fix: Write a smaller number, or another type.
const kByte : u32 = -1;
