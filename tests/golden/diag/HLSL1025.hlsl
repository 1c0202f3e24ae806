// run: stage=preprocess
// means: The source says something with #warning.
// fix: Do what the text asks for, or remove the line.
#warning the fog is not calibrated yet
