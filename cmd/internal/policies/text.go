package policies

// Texts of the help.
const (
	Long = `Say who may do what: rules in config.yaml, and policies in Cedar beside them.

  access:
    groups: {eng: [alice@example.com, "idp:engineers"]}
    rules:
      - {allow: eng, to: gh}
      - {deny: "*", to: gh/delete_repo, reason: nobody deletes repositories}

A rule names who (a group, an ID, a mail address, local, "*") and what (a server, SERVER/TOOL, a pattern such as
"gh/get_*", a label). Deny always wins; the order of rules means nothing. The rules hold for mcpctl serve, and for the
commands of this machine's user, who is local.`
	Example  = "  mcpctl policy check\n  mcpctl policy explain call gh/merge --as alice\n  mcpctl policy test"
	ShowLong = `Show the policies that count: those of the rules in config.yaml, and those of files.

With --cedar, as Cedar: what each rule has become.`
	CheckLong = `Check the policies: what is written wrong, names of servers, tools, groups and labels that there are not, arguments
that tools do not have, and policies that can never count. What servers offer is what they were last seen to offer;
mcpctl tools asks them. Findings exit with code 5.`
	TestLong = `Run the tests of the policies: the files of access.tests, or those that are named. A file is a list of requests:

  - {as: {id: "token|ci", groups: [ci]}, call: gh/merge, args: {base: main}, want: deny, by: rule-2}
  - {as: alice@example.com, read: "fs/file:///data/a.txt", want: allow}

want is allow, ask or deny, or hidden: denied, and in no list. Others are scopes in as, seen, now and ip. A difference
exits with code 10.

With --replay, requests that were recorded are decided again, with the policies of now: those of an export (JSONL), or of
the audit log. What would be decided otherwise is printed, with the record, and exits with code 10. Where a rule reads
arguments that were not kept, the answer is unknown. A name with an @ counts as an address, a credential has all scopes
but those that it was refused for, and how much of a limit was used up is not replayed.`
	ExplainLong = `Say whether a request is allowed, and why: each policy that is about it, and which of its conditions do not hold. It is
decided by what decides in mcpctl serve. A tool, prompt or resource is named as its server does: gh/merge.

With --record, the request is that of a record of the audit log: who asked for what, when, and what the conversation had
seen. It says whether the policies have changed since, and whether the request would be decided as it was.

It exits with code 0 where the request is allowed, or a person is asked, and with 9 where it is denied; with --record, with
10 where it was decided otherwise.`
	LearnLong = `Propose a section access for config.yaml, from what the audit log says was used. Nothing is written.

What was let through is allowed, to who has used it, and all else is denied. Labels are proposed for what guards have found
in results, and for what the annotations of tools say. All of it are guesses, and marked so: read them, and run mcpctl
policy check and mcpctl policy test --replay log.`
)
