# Completion of `isaforge` in Fish.
function __isaforge_candidates
    ASKED=fish isaforge -- (commandline --current-process --tokenize --cut-at-cursor) \
        (commandline --current-token --cut-at-cursor) 2>/dev/null
end
complete --command isaforge --no-files --keep-order \
    --arguments "(__isaforge_candidates | string match --invert '*FILES')"
complete --command isaforge --force-files --condition "__isaforge_candidates | string match --quiet '*FILES'"
