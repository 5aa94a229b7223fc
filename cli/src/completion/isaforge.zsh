#compdef isaforge
# Completion of `isaforge` in Zsh.
_isaforge() {
    local candidate option
    local -a candidates files
    for candidate in ${(f)"$(_CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((CURRENT - 1)) ASKED=zsh \
        isaforge -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"}; do
        if [[ $candidate == *'FILES' ]]; then
            files+=("${candidate%'FILES'}")
        else
            candidates+=("$candidate")
        fi
    done
    # Names of instructions may be typed in any case.
    (($#candidates)) && _describe -V isaforge candidates -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}'
    for option in "$files[@]"; do
        compset -P "${(b)option}"
        _files
    done
}
# The first completion of a session calls this file as the function.
if [[ $funcstack[1] == _isaforge ]]; then
    _isaforge "$@"
else
    compdef _isaforge isaforge
fi
