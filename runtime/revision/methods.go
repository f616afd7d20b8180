package revision

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
