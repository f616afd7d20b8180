// Package proctree finds and signals what a child process and its descendants
// consist of: a process group (Windows: a job object), and on systems that show
// environments the processes that have left the group and still carry the
// child's mark.
package proctree
