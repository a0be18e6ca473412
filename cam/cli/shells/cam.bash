_cam() {
    local line=${COMP_LINE:0:COMP_POINT} words cur value rest IFS
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cur=${words[${#words[@]} - 1]}
    # Readline breaks words at a colon: what stands before the last one must not be given again.
    local prefix=${cur%"${cur##*:}"}
    COMPREPLY=()
    while IFS=$'\t' read -r value rest; do
        [[ -n $value ]] && COMPREPLY+=("${value#"$prefix"}")
    done < <(cam complete "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _cam cam
