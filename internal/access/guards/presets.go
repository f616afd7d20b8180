package guards

// Presets returns the patterns that have a name, by it. They look for what a call should seldom
// do; each finds some harmless texts, too, and misses what is written in another way.
func Presets() map[string]string {
	return map[string]string{
		// Commands that destroy, or take a machine over, as a shell has them.
		"system-commands": `(?i)(?:^|[\s;&|` + "`" + `("'/])(?:` +
			`rm\s+(?:-\w+\s+)*-(?:\w*r\w*f|\w*f\w*r)\w*` + // rm -rf, rm -v -fr
			`|rm\s+(?:--?\w+\s+)*--recursive` +
			`|mkfs(?:\.\w+)?\s` +
			`|dd\s+(?:\S+\s+)*of=/dev/` +
			`|sudo\s+\S` +
			`|(?:shutdown|reboot|halt|poweroff)(?:\s|$)` +
			`|chmod\s+(?:-\w+\s+)*(?:[0-7]?777|a\+rwx)` +
			`|chown\s+(?:-\w+\s+)*root\b` +
			`|kill(?:all)?\s+-9\s` +
			`|crontab\s+-` +
			`|(?:user(?:add|del|mod)|passwd)\s+\S` +
			`|format\s+[a-z]:` +
			`|(?:del|rd|rmdir)\s+/s\b` +
			`)|:\(\)\s*\{\s*:\s*\|\s*:` + // the fork bomb
			`|(?:>|\btee\s+(?:-a\s+)?)\s*/dev/(?:sd|nvme|disk)`,
		// Files that have credentials, or say who may come in.
		"sensitive-files": `(?i)(?:^|[/\\\s"'=:~])(?:` +
			`etc/(?:passwd|shadow|gshadow|sudoers)\b` +
			`|\.ssh(?:[/\\]|$)|id_(?:rsa|dsa|ecdsa|ed25519)\b|authorized_keys\b` +
			`|\.aws[/\\]credentials\b|\.azure[/\\]|\.config[/\\]gcloud\b|application_default_credentials\.json\b` +
			`|\.kube[/\\]config\b|\.docker[/\\]config\.json\b` +
			`|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)\b` +
			`|\.env(?:\.(?:local|production|prod|development|dev|staging))?(?:$|[\s"'])` +
			`|\.gnupg[/\\]|secring\.gpg\b` +
			`|proc/(?:self|\d+)/environ\b` +
			`|windows[/\\]system32[/\\]config[/\\](?:sam|system|security)\b` +
			`)|\.(?:pem|p12|pfx|keystore|jks)(?:$|[\s"'])`,
		// Commands that send data out, fetch what they run, or open a way in.
		"network-commands": `(?i)(?:^|[\s;&|` + "`" + `("'/])(?:` +
			`(?:curl|wget)\s+\S` +
			`|(?:nc|ncat|netcat|socat|telnet)\s+\S` +
			`|(?:scp|sftp|rsync)\s+\S*\S` +
			`|ssh\s+(?:-\w|\S+@\S|[\w-]+\.[\w.-]+)` +
			`|ftp\s+\S` +
			`|nmap\s+\S` +
			`|invoke-(?:webrequest|restmethod)\b` +
			`|(?:iwr|irm)\s+\S` +
			`|certutil\s+.*-urlcache` +
			`|bitsadmin\s+/transfer` +
			`)|/dev/(?:tcp|udp)/`,
	}
}
