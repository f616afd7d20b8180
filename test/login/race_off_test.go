//go:build (integration || keycloak) && !race

package login_test

// raceFlag builds mcpctl as this test is built.
const raceFlag = "-race=false"
