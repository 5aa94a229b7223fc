# Completion of `isaforge` in Bash.
_isaforge() {
    # Bash also breaks words at `=` and `:`. An argument is what no blank separates.
    local line=${COMP_LINE:0:COMP_POINT} rest word index words=()
    for ((index = 0; index <= COMP_CWORD; index++)); do
        rest=${line#"${line%%[![:blank:]]*}"}
        word=${COMP_WORDS[index]}
        # The last word ends at the cursor.
        ((index < COMP_CWORD)) || word=$rest
        if ((index)) && [[ $rest == "$line" ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        line=${rest#"$word"}
    done
    # Quotes and backslashes are no part of a name.
    words=("${words[@]//[\\\"\']/}")
    # Bash replaces what follows its last break and keeps what precedes it.
    local current=${words[${#words[@]} - 1]} option file
    local kept=${current%"${2//[\\\"\']/}"}
    COMPREPLY=()
    while IFS= read -r word || [[ $word ]]; do
        if [[ $word != *'FILES' ]]; then
            COMPREPLY+=("$word")
            continue
        fi
        # Bash itself quotes the names, and completes those that contain variables.
        compopt -o filenames -o default 2>/dev/null
        option=${word%'FILES'}
        while IFS= read -r file; do
            COMPREPLY+=("$option$file")
        done < <(compgen -f -- "${current#"$option"}")
    done < <(ASKED=bash _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) \
        isaforge -- "${words[@]}" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
}
complete -o bashdefault -o nosort -F _isaforge isaforge 2>/dev/null || complete -o bashdefault -F _isaforge isaforge
