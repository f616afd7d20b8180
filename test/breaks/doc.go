// Package breaks makes deliberate mistakes in copies of the product's source, so
// that suites can show that they notice them. A mistake names a declaration and
// the text inside of it, never a file: it can still be made after the
// declaration has moved.
package breaks
