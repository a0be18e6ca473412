#compdef cam
_cam() {
    local value about
    local -a values shown
    while IFS=$'\t' read -r value about; do
        [[ -n $value ]] || continue
        values+=("$value")
        shown+=("$value${about:+  -- $about}")
    done < <(cam complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#values )); then
        compadd -l -d shown -a values
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _cam ]]; then
    _cam "$@"
else
    compdef _cam cam
fi
