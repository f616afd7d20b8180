// Package login has mcpctl log in at authorization servers of others, oidc-provider and
// Keycloak, by a scripted browser and by Chromium. The tests need the build tag
// integration, those of Keycloak the tag keycloak.
package login
