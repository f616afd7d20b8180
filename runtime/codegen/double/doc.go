// Package double is what generated test doubles call. A double is a server in the test's own
// process: it answers a generated client by functions with typed parameters and results, or from
// the fixtures of package fixture.
//
//	fake := everythingtest.NewFake(t)
//	fake.OnEcho(func(_ context.Context, p everything.EchoParams) (*runtime.ToolResult, error) {
//		return double.Text(p.Message), nil
//	})
//	client := fake.Client()
//
// A double enforces the schemas as a server would: it decodes and checks the arguments before a
// function gets them, and checks and encodes results before the client gets them. A call without
// a function or a fixture fails the test, and names the call. [Failure] is the error of a tool
// that has failed, and [Server.Calls] is what was called.
//
// All methods may be called concurrently, as clients may.
package double
