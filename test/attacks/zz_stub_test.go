//go:build attacks && linux

package attacks_test

func registries() class   { return class{name: "registries"} }
func secrets() class      { return class{name: "secrets"} }
func files() class        { return class{name: "files"} }
func edits() class        { return class{name: "edits"} }
func processes() class    { return class{name: "processes"} }
func environments() class { return class{name: "environments"} }
func terminals() class    { return class{name: "terminals"} }
func links() class        { return class{name: "links"} }

const actorEnv = "MCPCTL_ATTACKS_ACTOR"

func actorMain(string, []string) int { return 0 }
