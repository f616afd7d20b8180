//go:build attacks && linux

package attacks_test

func links() class { return class{name: "links"} }

const actorEnv = "MCPCTL_ATTACKS_ACTOR"

func actorMain(string, []string) int { return 0 }
