package revision

import "strings"

// Requests of clients.
const (
	MethodInitialize            = "initialize"
	MethodDiscover              = "server/discover"
	MethodPing                  = "ping"
	MethodToolsList             = "tools/list"
	MethodToolsCall             = "tools/call"
	MethodPromptsList           = "prompts/list"
	MethodPromptsGet            = "prompts/get"
	MethodResourcesList         = "resources/list"
	MethodResourceTemplatesList = "resources/templates/list"
	MethodResourcesRead         = "resources/read"
	MethodResourcesSubscribe    = "resources/subscribe"
	MethodResourcesUnsubscribe  = "resources/unsubscribe"
	MethodSubscriptionsListen   = "subscriptions/listen"
	MethodComplete              = "completion/complete"
	MethodSetLevel              = "logging/setLevel"
	MethodTasksGet              = "tasks/get"
	MethodTasksUpdate           = "tasks/update"
	MethodTasksCancel           = "tasks/cancel"
	MethodTasksResult           = "tasks/result"
)

// Requests of servers, see [IsQuestion].
const (
	MethodElicitationCreate     = "elicitation/create"
	MethodSamplingCreateMessage = "sampling/createMessage"
	MethodRootsList             = "roots/list"
)

// Notifications.
const (
	NotificationInitialized          = "notifications/initialized"
	NotificationCancelled            = "notifications/cancelled"
	NotificationProgress             = "notifications/progress"
	NotificationMessage              = "notifications/message"
	NotificationToolsListChanged     = "notifications/tools/list_changed"
	NotificationPromptsListChanged   = "notifications/prompts/list_changed"
	NotificationResourcesListChanged = "notifications/resources/list_changed"
	NotificationRootsListChanged     = "notifications/roots/list_changed"
	NotificationResourceUpdated      = "notifications/resources/updated"
	NotificationListenAcknowledged   = "notifications/subscriptions/acknowledged"
	NotificationElicitationComplete  = "notifications/elicitation/complete"
	NotificationTasks                = "notifications/tasks"
	NotificationTaskStatus           = "notifications/tasks/status"
)

// LogLevels returns the levels of log messages, least severe first (2025-11-25,
// Utilities, Logging).
func LogLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// Members of _meta that the protocol owns (2026-07-28, Overview, General
// fields), and one of ours.
const (
	MetaPrefix       = "io.modelcontextprotocol/"
	MetaVersion      = MetaPrefix + "protocolVersion"
	MetaClient       = MetaPrefix + "clientInfo"
	MetaCapabilities = MetaPrefix + "clientCapabilities"
	MetaLogLevel     = MetaPrefix + "logLevel"
	// MetaSubscription names the listen that a notification answers.
	MetaSubscription = MetaPrefix + "subscriptionId"
	// MetaRelatedTask names the task that a message of the handshake era belongs
	// to, MetaImmediateResponse what a model is told meanwhile (2025-11-25, Tasks).
	MetaRelatedTask       = MetaPrefix + "related-task"
	MetaImmediateResponse = MetaPrefix + "model-immediate-response"
	// MetaServer names the server that has answered. Behind a proxy that is the
	// proxy; MetaBackend then names the server behind it.
	MetaServer  = MetaPrefix + "serverInfo"
	MetaBackend = "dev.mcpctl/backendServerInfo"
)

// Members of results that ask for input, and of the requests that answer them
// (2026-07-28, Multi round-trip requests).
const (
	MemberResultType     = "resultType"
	MemberInputRequests  = "inputRequests"
	MemberInputResponses = "inputResponses"
	MemberRequestState   = "requestState"
)

// Members of results that say how long they hold, and for whom (2026-07-28,
// Caching).
const (
	MemberTTL        = "ttlMs"
	MemberCacheScope = "cacheScope"
)

// Values of resultType.
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
	ResultTask          = "task" // of the tasks extension
)

// CapabilityOf returns the capability of a server that promises a method: the
// beginning of its name, which completion/complete has in the singular.
func CapabilityOf(method string) string {
	kind, _, _ := strings.Cut(method, "/")
	if kind == "completion" {
		return "completions"
	}
	return kind
}
