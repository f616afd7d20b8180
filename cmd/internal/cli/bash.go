package cli

// Bash follows cobra's script for bash, and replaces its function that takes the line
// apart: that needs the package bash-completion, which macOS and small systems lack. Bash
// breaks words at the characters of COMP_WORDBREAKS, = and : among them; the function
// joins what no space separates.
const Bash = `
__mcpctl_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local line=${COMP_LINE:0:COMP_POINT} i word rest
    words=() cword=-1
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        rest=${line#"${line%%[![:space:]]*}"}
        if ((i == COMP_CWORD)); then
            word=$rest # up to the cursor
        fi
        if ((cword >= 0)) && [[ $rest == "$line" ]]; then
            words[cword]+=$word
        else
            words[++cword]=$word
        fi
        line=${rest#"$word"}
    done
    cur=${words[cword]} prev=
    if ((cword > 0)); then
        prev=${words[cword-1]}
    fi
}
`
