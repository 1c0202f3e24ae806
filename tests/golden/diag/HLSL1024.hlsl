// run: stage=check
// means: The source says by '#error' that it cannot be compiled like this.
// fix: Do what its text asks for.
#error define QUALITY
