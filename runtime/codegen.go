package runtime

// Codegen1 is referred to by generated clients. A client generated for a newer
// runtime names a constant that an old runtime lacks and so fails to compile
// with a line that says what to upgrade.
const Codegen1 = true
