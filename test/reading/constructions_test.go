package reading

// construction is a way of writing that a reader stumbles over.
type construction struct {
	// pattern is matched against one sentence, in which every code span is ‹code›.
	pattern string
	why     string
	// catches and spares are sentences that the test of the list holds it to.
	catches, spares string
}

// constructions are banned from pages, help texts and error texts. A new row
// takes a reason and a sentence that it catches; one that it must leave alone
// where the pattern could go too far.
func constructions() []construction {
	return []construction{
		// Word order.
		{`(?i)\b(nor|neither) (does|do|did|is|are|was|were|has|have|can|will|may|must)\b`, "inverted clause: say it in the usual order", "Nor does it ask.", "Neither file is read."},
		{`^Only (then|now|there|here|when|where|after|if|with|by)\b`, "inverted clause: say it in the usual order", "Only then is it sent.", "Only the owner reads it."},
		{`(?:^|[,;:] |\band )[Ss]o (does|do|did|is|are|was|were|has|have|can|will|may|must)\b`, "inverted clause: \"X does too\"", "A call fails, and so does a list.", "It does so at the end."},
		{`^(Were|Had|Should) (it|they|this|that|the|a|an)\b`, "inverted condition: \"if\"", "Should it fail, it is tried again.", "It should fail."},
		{`^(Here|There|Then|Above|Below|Behind|Beside) (stands?|lies?|comes?|goes|follows?)\b`, "inverted clause: the subject comes first", "Behind lies a server.", ""},
		{`^Of (the|a|an|all|several|many|two|three|what|its|their|[a-z]+s)\b`, "fronted phrase: begin with the subject", "Of notifications, progress is passed on.", ""},
		{`^(What|Who) [^?]*[^?:]$`, "a clause as the subject: name the thing", "What is optional is a pointer.", "What does it cost?"},
		{`(?i)\b(one|two|three) (\w+ )?at least\b`, "\"at least one\"", "It has one word at least.", "At least one word."},
		{`(?i)\balone\b`, "\"only\", before the thing", "It prints the name alone.", ""},
		{`(?i)\bexcepted\b`, "\"except X\"", "It asks for values, secrets excepted.", "Exceptions are listed."},
		{`(?i)\bthat there (is|are)[.,:;]?$|\bthat there (is|are)[.,:;]`, "a clause that says nothing: leave it out", "It takes the first that there is.", "It says that there is no server."},

		// Verbs in place of "is", "has", "applies".
		{`(?i)\b(stands?|stood|standing)\b`, "\"is\", or \"means\"", "The word stands in front.", "It understands the standard."},
		{`(?i)\bare come\b|\bis come\b`, "archaic perfect: \"has come\"", "The end is come to.", ""},
		{`(?i)\b(lies?|lay) (in|below|above|beside|behind|on|within)\b`, "\"is\"", "The module it lies in.", ""},
		{`(?i)\bholds? (for|good|of)\b`, "\"applies to\"", "Flags hold for all servers.", "It holds the lock."},
		{`(?i)\b(is|are|was|were) taken for\b`, "\"is treated as\"", "The request is taken for an old one.", "Time is taken."},
		{`(?i)\bmakes? (itself|themselves) known\b`, "\"reports\", \"registers\"", "It makes itself known.", ""},
		{`(?i)\bgo(es)? with\b`, "\"needs\", \"is used with\"", "The flag goes with a command.", ""},
		{`(?i)\bexcludes? (one another|each other)\b`, "\"cannot be used together\"", "The flags exclude one another.", ""},
		{`(?i)\btells? of\b`, "\"describes\", \"reports\"", "The log tells of it.", "It tells the user."},
		{`(?i)\b(sees?|saw) to (it|that)\b`, "\"makes sure\"", "It sees to it.", ""},
		{`(?i)\bgo(es)? on\b`, "\"continues\"", "The call goes on.", ""},
		{`(?i)\bmend(s|ed|ing)?\b`, "\"fix\"", "It says what mends it.", "It recommends this."},
		{`(?i)\bhinders?\b`, "\"prevents\"", "Nothing hinders it.", ""},
		{`(?i)\bhearkens?\b|\bperish(es)?\b|\bought\b|\bmust needs\b`, "archaic", "It ought to work.", ""},
		{`(?i)\b(is|are|was|were) to be \w+(ed|en|wn|de|nt|ne)\b`, "\"must be\", or the active voice", "It is to be measured.", "It is to begin soon."},
		{`(?i)\bto be had\b|\b(can|could|cannot|may) be had\b`, "\"is available\"", "The list cannot be had.", ""},
		{`(?i)\bif (need|it|that) be\b`, "archaic subjunctive", "If need be, it waits.", ""},

		// Relative clauses and pronouns.
		{`(?i)\bof which\b`, "a second sentence", "A message of which it takes no notice.", "The server which answers."},
		{`(?i)\b(that|those|these) which\b|\bthat what\b`, "\"what\", or the noun", "It sends that which it has.", ""},
		{`(?i)\b(whoever|whosoever|whomever|whichsoever|whatsoever|whatever else)\b`, "name who or what", "Whoever calls it waits.", "Whatever it costs."},
		{`(?i)\bwho(se)? (is|are) on the way\b|\bhe who\b|\bthose who are\b`, "name who", "He who waits.", ""},
		{`(?i)\bsuch an? one\b|\bno such one\b|\bsuch as (it|they|these|those)\b`, "name the thing", "It is such a one.", ""},
		{`(?i)(›|\b(it|that|which|this|something|line|message)) (is|are) no [a-km-z]`, "\"is not a X\"", "It is no port.", "There is no port. It is no longer."},
		{`(?i)\b(that|which) (is|are) none\b`, "\"not an X\"", "A page that is none.", "There is none."},
		{`(?i)\bwhere there (is|are)\b`, "\"if\"", "It asks where there is a terminal.", "It says where the file is."},
		{`(?i)\bwhere (that|this|it) (is|are|does|has|can) (not|no|so|none)\b|\bwhere (none|nothing|neither|both) `, "\"if\" for a condition", "It ends where that is not so.", "It ends where it began."},
		{`(?i)\b(if|where|as|unless) (that|this|it) is (not )?so\b`, "\"if not\", \"otherwise\"", "It ends if that is so.", ""},
		{`(?i)\bone (may|must|needs|sees|has to)\b`, "\"you\"", "One may wait.", "One server waits."},
		{`(?i)\b(an?|the|no) \w+ of (yours|ours|theirs|mine|his|mcpctl's|serve's)\b`, "\"your X\"", "It reads a type of yours.", ""},
		{`(?i)\bof (its|their|one's|his|her) own\b`, "\"its own X\"", "It has a file of its own.", "It has its own file."},
		{`(?i)\bone its own\b`, "\"its own X\"", "Each has one its own.", ""},

		// Connecting words.
		{`(?i)\bin (the|its|their|whose) (place|stead)\b|\bin (place|stead) of\b`, "\"instead of\"", "It is used in the place of a file.", "It is in place."},
		{`(?i)\bfor (want|lack) of\b`, "\"without\", \"because there is no\"", "It ends for want of memory.", ""},
		{`(?i)\bbesides?\b`, "\"also\", \"next to\", \"compared with\"", "Each tool has a file besides.", ""},
		{`(?i)\ball the same\b`, "\"anyway\", or leave it out", "It is sent all the same.", ""},
		{`(?i)\banew\b`, "\"again\"", "It is started anew.", ""},
		{`(?i)\b(nothing|none|nobody|all|no \w+) but\b`, "\"only\", \"except\"", "It reads nothing but names.", ""},
		{`(?i)\b(save|but) for\b`, "\"except for\"", "It is empty save for one.", ""},
		{`^Else\b`, "\"Otherwise\"", "Else it ends.", ""},
		{`(?i)\b(hence|thence|whence|hitherto|thereof|therein|thereby|thereupon|whereof|wherein|whereby|whereupon|hereby|herein|heretofore|lest|ere|upon|likewise|forthwith|aforesaid|aforementioned|insofar|inasmuch|naught|nought|sundry|manifold)\b`, "archaic or legal word", "It waits, lest it fail.", ""},
		{`(?i)\bas yet\b`, "\"yet\"", "It is not there as yet.", ""},
		{`(?i)\bso as to\b|\bin order to\b|\bto that end\b|\bthat is to say\b`, "\"to\", or leave it out", "It waits in order to write.", ""},
		{`(?i)\bas (regards|concerns)\b|\bwith (regard|respect) to\b`, "\"about\"", "As regards names, they differ.", ""},
		{`(?i)\b(more|anything|nothing) of (it|that) kind\b`, "name the thing", "There is nothing of that kind.", ""},
	}
}
