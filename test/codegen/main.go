// Command codegen judges what mcpctl generate writes by what others hold to be
// true, and writes docs/generate-report.md.
package main

func main() {}
