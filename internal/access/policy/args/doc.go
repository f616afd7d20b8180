// Package args reads what policies want to know of the arguments of a call: the members
// they name and no others, from the bytes that the server gets, with the types that the
// tool's input schema says. A value is read exactly or not at all.
package args
