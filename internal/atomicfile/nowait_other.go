//go:build !unix

package atomicfile

// NoWait is zero: named pipes of Windows are not in the file system.
const NoWait = 0
