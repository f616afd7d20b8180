package access

// Local stands for the user of this machine: as the ID and the group of who asks where nobody
// is asked who they are, and as the Provider of principals whom the system itself has named,
// on a socket that only they can reach.
const Local = "local"
